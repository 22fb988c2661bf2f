"""The stages of datasets and merges: which steps a training config comes to, and what they read."""

from __future__ import annotations

from fractions import Fraction

from pipeline.clean import merge_mono, merge_parallel
from pipeline.clean.arguments import weights_of
from tests.stages.configs import FULL, files, graph, labels
from translations_assets.running.job import command

# Datasets


def test_a_provider_is_given_its_own_codes() -> None:
    def codes(label: str) -> tuple[object, object]:
        args = graph(FULL).step(label).args
        return args["src_code"], args["trg_code"]

    assert codes("dataset-train-opus_ParaCrawl_v9-en-ru") == ("en", "ru")
    assert codes("dataset-train-mtdata_ELRC-swedish_myndigheten-1-eng-rus-en-ru") == ("eng", "rus")
    assert codes("dataset-devtest-flores_dev-en-ru") == ("eng_Latn", "rus_Cyrl")
    assert codes("dataset-test-ntrex_test-en-ru") == ("eng", "rus")


def test_a_token_reaches_only_the_datasets_that_may_ask_for_it() -> None:
    hub = "https://huggingface.co/datasets/some/thing/resolve/main"
    asking = FULL.replace("https://example.com", hub)
    given = {step.label.split("-en")[0]: step.secrets for step in graph(asking).steps if step.secrets}
    mtdata = "dataset-train-mtdata_ELRC-swedish_myndigheten-1-eng-rus"
    assert len(given) == 3, given
    assert given[mtdata.split("-en")[0]] == ("HF_TOKEN",)
    secrets = {step.label: step.secrets for step in graph(FULL).steps if step.secrets}
    assert secrets.pop(f"{mtdata}-en-ru") == ("HF_TOKEN",)
    assert all(label.startswith("dataset-") and "-url_example_com_" in label for label in secrets)
    assert set(secrets.values()) == {("TRANSLATIONS_LOGIN_EXAMPLE_COM",)}  # a server's own login


def test_sets_of_the_hub_have_codes_and_a_script_of_their_own() -> None:
    sets = ("wmt24pp_test", "bouquet_test", "flores200-plus_devtest")
    text = FULL.replace("    - ntrex_test\n", "".join(f"    - {name}\n" for name in sets))
    labelled = {name: graph(text).step(f"dataset-test-{name}-en-ru") for name in sets}
    assert [step.script for step in labelled.values()] == [
        "pipeline.data.parallel_wmt24pp",
        "pipeline.data.parallel_bouquet",
        "pipeline.data.parallel_flores200_plus",
    ]
    assert [step.args["trg_code"] for step in labelled.values()] == ["ru_RU", "rus_Cyrl", "rus_Cyrl"]
    assert [step.secrets for step in labelled.values()] == [(), ("HF_TOKEN",), ("HF_TOKEN",)]


def test_an_augmented_dataset_is_fetched_and_then_modified() -> None:
    steps = [step for step in graph(FULL).stages["dataset_test"] if "upper" in step.label]
    fetched, augmented = steps
    assert labels(steps) == [
        "dataset-test-flores_aug-upper_devtest-en-ru-unmodified",
        "dataset-test-flores_aug-upper_devtest-en-ru",
    ]
    assert (fetched.script, augmented.script) == ("pipeline.data.parallel_flores", "pipeline.data.augment")
    assert fetched.args["dataset"] == "devtest"
    assert augmented.args["modifier"] == "upper"
    assert files(augmented, "corpus_src") == [f"{fetched.label}:corpus.en.zst"]
    held_out = files(graph(FULL).step("merge-corpus-en-ru"), "held_out_src")
    assert f"{augmented.label}:corpus.en.zst" in held_out
    assert f"{fetched.label}:corpus.en.zst" not in held_out


def test_the_corpus_holds_no_line_of_a_dev_or_test_set_and_the_dev_set_none_of_a_test_set() -> None:
    corpus, devset = graph(FULL).step("merge-corpus-en-ru"), graph(FULL).step("merge-devset-en-ru")
    assert len(files(corpus, "corpus_src")) == 3
    assert len(files(corpus, "held_out_src")) == 6
    assert len(files(devset, "corpus_trg")) == 3
    assert all(name.startswith("dataset-test-") for name in files(devset, "held_out_trg"))


def test_datasets_stand_in_the_order_of_their_names() -> None:
    step = graph(FULL).step("merge-corpus-en-ru")
    names = step.args["datasets"]
    assert isinstance(names, list)
    assert names[0] == "opus_ParaCrawl/v9"
    assert files(step, "corpus_src")[0] == "bicleaner-ai-opus_ParaCrawl_v9-en-ru:corpus.en.zst"
    assert len(names) == len(files(step, "corpus_src")) == len(files(step, "corpus_trg"))


def test_monolingual_merges_are_told_of_diverse_sampling_and_no_others() -> None:
    asking = graph(FULL.replace("datasets:", "  merging: {mono-sampling: diverse}\ndatasets:", 1))
    usual = graph(FULL.replace("datasets:", "  merging: {mono-sampling: uniform}\ndatasets:", 1))
    for side in ("src-en", "trg-ru"):
        label = f"merge-mono-{side}"
        assert merge_mono.parse_arguments(command(asking.step(label))).diverse
        assert usual.step(label).args == graph(FULL).step(label).args
        assert asking.step(label).args == {**usual.step(label).args, "diverse": True}
    assert asking.step("merge-corpus-en-ru").args == graph(FULL).step("merge-corpus-en-ru").args


def test_merges_are_told_of_near_duplicates_and_weights() -> None:
    section = (
        "  corpus-max-sentences: 1000\n"
        "  merging:\n"
        "    near-duplicates: true\n"
        "    dataset-weights:\n"
        "      train: {opus_ParaCrawl_v9: 2}\n"
        "      mono-trg: {opus_NewsCommentary_v16: 0.25}\n"
    )
    asking = graph(FULL.replace("datasets:", f"{section}datasets:", 1))
    corpus = merge_parallel.parse_arguments(command(asking.step("merge-corpus-en-ru")))
    source, target = (
        merge_mono.parse_arguments(command(asking.step(f"merge-mono-{side}")))
        for side in ("src-en", "trg-ru")
    )
    assert [args.near_duplicates for args in (corpus, source, target)] == [True, True, True]
    assert [weights_of(args) for args in (corpus, source, target)] == [[2, 1, 1], None, [1, Fraction(1, 4)]]
    assert {"near_duplicates", "weights"}.isdisjoint(asking.step("merge-devset-en-ru").args)


def test_without_wishes_merges_are_as_they_were_before_there_were_any() -> None:
    for label in ("corpus-en-ru", "devset-en-ru", "mono-src-en", "mono-trg-ru"):
        args = graph(FULL).step(f"merge-{label}").args
        assert set(args) <= {"src", "trg", "lang", "datasets", "max_sentences", "seed"}
