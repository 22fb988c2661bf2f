"""The quantised model: it translates as the float one does, through a shortlist that loses no character."""

import json
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from sacrebleu import corpus_chrf
from sentencepiece import SentencePieceProcessor

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import decode, load_model
from pipeline.common.resources import marian_command
from pipeline.quantize.lexical_shortlist import always_allowed
from pipeline.quantize.quantize import BEST, FREQUENT, convert_shortlist, main
from tests.pipeline.quantize.tiny_model import EMOJI, Tiny

pytestmark = [pytest.mark.marian, pytest.mark.slow]


def arguments(
    tiny: Tiny, output: Path, model: Path | None = None, shortlist: Path | None = None
) -> list[str]:
    files = {
        "--model": model or tiny.model,
        "--shortlist": shortlist or tiny.shortlist,
        "--text": tiny.test[0],
    }
    return [str(part) for option in files.items() for part in option] + ["--output", str(output)]


def translate(model: Path, text: Path, output: Path) -> list[str]:
    decode([model], text, output)
    return [*read_lines(output)]


def first_number(shortlist: Path) -> int:
    """The third field of a binary shortlist: how many pieces it always allows."""
    return int(struct.unpack_from("<4Q", shortlist.read_bytes())[2])


def test_the_folder_is_whole_and_carries_the_models_vocabularies(tiny: Tiny, quantized: Path) -> None:
    models = {"model.intgemm8.bin", "model.intgemm.alphas.bin"}
    others = {"lex.bin", "source.spm", "target.spm", "decoder.yml", "stats.json"}
    assert {path.name for path in quantized.iterdir()} == models | others
    for name in ("source.spm", "target.spm"):
        assert (quantized / name).read_bytes() == (tiny.model / name).read_bytes()
    assert load_model(quantized).quantised


def test_it_translates_as_well_as_the_float_model(tiny: Tiny, quantized: Path, tmp_path: Path) -> None:
    references = [[pair[1] for pair in tiny.test_pairs]]
    scores = {
        model.name: corpus_chrf(translate(model, tiny.test[0], tmp_path / model.name), references).score
        for model in (tiny.model, quantized)
    }
    assert min(scores.values()) > 80


