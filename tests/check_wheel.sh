#!/usr/bin/env bash
# Installs the wheel alone, by pip's own resolver, and trains the demo in a new project with it, through every stage:
#
#     tests/check_wheel.sh UV PYTHON
#
# UV is uv's program, which builds the wheel and makes the environment; PYTHON a version, such as 3.12.
set -euo pipefail
uv=$(realpath "$(command -v "$1")") python=$2
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$uv" build -q --wheel --build-constraints requirements/build.lock --require-hashes -o "$folder" .
"$uv" venv -q --seed --python "$python" "$folder/venv"
export PATH="$folder/venv/bin:$PATH" DAGSTER_HOME="$folder/models/.state/dagster"
unset VIRTUAL_ENV PYTHONPATH

cd "$folder"
pip install -q translations_assets-*.whl
pip check
translations --version
translations init models
cd models
python -m translations_assets.instance.home
dagster definitions validate
translations plan en-eo.demo
dagster asset materialize -m translations_assets.definitions --select dataset_devtest --partition en-eo.demo
translations train en-eo.demo --yes
translations results en-eo.demo
echo "The dog sees the cat." | translations translate en-eo.demo
