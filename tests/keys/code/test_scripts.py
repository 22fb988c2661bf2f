"""The real scripts: changed constants renew their fingerprints, and bundles are enough to run them."""

from __future__ import annotations

import ast
import builtins
import dis
import os
import shutil
import subprocess
import symtable
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType

import packaging
import pytest

import translations_assets
from tests.keys.changes.states import shared_parsing
from tests.keys.code.changes import change_constants, literal_constants
from translations_assets.keys.code.fingerprint import CodeBase, Fingerprint

ROOT = Path(__file__).parents[3]
FILES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("pipeline/**/*.py"))
}


def module_name(file: str) -> str:
    """The module in a file."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


SCRIPTS = [module_name(file) for file, text in FILES.items() if '\nif __name__ == "__main__":' in text]


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Write files below a new folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code, since somebody may be at work on it."""
    return write(tmp_path_factory.mktemp("snapshot"), FILES)


@pytest.fixture(scope="module")
def code(snapshot: Path) -> CodeBase:
    """The code of that copy."""
    return CodeBase(snapshot)


@pytest.fixture(scope="module")
def fingerprints(code: CodeBase) -> dict[str, Fingerprint]:
    """All scripts' fingerprints."""
    return {script: code.fingerprint(script) for script in SCRIPTS}


def test_there_are_scripts() -> None:
    """The tests below have something to look at."""
    assert len(SCRIPTS) > 25


def test_no_script_looks_into_code(fingerprints: Mapping[str, Fingerprint]) -> None:
    """A module that counts whole runs again for every docstring or unused function."""
    assert {script: found.why_whole for script, found in fingerprints.items() if found.why_whole} == {}, (
        "These use getattr, eval, __dict__ and the like, or catch NameError, AttributeError or ImportError. "
        "Do without."
    )


