"""Tests of pipeline.train.vocab."""

import io
import json
import os
import re
import unicodedata
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.train.normalization import HBS, RULES, normalize, rule_table
from pipeline.train.vocab import (
    MIN_OCCURRENCES,
    SYMBOLS,
    SampledText,
    check_memory,
    learn,
    main,
    occurring,
    parse_arguments,
    sample_texts,
)
from tests.pipeline.train import tiny
from tests.session import new_folder
from translations_assets.config.experiment import Experiment

QUICK_RULE = "nfd"  # whose table is the smallest: others take seconds


def run(folder: Path, name: str, *more: str, size: int = 340, sample: int = 1000) -> Path:
    src, trg = tiny.corpus().train
    output = folder / name
    arguments = ["--src", "en", "--trg", "xx", "--corpus-src", str(src), "--corpus-trg", str(trg)]
    arguments += ["--curriculum", str(tiny.CONFIGS / "curriculum/teacher.one-stage.yml")]
    arguments += [
        "--vocab-size",
        str(size),
        "--sample-size",
        str(sample),
        "--seed",
        "1",
        "--output",
        str(output),
    ]
    main([*arguments, "--norm-rule", QUICK_RULE, *more])
    return output


@cache
def by_rule(rule: str) -> Path:
    """A vocabulary whose text is normalised by a rule; most rules take seconds."""
    return run(new_folder(), "v", "--norm-rule", rule) / "vocab.xx.spm"


def load(path: Path) -> SentencePieceProcessor:
    return SentencePieceProcessor(model_file=str(path))


def test_a_joint_vocabulary_is_written_for_each_side(tmp_path: Path) -> None:
    output = run(tmp_path, "v")
    assert (output / "vocab.en.spm").read_bytes() == (output / "vocab.xx.spm").read_bytes()
    vocab = load(output / "vocab.en.spm")
    assert vocab.get_piece_size() == 340
    assert vocab.decode(vocab.encode("the cat sees LA TAC.")) == "the cat sees LA TAC."
    assert len(vocab.encode("LA")) <= 2  # learned from both sides


def test_words_in_upper_case_are_pieces_where_models_will_read_them(tmp_path: Path) -> None:
    line = "the cat sees the big dog."
    counts = []
    for number, more in enumerate([(), ("--bicameral",)]):
        vocab = load(run(tmp_path, f"v{number}", *more, size=384) / "vocab.en.spm")
        counts.append([len(vocab.encode(text)) for text in (line, line.upper(), line.title())])
    without, with_case = counts
    assert with_case[0] == without[0]
    assert with_case[1] <= without[1] - 4
    assert with_case[2] <= without[2] - 4


def test_split_vocabularies_are_learned_from_one_side_each(tmp_path: Path) -> None:
    output = run(tmp_path, "v", "--split", size=320)
    source, target = load(output / "vocab.en.spm"), load(output / "vocab.xx.spm")
    assert source.get_piece_size() == target.get_piece_size() == 320
    assert len(source.encode("the")) < len(target.encode("the"))
    assert len(target.encode("LA")) < len(source.encode("LA"))


def test_symbols_and_numbers_of_special_pieces(tmp_path: Path) -> None:
    vocab = load(run(tmp_path, "v") / "vocab.en.spm")
    assert (vocab.eos_id(), vocab.unk_id(), vocab.bos_id()) == (0, 1, -1)
    assert [vocab.id_to_piece(number) for number in range(2, 18)] == SYMBOLS
    assert SYMBOLS[:3] == ["__source__", "__target__", "__done__"]
    assert SYMBOLS[-1] == "__misc9__"
    assert [piece for piece in vocab.encode("__source__", out_type=str) if piece in SYMBOLS] == ["__source__"]


def test_unknown_characters_become_bytes(tmp_path: Path) -> None:
    vocab = load(run(tmp_path, "v") / "vocab.en.spm")
    assert vocab.decode(vocab.encode("🤣")) == "🤣"
    assert vocab.unk_id() not in vocab.encode("🤣")


def test_digits_are_split() -> None:
    lines = [f"{number} {number}" for number in range(1000, 1400)]
    model = SentencePieceProcessor(model_proto=learn(lines, 285, QUICK_RULE))
    assert [piece for piece in model.encode("1234", out_type=str) if piece != "▁"] == ["1", "2", "3", "4"]


@pytest.mark.slow
def test_bytes_do_not_depend_on_folder_or_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        other = run(Path("deep"), "b")
    finally:
        os.sched_setaffinity(0, cores)
    assert (other / "vocab.en.spm").read_bytes() == by_rule(QUICK_RULE).read_bytes()
    assert str(tmp_path).encode() not in (other / "vocab.en.spm").read_bytes()


