"""Files that a config may name, told when it is checked."""

from functools import partial
from pathlib import Path

import pytest

from tests.config.texts import SMALL, problem_of, with_line
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import parse_config
from translations_assets.config.sources import check_files


def problems(text: str, *folders: str) -> list[str]:
    try:
        parse_config(text, "my.yml", partial(check_files, folders=folders))
    except ConfigError as error:
        return [f"{problem.line} {problem.key}: {problem.message}" for problem in error.problems]
    return []


def with_url(url: str) -> str:
    return with_line(f"    - url_{url}", "    - opus_ParaCrawl/v9")


def test_files_below_the_folders(tmp_path: Path) -> None:
    text = with_url(f"file://{tmp_path}/c.[LANG].zst")
    assert (
        problems(text, str(tmp_path))
        == problems(text, "/")
        == problems(with_url("https://x.org/[LANG]"))
        == []
    )
    (found,) = problems(text, "/other")
    assert found.startswith(
        f"8 datasets.train[1]: {tmp_path}/c.LANG.zst must not be read here: files may lie"
    )
    assert "below /other; put it there, or have its folder named in" in found
    assert "files may lie in a mirror" in problems(text)[0]
    (tmp_path / "link").symlink_to("/other")
    assert problems(with_url(f"file://{tmp_path}/link/c.[LANG]"), str(tmp_path))


@pytest.mark.parametrize(
    "place", ["/etc/passwd.[LANG]", "/proc/self/[LANG]", "/../dev/[LANG]", "/%65tc/[LANG]"]
)
def test_files_of_the_system(place: str) -> None:
    (found,) = problems(with_url(f"file://{place}"), "/")
    assert "is a file of the system" in found


def test_files_of_mono_text_and_of_earlier_runs(tmp_path: Path) -> None:
    mono = SMALL + "  mono-trg:\n    - {dataset: 'url_file:///etc/passwd', alias: users}\n"
    assert problems(mono, "/") == [
        "13 datasets.mono-trg[0]: /etc/passwd is a file of the system, which no config may name"
    ]
    section = "continuation: {models: {backwards: {url: 'file:///etc/x', mode: use}}}\n"
    (found,) = problems(SMALL + section, "/")
    assert found.startswith("12 continuation.models.backwards.url: /etc/x is a file of the system")
    model = "{name: mine, form: marian, url: 'file:///etc/x'}"
    (found,) = problems(f"{SMALL}final-evaluation: {{models: [{model}]}}\n", "/")
    assert found.startswith("12 final-evaluation.models[0].url: /etc/x is a file of the system")


@pytest.mark.parametrize(
    "url", ["file:///a/b?[LANG]", "https://x.org/c#[LANG]", "https://[LANG].x.org/c", "https://x.org?[LANG]"]
)
def test_the_placeholder_must_be_in_the_path(url: str) -> None:
    assert "must be in the URL's path" in problem_of(with_url(url))
    assert "must be in the URL's path" in problem_of(SMALL + f"  mono-src:\n    - url_{url}\n")
