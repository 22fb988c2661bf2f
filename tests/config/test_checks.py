"""Checks across keys: languages and datasets, ensembles, what is continued."""

import pytest

from tests.config.texts import SMALL, notes_on, problem_of, problems_of, with_line
from translations_assets.config.continuation import check_continuation
from translations_assets.config.load import parse_config

VOCAB = "  vocab:\n    src: https://example.org/v.spm\n    trg: https://example.org/v.spm\n"
CORPUS = "src: https://example.org/c.en.zst\n      trg: https://example.org/c.ru.zst\n"


def with_dataset(key: str) -> str:
    return with_line(f"    - {key}", "    - opus_ParaCrawl/v9")


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("mtdata_Tilde-airbaltic-1-eng-deu", "is of eng and deu, and the config of eng and rus"),
        ("mtdata_Tilde-airbaltic-1-deu-eng", "is of deu and eng"),
        ("mtdata_Tilde-airbaltic", "does not have the form of a key of mtdata, as mtdata_Tilde"),
        ("sacrebleu_wmt19/original", "sacreBLEU has no set 'wmt19/original'."),
        ("sacrebleu_wmt91", "sacreBLEU has no set 'wmt91'. Did you mean 'wmt"),
        ("sacrebleu_multi30k/2018", "'sacrebleu_multi30k/2018' is not of English and Russian; with it: "),
        ("opus_ParaCrawl", "does not have the form of a key of opus, as opus_ParaCrawl/v9"),
    ],
)
def test_a_dataset_of_another_pair_or_form(key: str, problem: str) -> None:
    found = problem_of(with_dataset(key))
    assert found.startswith("8 datasets.train[1]: ")
    assert problem in found


@pytest.mark.parametrize(
    ("src", "trg", "key"),
    [
        ("en", "ru", "mtdata_Tilde-airbaltic-1-rus-eng"),
        ("en", "zh", "mtdata_Neulab-tedtalks_train-1-eng-zho_CN"),
        ("en", "sr", "mtdata_X-y-1-eng-hbs"),
        ("no", "en", "mtdata_X-y-1-nob-eng"),
        ("lv", "en", "mtdata_X-y-1-eng-lvs"),
        ("en", "ru", "sacrebleu_wmt19"),
        ("ru", "en", "sacrebleu_wmt22"),
    ],
)
def test_a_dataset_of_the_pair(src: str, trg: str, key: str) -> None:
    text = with_dataset(key).replace("src: en", f"src: {src}").replace("trg: ru", f"trg: {trg}")
    parse_config(text, "my.yml")


def test_pontoon_translates_from_english() -> None:
    text = with_dataset("tmx_aug-upper_pontoon").replace("src: en", "src: de")
    assert problem_of(text).startswith(
        "8 datasets.train[1]: 'tmx_aug-upper_pontoon' is translated from English"
    )
    parse_config(with_dataset("tmx_pontoon"), "my.yml")


@pytest.mark.parametrize(
    ("category", "key", "provider"),
    [
        ("devtest", "flores_aug-mix_dev", "FLORES-200"),
        ("test", "tmx_pontoon", "Pontoon"),
        ("mono-trg", "hplt_mono/v3.0", "HPLT"),
        ("mono-trg", "hplt_mono/v2.0", "HPLT"),
    ],
)
def test_a_provider_that_has_a_language_in_another_script_only(
    category: str, key: str, provider: str
) -> None:
    ntrex = SMALL.replace("trg: ru", "trg: sr_latn").replace("flores_devtest", "url_https://a.org/[LANG].zst")
    good = ntrex.replace("flores_dev", "ntrex_test") + "  mono-trg:\n    - hplt_mono/v1.2\n"
    parse_config(good, "my.yml")
    found = problem_of(good.replace(f"  {category}:\n", f"  {category}:\n    - {key}\n"))
    assert f"{provider} has no Serbian (Latin); remove '{key}'" in found


