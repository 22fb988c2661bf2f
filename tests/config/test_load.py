"""Reading configs: defaults, and every error with its line."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.config.texts import SMALL, notes_on, problem_of, problems_of, with_line
from translations_assets.config.datasets import parse_dataset
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import load_config, parse_config
from translations_assets.config.migrate import migrated


def test_a_short_config_has_the_defaults_of_production() -> None:
    config = parse_config(SMALL, "my.yml")
    experiment = config.experiment
    assert (experiment.spm_vocab_size, experiment.spm_sample_size) == (32000, 10_000_000)
    assert (experiment.teacher_mode, experiment.teacher_ensemble) == ("two-stage", 1)
    assert (experiment.student_model, experiment.best_model) == ("base-memory", "chrf")
    assert (experiment.dev_max_sentences, experiment.corpus_max_sentences) == (None, None)
    assert experiment.mono_max_sentences_trg.per_dataset == 70_000_000
    assert experiment.bicleaner.default_threshold == 0.5
    assert experiment.monocleaner.mono_src.default_threshold == 0.0
    assert config.taskcluster.split_chunks == 20
    assert config.target_stage == "evaluate-teacher"
    assert config.datasets.train == (parse_dataset("opus_ParaCrawl/v9"),)
    assert config.datasets.mono_src == ()


def test_a_section_keeps_the_defaults_of_keys_it_leaves_out() -> None:
    config = parse_config(with_line("  mono-max-sentences-src:\n    total: 5", "  trg: ru"), "my.yml")
    assert config.experiment.mono_max_sentences_src.total == 5
    assert config.experiment.mono_max_sentences_src.per_dataset == 70_000_000


def test_marian_args_lie_over_the_production_options_and_keep_their_types() -> None:
    text = SMALL + "marian-args:\n  decoding-backward:\n    beam-size: 4\n    output-sampling: [topk, 10]\n"
    args = parse_config(text, "my.yml").marian_args
    assert args.decoding_backward == {
        "beam-size": 4,
        "mini-batch-words": "2000",
        "output-sampling": ["topk", 10],
    }
    assert args.training_student == {"early-stopping": "15"}


def test_a_students_options_stand_alone_as_upstream_has_them() -> None:
    """No early-stopping is that of its training config, 20; finetuning does not take over the student's."""
    text = SMALL + "marian-args:\n  training-student:\n    disp-freq: 10\n  training-student-finetuned: {}\n"
    args = parse_config(text, "my.yml").marian_args
    assert args.training_student == {"disp-freq": 10}
    assert args.training_student_finetuned == {"early-stopping": "20"}


def test_norwegian_is_a_language_and_no_boolean() -> None:
    assert parse_config(SMALL.replace("src: en", "src: no"), "my.yml").experiment.src == "no"


def test_a_config_cannot_be_changed() -> None:
    config = parse_config(SMALL, "my.yml")
    with pytest.raises(ValidationError):
        config.experiment.name = "other"


