"""Tests of the secret parts of URLs, and of URLs as they are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.common import urls as scripts
from tests.config.texts import SMALL, problem_of, problems_of, with_line
from translations_assets.config.datasets import parse_dataset
from translations_assets.config.load import parse_config
from translations_assets.config.urls import login_variable, shown

SECRET = "s3cret"


def with_url(url: str) -> str:
    return with_line(f"    - 'url_{url}'", "    - opus_ParaCrawl/v9")


@pytest.mark.parametrize(
    "url",
    [
        f"https://me:{SECRET}@data.example.org/c.[LANG].zst",
        f"https://{SECRET}@data.example.org/c.[LANG].zst",
        f"https://me:{SECRET}@x@data.example.org/c.[LANG].zst",
        *(
            f"https://data.example.org/c.[LANG].zst?a=1&{name}={SECRET}"
            for name in (
                "sig",
                "token",
                "X-Amz-Signature",
                "X-Goog-Credential",
                "AWSAccessKeyId",
                "Signature",
            )
        ),
        *(
            f"https://data.example.org/c.[LANG].zst?{name}={SECRET}"
            for name in ("api_key", "access-token", "pwd", "x-accesskey", "my.authtoken")
        ),
        f"https://data.example.org/c.[LANG].zst?sig={SECRET}&sig=",
    ],
)
def test_logins_and_signatures_are_refused_with_advice(url: str) -> None:
    (found,) = problems_of(with_url(url))
    assert found.startswith("8 datasets.train[1]: the URL")
    assert (
        "which would stand in logs and records. Take it out of https://data.example.org/c.[LANG].zst" in found
    )
    assert "TRANSLATIONS_LOGIN_DATA_EXAMPLE_ORG" in found
    assert SECRET not in found
    section = f"continuation: {{models: {{backwards: {{url: '{url}', mode: use}}}}}}\n"
    assert SECRET not in problem_of(SMALL + section)
    tmx = with_url(url).replace("'url_", "'tmx_")
    assert SECRET not in problem_of(tmx)


@pytest.mark.parametrize("query", ["", "?raw=true", "?version=2&lang=sv", "?monkey=1&design=2", "?download"])
def test_other_queries_are_taken(query: str) -> None:
    assert parse_config(with_url(f"https://data.example.org/c.[LANG].zst{query}"), "my.yml").datasets.train[1]


@pytest.mark.parametrize(
    "url",
    [
        "https://[x/c.[LANG]",
        "https://x:port/[LANG]",
        "https://x:99999/[LANG]",
        "https:///[LANG]",
        "ftp://x/[LANG]",
        "https://x.org/a%00b.[LANG]",
    ],
)
def test_what_is_no_url(url: str) -> None:
    assert "is not a URL" in problem_of(with_url(url))


def test_no_message_holds_a_login_or_a_query() -> None:
    url = f"url_https://me:{SECRET}@x.org/c.[LANG]?sig={SECRET}"
    text = with_url("https://x.org/").replace("'url_https://x.org/'", f"'{url}'\n    - '{url}'")
    text = text.replace("- flores_dev\n", f"- '{url}'\n").replace("- opus_ParaCrawl/v9", f"- 'hplt_{url}'")
    found = "\n".join(problems_of(text))
    assert "x.org" in found
    assert SECRET not in found
    assert SECRET not in parse_dataset(url).slug


def test_urls_are_shown_without_login_and_query() -> None:
    assert shown("url_https://me:pass@x.org:80/a/[LANG].zst?sig=1#2") == "url_https://x.org:80/a/[LANG].zst"
    assert shown("https://me:p@ss@x.org") == "https://x.org"
    assert shown("gs://bucket/a@b/c") == "gs://bucket/a@b/c"
    assert shown("opus_ParaCrawl/v9") == "opus_ParaCrawl/v9"


def test_logins_by_host() -> None:
    assert (
        login_variable("https://data-1.example.org:8080/a/[LANG]") == "TRANSLATIONS_LOGIN_DATA_1_EXAMPLE_ORG"
    )
    assert login_variable("gs://bucket/a") == login_variable("file:///a") == login_variable("pontoon") == ""


@given(st.text())
def test_scripts_show_urls_alike(text: str) -> None:
    assert scripts.shown(f"https://{text}") == shown(f"https://{text}")


@given(st.from_regex(r"[a-z][a-z0-9.-]{0,20}", fullmatch=True))
def test_scripts_call_logins_alike(host: str) -> None:
    assert scripts.login_variable(host) == login_variable(f"https://{host}/a")