@pytest.mark.parametrize("key", ["news-crawl_2021", "opus_NLLB"])
def test_monolingual_keys_have_forms(key: str) -> None:
    found = problem_of(SMALL + f"  mono-src:\n    - {key}\n")
    assert found.startswith("13 datasets.mono-src[0]: ")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            "  models:\n    teacher:\n      urls: [https://a.org/1, https://a.org/2]\n      mode: use\n",
            "15 continuation.models.teacher.urls: 2 URLs for 1 teachers (experiment.teacher-ensemble)",
        ),
        (
            f"  corpora:\n    backtranslations:\n      tok-src: https://a.org/t\n      {CORPUS}",
            "15 continuation.corpora.backtranslations.tok-src: needs tok-trg as well, or must go",
        ),
        (
            f"  corpora:\n    parallel:\n      {CORPUS}",
            "6 datasets.train: would not be used, as continuation.corpora.parallel takes its place",
        ),
        (
            "  vocab:\n    src: vocab.spm\n    trg: https://a.org/v.spm\n",
            "14 continuation.vocab.src: 'vocab.spm' is not a URL that can be fetched",
        ),
        (
            "  models:\n    backwards:\n      url: https://\n      mode: use\n",
            "15 continuation.models.backwards.url: 'https://' is not a URL",
        ),
        (
            "  models:\n    backwards:\n      type: opusmt\n      url: https://a.org/1\n      mode: init\n",
            "15 continuation.models.backwards.type: is for one model that is used as it is (mode: use)",
        ),
        (
            "  models:\n    student:\n      url: https://a.org/1\n      mode: continue\n",
            "16 continuation.models.student.mode: must be one of init, use, not the text 'continue'",
        ),
    ],
)
def test_a_wrong_continuation(lines: str, problem: str) -> None:
    assert problems_of(f"{SMALL}continuation:\n{lines}")[0].startswith(problem)


COMET = {
    "name": "comet",
    "url": "https://a.org/comet.npz",
    "sha256": "0" * 64,
    "vocab-url": "https://a.org/comet.spm",
    "vocab-sha256": "0" * 64,
}


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (
            {"url": "https://a.org/comet.ckpt"},
            "15 evaluation.comet.url: must be the URL of weights in Marian's",
        ),
        ({"vocab-url": "comet.spm"}, "17 evaluation.comet.vocab-url: 'comet.spm' is not a URL that can be"),
        ({"sha256": "0123"}, "16 evaluation.comet.sha256: must be a SHA-256, 64 digits of 0 to 9 and a to f"),
    ],
)
def test_models_of_metrics_are_checked(wrong: dict[str, str], problem: str) -> None:
    lines = "".join(f'    {key}: "{value}"\n' for key, value in {**COMET, **wrong}.items())
    assert problems_of(f"{SMALL}evaluation:\n  comet:\n{lines}")[0].startswith(problem)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("flores_devtset", "'flores_devtset' is not in datasets.test. Did you mean 'flores_devtest'?"),
        (
            "opus_Books/v1",
            "'opus_Books/v1' tells no documents; those of flores, ntrex, sacrebleu, flores200-plus, wmt24pp, "
            "bouquet, file do",
        ),
    ],
)
def test_paragraphs_need_documents(name: str, problem: str) -> None:
    found = problems_of(f"{SMALL}    - opus_Books/v1\nevaluation:\n  paragraphs: [{name}]\n")
    assert found[0].startswith(f"14 evaluation.paragraphs[0]: {problem}")


def test_distillation_needs_a_vocabulary_and_no_datasets() -> None:
    text = f"{SMALL}continuation:\n  corpora:\n    distillation:\n      {CORPUS}"
    assert [found.partition(": ")[0] for found in problems_of(text)] == [
        "6 datasets.train",
        "14 continuation.corpora.distillation",
    ]
    without = text.replace("  train:\n    - opus_ParaCrawl/v9\n", "")
    config = parse_config(f"{without}{VOCAB}", "my.yml")
    assert config.continuation.corpora.distillation is not None


def test_training_data_are_needed_unless_they_are_continued() -> None:
    text = SMALL.replace("  train:\n    - opus_ParaCrawl/v9\n", "")
    assert problem_of(text) == "5 datasets.train: is missing"
    config = parse_config(f"{text}continuation:\n  corpora:\n    parallel:\n      {CORPUS}", "my.yml")
    assert config.datasets.train == ()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (VOCAB, "both sides have the same file, so the vocabulary is joint"),
        (VOCAB.replace("/v.spm", "/w.spm", 1), ""),
    ],
)
def test_a_split_vocabulary_and_a_continued_one(lines: str, said: str) -> None:
    text = with_line("  spm-vocab-split: true", "  trg: ru") + f"continuation:\n{lines}"
    assert [note.message.startswith(said) for note in notes_on(text)] == ([True] if said else [])


def test_two_vocabularies_where_one_is_asked_for() -> None:
    text = f"{SMALL}continuation:\n{VOCAB.replace('/v.spm', '/w.spm', 1)}"
    (note,) = notes_on(text)
    assert (note.line, note.key) == (13, "continuation.vocab")


def test_a_model_that_is_trained_on_without_its_vocabulary() -> None:
    model = "  models:\n    teacher:\n      urls: [https://a.org/1]\n      mode: init\n"
    (note,) = notes_on(f"{SMALL}continuation:\n{model}")
    assert (note.line, note.key) == (14, "continuation.models.teacher")
    assert note.message.startswith("no vocabulary is trained: it is this model's")
    assert notes_on(f"{SMALL}continuation:\n{model}{VOCAB}") == []