def test_a_sample_is_counted(tmp_path: Path) -> None:
    stats = json.loads((run(tmp_path, "v", sample=700) / "stats.json").read_text())
    assert stats["lines"] == {"in": 1200, "kept": 700, "dropped": {"not sampled": 500}}
    stats = json.loads((run(tmp_path, "w", sample=5000) / "stats.json").read_text())
    assert stats["lines"] == {"in": 1200, "kept": 1200, "dropped": {}}


def test_the_sample_is_of_lines_in_their_order_and_differs_by_seed(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(5000)]
    write_lines(tmp_path / "en", lines)
    write_lines(tmp_path / "xx", [line.upper() for line in lines])

    def sampled(*more: str, size: int = 1000) -> list[list[str]]:
        args = ["--src", "en", "--trg", "xx", "--corpus-src", str(tmp_path / "en"), "--vocab-size", "300"]
        args += ["--corpus-trg", str(tmp_path / "xx"), "--sample-size", str(size), "--output", "none"]
        args += ["--norm-rule", "nfkc", "--curriculum", str(tmp_path / "curriculum"), *more]
        (tmp_path / "curriculum").write_text(
            "batch-size: 1\nstages: [a]\na: [x 1.0, until x 1]\nmodifiers: []"
        )
        texts, unused = sample_texts(parse_arguments(args), tmp_path / "sample.zst")
        assert unused == (5000 if "--split" in more else 10_000) - size
        assert [len(text) for text in texts] == [size for _ in texts]
        assert [text.characters for text in texts] == [sum(map(len, text)) for text in texts]
        return [list(text) for text in texts]

    pairs = sampled("--split", "--seed", "1")
    assert [line.upper() for line in pairs[0]] == pairs[1]
    assert pairs[0] == sorted(set(pairs[0]), key=lines.index)
    assert 2200 < sum(map(lines.index, pairs[0])) / 1000 < 2800  # from all over the corpus
    assert sampled("--split", "--seed", "2") != pairs
    (joint,) = sampled("--seed", "1")
    assert 420 < sum(line.isupper() for line in joint) < 580
    assert sampled("--seed", "1", size=10_000)[0][:3] == ["line 0", "LINE 0", "line 1"]


@pytest.mark.parametrize("longer", ["en", "xx"])
def test_sides_of_unequal_length_are_refused(tmp_path: Path, longer: str) -> None:
    files = {lang: tmp_path / lang for lang in ("en", "xx")}
    for lang, file in files.items():
        write_lines(file, ["the cat"] * (70_000 if lang == longer else 65_536))
    with pytest.raises(InputError, match=r"en.*xx|xx.*en"):
        run(tmp_path, "v", "--corpus-src", str(files["en"]), "--corpus-trg", str(files["xx"]))


def test_too_little_memory_is_told_with_the_sample_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SampledText(tmp_path / "none", 0, 1_000_000, 100_000_000)
    monkeypatch.setenv("TRANSLATIONS_MEMORY", "3000")
    check_memory(text)
    monkeypatch.setenv("TRANSLATIONS_MEMORY", "1000")
    with pytest.raises(
        InputError, match=r"1,000,000 lines with 100,000,000 characters takes 2,\d\d\d MB"
    ) as told:
        check_memory(text)
    most = int(re.findall(r"at most ([\d,]+)", str(told.value))[0].replace(",", ""))
    check_memory(replace(text, lines=most, characters=100 * most))
    with pytest.raises(InputError, match="worker-class"):
        check_memory(replace(text, lines=most + 10_000, characters=100 * most + 1_000_000))


def test_a_size_too_large_names_the_largest_possible(tmp_path: Path) -> None:
    lines = [source for source, _ in tiny.pairs(50, seed=1)]
    with pytest.raises(
        InputError, match=r"too large for the text .* largest size possible is (\d+)"
    ) as caught:
        learn(lines, 32000, QUICK_RULE)
    largest = int(str(caught.value).split("possible is ")[1].split(".")[0])
    assert SentencePieceProcessor(model_proto=learn(lines, largest, QUICK_RULE)).get_piece_size() == largest
    assert f"at most {largest - largest % 8}, a multiple of 8" in str(caught.value)
    with pytest.raises(InputError, match="too large"):
        learn(lines, largest + 1, QUICK_RULE)


def test_a_size_too_small_names_the_smallest_possible() -> None:
    lines = [source for source, _ in tiny.pairs(50, seed=1)]
    with pytest.raises(InputError, match=r"smallest size possible is \d+") as caught:
        learn(lines, 100, QUICK_RULE)
    least, advised = map(int, re.findall(r"possible is (\d+)\. .* at least (\d+), ", str(caught.value))[0])
    assert least <= advised < least + 8
    assert advised % 8 == 0


