"""Metrics that need a model: fetching it, spBLEU by sacreBLEU, COMET by Marian."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

from benchmarks.comet_model import write_comet
from pipeline.checks import differences
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.pool import map_blocks
from pipeline.common.vocabulary import load_vocabulary
from pipeline.eval import comet, fetch_model, spbleu
from pipeline.train.vocab import learn
from tests import marian
from tests.pipeline.train.tiny import pairs

PAIRS = pairs(50, seed=2)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary of both languages, and a random COMET model."""
    folder = tmp_path_factory.mktemp("metrics")
    text = [line for pair in pairs(600, seed=1) for line in pair]
    (folder / "vocab.spm").write_bytes(learn(text, 320, "nfd"))
    write_comet(folder / "model.npz", load_vocabulary(folder / "vocab.spm").get_piece_size())
    return folder


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A test set; translations that lack a line's end, one of which is empty."""
    write_lines(tmp_path / "src.zst", [source for source, _ in PAIRS])
    write_lines(tmp_path / "trg.zst", [reference for _, reference in PAIRS])
    shortened = [" ".join(reference.split()[:-1]) for _, reference in PAIRS]
    write_lines(tmp_path / "translations.zst", ["", *shortened[1:]])
    return tmp_path


def options(
    models: Path, texts: Path, model: str, output: str, translations: str = "translations"
) -> list[str]:
    files = ["--model", models / model, "--translations", texts / f"{translations}.zst"]
    files += ["--corpus-trg", texts / "trg.zst", "--output", texts / output]
    return [*map(str, files), "--dataset", "url_test"]


def by_comet(models: Path, texts: Path, output: str, *more: str, model: str = "model.npz") -> dict[str, Any]:
    files = ["--corpus-src", str(texts / "src.zst"), "--vocab", str(models / "vocab.spm"), "--name", "random"]
    comet.main([*options(models, texts, model, output, *more), *files])
    found: dict[str, Any] = json.loads((texts / output / "scores.json").read_text())
    return found


def test_spbleu_is_bleu_of_the_pieces_of_the_given_model(models: Path, texts: Path) -> None:
    """Pieces that are joined by spaces are words to BLEU without a tokenizer."""
    spbleu.main(options(models, texts, "vocab.spm", "out"))
    found = json.loads((texts / "out" / "scores.json").read_text())
    pieces = load_vocabulary(models / "vocab.spm")
    sides = [[*read_lines(texts / f"{name}.zst")] for name in ("translations", "trg")]
    hypotheses, references = (
        [" ".join(pieces.encode(line, out_type=str)) for line in side] for side in sides
    )
    by_hand = sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", force=True)
    assert (found["dataset"], found["lines"]) == ("url_test", len(PAIRS))
    assert found["spbleu"]["score"] == pytest.approx(by_hand.score, abs=1e-3)
    assert found["spbleu"]["ci"] > 0
    assert "tok:flores200" in found["spbleu"]["signature"]


def test_spbleu_in_mozillas_layout(models: Path, texts: Path) -> None:
    spbleu.main([*options(models, texts, "vocab.spm", "out"), "--results", "x__latest"])
    found = json.loads((texts / "out" / "scores.json").read_text())["spbleu"]
    told = json.loads((texts / "out" / "x__latest__spbleu.metrics.json").read_text())
    assert (told["score"], told["details"]["signature"]) == (found["score"], found["signature"])
    sentences = json.loads((texts / "out" / "x__latest__spbleu.scores.json").read_text())
    pieces = load_vocabulary(models / "vocab.spm")
    made, references = (
        [" ".join(pieces.encode(line, out_type=str)) for line in read_lines(texts / f"{name}.zst")]
        for name in ("translations", "trg")
    )
    by_hand = [
        sacrebleu.sentence_bleu(line, [reference], tokenize="none").score
        for line, reference in zip(made, references, strict=True)
    ]
    assert sentences == pytest.approx(by_hand, abs=1e-3)
    assert sentences[0] == 0 < max(sentences)  # the first translation is empty


