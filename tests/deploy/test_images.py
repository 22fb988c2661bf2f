"""The images: nothing in them that a digest does not name, nothing secret, nobody who is root."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.images import ORCHESTRATOR, helm_flags, images
from tests.deploy.files import DEPLOY, ROOT, values
from translations_assets.common.revision import commit, revision, web_address
from translations_assets.runners.kubernetes.image import BUILD_FILE, ENVIRONMENT_BUILD_FILE, worker_images

WORKER = DEPLOY / "worker.Dockerfile"
ENVIRONMENT = DEPLOY / "environment.Dockerfile"
FILES = sorted(DEPLOY.glob("*.Dockerfile"))
DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")
REGISTRY = "registry.example.org/translations"


def instructions(path: Path) -> list[list[str]]:
    """The instructions of a build file, each as its words, without comments."""
    lines = [
        line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")
    ]
    text = re.sub(r"\\\n", " ", "\n".join(lines))
    return [line.split() for line in text.splitlines() if line.strip()]


def named(path: Path, instruction: str) -> list[list[str]]:
    return [words[1:] for words in instructions(path) if words[0] == instruction]


def bases(path: Path) -> list[str]:
    return [next(word for word in words if not word.startswith("--")) for words in named(path, "FROM")]


def test_the_workers_bases_are_named_by_digest() -> None:
    assert len(bases(WORKER)) == 2
    assert all(DIGEST.search(base) for base in bases(WORKER))


@pytest.mark.parametrize("path", [ROOT / ORCHESTRATOR, ENVIRONMENT], ids=lambda path: path.stem)
def test_the_others_stand_on_the_workers_image_and_on_no_default(path: Path) -> None:
    assert bases(path)[-1] == "${WORKER}"
    assert ["WORKER"] in named(path, "ARG")


def test_an_environment_is_made_with_the_python_that_runs_it() -> None:
    assert bases(ENVIRONMENT)[0] == bases(WORKER)[0]
    versions = [re.match(r"python:([\d.]+)-", base) for base in bases(WORKER)]
    assert len({version[1] for version in versions if version}) == 1


def test_a_script_finds_the_environment_where_it_was_made() -> None:
    places = {word.partition("=")[2] for words in named(ENVIRONMENT, "ENV") for word in words}
    copied = [words[1:] for words in named(ENVIRONMENT, "COPY") if words[0] == "--from=build"]
    assert len(places) == 1
    assert copied == [[*places, *places]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_comes_from_the_web_but_locked_packages(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not named(path, "ADD")
    assert not re.search(r"\b(apt|apt-get|curl|wget|git)\b", " ".join(map(" ".join, instructions(path))))
    installs = re.findall(r"pip (?:install|wheel)[^&\n]*", re.sub(r"\\\n\s*", "", text))
    assert installs or "import interpreter" in text  # which installs with hashes
    assert all("--require-hashes" in line or "--no-index" in line for line in installs)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_who_runs_in_it_is_not_root(path: Path) -> None:
    users = named(path, "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1][0])  # a number: `runAsNonRoot` cannot check a name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_secret_is_built_in(path: Path) -> None:
    given = [word for name in ("ARG", "ENV") for words in named(path, name) for word in words]
    assert not [word for word in given if re.search(r"(?i)token|secret|password|credential|api_?key", word)]


def test_the_workers_image_holds_nothing_of_the_project() -> None:
    copied = [words for words in named(WORKER, "COPY") if not words[0].startswith("--from")]
    assert copied == [["requirements/worker.lock", "."]]


def test_the_context_of_a_build_is_what_is_copied() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    wanted = {rule[1:] for rule in rules if rule.startswith("!")}
    copied = {source for words in named(ROOT / ORCHESTRATOR, "COPY") for source in words[:-1]}
    assert {source if source in wanted else str(Path(source).parent) for source in copied} == wanted
    assert all((ROOT / source).exists() for source in copied)


def test_a_build_gives_the_same_bytes_again() -> None:
    for image in images(REGISTRY):
        epoch = next(words for words in named(ROOT / image.build_file, "ARG") if "EPOCH" in words[0])
        command = image.command(push=True)
        assert epoch[0] in command
        assert "rewrite-timestamp=true" in command[command.index("--output") + 1]


def test_the_runner_asks_for_the_image_that_is_built() -> None:
    asked = worker_images(f"{REGISTRY}/worker", None, ROOT)
    built = [image.name for image in images(REGISTRY)]
    assert built[:-1] == [asked.worker, *asked.environments.values()]


def test_what_the_registry_has_is_not_pushed_again(tmp_path: Path) -> None:
    """Its tags may be immutable. A program in docker's place keeps a list of what it was asked."""
    docker, asked = tmp_path / "docker", tmp_path / "asked"
    docker.write_text(
        f'#!/bin/sh\necho "$@" >> {asked}\ncase "$*" in *inspect*orchestrator*) exit 1;; esac\n',
        encoding="utf-8",
    )
    docker.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "deploy.images", REGISTRY, "--push"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    names = [image.name for image in images(REGISTRY)]
    assert done.stdout.split() == names
    calls = asked.read_text(encoding="utf-8").splitlines()
    assert [call.split()[-1] for call in calls if "inspect" in call] == names
    built = [call for call in calls if " build " in call]
    assert len(built) == 1
    assert f"name={names[-1]}" in built[0]