def test_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="no text"):
        learn(["", ""], 300, QUICK_RULE)


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        run(tmp_path, "v", size=32000)
    assert list((tmp_path / "v").iterdir()) == []


TEXTS = [
    "e\u0301",
    "\u00e9",
    "u\u0308\u0304",
    "\u00fc\u0304",
    "\u01d6",
    "\u1112\u1161\u11ab",
    "하\u11ab",
    "한",
    "\u212b",
]


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["nfc", "nfd"])
def test_rules_normalise_as_unicode_says(rule: str) -> None:
    for text in TEXTS:
        assert through(rule, text) == unicodedata.normalize("NFC" if rule == "nfc" else "NFD", text)


UNSEEN = "\u00ad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"


@pytest.mark.parametrize(
    "rule", ["nmt_nfkc", *(pytest.param(rule, marks=pytest.mark.slow) for rule in RULES[1:])]
)
def test_what_nobody_sees_is_dropped_and_joiners_stay(rule: str) -> None:
    for mark in UNSEEN:
        assert through(rule, f"se{mark}es {mark}cat{mark}") == "sees cat", hex(ord(mark))
    assert through(rule, "می\u200cخواهم क्\u200dष") == "می\u200cخواهم क्\u200dष"


@pytest.mark.parametrize("rule", ["nmt_nfkc", pytest.param("nfkc", marks=pytest.mark.slow)])
def test_otherwise_tables_do_as_sentencepieces_own_rules(rule: str) -> None:
    """Compared with the rule that is built into SentencePiece, by a vocabulary of that one."""
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(["a"]),
        model_writer=model,
        vocab_size=300,
        byte_fallback=True,
        hard_vocab_limit=False,
        normalization_rule_name=rule,
        minloglevel=2,
    )
    own, ours = SentencePieceProcessor(model_proto=model.getvalue()), trained(rule)
    dropped = {*UNSEEN, *map(chr, range(0x2060, 0x2070)), "\u180e", "\u200c"}
    characters = [chr(code) for code in chain(range(1, 0xD800), range(0xE000, 0x20000))]
    texts = [f"a{character}a" for character in characters if character not in dropped] + TEXTS
    texts += [
        f"{letter}{mark}" for letter in "aeiouyAEIOUYсЗикαωक가" for mark in map(chr, range(0x300, 0x346))
    ]
    assert ours.decode(ours.encode(texts)) == own.decode(own.encode(texts))


