"""Tests that upstream's spellings are accepted: same meaning, a note for each change, and after migrating."""

import pytest

from tests.config.texts import SMALL, notes_on, problem_of, problems_of, with_line
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import parse_config, read_values
from translations_assets.config.migrate import migrated
from translations_assets.config.schema import TrainingConfig

STUDENT = "  student-model: tiny\n  teacher-mode: one-stage"  # so that only what is tried is noted


def experiment(lines: str) -> str:
    return with_line(f"{STUDENT}\n{lines}", "  trg: ru")


def both(text: str) -> TrainingConfig:
    """A config that is the same before and after it is migrated, which leaves nothing to do."""
    config = parse_config(text, "my.yml")
    new, _ = migrated(text, "my.yml")
    assert parse_config(new, "my.yml").digest == config.digest
    assert read_values(new, "my.yml").notes == []
    return config


def told(text: str) -> list[str]:
    return [f"{note.line} {note.key}: {note.message}" for note in notes_on(text)]


@pytest.mark.parametrize(
    ("key", "model"),
    [
        ("backtranslations-train-backwards-model", "backwards"),
        ("train-backwards", "backwards"),
        ("train-teacher-model", "teacher"),
    ],
)
def test_models_by_the_names_of_their_stages(key: str, model: str) -> None:
    urls = f"    {key}:\n      urls:\n        - https://example.org/1\n      mode: use\n      type: default"
    config = both(experiment(f"  pretrained-models:\n{urls}"))
    read = config.continuation.models.model_dump()[model]
    assert (read["mode"], read.get("url") or read["urls"]) in (
        ("use", "https://example.org/1"),
        ("use", ("https://example.org/1",)),
    )


@pytest.mark.parametrize("empty", ["{}", "", "[]"])
def test_models_that_name_nothing(empty: str) -> None:
    text = experiment("  pretrained-models: {}") + f"pretrained-models: {empty}\n"
    both(text)
    assert told(text) == [
        "7 experiment.pretrained-models: a key of 2024; removed, as it names nothing",
        "15 pretrained-models: a key of 2024; removed, as it names nothing",
    ]


def test_perplexity_chooses_the_model_that_cross_entropy_chooses() -> None:
    config = both(experiment("  best-model: perplexity # as ever"))
    assert config.experiment.best_model == "ce-mean-words"
    text = migrated(experiment("  best-model: perplexity # as ever"), "my.yml")[0]
    assert "  best-model: ce-mean-words # as ever\n" in text


def test_the_first_spelling_of_the_vocabularys_size() -> None:
    assert both(experiment("  spm_vocab_size: 4_000")).experiment.spm_vocab_size == 4000


def test_the_sections_of_2021() -> None:
    sections = (
        "dirs:\n  data-root: /data\n  cuda: /usr/local/cuda\nresources:\n  gpus: 4\n  split-length: 100\n"
    )
    training = "training:\n  s2s:\n    after-epochs: 10\n  teacher-all:\n    after-batches: 500\n"
    config = both(experiment("  bicleaner-threshold: 0.7") + sections + training)
    assert config.experiment.bicleaner.default_threshold == 0.7
    assert config.marian_args.training_backward == {"early-stopping": "5"}
    assert {note.partition(":")[0] for note in told(SMALL + sections)} >= {"12 dirs", "15 resources"}


def test_epochs_of_old_configs_are_those_of_the_curriculums() -> None:
    training = (
        "training:\n  s2s:\n    after-epochs: 12\n    early-stopping: 7\n"
        "  teacher-parallel:\n    after-epochs: 3\n  student-finetuned:\n    after-batches: 500\n"
    )
    args = both(SMALL + training).marian_args
    assert args.training_backward == {"early-stopping": 7}
    assert args.training_student_finetuned == {"early-stopping": "20", "after": "500u"}
    (note,) = [note for note in told(SMALL + training) if " training:" in note]
    assert (
        "read as marian-args without s2s.after-epochs: 12, teacher-parallel.after-epochs: 3: the curr" in note
    )

    given = "marian-args:\n  training-student:\n    after: 9e\n    disp-freq: 5\n"
    assert both(experiment("  vocab: ''") + given).marian_args.training_student == {"disp-freq": 5}
    assert "after: 5000u" in problem_of(with_line(STUDENT, "  trg: ru") + given)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("mtdata_JW300", "'mtdata_JW300' was withdrawn: the owner of its text does not allow its use"),
        ("mtdata_newstest2019_ruen", "is a name of 2021, which mtdata has no more"),
        ("custom-corpus_/data/europarl.en-ru", "files are named url_file:///folder/name.[LANG].gz now"),
        ("mtdata_Tilde-airbaltic", "does not have the form of a key of mtdata"),
    ],
)
def test_names_of_datasets_that_are_no_more(key: str, said: str) -> None:
    found = problem_of(SMALL.replace("opus_ParaCrawl/v9", key))
    assert found.startswith("7 datasets.train[0]: ")
    assert said in found