def test_each_file_is_parsed_once(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All scripts share what they have in common; a plan would take seconds otherwise."""
    parse, parsed = ast.parse, []

    def count(source: str, filename: str) -> ast.Module:
        parsed.append(filename)
        return parse(source, filename)

    monkeypatch.setattr(ast, "parse", count)
    code = CodeBase(snapshot)
    for script in SCRIPTS:
        code.fingerprint(script)
        code.bundle(script)
    assert len(parsed) == len(set(parsed)) > len(SCRIPTS)


def reached_constants(fingerprints: Mapping[str, Fingerprint]) -> dict[str, str]:
    """Literal constants that scripts reach → the smallest of those scripts."""
    found = {}
    for file, text in FILES.items():
        for name in literal_constants(text):
            label = f"{module_name(file)}:{name}"
            reaching = [script for script in SCRIPTS if label in fingerprints[script].parts]
            if reaching:
                found[label] = min(reaching, key=lambda script: len(fingerprints[script].parts))
    return found


def test_changed_constants(tmp_path: Path, code: CodeBase, fingerprints: Mapping[str, Fingerprint]) -> None:
    """Each literal constant that a script reaches, changed with all others, has another hash there."""
    texts = {file: change_constants(text, *literal_constants(text)) for file, text in FILES.items()}
    changed, constants = CodeBase(write(tmp_path, texts)), reached_constants(fingerprints)

    def own_hashes(code: CodeBase, script: str, label: str) -> list[str]:
        return [code.own_hash(unit) for unit in code.units(script)[label]]

    assert [
        label
        for label, script in constants.items()
        if own_hashes(changed, script, label) == own_hashes(code, script, label)
    ] == []
    assert len(constants) > 50


def test_each_constant_is_part_of_the_digest(
    tmp_path: Path, code: CodeBase, fingerprints: Mapping[str, Fingerprint]
) -> None:
    """Another value of one that a script reaches is another digest of the script, of every tenth at least."""
    for label, script in [*reached_constants(fingerprints).items()][::10]:
        module, _, name = label.partition(":")
        files = dict(code.bundle(script))
        (file,) = (file for file in files if module_name(file) == module)
        files[file] = change_constants(files[file], name)
        root = write(tmp_path / label, files)
        assert CodeBase(root).fingerprint(script).digest != fingerprints[script].digest, label


def test_changed_constants_concern_only_who_uses_them(
    tmp_path: Path, fingerprints: Mapping[str, Fingerprint]
) -> None:
    """zstd's level renews those scripts that write zstd files, and no other."""
    file, name = "pipeline/common/lines.py", "ZSTD_LEVEL"
    code = CodeBase(write(tmp_path, {**FILES, file: change_constants(FILES[file], name)}))
    renewed = {s for s in SCRIPTS if code.fingerprint(s).digest != fingerprints[s].digest}
    assert renewed == {s for s in SCRIPTS if f"pipeline.common.lines:{name}" in fingerprints[s].parts}
    assert 0 < len(renewed) < len(SCRIPTS)


def test_bundles_are_closed(tmp_path: Path, code: CodeBase, fingerprints: Mapping[str, Fingerprint]) -> None:
    """A bundle's own fingerprint is the script's: nothing that counts was left out, nor anything put in."""
    with shared_parsing():
        for script in SCRIPTS:
            root = write(tmp_path / "bundle", code.bundle(script))
            assert CodeBase(root).fingerprint(script) == fingerprints[script]
            shutil.rmtree(root)


def test_bundles_have_every_name_that_they_use(code: CodeBase) -> None:
    """By the compiler's account: a global that a function loads is bound in its module, or built in."""
    for script in SCRIPTS:
        bundle = code.bundle(script)
        for file, text in bundle.items():
            loaded = set(_loaded_globals(compile(text, file, "exec")))
            assert loaded - _bound(text) - BUILT_IN == set(), f"{script}: {file}"
            assert text.count("\n") == FILES[file].count("\n")


BUILT_IN = {*dir(builtins), "__file__"}


def _loaded_globals(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _loaded_globals(constant)


def _bound(text: str) -> set[str]:
    return {
        symbol.get_name()
        for symbol in symtable.symtable(text, "module", "exec").get_symbols()
        if symbol.is_assigned() or symbol.is_imported()
    }


# Asks scripts for help, each in a process forked from here in which its bundle comes first and the
# orchestrator cannot be imported. Libraries that many import are there before; to collect them as garbage and
# to take them apart at the end would take as long as all the rest.
ASKING = """
import gc, os, runpy, sys
from pathlib import Path
import numpy, requests, yaml, zstandard

sys.dont_write_bytecode = True
gc.disable()
gc.freeze()
sys.modules["translations_assets"] = sys.modules["dagster"] = None

def ask(script, folder):
    if not (child := os.fork()):
        sys.path.insert(0, str(folder / script))
        sys.argv = [script, "--help"]
        for descriptor, name in enumerate(("out", "err"), 1):
            os.dup2(os.open(folder / f"{script}.{name}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), descriptor)
        try:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
            code = 99
        except SystemExit as end:
            code = end.code or 0
        own = [module for name, module in sys.modules.items() if name.partition(".")[0] == "pipeline"]
        if strange := [one.__file__ for one in own if folder / script not in Path(one.__file__).parents]:
            os.write(2, f"not from its bundle: {strange}".encode())
        sys.stdout.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, *((folder / f"{script}.{name}").read_text() for name in ("out", "err"))

failed = []
for script in sys.argv[2:]:
    folder = Path(sys.argv[1])
    code, out, err = ask(script, folder)
    if code or err or not out.startswith("usage:"):
        failed.append(f"{script}: {code}: {err}")
sys.exit(", ".join(failed) or 0)
"""


def ask_for_help(bundles: Path, scripts: Sequence[str]) -> str:
    """Run bundled scripts with `--help` in an empty folder, with next to nothing in the environment.

    What is wrong with them.
    """
    elsewhere = bundles / "empty"
    elsewhere.mkdir()
    command = [sys.executable, "-c", ASKING, str(bundles), *scripts]
    environment = {"PATH": os.defpath, "COLUMNS": "100"}
    result = subprocess.run(
        command, cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=600
    )
    assert list(elsewhere.iterdir()) == []
    assert (result.returncode == 0) == (result.stderr == "")
    return result.stderr


@pytest.mark.slow
def test_each_tells_help_from_its_bundle_alone(tmp_path: Path, code: CodeBase) -> None:
    """It ends with 0 and prints to standard output alone, where nothing but the bundle is importable, neither
    the orchestrator; it leaves no file. A file that is left out is missing.
    """
    for script in SCRIPTS:
        write(tmp_path / script, code.bundle(script))
    assert ask_for_help(tmp_path, SCRIPTS) == ""


def test_a_script_that_needs_the_orchestrator_would_be_found(tmp_path: Path, code: CodeBase) -> None:
    split = "pipeline.translate.split"
    write(tmp_path / split, code.bundle(split))
    write(tmp_path / "broken", {"broken.py": "import translations_assets\n", "pipeline/common/a.py": ""})
    told = ask_for_help(tmp_path, [split, "broken"])
    assert told.startswith("broken: 1: Traceback")
    assert split not in told


PROGRAM = """
import sys
from pathlib import Path
from translations_assets.keys.code.fingerprint import CodeBase
code = CodeBase(Path(sys.argv[1]))
for script in sys.argv[2:]:
    fingerprint = code.fingerprint(script)
    print(script, fingerprint.digest, *sorted(fingerprint.imports))
"""


def interpreter(version: str) -> str | None:
    """A Python of a version, None when this machine has none."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(installed[-1]) if installed else shutil.which(f"python{version}")


OTHER_VERSIONS = {"3.10", "3.11", "3.12", "3.13"} - {f"{sys.version_info.major}.{sys.version_info.minor}"}


@pytest.mark.parametrize("version", sorted(OTHER_VERSIONS))
def test_every_interpreter_computes_the_same(
    version: str, tmp_path: Path, snapshot: Path, fingerprints: Mapping[str, Fingerprint]
) -> None:
    """The digest is that of the code, not of the Python that reads it."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no interpreter of version {version} was found")
    for package in (packaging, translations_assets):
        shutil.copytree(Path(str(package.__file__)).parent, tmp_path / package.__name__)
    command = [python, "-c", PROGRAM, str(snapshot), *SCRIPTS]
    environment = {"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]}
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    expected = [" ".join([s, f.digest, *sorted(f.imports)]) for s, f in fingerprints.items()]
    assert result.stdout.splitlines() == expected, result.stderr