@pytest.mark.parametrize("digits", ["٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "๐๑๒๓๔๕๖๗๘๙"])
def test_digits_of_other_scripts_are_split_too(digits: str) -> None:
    lines = [
        f"{n} {n}".translate(dict(zip(map(ord, "0123456789"), digits, strict=True)))
        for n in range(1000, 1400)
    ]
    model = SentencePieceProcessor(model_proto=learn(lines, 285, QUICK_RULE))
    assert [piece for piece in model.encode(digits[1:5], out_type=str) if piece != "▁"] == list(digits[1:5])


def test_compatibility_characters_change_under_nfkc_only() -> None:
    assert [through(rule, "ﬁ") for rule in ("nfkc", "nmt_nfkc", "nfc")] == ["fi", "fi", "ﬁ"]


def test_tables_hold_code_points() -> None:
    table = rule_table("nfd").splitlines()
    assert "E9\t65 301" in table
    assert len(table) > 13000


@cache
def trained(rule: str) -> SentencePieceProcessor:
    return load(by_rule(rule))


def through(rule: str, text: str) -> str:
    vocab = trained(rule)
    return str(vocab.decode(vocab.encode(text)))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_of_configs_trains_a_vocabulary(rule: str) -> None:
    assert rule in str(Experiment.model_fields["spm_norm_rule"].annotation)
    assert trained(rule).get_piece_size() == 340


@pytest.mark.parametrize(
    ("cyrillic", "latin"),
    [
        ("Љубав, коњ и џеп.", "Ljubav, konj i džep."),
        ("ЉУБАВ КОЊ ЏЕП", "LJUBAV KONJ DŽEP"),  # CLDR's Serbian-Latin/BGN, as are the next three
        ("Њ.К.В.", "NJ.K.V."),
        ("ЉЊа", "LJNja"),
        ("С\u0301утра, з\u0301еница", "Śutra, źenica"),  # Montenegrin
        ("Ђорђе Ћосић шаље чај", "Đorđe Ćosić šalje čaj"),
        ("сѐ и са\u0300м", "sè i sàm"),
        ("Ље\u0300", "Ljè"),
        ("Ǉubav ǆep", "LJubav džep"),  # by NFKC: one character each
        ("English text, č", "English text, č"),
        ("рођен 1889. у Горькиј й ё ї ѓ", "rođen 1889. u Gorьkij й ё ї ѓ"),  # not letters of Serbian
        ("ﬁ ｶﾞ ① А\u030f", "fi ガ 1 Ȁ"),
    ],
)
def test_serbian_cyrillic_becomes_latin(cyrillic: str, latin: str) -> None:
    assert through(HBS, cyrillic) == normalize(HBS, cyrillic) == latin


_LETTERS = st.sampled_from("абвгдђежзијклљмнњопрстћуфхцчџшАЕЗЉЊЏСѐѝйc.")
_ACCENTED = st.builds(
    "".join, st.tuples(st.sampled_from("аеиоруАЕ"), st.sampled_from("\u0300\u0301\u0304\u030f\u0311"))
)


@given(st.lists(_LETTERS | _ACCENTED, min_size=1).map("".join))
@settings(max_examples=300, deadline=None)
def test_the_table_does_as_the_function_that_it_is_made_by(text: str) -> None:
    assert through(HBS, text) == normalize(HBS, text)


def test_other_characters_are_those_of_nfkc() -> None:
    for number in chain(
        range(0x21, 0x400), range(0x1E00, 0x2500), range(0x3000, 0x3400), range(0xFF00, 0xFFEF)
    ):
        text = f"a{chr(number)}a"
        assert through(HBS, text) == through("nfkc", text), hex(number)


# So few beside 3,000 sentences that SentencePiece leaves them all to bytes.
RARE = ["où"] * MIN_OCCURRENCES + ["cœur"] * (MIN_OCCURRENCES - 1) + ["À"]


def with_rare_letters(folder: Path, *more: str) -> SentencePieceProcessor:
    """The target's vocabulary of a corpus in which "où" is rare, and "cœur" and "À" are rarer."""
    folder.mkdir()
    pairs = [*tiny.pairs(3000, seed=1), *(("the cat", line) for line in RARE)]
    sides = zip(*pairs, strict=True)
    options = ["--src", "en", "--trg", "fr", "--norm-rule", "nfc", "--output", str(folder / "v")]
    for name, side in zip(("src", "trg"), sides, strict=True):
        (folder / name).write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
        options += [f"--corpus-{name}", str(folder / name)]
    options += ["--curriculum", str(tiny.CONFIGS / "curriculum/teacher.one-stage.yml")]
    main([*options, "--sample-size", "100000", "--seed", "1", *more])
    return load(folder / "v" / "vocab.fr.spm")


def needs_bytes(vocab: SentencePieceProcessor, text: str) -> bool:
    return any(map(vocab.is_byte, vocab.encode(text)))


@pytest.mark.parametrize("options", [("--vocab-size", "336"), ("--vocab-size", "312", "--split")])
def test_letters_that_occur_a_few_times_are_pieces(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert needs_bytes(with_rare_letters(tmp_path / "untold", *options), "où")  # so the test can fail
    vocab = with_rare_letters(tmp_path / "told", *options, "--trg-letters", "abcdefghijklmnopqrstuvwxyzùœÀ")
    assert not needs_bytes(vocab, "où")
    assert needs_bytes(vocab, "œ")  # too rare
    assert needs_bytes(vocab, "À")
    assert "LA" in vocab.encode("LA", str)[-1]  # pieces of several letters, as ever


@pytest.mark.parametrize(
    ("rule", "letters", "text", "expected"),
    [
        ("nmt_nfkc", "ùê", ["ou\u0300"] * 5, "ù"),  # counted as the rule writes them
        ("nfd", "ùê", ["où"] * 5, "u\u0300"),
        ("nmt_nfkc", "～", ["1\uff5e2"] * 5, "\uff5e"),  # NFKC but for this
        ("nfkc", "～", ["1\uff5e2"] * 5, "~"),
        (HBS, "љЉш", ["љуљашка"] * 3, "jl"),
        ("nmt_nfkc", "abc", ["ab", "ba"] * 2 + ["a"], "a"),
        ("nmt_nfkc", "", ["ab"] * 9, ""),
        ("nmt_nfkc", "ba", ["x"] * 10_002 + ["ab"] * 5, "ab"),  # beyond the first block
    ],
)
def test_letters_of_a_text(rule: str, letters: str, text: list[str], expected: str) -> None:
    assert occurring(letters, text, rule) == expected
