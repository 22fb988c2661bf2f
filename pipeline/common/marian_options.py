"""Marian's options: YAML files and `--marian-args` merged into one mapping, and fitted to the machine.

Marian aborts when an option stands twice on its command line, so all of them go through one YAML file, in
which later sources override earlier ones.
"""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import yaml

from pipeline.common import resources
from pipeline.common.errors import InputError, TemporaryError

Value: TypeAlias = "str | int | float | bool | list[Value]"
Options: TypeAlias = dict[str, Value]

# Options of Marian that shape a model. The sizes and the sharing of embeddings follow from the vocabularies.
SHAPING = ("enc-", "dec-", "transformer-", "type", "dim-emb", "dim-rnn", "skip", "layer-normalization")
MINIMUM_WORKSPACE_MB = 128
MAXIMUM_DATA_THREADS = 8

log = logging.getLogger(__name__)


def read_options(path: Path) -> Options:
    """Read a YAML file of Marian's options. Raises InputError when it does not hold a mapping."""
    try:
        options = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {error}") from error
    return _checked(options or {}, str(path))


def parse_marian_args(text: str) -> Options:
    """Read `--marian-args`: a JSON object from option names, without `--`, to values.

    Values may be strings as on Marian's command line: "4" is a number, "true" a boolean, "1000 1000" and
    "[topk, 10]" are lists; "50u" and "float16" stay strings. Raises InputError for anything else.
    """
    try:
        options = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"--marian-args is not valid JSON ({error}): {text}") from error
    checked = _checked(options, "--marian-args")
    return {name: _parsed(value) if isinstance(value, str) else value for name, value in checked.items()}


def write_options(path: Path, options: Mapping[str, Value]) -> None:
    """Write options as the YAML file that `marian --config` reads."""
    path.write_text(yaml.safe_dump(dict(options), sort_keys=False, allow_unicode=True), encoding="utf-8")


def fit_to_machine(options: Mapping[str, Value]) -> Options:
    """Add devices, threads and workspace; on a CPU, drop 16-bit floats and the fitting of batches.

    Raises TemporaryError when GPUs were granted and none is here.
    """
    devices: list[Value] = list(resources.gpus())
    threads = resources.threads()
    fitted: Options = {**options, "data-threads": min(MAXIMUM_DATA_THREADS, threads)}
    if devices:
        _require_gpu()
        return {**fitted, "devices": devices, "workspace": resources.workspace_mb()}
    fitted.update({"cpu-threads": threads, "workspace": cpu_workspace_mb()})
    return _without_gpu_options(fitted)


def cpu_workspace_mb() -> int:
    """Megabytes of workspace for each CPU thread, which Marian treats as a device of its own."""
    return max(MINIMUM_WORKSPACE_MB, resources.workspace_mb() // resources.threads())


def _without_gpu_options(options: Options) -> Options:
    dropped = [name for name in ("fp16", "cost-scaling") if options.pop(name, False)]
    if "float16" in str(options.get("precision", "")):
        dropped.append(f"precision {options.pop('precision')}")
    if options.get("mini-batch-fit"):
        dropped.append("mini-batch-fit")  # takes many minutes on a CPU
        options["mini-batch-fit"] = False
    if dropped:
        log.info("No GPU: dropped %s", ", ".join(dropped))
    return options


def _require_gpu() -> None:
    devices = Path("/dev")
    if not any(devices.glob("nvidia[0-9]*")) and not (devices / "dxg").exists():
        raise TemporaryError("GPUs were granted (TRANSLATIONS_GPUS), but this machine shows none")


def _checked(options: object, where: str) -> Options:
    if not isinstance(options, dict) or not all(isinstance(name, str) for name in options):
        raise InputError(f"{where} must map option names to values, and holds {options!r}")
    for name, value in options.items():
        if name.startswith("-"):
            raise InputError(f"{where}: write {name.lstrip('-')} instead of {name}")
        if not isinstance(value, str | int | float | list):
            raise InputError(f"{where}: {name} must be a string, number, boolean or list, not {value!r}")
    return options


def _parsed(text: str) -> Value:
    words = text.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    if len(words) == 1 and not text.strip().startswith("["):
        return _scalar(words[0])
    return [_scalar(word) for word in words] if words else ""


def _scalar(word: str) -> Value:
    if word in ("true", "false"):
        return word == "true"
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return word