STUDENT = "  models:\n    student: {url: https://a.org/1, mode: init}\n"


def test_a_student_to_begin_from_gives_vocabulary_and_shape() -> None:
    vocabulary, shape = notes_on(f"{SMALL}continuation:\n{STUDENT}")
    assert (vocabulary.line, vocabulary.key) == (14, "continuation.models.student")
    assert vocabulary.message.startswith("no vocabulary is trained: it is this model's")
    assert "experiment.student-model is only what metadata.json calls it" in shape.message
    assert [note.message for note in notes_on(f"{SMALL}continuation:\n{STUDENT}{VOCAB}")] == [shape.message]


@pytest.mark.parametrize(
    ("mode", "vocab", "conflict"),
    [("init", "", True), ("continue", "", True), ("use", "", False), ("init", VOCAB, False)],
)
def test_a_model_with_another_vocabulary_than_the_students(mode: str, vocab: str, conflict: bool) -> None:
    """One that is only used may have its own; of those that are trained all have the run's."""
    for model in (
        f"teacher: {{urls: [https://a.org/t], mode: {mode}}}",
        f"backwards: {{url: https://a.org/b, mode: {mode}}}",
    ):
        text = f"{SMALL}continuation:\n{STUDENT}    {model}\n{vocab}"
        if not conflict:
            parse_config(text, "my.yml")
            continue
        found = problem_of(text)
        assert found.startswith(
            f"15 continuation.models.{model.partition(':')[0]}: has a vocabulary of its own"
        )
        assert "continuation.models.student" in found


def test_options_that_shape_a_student_which_has_its_shape() -> None:
    """Marian would stop at the first weights that do not fit, or build what nobody has asked for."""
    options = "marian-args:\n  training-student:\n    after: 9u\n    dim-emb: 256\n    enc-depth: 6\n"
    parse_config(f"{SMALL}{options}", "my.yml")
    assert problems_of(f"{SMALL}{options}continuation:\n{STUDENT}") == [
        f"{line} marian-args.training-student.{name}: shapes the student, which has the shape of "
        "continuation.models.student; remove it"
        for line, name in ((15, "dim-emb"), (16, "enc-depth"))
    ]


def test_a_distilled_corpus_may_have_the_vocabulary_of_a_student() -> None:
    without = SMALL.replace("  train:\n    - opus_ParaCrawl/v9\n", "")
    text = f"{without}continuation:\n  corpora:\n    distillation:\n      {CORPUS}"
    assert "needs continuation.vocab" in problem_of(text)
    parse_config(f"{text}{STUDENT}", "my.yml")


MONO = "  mono-trg:\n    - news-crawl_news.2020\n"
TEACHER = "  models:\n    teacher:\n      urls: [https://a.org/1]\n      mode: use\n"


@pytest.mark.parametrize(
    ("lines", "notes"),
    [
        (f"  corpora:\n    backtranslations:\n      {CORPUS}", ["datasets.mono-trg"]),
        (TEACHER, ["datasets.mono-trg"]),
        (
            f"  corpora:\n    backtranslations:\n      {CORPUS}{TEACHER}",
            ["continuation.corpora.backtranslations", "datasets.mono-trg"],
        ),
    ],
)
def test_what_is_not_used_beside_something_else(lines: str, notes: list[str]) -> None:
    found = notes_on(f"{SMALL}{MONO}continuation:\n{lines}")
    assert sorted(note.key for note in found) == notes
    assert all(note.message.startswith("is not used: ") for note in found)


def test_a_backwards_model_is_not_used_without_filter_and_back_translation() -> None:
    text = f"{SMALL}continuation:\n  models: {{backwards: {{url: 'https://example.com/model', mode: use}}}}\n"
    assert not [note for note in notes_on(text) if "backwards" in note.key]
    (note,) = notes_on(text.replace("  trg: ru\n", "  trg: ru\n  filter: none\n"))
    assert note.key == "continuation.models.backwards"
    assert "experiment.filter is not ce" in note.message


def test_models_are_not_used_beside_a_distilled_corpus() -> None:
    without = SMALL.replace("  train:\n    - opus_ParaCrawl/v9\n", "")
    text = f"{without}continuation:\n{VOCAB}  corpora:\n    distillation:\n      {CORPUS}{TEACHER}"
    (note,) = notes_on(text)
    assert (note.key, note.message[:11]) == ("continuation.models.teacher", "is not used")


