"""Dataset keys."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translations_assets.config.datasets import Dataset, parse_dataset
from translations_assets.config.errors import ConfigError


@pytest.mark.parametrize(
    ("key", "provider", "augmentation", "name"),
    [
        ("opus_ELRC_2922/v1", "opus", None, "ELRC_2922/v1"),
        ("news-crawl_news.2021", "news-crawl", None, "news.2021"),
        ("flores_aug-upper_devtest", "flores", "upper", "devtest"),
        ("mtdata_aug-inline-noise_Neulab-tedtalks_dev-1-eng-pol", "mtdata", "inline-noise",
         "Neulab-tedtalks_dev-1-eng-pol"),
        ("sacrebleu_wmt20/dev", "sacrebleu", None, "wmt20/dev"),
        ("url_https://host/a_b.[LANG].zst", "url", None, "https://host/a_b.[LANG].zst"),
    ],
)  # fmt: skip
def test_parts_of_a_key(key: str, provider: str, augmentation: str | None, name: str) -> None:
    assert parse_dataset(key) == Dataset(key, provider, augmentation, name)


@pytest.mark.parametrize("key", ["", "opus", "_x", "opus_", "Opus_x", "opus_a b", "opus_a\n", "-x_y"])
def test_what_is_no_key(key: str) -> None:
    with pytest.raises(ConfigError, match="is not a dataset key"):
        parse_dataset(key)


@pytest.mark.parametrize(
    ("key", "slug"),
    [
        ("opus_ParaCrawl/v9", "opus_ParaCrawl_v9"),
        ("news-crawl_news.2008", "news-crawl_news_2008"),
        ("flores_aug-mix_dev", "flores_aug-mix_dev"),
        ("sacrebleu_a:b@c[d]", "sacrebleu_a_b_c_d_"),
        (f"mtdata_{'a' * 50}", f"mtdata_{'a' * 50}"),
        # md5 of 51 times "a" begins with 90ef1e
        (f"mtdata_{'a' * 51}", f"mtdata_{'a' * 50}_"),
    ],
)
def test_slugs_are_upstreams(key: str, slug: str) -> None:
    made = parse_dataset(key).slug
    assert made == slug or (made.startswith(slug) and re.fullmatch("[0-9a-f]{6}", made.removeprefix(slug)))


def test_the_slug_of_a_url_holds_its_host_and_file() -> None:
    url = "https://storage.googleapis.com/releng-translations-dev/data/en-ru/pytest-dataset.[LANG].zst"
    assert re.fullmatch("url_gcp_pytest-dataset_[0-9a-f]{6}", parse_dataset(f"url_{url}").slug)
    assert re.fullmatch("url_x_org_c_[0-9a-f]{6}", parse_dataset("url_http://x.org/d/c.[LANG].gz").slug)
    assert re.fullmatch("url_file_c_[0-9a-f]{6}", parse_dataset("url_file:///d/c.[LANG].gz").slug)
    assert re.fullmatch("url_aug-upper_x_c_[0-9a-f]{6}", parse_dataset("url_aug-upper_gs://x/c.[LANG]").slug)


def test_urls_that_differ_in_their_folders_have_different_slugs() -> None:
    slugs = {parse_dataset(f"url_https://x.org/{folder}/c.[LANG].zst").slug for folder in "abc"}
    assert len(slugs) == 3


@given(st.from_regex(r"\S+", fullmatch=True))
def test_any_name_makes_a_slug_for_labels(name: str) -> None:
    slug = parse_dataset(f"mtdata_{name}").slug
    assert re.fullmatch("[A-Za-z0-9_-]+", slug)
    assert len(slug) <= len("mtdata_") + 50 + 7