def test_each_environment_is_built_from_its_own_lock() -> None:
    arguments = [image.arguments for image in images(REGISTRY) if image.build_file == ENVIRONMENT_BUILD_FILE]
    assert (f"WORKER={images(REGISTRY)[0].name}", "ENVIRONMENT=opuscleaner") in arguments
    assert len(set(arguments)) == len(arguments)


def test_the_orchestrators_tag_changes_with_code_configs_and_libraries(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "workspace.yaml", "requirements", "deploy", "configs"):
        source, target = ROOT / name, tmp_path / name
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    shutil.copytree(ROOT / "pipeline" / "common", tmp_path / "pipeline" / "common")
    script = tmp_path / "pipeline" / "script.py"
    script.write_text("1\n")
    tags = [images(REGISTRY, tmp_path)]
    script.write_text("2\n")
    tags.append(images(REGISTRY, tmp_path))
    with (tmp_path / BUILD_FILE).open("a") as file:
        file.write("# another\n")
    tags.append(images(REGISTRY, tmp_path))
    workers, orchestrators = zip(*[(built[0].name, built[-1].name) for built in tags], strict=True)
    assert workers[0] == workers[1] != workers[2]
    assert len(set(orchestrators)) == 3
    assert images(REGISTRY, tmp_path) == tags[-1]


def test_the_orchestrators_image_knows_its_commit(tmp_path: Path) -> None:
    assert f"REVISION={revision(ROOT)}" in images(REGISTRY)[-1].arguments
    assert f"REPOSITORY={web_address(ROOT)}" in images(REGISTRY)[-1].arguments
    written = [words for words in named(ROOT / ORCHESTRATOR, "RUN") if words[-2:] == [">", "revision"]]
    assert len(written) == 1
    assert "repository" in written[0]
    assert revision(tmp_path) == ""
    (tmp_path / "revision").write_text("0123abc+changes\n")
    (tmp_path / "repository").write_text("https://github.com/team/translations\n")
    assert (revision(tmp_path), commit(tmp_path)) == ("0123abc+changes", "0123abc")
    assert web_address(tmp_path) == "https://github.com/team/translations"


@pytest.fixture(scope="module")
def orchestrator(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Contents of the orchestrator's image: its files, its `translations`, its variables."""
    base = tmp_path_factory.mktemp("image")
    work = next(words[0] for words in named(ROOT / ORCHESTRATOR, "WORKDIR"))
    root = base / work.lstrip("/")
    for *sources, target in named(ROOT / ORCHESTRATOR, "COPY"):
        for source in sources:
            if target.startswith("/"):  # a lock for the build
                continue
            place = root / target / Path(source).name if target.endswith("/") else root / source
            place.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
            copy(ROOT / source, place)
    text = re.sub(r"\\\n", " ", (ROOT / ORCHESTRATOR).read_text(encoding="utf-8"))
    script = re.search(r"printf '[^']*' > \S+", text)
    assert script
    (base / "usr/local/bin").mkdir(parents=True)
    subprocess.run(["sh", "-c", script[0].replace("> /", f"> {base}/")], check=True)
    (base / "usr/local/bin/python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for program in ("translations", "python"):
        (base / "usr/local/bin" / program).chmod(0o755)
    set_by_image = dict(word.split("=") for words in named(ROOT / ORCHESTRATOR, "ENV") for word in words)
    assert set_by_image["PYTHONPATH"] == work
    return base, {
        "PATH": f"{base}/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": str(root),
        "TRANSLATIONS_STATE": str(base / "state"),
        "TRANSLATIONS_STORE": str(base / "store"),
        "DAGSTER_HOME": str(base / "dagster_home"),
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--help"], "Usage"), (["plan", "en-eo.demo"], "steps:"), (["config", "check", "en-eo.demo"], "")],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_the_command_of_the_orchestrators_image_works(
    orchestrator: tuple[Path, dict[str, str]], words: list[str], said: str
) -> None:
    base, environment = orchestrator
    program = base / "usr/local/bin/translations"
    done = subprocess.run(
        [program, *words], cwd=base, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert said in done.stdout


def test_the_command_of_the_orchestrators_image_says_what_is_wrong(
    orchestrator: tuple[Path, dict[str, str]],
) -> None:
    base, environment = orchestrator
    program = base / "usr/local/bin/translations"
    done = subprocess.run(
        [program, "plan", "en-xx.none"],
        cwd=base,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "error" in done.stderr


def is_unnamed(image: dict[str, str] | None) -> bool:
    return image is not None and image["tag"] == "TAG"


def test_helm_is_told_every_place_of_the_image() -> None:
    flags = dict(word.split("=") for word in helm_flags("registry/orchestrator:abc").split() if "=" in word)
    places = {name.removesuffix(".image.tag") for name, value in flags.items() if value == "abc"}
    found = values()
    with_image = {
        name for name, value in found.items() if isinstance(value, dict) and is_unnamed(value.get("image"))
    }
    assert places == {*with_image, "dagster-user-deployments.deployments[0]"}
    assert len(found["dagster-user-deployments"]["deployments"]) == 1