def test_a_weight_that_matches_no_dataset() -> None:
    weights = "    dataset-weights:\n      train:\n        opus_ParaCrawl_9: 2"
    text = with_line(f"  corpus-max-sentences: 9\n  merging:\n{weights}", "  trg: ru")
    assert problem_of(text) == (
        "9 experiment.merging.dataset-weights.train.opus_ParaCrawl_9: matches no dataset in datasets.train."
        " Did you mean 'opus_ParaCrawl_v9'? Names: opus_ParaCrawl_v9"
    )


def test_a_weight_is_matched_with_the_texts_of_its_own_side() -> None:
    lines = "  merging:\n    dataset-weights:\n      mono-trg:\n        opus_Books_v1: 2"
    text = with_line(lines, "  trg: ru")
    assert problem_of(text + "  mono-src:\n    - opus_Books/v1\n").startswith(
        "8 experiment.merging.dataset-weights.mono-trg.opus_Books_v1: matches no dataset in datasets.mono-trg"
    )
    config = parse_config(text + "  mono-trg:\n    - opus_Books/v1\n", "my.yml")
    assert config.experiment.merging.dataset_weights.mono_trg == {"opus_Books_v1": 2.0}


def test_weights_without_a_limit_to_choose_for() -> None:
    lines = "  merging:\n    dataset-weights:\n      train:\n        opus_ParaCrawl_v9: 2"
    text = with_line(lines, "  trg: ru")
    assert problem_of(text) == (
        "7 experiment.merging.dataset-weights.train: decides what a limit drops, and there is none; "
        "set experiment.corpus-max-sentences"
    )
    parse_config(text.replace("  merging:", "  corpus-max-sentences: 1000\n  merging:"), "my.yml")


MINE = "{name: mine, form: firefox, url: 'https://example.org/mine'}"


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        (
            "{released: false}",
            "12 final-evaluation: names nothing to compare with; remove it, or set released",
        ),
        (
            f"{{models: [{MINE}, {MINE}]}}",
            "12 final-evaluation.models[1].name: 'mine' is the name of two models",
        ),
        (f"{{models: [{MINE.replace('mine,', 'student,')}]}}", "'student' is the name of another model"),
        (f"{{models: [{MINE.replace('mine,', 'teacher-2,')}]}}", "'teacher-2' is the name of another model"),
        (f"{{models: [{MINE.replace('mine,', 'a__b,')}]}}", "must consist of letters, digits, '.' and '-'"),
        (f"{{models: [{MINE.replace('firefox', 'onnx')}]}}", "must be one of firefox, marian, ctranslate2"),
        (f"{{models: [{MINE.replace('https', 'sftp')}]}}", "12 final-evaluation.models[0].url: 'sftp://"),
    ],
)
def test_what_a_student_cannot_be_compared_with(section: str, problem: str) -> None:
    assert problem in problem_of(f"{SMALL}final-evaluation: {section}\n")


def test_a_pair_without_english_may_have_no_released_model() -> None:
    text = f"{SMALL}final-evaluation: {{models: [{MINE}]}}\n"
    assert not [note for note in notes_on(text) if "Firefox" in str(note)]
    text = text.replace("src: en", "src: de")
    assert [note for note in notes_on(text) if "may ship no model for a pair without English" in str(note)]
    assert not [
        n for n in notes_on(text.replace("{models", "{released: false, models")) if "Firefox" in str(n)
    ]


def test_a_final_evaluation_needs_a_test_set() -> None:
    text = SMALL.replace("test:\n    - flores_devtest", "test: []")
    assert "test: []" in text
    parse_config(text, "my.yml")
    assert problem_of(text + "final-evaluation: {}\n").endswith("needs a test set in datasets.test")


@pytest.mark.parametrize(
    ("corpus", "needless"),
    [
        ("parallel", {"train"}),
        ("backtranslations", set()),
        ("distillation", {"train", "mono-src", "mono-trg"}),
    ],
)
def test_datasets_that_a_continued_corpus_takes_the_place_of(corpus: str, needless: set[str]) -> None:
    urls = {"src": "https://example.org/a.en.zst", "trg": "https://example.org/a.ru.zst"}
    datasets = {name: ["opus_Books/v1"] for name in ("train", "devtest", "test", "mono-src", "mono-trg")}
    config = {"datasets": datasets, "continuation": {"vocab": urls, "corpora": {corpus: urls}}}
    told = {path[-1] for path, message in check_continuation(config) if "takes its place" in message}
    assert told == needless


def test_the_sources_offensive_words_without_the_targets() -> None:
    text = f"{SMALL}checks:\n  offensive-words:\n    src-list: https://example.com/en.txt\n"
    assert problem_of(text).endswith(
        "checks.offensive-words.src-list: excuses words of the target's list, and there is none; "
        "set trg-list as well"
    )
    parse_config(f"{text}    trg-list: https://example.com/ru.txt\n", "my.yml")