def test_the_digest_knows_values_and_not_how_they_are_written() -> None:
    digest = parse_config(SMALL, "my.yml").digest
    top, datasets = SMALL.split("datasets:\n")
    assert parse_config("# moved\ndatasets:\n" + datasets + top, "other.yml").digest == digest
    assert parse_config(with_line("  teacher-ensemble: 1", "  trg: ru"), "my.yml").digest == digest
    assert parse_config(with_line("  teacher-ensemble: 2", "  trg: ru"), "my.yml").digest != digest


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("spm-vocab-sise: 32000", "unknown key. Did you mean 'spm-vocab-size'?"),
        ("use-opuscleaner: 'maybe'", "unknown key: a key of 2024, true or false; remove it"),
        ("spm-vocab-size: '32000'", "must be a whole number, not the text '32000'; write it without quotes"),
        ("spm-vocab-size: 32k", "must be a whole number, not the text '32k'"),
        ("spm-vocab-size: 1001", "must be a multiple of 8, not 1001; the nearest are 1000 and 1008"),
        ("spm-vocab-size: 3", "must be a multiple of 8, not 3; the least is 8"),
        ("spm-vocab-size: 0", "must be greater than 0, not 0"),
        ("spm-vocab-size:", "must be a whole number, not nothing"),
        ("spm-vocab-split: yes", "must be true or false, not the text 'yes'"),
        ("teacher-ensemble: 0", "must be 1 or more, not 0"),
        ("teacher-ensemble: 10", "must be 9 or less, not 10"),
        ("teacher-ensemble: 1.5", "must be a whole number, not the number 1.5"),
        ("teacher-ensemble: true", "must be a whole number, not true"),
        ("teacher-mode: two-stages", "must be one of one-stage, two-stage, not the text 'two-stages'."),
        ("student-model: bas", "Did you mean 'base'?"),
        ("student-model: []", "must be one of tiny, base, base-memory, not a list."),
        ("spm-norm-rule: nfkd", "must be one of nmt_nfkc, nfkc, nfc, nfd, nfkc_translit_hbs, not"),
        ("teacher-decoder: ctranslate", "Did you mean 'ctranslate2'?"),
        (
            "mono-max-sentences-src: 1.5",
            "must be a mapping with the keys total, per-dataset, not the number 1.5",
        ),
        (
            "hplt-min-doc-score: high",
            "must be a mapping with the keys mono-src, mono-trg, not the text 'high'",
        ),
        ("bicleaner:", "must be a mapping with the keys default-threshold, dataset-thresholds, not nothing"),
        ("corpus-max-sentences: -1", "must be greater than 0, not -1"),
        ("archive-corpora: 1", "must be true or false, not the number 1"),
    ],
)
def test_a_wrong_line_in_experiment(line: str, problem: str) -> None:
    key = line.partition(":")[0]
    found = problem_of(with_line(f"  {line}", "  trg: ru"))
    assert found.startswith(f"5 experiment.{key}: ")
    assert problem in found


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("2024", "must be text, not the number 2024; put it in quotes"),
        ("true", "must be text, not true; put it in quotes"),
        ("my run", "must consist of letters, digits, '.', '_' and '-', and 'my run' does not"),
        ("../up", "and '../up' does not"),
    ],
)
def test_a_wrong_experiment_name(name: str, problem: str) -> None:
    found = problem_of(SMALL.replace("name: small", f"name: {name}"))
    assert found.startswith("2 experiment.name: ")
    assert problem in found


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("xx", "'xx' is not a known language."),
        ("EN", "Did you mean 'en'?"),
        ("eng", "Did you mean 'en'?"),
        ("german", "Did you mean 'de'?"),
        ("zh-Hant", "Did you mean 'zh_hant'?"),
        ("en_xyz", "Did you mean 'en'?"),
    ],
)
def test_an_unknown_language(code: str, problem: str) -> None:
    found = problem_of(SMALL.replace("src: en", f"src: {code}"))
    assert found.startswith("3 experiment.src: ")
    assert problem in found


def test_source_and_target_must_differ() -> None:
    assert problem_of(SMALL.replace("trg: ru", "trg: en")) == (
        "4 experiment.trg: is the source language too (en)"
    )


def test_missing_keys_are_told_at_their_section() -> None:
    assert problem_of(SMALL.replace("  trg: ru\n", "")) == "1 experiment.trg: is missing"
    assert problems_of("experiment:\n  name: x\n  src: en\n  trg: ru\n") == ["1 datasets: is missing"]


