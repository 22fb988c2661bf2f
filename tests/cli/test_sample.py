"""`sample`: random lines of a stage, of steps that real scripts have run, some of them with planted noise."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.clean import filter_parallel, merge_parallel
from pipeline.common.lines import write_lines
from pipeline.samples.draw import JUDGES
from tests.cli.conftest import Command, make
from tests.cli.shapes import check_shape
from tests.end_to_end.tiny import PARTITION, SPLIT_PARTITION, Place, sentences, write_place
from tests.session import once
from tests.store.values import finish
from translations_assets.answers.samples import JUDGED
from translations_assets.cli.sample import LONGEST
from translations_assets.records.manifest import Manifest
from translations_assets.records.run import RunRecord

RUN, PARTITION_OF_RUN = "1a2b3c4d-0000-4000-8000-000000000000", "de-ru.old"
GOOD = [(f"Das ist der Satz Nummer {n}.", f"Вот предложение номер {n}.") for n in range(20)]
BOOKS = [*GOOD[:10], ("Schlecht.", "Плохо.")]
WEB = [
    *GOOD[10:],
    ("Ein anderer Satz.", GOOD[0][1]),
    ("", "Пусто."),
    ("Rot\x1b[31m \u202eumgedreht.", "Красный."),
]
LANGUAGES = {"src": "de", "trg": "ru"}
Main = Callable[[Sequence[str]], None]


class Steps:
    """Runs steps, and stores what they leave as a worker does."""

    def __init__(self, place: Place, scratch: Path) -> None:
        self.store, self._scratch = place.store, scratch
        self.made: dict[str, Manifest] = {}

    def add(self, label: str, stage: str, texts: Mapping[str, Sequence[str]], **provenance: Any) -> Manifest:
        """Store a step that has left some texts, and statistics."""
        folder = self._scratch / label
        folder.mkdir()
        for name, lines in texts.items():
            write_lines(folder / name, lines)
        number = len(next(iter(texts.values())))
        counted = {
            "lines": {"in": number + 2, "kept": number, "dropped": {"damaged": 2}},
            "licence": "CC0",
            "source": [],
        }
        (folder / "stats.json").write_text(json.dumps(counted))
        return self._finish(label, stage, folder, {}, **provenance)

    def run(
        self,
        label: str,
        stage: str,
        main: Main,
        words: Sequence[str],
        inputs: Mapping[str, tuple[str, str]],
        args: Any,
    ) -> Manifest:
        """Run a script on files of other steps: path → label and name."""
        folder = self._scratch / label
        files = {path: self.made[other].outputs[name] for path, (other, name) in inputs.items()}
        for path, blob in files.items():
            (folder / "in" / path).parent.mkdir(parents=True, exist_ok=True)
            self.store.place_blob(blob, folder / "in" / path)
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(folder)
            main([*words, "--output", "out"])
        command = {"command": [main.__module__, *words, "--output", "out"]}
        given = {"script": main.__module__, "args": args, "worker": command}
        return self._finish(label, stage, folder / "out", files, **given)

    def _finish(self, label: str, stage: str, folder: Path, files: Any, **provenance: Any) -> Manifest:
        outputs = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        self.made[label] = finish(self.store, label, outputs, files, stage=stage, **provenance)
        return self.made[label]

    def record(self) -> None:
        """Store the record of a run that used all steps."""
        steps: dict[str, dict[str, str]] = {}
        for label, made in self.made.items():
            steps.setdefault(made.stage, {})[label] = "cpu"
        uses = {label: (made.key, made.generation) for label, made in self.made.items()}
        record = RunRecord(
            run=RUN, partition=PARTITION_OF_RUN, pair=("de", "ru"), steps=steps, uses=uses, ended=2.0
        )
        self.store.write_run(RUN, record)


@pytest.fixture
def old_run(place: Place, tmp_path: Path) -> None:
    """A run from German to Russian, whose config is gone: two datasets, a threshold for one, a merge."""
    steps = Steps(place, tmp_path)
    sides = ("corpus.de.zst", "corpus.ru.zst")
    for name, pairs in (("Books", BOOKS), ("Web", WEB)):
        texts = {side: [pair[number] for pair in pairs] for number, side in enumerate(sides)}
        args = {**LANGUAGES, "dataset": f"{name}/v1"}
        label = f"dataset-train-opus_{name}_v1-de-ru"
        steps.add(label, "dataset_train", texts, script="pipeline.data.parallel_opus", args=args)
    steps.add("scores", "bicleaner", {"scores.zst": [*["0.9"] * 10, "0.1"]})
    words = ["--src=de", "--trg=ru", "--threshold=0.5", "--corpus-src", f"in/corpus_src/{sides[0]}"]
    words += ["--corpus-trg", f"in/corpus_trg/{sides[1]}", "--scores", "in/scores/scores.zst"]
    books = "dataset-train-opus_Books_v1-de-ru"
    inputs = {f"corpus_{side}/{name}": (books, name) for side, name in zip(LANGUAGES, sides, strict=True)}
    inputs["scores/scores.zst"] = "scores", "scores.zst"
    threshold = {**LANGUAGES, "threshold": 0.5}
    steps.run("bicleaner-ai-opus_Books_v1-de-ru", "bicleaner", filter_parallel.main, words, inputs, threshold)
    texts_of = ("bicleaner-ai-opus_Books_v1-de-ru", "dataset-train-opus_Web_v1-de-ru")
    words = ["--src=de", "--trg=ru", "--seed=1", "--datasets", "opus_Books/v1", "opus_Web/v1"]
    inputs = {}
    for side, name in zip(LANGUAGES, sides, strict=True):
        words += [f"--corpus-{side}", *(f"in/corpus_{side}/{number}/{name}" for number in range(2))]
        inputs |= {f"corpus_{side}/{number}/{name}": (label, name) for number, label in enumerate(texts_of)}
    merging = {**LANGUAGES, "seed": 1, "datasets": ["opus_Books/v1", "opus_Web/v1"]}
    steps.run("merge-corpus-de-ru", "merge_corpus", merge_parallel.main, words, inputs, merging)
    steps.record()


def found(command: Command, *words: str) -> Any:
    said = command("sample", *words, "--json")
    assert said.code == 0, said.err
    value = json.loads(said.out)
    check_shape("sample", value)
    return value


def texts(lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    return [tuple(line["text"]) for line in lines]


def test_the_drawing_script_knows_the_rules_that_the_command_counts_on() -> None:
    assert JUDGES.keys() == JUDGED


def test_lines_of_a_run_whose_config_is_gone(command: Command, old_run: None) -> None:
    (merge,) = found(command, RUN[:8], "merge-corpus", "-n", "50")
    assert (merge["step"], merge["stage"]) == ("merge-corpus-de-ru", "merge_corpus")
    assert sorted(merge["datasets"]) == ["opus_Books/v1", "opus_Web/v1"]
    assert merge["lines"] == {"read": 23, "kept": 21, "dropped": {"empty": 1, "duplicate": 1}}
    assert sorted(texts(merge["read"])) == sorted([*BOOKS[:10], *WEB])
    (duplicate,) = merge["dropped"]["duplicate"]
    assert (duplicate["dataset"], duplicate["line"]) == ("opus_Web/v1", 11)
    assert (duplicate["instead"]["dataset"], tuple(duplicate["instead"]["text"])) == (
        "opus_Books/v1",
        GOOD[0],
    )


def test_scores_stand_beside_the_pairs(command: Command, old_run: None) -> None:
    (step,) = found(command, RUN, "bicleaner")  # what scored is not shown by itself
    assert step["datasets"] == ["opus_Books/v1"]
    assert texts(step["dropped"]["low_score"]) == [BOOKS[-1]]
    said = command("sample", RUN, "bicleaner").out
    row = "       11  Schlecht.\n           Плохо.\n           dropped: low_score; score 0.1\n"
    assert f"dropped by low_score, 1 of 11:\n{row}" in said


def test_the_source_stands_before_the_target_whatever_the_languages_are_called(
    command: Command, place: Place, tmp_path: Path
) -> None:
    steps, texts = Steps(place, tmp_path), {"corpus.de.zst": ["Ein Satz."], "corpus.ru.zst": ["Фраза."]}
    args = {"src": "ru", "trg": "de", "dataset": "Books/v1"}
    steps.add("books", "dataset_train", texts, script="pipeline.data.parallel_opus", args=args)
    steps.record()
    (step,) = found(command, RUN, "dataset_train")
    assert step["kept"][0]["result"] == ["Фраза.", "Ein Satz."]


@pytest.mark.parametrize("name", ["opus_Web/v1", "opus_Web_v1", "opus_Web"])
def test_one_dataset(name: str, command: Command, old_run: None) -> None:
    (merge,) = found(command, RUN, "merge_corpus", "--dataset", name, "-n", "50")
    assert (merge["datasets"], merge["lines"]["read"]) == (["opus_Web/v1"], len(WEB))
    assert texts(merge["read"]) == WEB
    (imported,) = found(command, RUN, "dataset_train", "--dataset", name)
    assert imported["step"] == "dataset-train-opus_Web_v1-de-ru"


def test_one_filter(command: Command, old_run: None) -> None:
    (merge,) = found(command, RUN, "merge_corpus", "--filter", "empty")
    assert (merge["read"], merge["kept"], [*merge["dropped"]]) == ([], [], ["empty"])
    assert texts(merge["dropped"]["empty"]) == [("", "Пусто.")]


def test_a_step_that_does_not_tell_which_lines_it_dropped(command: Command, old_run: None) -> None:
    for words in ((), ("--filter", "damaged")):
        said = command("sample", RUN, "dataset_train", "--dataset", "opus_Web", *words).out
        assert "dropped by damaged, 2 of 15:\n           which lines, the step does not tell\n" in said
        assert ("came out:" in said) is not bool(words)


def test_the_seed_that_is_printed_draws_the_same_again(command: Command, old_run: None) -> None:
    first = command("sample", RUN, "merge_corpus", "-n", "2").out
    seed = first.split("drawn by the seed ")[1].split("\n")[0]
    assert command("sample", RUN, "merge_corpus", "-n", "2", "--seed", seed).out == first
    others = [
        command("sample", RUN, "merge_corpus", "-n", "2", "--seed", str(number)).out for number in range(3)
    ]
    assert len({first, *others}) > 2


def test_no_line_steers_the_terminal(command: Command, old_run: None) -> None:
    said = command("sample", RUN, "dataset_train", "-n", "50").out
    assert "Rot\\u001b[31m \\u202eumgedreht." in said
    assert "\x1b" not in said


def test_states_have_colours(command: Command, old_run: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    said = command("sample", RUN, "merge_corpus", "-n", "50").out
    assert "\x1b[33mdropped\x1b[0m: duplicate" in said
    assert "\x1b[32mkept\x1b[0m, of opus_Books/v1" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("merge_corpsu",), "'merge_corpsu' is not a stage. Did you mean 'merge_corpus'?"),
        (
            ("merge_corpus", "--dataset", "opus_Wob/v1"),
            "merge_corpus has no dataset 'opus_Wob/v1'. Did you mean 'opus_Web/v1'? "
            "Names: opus_Web/v1, opus_Books/v1",
        ),
        (
            ("merge_corpus", "--filter", "duplicates"),
            "No line of merge_corpus was dropped by 'duplicates'. Did you mean 'duplicate'? "
            "Names: duplicate, empty",
        ),
        (
            ("dataset_train", "--filter", "empty"),
            "No line of dataset_train was dropped by 'empty'. Names: damaged",
        ),
        (
            ("train_vocab",),
            "Run 1a2b3c4d has no steps of train_vocab. Names: dataset_train, bicleaner, merge_corpus",
        ),
    ],
)
def test_an_unknown_name_lists_what_there_is(
    words: tuple[str, ...], told: str, command: Command, old_run: None
) -> None:
    said = command("sample", RUN, *words)
    assert (said.code, said.out) == (1, "")
    assert told in said.err


def test_a_file_that_is_gone_is_named(command: Command, old_run: None, place: Place) -> None:
    manifest = next(one for one in place.store.manifests() if one.label == "dataset-train-opus_Web_v1-de-ru")
    digest = manifest.outputs["corpus.ru.zst"].digest
    (place.root / "state" / "store" / "blobs" / digest[:2] / digest).unlink()
    said = command("sample", RUN, "merge_corpus")
    assert said.code == 1
    assert "The store no longer has corpus_trg/1/corpus.ru.zst of merge-corpus-de-ru" in said.err
    assert "Traceback" not in said.err


def test_results_that_count_for_a_partition(command: Command, place: Place) -> None:
    said = command("sample", PARTITION, "clean_corpus")
    assert said.code == 1
    assert said.err.startswith("error: not made: clean-corpus-")
    assert said.err.endswith(f". To make them: translations train {PARTITION} --target clean_corpus\n")
    said = command("sample", PARTITION, "bicleaner")
    assert said.err.startswith(
        f"error: {PARTITION} has no steps of bicleaner: its training config asks for none."
    )
    make("train_vocab")
    assert [step["stage"] for step in found(command, PARTITION, "merge_corpus")] == ["merge_corpus"]
    said = command("sample", PARTITION, "train_vocab")
    assert said.err.startswith(
        "error: No step of train_vocab reads or leaves lines of text. Stages with text: "
    )


NOISE = {
    "untranslated": ("The old dog sees the cat.", "The old dog sees the cat."),
    "fasttext_filter": (
        "Der alte Hund sieht heute die kleine Katze im Garten.",
        "Yaşlı köpek bugün bahçede küçük kediyi görüyor.",
    ),
    "max_length": ("dog " * 200, "köpek " * 200),
    "number_mismatch": ("The big dog sees 25 cats today.", "Büyük köpek bugün 52 kedi görüyor."),
    "remove_empty_lines": ("", "Boş satır burada duruyor."),
}


def _clean_noise(folder: Path) -> None:
    """English-Turkish with planted noise, cleaned and merged by a real run."""
    write_place(folder / "place", "tr")
    place = Place(folder / "place")
    pairs = [*sentences("tr")[:400], *NOISE.values(), sentences("tr")[0]]
    for number, lang in enumerate(("en", "tr")):
        write_lines(place.root / "data" / f"train.{lang}.gz", [pair[number] for pair in pairs])
    config = place.root / "configs" / f"{SPLIT_PARTITION}.yml"
    config.write_text(config.read_text().replace("trg: eo", "trg: tr"))
    done = place.run("translations", "train", SPLIT_PARTITION, "--target", "merge_mono_src", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_planted_noise_has_its_reasons(tmp_path: Path) -> None:
    """The whole way: a run cleans the text, and the command says why each planted pair went."""
    root = once("noise", _clean_noise) / "place"
    place = Place(shutil.copytree(root, tmp_path / "place"))
    environment = {"TRANSLATIONS_CONFIGS": str(root / "configs")}  # files are named by their paths

    def sampled(*words: str) -> Any:
        done = place.run("translations", "sample", SPLIT_PARTITION, *words, "--json", **environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    (cleaned,) = sampled("clean_corpus")
    assert {reason: texts(lines) for reason, lines in cleaned["dropped"].items()} == {
        reason: [pair] for reason, pair in NOISE.items()
    }
    assert (cleaned["unknown"], cleaned["notes"], cleaned["rows"]) == ([], [], 406)
    (merged,) = sampled("merge_corpus")
    (duplicate,) = merged["dropped"]["duplicate"]
    assert tuple(duplicate["text"]) == sentences("tr")[0]
    assert (duplicate["line"], duplicate["instead"]["line"]) == (401, 1)
    sides = [step["step"].split("-")[2] for step in sampled("clean_mono", "-n", "1")]
    assert sides == ["src", "trg"]
    assert len(sampled("merge_mono_src", "-n", "2")[0]["kept"]) == 2


def test_long_lines_are_cut_on_a_terminal(command: Command, place: Place, tmp_path: Path) -> None:
    steps, long = Steps(place, tmp_path), "Wort " * 100
    args = {**LANGUAGES, "dataset": "Long/v1"}
    texts = {"corpus.de.zst": [long], "corpus.ru.zst": ["Слово"]}
    label = "dataset-train-opus_Long_v1-de-ru"
    steps.add(label, "dataset_train", texts, script="pipeline.data.parallel_opus", args=args)
    steps.record()
    assert f"  {long[:LONGEST]}… (500 characters)\n" in command("sample", RUN, "dataset_train").out
    (step,) = found(command, RUN, "dataset_train")
    assert step["kept"][0]["result"] == [long, "Слово"]
