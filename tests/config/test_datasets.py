"""Dataset keys."""

import hashlib
import re
import unicodedata

import pytest
from hypothesis import example, given
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
        ("wmt24pp_aug-mix_test", "wmt24pp", "mix", "test"),
        ("flores200-plus_devtest", "flores200-plus", None, "devtest"),
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
        ("opus_Œuvres_complètes/v1", "opus_Œuvres_complètes_v1"),
        ("opus_हिन्दी/v1", "opus_हिन्दी_v1"),
        ("opus_a…b/v1", "opus_a_b_v1"),
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
    assert re.fullmatch("url_x__c_[0-9a-f]{6}", parse_dataset("url_http://X:80/[LANG].c.gz").slug)


def test_the_slug_of_a_url_holds_nothing_secret_of_it() -> None:
    slug = parse_dataset("url_https://me:password@x.org/c.[LANG].gz?sig=s3cret/x").slug
    assert re.fullmatch("url_x_org_c_[0-9a-f]{6}", slug)


def test_urls_that_differ_in_their_folders_have_different_slugs() -> None:
    slugs = {parse_dataset(f"url_https://x.org/{folder}/c.[LANG].zst").slug for folder in "abc"}
    assert len(slugs) == 3


def combining(character: str) -> bool:
    return unicodedata.category(character).startswith(("M", "N"))


LONG = "mtdata_ELRC-convention_against_torture_other_cruel_inhuman_or_degrading_treatment-1-ell-eng"
CUT = "mtdata_ELRC-convention_against_torture_other_cruel_inhuma_0a8257"  # md5sum: 0a82579b4c5a…


def test_a_long_name_is_cut_as_upstream_cuts_it() -> None:
    assert parse_dataset(LONG).slug == CUT
    name = f"aug-upper_{LONG.removeprefix('mtdata_')}"  # of a modified one all but the provider counts
    digest = hashlib.md5(name.encode()).hexdigest()
    assert parse_dataset(f"mtdata_{name}").slug == f"mtdata_{name[:50]}_{digest[:6]}"


@given(st.sampled_from(["mtdata", "opus", "url", "flores_aug-upper"]), st.from_regex(r"\S+", fullmatch=True))
@example("url", f"https://x.org/{'a' * 80}.[LANG].zst")
@example("url", "https://[x")
@example("opus", "/v1".rjust(90, "ä"))
def test_any_name_makes_a_slug_for_labels_which_is_its_own(provider: str, name: str) -> None:
    slug = parse_dataset(f"{provider}_{name}").slug
    assert all(character.isalnum() or character in "_-" or combining(character) for character in slug)
    assert parse_dataset(slug).slug == slug


@given(st.from_regex(r"[^:\s]+", fullmatch=True))
def test_slugs_of_names_are_short(name: str) -> None:
    assert len(parse_dataset(f"mtdata_{name}").slug) <= len("mtdata_") + 50 + 7