@pytest.mark.parametrize(
    ("key", "category", "problem"),
    [
        ("ParaCrawl", "train", "is not a dataset key: write provider_name"),
        ("opus_Para Crawl/v9", "train", "is not a dataset key"),
        ("opsu_Books/v1", "train", "Did you mean 'opus'?"),
        (
            "news-crawl_news.2021",
            "train",
            "'news-crawl' in 'news-crawl_news.2021' provides no parallel datasets",
        ),
        ("tmx_firefox", "train", "tmx has no set 'firefox'; allowed: tmx_pontoon"),
        ("flores_test", "train", "flores has no set 'test'; allowed: flores_dev, flores_devtest"),
        ("url_https://x.org/c.en.zst", "train", "the URL needs the placeholder [LANG]"),
        ("url_ftp://x.org/c.[LANG].zst", "train", "is not a URL that can be fetched; it must begin with"),
        ("ntrex_aug-uper_test", "train", "'aug-uper' is not a modifier. Did you mean 'upper'?"),
        ("hplt_mono/v4.0", "mono-src", "does not have the form of a key of hplt, as hplt_mono/v3.0"),
        ("mtdata_x", "mono-src", "provides no mono datasets"),
        ("opus_aug-upper_x", "mono-src", "monolingual text has none"),
        ("demo_mono", "mono-trg", "the demo corpus (en, eo) has no Russian; remove 'demo_mono'"),
        ("7", "train", "must be a dataset key, or a mapping of dataset and alias"),
    ],
)
def test_a_wrong_dataset_key(key: str, category: str, problem: str) -> None:
    listed = f"  {category}:\n    - {key}\n"
    train = "  train:\n    - opus_ParaCrawl/v9\n"
    text, line = (SMALL.replace(train, listed), 7) if category == "train" else (SMALL + listed, 13)
    found = problem_of(text)
    assert found.startswith(f"{line} datasets.{category}[0]: ")
    assert problem in found


def test_an_empty_training_list() -> None:
    text = SMALL.replace("  train:\n    - opus_ParaCrawl/v9\n", "  train: []\n")
    assert problem_of(text) == "6 datasets.train: is empty; at least one is needed"


def test_a_lone_dataset_is_no_list() -> None:
    text = SMALL.replace("  train:\n    - opus_ParaCrawl/v9\n", "  train: opus_ParaCrawl/v9\n")
    assert problem_of(text).startswith("6 datasets.train: must be a list, one `- item` a line, not the text")


def test_datasets_whose_short_names_are_the_same() -> None:
    found = problem_of(with_line("    - opus_Books/v1.0\n    - opus_Books/v1_0", "    - opus_ParaCrawl/v9"))
    assert found == (
        "9 datasets.train[2]: 'opus_Books/v1_0' has the same short name as 'opus_Books/v1.0'; remove one, "
        "or give it an alias"
    )


@pytest.mark.parametrize("key", ["flores_dev", "flores_aug-upper_dev"])
def test_a_set_is_used_for_one_purpose_only(key: str) -> None:
    """Both places are told: nobody knows which is meant."""
    assert problems_of(SMALL + f"    - {key}\n") == [
        "9 datasets.devtest[0]: 'flores_dev' is in test too; a set can be used for one purpose only",
        f"12 datasets.test[1]: '{key}' is in devtest too; a set can be used for one purpose only",
    ]


def test_a_test_set_among_the_training_data() -> None:
    found = problems_of(with_line("    - flores_aug-typos_devtest", "    - opus_ParaCrawl/v9"))
    assert found[0].startswith("8 datasets.train[1]: 'flores_aug-typos_devtest' is in test too")
    assert found[1].startswith("12 datasets.test[0]: 'flores_devtest' is in train too")


def test_a_language_that_ntrex_lacks() -> None:
    text = (SMALL + "    - ntrex_test\n").replace("trg: ru", "trg: oc")
    assert problem_of(text) == "12 datasets.test[1]: NTREX-128 has no Occitan; remove 'ntrex_test'"