def test_a_tab_in_a_text_moves_none_of_comets_columns(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Source, translation and reference of a line, whatever stands in them."""
    for name, lines in (("src", ["a\tb", "c"]), ("translations", ["\td", ""]), ("trg", ["e", "f\t\t"])):
        write_lines(texts / f"{name}.zst", lines)
    seen: list[list[str]] = []

    def evaluate(model: Path, vocab: Path, rows: list[str], scratch: Path) -> list[float]:
        seen.extend(row.split("\t") for row in rows)
        return [-0.5, 0.75]

    monkeypatch.setattr(comet, "evaluate", evaluate)
    found = by_comet(texts, texts, "out")
    assert seen == [["a b", " d", "e"], ["c", "", "f  "]]
    assert found["comet"]["score"] == 12.5  # 100 · (0.75 - 0.5) / 2


@pytest.mark.marian
def test_comet_in_mozillas_layout(models: Path, texts: Path) -> None:
    files = ["--corpus-src", str(texts / "src.zst"), "--vocab", str(models / "vocab.spm")]
    given = options(models, texts, "model.npz", "out")
    comet.main([*given, *files, "--name", "wmt22-comet-da", "--results", "x__latest"])
    segments = [float(line) for line in read_lines(texts / "out" / "segments.zst")]
    told = json.loads((texts / "out" / "x__latest__comet22.metrics.json").read_text())
    assert told["score"] == pytest.approx(sum(segments) / len(segments), abs=1e-3)
    assert told["details"]["signature"].startswith("model:wmt22-comet-da")
    sentences = json.loads((texts / "out" / "x__latest__comet22.scores.json").read_text())
    assert sentences == pytest.approx(segments, abs=1e-3)


@pytest.mark.marian
def test_comet_is_the_mean_of_what_marian_gives_to_each_line(models: Path, texts: Path) -> None:
    found = by_comet(models, texts, "out")
    segments = [float(line) for line in read_lines(texts / "out" / "segments.zst")]
    assert len(segments) == found["lines"] == len(PAIRS)
    assert len(set(segments)) > len(PAIRS) / 2  # of different lines
    assert found["comet"]["score"] == pytest.approx(100 * sum(segments) / len(segments), abs=1e-3)
    assert abs(found["comet"]["mean"] - found["comet"]["score"]) < found["comet"]["ci"]
    assert found["comet"]["signature"].startswith("model:random|bs:1000|seed:12345")


@pytest.mark.marian
def test_models_are_compared_by_what_was_scored(models: Path, texts: Path) -> None:
    """spBLEU and COMET of a comparison are those of the evaluations; the references are the other model's."""
    found: dict[str, dict[str, float]] = {"translations": {}, "trg": {}}
    for name, scores in found.items():
        scores["comet"] = by_comet(models, texts, f"comet-{name}", name)["comet"]["score"]
        spbleu.main(options(models, texts, "vocab.spm", f"spbleu-{name}", name))
        scored = json.loads((texts / f"spbleu-{name}" / "scores.json").read_text())
        scores["spbleu"] = scored["spbleu"]["score"]
    names = ["--model", "student", "--others", "teacher", "--trg", "eo", "--dataset", "url_test"]
    files = ["--translations", "translations.zst", "--others-translations", "trg.zst"]
    files += ["--references", "trg.zst", "--output", "compared"]
    given = [value if value.startswith("-") else str(texts / value) for value in files]
    given += ["--spbleu-model", str(models / "vocab.spm"), "--comet", "random", "--comet-segments"]
    differences.main([*names, *given, *(str(texts / f"comet-{name}" / "segments.zst") for name in found)])
    numbers = json.loads((texts / "compared" / "numbers.json").read_text())
    compared = numbers["others"]["teacher"]
    assert [*compared] == ["bleu", "chrf", "chrfpp", "spbleu", "comet"]
    for metric in ("spbleu", "comet"):
        ours, others = (found[name][metric] for name in ("translations", "trg"))
        assert compared[metric]["score"] == pytest.approx(ours, abs=1e-3)
        assert compared[metric]["other"] == pytest.approx(others, abs=1e-3)
    assert compared["spbleu"]["p_value"] < 0.01
    assert "tok:flores200" in numbers["signatures"]["spbleu"]


@pytest.mark.marian
def test_comet_reads_source_translation_and_reference_in_either_form(models: Path, texts: Path) -> None:
    """Marian's own command with files by hand gives the same; another translation another score."""
    columns = ([*read_lines(texts / f"{name}.zst")] for name in ("src", "translations", "trg"))
    table = "".join(f"{chr(9).join(row)}\n" for row in zip(*columns, strict=True))
    converted = models / "model.bin"
    marian.run(["convert", "--from", models / "model.npz", "--to", converted])
    vocabs = ["--vocabs", *[str(models / "vocab.spm")] * 3]
    command = ["evaluate", "--like", "comet", "--model", str(converted), *vocabs, "--cpu-threads", "1"]
    command += ["--width", "6", "--workspace", "128", "--quiet", "--mini-batch", "1"]
    by_hand = [float(line) for line in marian.run(command, table).stdout.split()]
    found = by_comet(models, texts, "bin", model="model.bin")
    assert [*map(float, read_lines(texts / "bin" / "segments.zst"))] == pytest.approx(by_hand, abs=1e-5)
    perfect = by_comet(models, texts, "npz", "trg")
    assert perfect["comet"]["score"] != found["comet"]["score"]


@pytest.mark.marian
def test_what_comet_gives_to_a_line_does_not_depend_on_the_others(models: Path, texts: Path) -> None:
    by_comet(models, texts, "together")
    together = [*read_lines(texts / "together" / "segments.zst")]
    for name in ("src", "trg", "translations"):
        write_lines(texts / f"{name}.zst", [*read_lines(texts / f"{name}.zst")][:20:5])
    by_comet(models, texts, "few")
    assert [*read_lines(texts / "few" / "segments.zst")] == together[:20:5]


@pytest.mark.marian
@pytest.mark.parametrize(("memory", "processes"), [("10000", 3), ("1500", 1)])
def test_the_processes_that_share_the_lines_change_nothing(
    models: Path, texts: Path, monkeypatch: pytest.MonkeyPatch, memory: str, processes: int
) -> None:
    monkeypatch.setenv("TRANSLATIONS_THREADS", "1")
    by_comet(models, texts, "alone")
    begun: list[int] = []

    def noted(work: Any, parts: Any, many: int) -> Any:
        begun.append(many)
        return map_blocks(work, parts, many)

    monkeypatch.setattr(comet, "map_blocks", noted)
    monkeypatch.setenv("TRANSLATIONS_THREADS", "3")
    monkeypatch.setenv("TRANSLATIONS_MEMORY", memory)
    by_comet(models, texts, "together")
    assert begun == [processes]
    for name in ("segments.zst", "scores.json"):
        assert (texts / "together" / name).read_bytes() == (texts / "alone" / name).read_bytes()


@pytest.mark.marian
def test_what_is_no_model_of_comet_is_an_error(models: Path, texts: Path) -> None:
    (texts / "model.npz").write_bytes((models / "model.npz").read_bytes()[:2000])
    (texts / "vocab.spm").write_bytes((models / "vocab.spm").read_bytes())
    with pytest.raises(InputError, match="marian evaluate failed"):
        by_comet(texts, texts, "out")
    assert not any((texts / "out").iterdir())


def test_a_model_is_fetched_and_another_file_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_FILES", str(tmp_path))
    (tmp_path / "there").write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    given = ["--url", (tmp_path / "there").as_uri(), "--name", "model.npz"]
    fetch_model.main([*given, "--sha256", digest, "--output", str(tmp_path / "out")])
    assert (tmp_path / "out" / "model.npz").read_bytes() == b"weights"
    with pytest.raises(InputError, match=f"its SHA-256 is {digest}, and should be {digest[::-1]}"):
        fetch_model.main([*given, "--sha256", digest[::-1], "--output", str(tmp_path / "other")])
    assert not any((tmp_path / "other").iterdir())
