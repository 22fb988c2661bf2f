"""Lines of code of the orchestrator, without blank lines, comments and docstrings; `--since` compares."""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tempfile
import tokenize
from collections import Counter
from pathlib import Path

from translations_assets.common.settings import repository_root

PACKAGE = "translations_assets"
_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def main() -> None:
    """Print a line for each package: lines now, and at the commit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--since", metavar="COMMIT", help="compare with the package as of a commit")
    since = parser.parse_args().since
    now = lines_by_package(repository_root())
    before: Counter[str] = Counter()
    if since:
        with tempfile.TemporaryDirectory() as folder:
            archive = subprocess.run(
                ["git", "archive", since, PACKAGE], cwd=repository_root(), stdout=subprocess.PIPE, check=True
            )
            subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
            before = lines_by_package(Path(folder))
    for name in sorted(now | before):
        print(f"{before[name] or '':>8}{now[name]:>8}  {name}")
    change = f" ({now.total() / before.total() - 1:+.1%})" if since else ""
    print(f"{before.total() or '':>8}{now.total():>8}  in all{change}")


def lines_by_package(root: Path) -> Counter[str]:
    """Package → lines of code in the modules that lie in it."""
    lines: Counter[str] = Counter()
    for path in (root / PACKAGE).rglob("*.py"):
        lines[".".join(path.parent.relative_to(root).parts)] += lines_of_code(path.read_text("utf-8"))
    return lines


def lines_of_code(source: str) -> int:
    """Lines of a module that hold a token of code; a docstring's are none."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NOT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if ast.get_docstring(node, clean=False) is not None and first is not None:
                code.difference_update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(code)


if __name__ == "__main__":
    main()