@pytest.mark.parametrize("size", ["96", '"96"'])
def test_a_student_that_could_not_be_quantised(size: str) -> None:
    text = f"{SMALL}marian-args:\n  training-student:\n    dim-emb: {size}\n"
    assert problem_of(text) == (
        "14 marian-args.training-student.dim-emb: 96 is not a multiple of 64, as the student's 8-bit form "
        "needs it"
    )
    parse_config(text.replace("training-student", "training-backward"), "my.yml")


def test_a_threshold_that_matches_no_dataset() -> None:
    lines = "  bicleaner:\n    dataset-thresholds:\n      opus_ParaCrawl_v90: 0.7"
    assert problem_of(with_line(lines, "  trg: ru")) == (
        "7 experiment.bicleaner.dataset-thresholds.opus_ParaCrawl_v90: matches no dataset in datasets.train."
        " Did you mean 'opus_ParaCrawl_v9'? Names: opus_ParaCrawl_v9"
    )


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("mtdata_ELRC-convention_against_torture_other_cruel_inhuman_or_degrading_treatment-1-eng-rus",
         "mtdata_ELRC-convention_against_torture_other_cruel_inhuma_e7d71e"),
        ("opus_Œuvres/v1", "opus_Œuvres_v1"),
        (f"url_file:///folder/{'a' * 60}.[LANG].zst", f"url_file_{'a' * 60}_f088ed"),
    ],
)  # fmt: skip
def test_a_threshold_in_the_documented_form_is_as_it_is_written(key: str, name: str) -> None:
    text = with_line(f"  bicleaner:\n    dataset-thresholds:\n      {name}: 0.7", "  trg: ru")
    text = text.replace("opus_ParaCrawl/v9", key)
    config = parse_config(text, "my.yml")
    assert config.experiment.bicleaner.dataset_thresholds == {name: 0.7}
    assert notes_on(text) == []
    assert migrated(text, "my.yml") == (text, [])
    by_key = text.replace(name, f"'{key}'")
    assert parse_config(by_key, "my.yml") == config
    assert migrated(by_key, "my.yml")[0] == text


def test_the_names_that_a_threshold_may_have_are_listed_the_nearest_first() -> None:
    lines = "  bicleaner:\n    dataset-thresholds: {opus_Books_1: 0.7}"
    text = with_line(lines, "  trg: ru").replace("v9\n", "v9\n    - opus_Books/v1\n")
    assert problem_of(text).endswith(
        "datasets.train. Did you mean 'opus_Books_v1'? Names: opus_Books_v1, opus_ParaCrawl_v9"
    )
    many = "".join(f"    - opus_Books/v{number}\n" for number in range(30))
    assert problem_of(text.replace("    - opus_Books/v1\n", many)).endswith(" and 11 more")
    lines = "  monocleaner:\n    mono-src: {dataset-thresholds: {opus_Books_1: 0.7}}"
    assert problem_of(with_line(lines, "  trg: ru")).endswith("in datasets.mono-src. It lists none")


def test_a_threshold_of_mono_text_is_matched_with_its_own_side() -> None:
    lines = "  monocleaner:\n    mono-trg:\n      dataset-thresholds:\n        opus_Books_v1: 0.8"
    text = with_line(lines, "  trg: ru")
    assert problem_of(text + "  mono-src:\n    - opus_Books/v1\n").startswith(
        "8 experiment.monocleaner.mono-trg"
    )
    config = parse_config(text + "  mono-trg:\n    - opus_Books/v1\n", "my.yml")
    assert config.experiment.monocleaner.mono_trg.dataset_thresholds == {"opus_Books_v1": 0.8}


def test_a_weight_of_nothing() -> None:
    weights = "    dataset-weights:\n      train:\n        opus_ParaCrawl_v9: 0"
    text = with_line(f"  corpus-max-sentences: 9\n  merging:\n{weights}", "  trg: ru")
    assert problem_of(text).endswith("opus_ParaCrawl_v9: must be greater than 0, not 0")