def test_variants_of_2023() -> None:
    """`-strict` is what changes all lines today; what changed a tenth beside it has no equal, and goes."""
    sets = (
        "    - flores_aug-title_devtest # a tenth\n"
        "    - flores_aug-title-strict_devtest # all\n"
        "    - flores_aug-upper-strict_devtest\n"
    )
    text = with_line(STUDENT, "  trg: ru") + sets
    config = both(text)
    assert [each.key for each in config.datasets.test] == [
        "flores_devtest",
        "flores_aug-title_devtest",
        "flores_aug-upper_devtest",
    ]
    assert migrated(text, "my.yml")[0].endswith(
        "    - flores_devtest\n    - flores_aug-title_devtest # all\n    - flores_aug-upper_devtest\n"
    )
    assert [note.partition(": ")[0] for note in told(text)] == [
        "14 datasets.test[1]",
        "15 datasets.test[2]",
        "16 datasets.test[3]",
    ]


def test_an_empty_section_that_stands_twice() -> None:
    empty, full = (
        "continuation:\n  # of the template\n  models: {}\n",
        ("continuation:\n  models:\n    backwards:\n      url: https://example.org/1\n      mode: use\n"),
    )
    for text, goes, stays in ((empty + full, 14, 17), (full + empty, 19, 14)):
        whole = with_line(STUDENT, "  trg: ru") + text
        backwards = both(whole).continuation.models.backwards
        assert backwards is not None
        assert backwards.url == "https://example.org/1"
        (note,) = told(whole)
        assert note.endswith(f"the one in line {goes} is empty, so that in line {stays} counts")
        assert "# of the template\n" in migrated(whole, "my.yml")[0]
    assert problems_of(with_line(STUDENT, "  trg: ru") + full + full) == [
        "19 continuation: stands here a second time; first in line 14"
    ]


def test_an_empty_section_in_brackets_is_removed_by_hand() -> None:
    text = "{experiment: {name: x, src: en, trg: ru}, datasets: {}, datasets: {devtest: [a], test: [b]}}"
    with pytest.raises(ConfigError, match="remove it"):
        migrated(text, "my.yml")


def test_a_file_of_taskclusters_parameters() -> None:
    config = "".join(f"  {line}\n" for line in with_line(STUDENT, "  trg: ru").splitlines())
    text = f"base_ref: main\nfilters:\n- one\nexisting_tasks: {{}}\ntraining_config:\n{config}version: null\n"
    assert both(text).experiment.student_model == "tiny"
    assert migrated(text, "my.yml")[0] == with_line(STUDENT, "  trg: ru")
    assert [note.partition(":")[0] for note in told(text)] == [
        "1 base_ref",
        "2 filters",
        "4 existing_tasks",
        "5 training_config",
        "19 version",
    ]


def test_sets_of_other_pairs_go_from_a_config_for_upstream() -> None:
    sets = "    - sacrebleu_wmt09\n    - sacrebleu_wmt19\n    - mtdata_Neulab-tedtalks_test-1-eng-hun\n"
    old = experiment("  vocab: ''") + sets
    assert [each.key for each in both(old).datasets.test] == ["flores_devtest", "sacrebleu_wmt19"]
    gone = [note.partition(": ") for note in told(old) if "is not of English and Russian; removed" in note]
    assert [where for where, _, _ in gone] == ["15 datasets.test[1]", "17 datasets.test[3]"]
    for text, refused in (
        (experiment("  archive-corpora: false") + sets, ["17 datasets.test[2]"]),  # as it is written now
        (with_line(STUDENT, "  trg: ru") + sets, ["14 datasets.test[1]", "16 datasets.test[3]"]),
    ):
        assert [problem.partition(":")[0] for problem in problems_of(text)] == refused
    alone = experiment("  archive-corpora: false").replace("flores_devtest", "sacrebleu_wmt09")
    assert "'sacrebleu_wmt09' is not of" in problem_of(alone)


def test_an_ensemble_for_ctranslate2_in_a_config_for_upstream() -> None:
    lines = "  teacher-decoder: ctranslate2\n  teacher-ensemble: 2"
    assert both(experiment(f"{lines}\n  archive-corpora: false")).experiment.teacher_decoder == "marian"
    assert "CTranslate2 decodes with one teacher" in problem_of(experiment(lines))


def test_the_mix_without_case() -> None:
    key = "flores_aug-mix-nocase_devtest"
    assert both(SMALL + f"    - {key}\nchecks: {{}}\n").datasets.test[1].augmentation == "mix-nocase"


def test_a_url_on_a_line_of_its_own_has_no_line_break() -> None:
    vocab = "continuation:\n  vocab:\n    src: |\n      https://example.org/a.spm\n    trg: >\n      https://example.org/a.spm\n"
    read = both(SMALL + vocab).continuation.vocab
    assert read is not None
    assert read.src == read.trg == "https://example.org/a.spm"


@pytest.mark.parametrize(
    ("section", "options", "times"),
    [
        ("training-teacher", "optimizer-delay: 4", "2"),
        ("training-student-finetuned", "optimizer-delay: '2'", "0.5"),
        ("training-backward", "optimizer-delay: 3", "3"),
        ("training-teacher", "optimizer-delay: 4\n    mini-batch-fit: true", None),
        ("training-teacher", "disp-freq: 4", None),
    ],
)
def test_what_divides_a_batch_here_and_multiplies_it_at_upstream_is_noted(
    section: str, options: str, times: str | None
) -> None:
    text = with_line(STUDENT, "  trg: ru") + f"marian-args:\n  {section}:\n    {options}\n"
    found = told(text)
    assert len(found) == (times is not None)
    assert all(f"would be {times} times" in note for note in found)