def test_an_emoji_comes_through_the_shortlist(tiny: Tiny, quantized: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    write_lines(
        text, [f"{source} {EMOJI[line % 3]}" for line, (source, _) in enumerate(tiny.test_pairs[:30])]
    )
    emoji = [line[-1] for line in translate(quantized, text, tmp_path / "out")]
    # how well so small a model learns them depends on the processor; without their bytes there would be none
    assert sum(found == EMOJI[line % 3] for line, found in enumerate(emoji)) >= 15


def test_fifty_pieces_alone_would_lose_it(tiny: Tiny, quantized: Path, tmp_path: Path) -> None:
    """Shows that the test above can fail: the shortlist itself allows no byte piece."""
    narrow = tmp_path / "narrow"
    narrow.mkdir()
    for file in quantized.iterdir():
        (narrow / file.name).write_bytes(file.read_bytes())
    write_lines(tmp_path / "lex.s2t", read_lines(tiny.shortlist))
    convert_shortlist(tmp_path / "lex.s2t", load_model(tiny.model), 50, BEST, narrow / "lex.bin")
    command = [*marian_command(), "decode", "-c", str(narrow / "decoder.yml"), "--quiet"]
    result = subprocess.run(command, input=b"the red cat sees a dog \xf0\x9f\xa4\xa3\n", capture_output=True)
    assert result.returncode == 0
    assert "🤣".encode() not in result.stdout


def test_the_shortlist_allows_all_special_pieces_and_fifty_more(tiny: Tiny, quantized: Path) -> None:
    target = SentencePieceProcessor(model_file=str(tiny.model / "target.spm"))
    # </s>, <unk>, five symbols, 256 bytes, 50 frequent pieces
    assert always_allowed(target, FREQUENT) == 2 + 5 + 256 + 50 == first_number(quantized / "lex.bin")
    stats = json.loads((quantized / "stats.json").read_text())
    assert stats["shortlist"]["always_allowed"] == 313
    assert 313 / 360 < stats["shortlist"]["vocabulary_share_of_a_line"] < 1


def test_the_shortlist_keeps_entries_of_any_probability(tiny: Tiny, quantized: Path) -> None:
    """The sixth field of a binary shortlist tells how many entries it has."""
    sources = Counter(line.split(" ")[1] for line in read_lines(tiny.shortlist))
    entries = struct.unpack_from("<6Q", (quantized / "lex.bin").read_bytes())[5]
    assert entries == sum(min(count, BEST) for count in sources.values())


def test_a_shortlist_of_other_sizes(tiny: Tiny, tmp_path: Path) -> None:
    main([*arguments(tiny, tmp_path / "output"), "--best", "1", "--frequent", "20"])
    assert first_number(tmp_path / "output" / "lex.bin") == 2 + 5 + 256 + 20
    sources = {line.split(" ")[1] for line in read_lines(tiny.shortlist)}
    stats = json.loads((tmp_path / "output" / "stats.json").read_text())
    assert stats["shortlist"]["entries"] == len(sources)


def test_without_a_shortlist(tiny: Tiny, quantized: Path, tmp_path: Path) -> None:
    options = ["--model", str(tiny.model), "--text", str(tiny.test[0]), "--output", str(tmp_path / "output")]
    main(options)
    names = {path.name for path in quantized.iterdir()}
    assert {path.name for path in (tmp_path / "output").iterdir()} == names - {"lex.bin"}
    references = [[pair[1] for pair in tiny.test_pairs]]
    translations = translate(tmp_path / "output", tiny.test[0], tmp_path / "translations")
    assert corpus_chrf(translations, references).score > 80


def test_decoder_yml_works_from_any_folder(quantized: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for file in quantized.iterdir():
        (moved / file.name).write_bytes(file.read_bytes())
    assert str(quantized) not in (moved / "decoder.yml").read_text()
    command = [*marian_command(), "decode", "-c", "elsewhere/decoder.yml", "--quiet"]
    result = subprocess.run(command, input=b"the red cat sees a dog\n", capture_output=True, cwd=tmp_path)
    assert result.stdout.decode().startswith("la ruĝa")


def test_the_same_bytes_again(
    tiny: Tiny, quantized: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_THREADS", "2")
    main(arguments(tiny, tmp_path / "again"))
    for file in quantized.iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


def test_a_shortlist_with_swapped_columns_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    swapped = tmp_path / "lex.s2t.zst"
    fields = (line.split(" ") for line in read_lines(tiny.shortlist))
    write_lines(swapped, (f"{source} {target} {share}" for target, source, share in fields))
    with pytest.raises(InputError, match="has no piece"):
        main(arguments(tiny, tmp_path / "output", shortlist=swapped))
    assert not any((tmp_path / "output").iterdir())


def test_a_quantised_model_is_not_quantised_again(tiny: Tiny, quantized: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="quantised already"):
        main(arguments(tiny, tmp_path / "output", model=quantized))


def test_a_model_that_marian_cannot_read_leaves_nothing_behind(tiny: Tiny, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in tiny.model.iterdir():
        (broken / file.name).write_bytes(
            file.read_bytes()[:1000] if file.suffix == ".npz" else file.read_bytes()
        )
    with pytest.raises(InputError, match=r"model\.npz is not a model of Marian"):
        main(arguments(tiny, tmp_path / "output", model=broken))
    assert not (tmp_path / "output").exists()


def test_a_conversion_that_fails_leaves_nothing_behind(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_MARIAN", "false")
    with pytest.raises(InputError, match="convert failed"):
        main(arguments(tiny, tmp_path / "output"))
    assert not any((tmp_path / "output").iterdir())