def test_a_pair_without_english_is_told_that_bicleaner_may_have_no_model() -> None:
    def notes(text: str) -> list[str]:
        return [note.message for note in notes_on(text) if "Bicleaner-AI" in note.message]

    pair = SMALL.replace("src: en", "src: de")
    assert notes(SMALL) == []
    (note,) = notes(pair)
    assert note.startswith("Bicleaner-AI may have no model of German and Russian")
    assert notes(pair.replace("  trg: ru", "  trg: ru\n  bicleaner: {default-threshold: 0}")) == []


def test_a_threshold_above_one() -> None:
    text = with_line("  bicleaner:\n    default-threshold: 50", "  trg: ru")
    assert problem_of(text) == "6 experiment.bicleaner.default-threshold: must be 1 or less, not 50"


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("target-stage: train-studnt", "12 target-stage: 'train-studnt' is not a stage. Did you mean"),
        ("target-stage: update-db", "12 target-stage: the stage 'update-db' is not built yet"),
        ("start-stage: nothing", "12 start-stage: 'nothing' is not a stage."),
        (
            "previous-group-ids: []\nprevious_group_ids: []",
            "13 previous_group_ids: unknown key: a key of 2024; write previous-group-ids, once",
        ),
        (
            "taskcluster:\n  worker-classes:\n    defalt: gcp-spot",
            "14 taskcluster.worker-classes.defalt: 'defalt' is neither 'default' nor a stage.",
        ),
        (
            "taskcluster:\n  worker-classes:\n    default: gcp",
            "14 taskcluster.worker-classes.default: must be one of gcp-spot, gcp-standard, not",
        ),
        (
            "marian-args:\n  training-student:\n    --after: 50u",
            "14 marian-args.training-student.--after: write options without dashes in front: after",
        ),
        (
            "marian-args:\n  training-student:\n    after:",
            "14 marian-args.training-student.after: must be text, a number, true, false, or a list of those",
        ),
        (
            "marian-args:\n  training-student: 3",
            "13 marian-args.training-student: must be a mapping, one `key:",
        ),
        (
            "marian-args:\n  training-teacher: {}\n  training-teacher-base: {}",
            "14 marian-args.training-teacher-base: unknown key: a key of 2022; training-teacher is there",
        ),
    ],
)
def test_a_wrong_line_beside_the_datasets(lines: str, problem: str) -> None:
    assert problem_of(SMALL + lines + "\n").startswith(problem)


def test_a_continuation_that_asks_for_nothing_is_allowed() -> None:
    config = parse_config(SMALL + "continuation:\n  models: {}\n", "my.yml")
    assert config.continuation.models.teacher is None


def test_all_problems_are_told_at_once_by_line() -> None:
    text = SMALL.replace("src: en", "src: xx").replace("flores_dev\n", "flores_aug-mixed_dev\n")
    text += "    - flores_dev\ntarget-stage: 5\nname: x\nname: y\n"
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "my.yml")
    lines = str(caught.value).splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "my.yml:3",
        "my.yml:9",
        "my.yml:9",
        "my.yml:12",
        "my.yml:13",
        "my.yml:14",
        "my.yml:15",
    ]


def test_a_file_is_read_and_named(tmp_path: Path) -> None:
    path = tmp_path / "en-ru.small.yml"
    path.write_text(SMALL, encoding="utf-8-sig")
    assert load_config(path) == parse_config(SMALL, "elsewhere")
    path.write_text(SMALL + "unknown: 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}:12: unknown: unknown key.")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yml"
    latin.write_bytes(b"experiment:\n  name: caf\xe9\n")
    for path, message in (
        (tmp_path / "absent.yml", f"{tmp_path}/absent.yml: there is no such file"),
        (tmp_path, f"{tmp_path}: is a folder; give the YAML file of a training config"),
        (latin, f"{latin}:2: is not UTF-8 (byte 0xe9); save it as UTF-8"),
    ):
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        assert str(caught.value) == message
