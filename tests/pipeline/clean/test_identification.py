"""Tests of what tells lines of another language: HeLI-OTS, and a tiny model of fastText trained here."""

import logging
import tarfile
from pathlib import Path

import fasttext
import pytest

from pipeline.clean.evidence import Script
from pipeline.clean.identification import FastText, Heli, sample_of
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from tests.pipeline.clean.neighbours import GROUPS

ENGLISH = ["the girl reads the book in the garden", "a big dog sees a small cat", "we went home yesterday"]
RUSSIAN = ["девочка читает книгу в саду", "большая собака видит кошку", "мы пошли домой вчера вечером"]
SERBIAN = ["девојчица чита књигу у башти", "велики пас види малу мачку", "јуче смо отишли кући на вечеру"]
SHARED = Path(__file__).resolve().parents[4] / "shared"
FLORES = SHARED / "data/mirror/dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz"
GERMAN = "Das Mädchen liest das Buch im Garten."
NEIGHBOURS = [
    (own, other, sentences)
    for group in GROUPS
    for own in group
    for other, sentences in group.items()
    if own != other
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows English, Russian and Serbian by a few sentences."""
    folder = tmp_path_factory.mktemp("model")
    labelled = {"eng_Latn": ENGLISH, "rus_Cyrl": RUSSIAN, "srp_Cyrl": SERBIAN}
    lines = [f"__label__{label} {line}\n" for label, lines in labelled.items() for line in lines * 30]
    (folder / "train.txt").write_text("".join(lines), encoding="utf-8")
    trained = fasttext.train_supervised(
        str(folder / "train.txt"), dim=8, minn=2, maxn=3, bucket=5_000, epoch=30, verbose=0, thread=1
    )
    trained.save_model(str(folder / "model.bin"))
    return folder / "model.bin"


@pytest.mark.parametrize(("own", "other", "sentences"), NEIGHBOURS, ids=lambda value: str(value)[:3])
def test_neighbours_are_other_languages(own: str, other: str, sentences: list[str]) -> None:
    assert Heli([own], "Latin").others(sentences) == [other] * len(sentences)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: " ".join(group))
def test_sentences_of_the_language_are_none(group: dict[str, list[str]]) -> None:
    for own, sentences in group.items():
        assert Heli([own], "Latin").others(sentences) == [""] * len(sentences)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The village of Haldarsvík offers views of the islands.", "eng"),
        ("Commander of Civil Defence Srečko Šestan", "eng"),
        ("German Association of University Professors (Deutscher Hochschulverband)", "eng"),
        ("La patro donis libron al la filino.", "epo"),
        ("Заят не пострадал в аварии.", "rus"),
        ("Die Firma Microsoft stellte gestern in Berlin ihr Windows Server 2025 vor.", "deu"),
        ("涉事飞行员是空军中队长迪罗里·帕塔维，他在一九五零年毕业于弗吉尼亚大学。", "cmn"),
    ],
)
def test_names_are_no_evidence(text: str, label: str) -> None:
    assert Heli([label], "Latin").others([text]) == [""]


def test_short_lines_are_undecided() -> None:
    heli = Heli(["eng"], "Latin")
    assert heli.others([GERMAN, "Das Buch im Garten", "Hello.", "OK, see you!", ""]) == [
        "deu",
        "",
        "",
        "",
        "",
    ]
    assert Heli(["rus"], "Cyrillic").others(["Да.", "Нет.", "", *SERBIAN[:1]]) == ["", "", "", "hbs"]
    assert Heli(["jpn"], "Japanese").others(["我们昨天晚上回家了", "回家"]) == ["cmn", ""]


@pytest.mark.parametrize(
    ("label", "script", "line"),
    [
        ("cmn", "Han", "无法载入文档类 %1$s。"),
        ("cmn", "Han", "FFmpeg：错误 - 无法建立音频帧 (Could not setup audio frame)"),
        ("cmn", "Han", "分区表不支持 ADD CONSTRAINT"),
        ("cmn", "Han", "毫米;millimeter;millimeters;mm"),
        ("jpn", "Japanese", "%s のフォークに失敗しました"),
        ("jpn", "Japanese", "OpenOffice.org 2.0 Writer の文書テンプレート"),
        ("tha", "Thai", "เปิดแฟ้ม <b>%s</b> ด้วย GNOME Terminal ไม่ได้"),
        ("kor", "Korean", "GNOME Terminal 3.44에서 파일 %s을(를) 열 수 없습니다"),
        ("rus", "Cyrillic", "Запустите программу Control Center, Tweaks"),
        ("glg", "Latin", "rato;punteiro;trackball;velocidade;pulsación;"),
    ],
)
def test_code_and_words_of_other_scripts_are_no_evidence(label: str, script: str, line: str) -> None:
    assert Heli([label], script).others([line]) == [""]


@pytest.mark.parametrize(
    ("label", "script", "line", "other"),
    [
        ("cmn", "Han", "You can also use the pager to move windows.", "eng"),
        ("cmn", "Han", "Вы также можете перемещать окна.", "rus"),
        ("tha", "Thai", "You can also use <b>%s</b> to move the windows.", "eng"),
        ("jpn", "Japanese", "您也可以使用分页器来移动窗口。", "cmn"),
        ("rus", "Cyrillic", SERBIAN[0], "hbs"),
        ("eng", "Latin", "您也可以使用分页器来移动窗口。", "cmn"),
    ],
)
def test_other_languages_are_told_as_before(label: str, script: str, line: str, other: str) -> None:
    assert Heli([label], script).others([line]) == [other]


def test_chinese_without_kana_is_not_japanese() -> None:
    chinese = Heli(["cmn"], "Han")
    assert chinese.others(["黄金可以加工成各种形状。可以卷曲成微小的形状。"]) == [""]
    assert chinese.others(["昨日の夜、私たちは古い駅のそばで長い間バスを待っていました。"]) == ["jpn"]


@pytest.mark.skipif(not FLORES.is_file(), reason=f"there is no {FLORES}")
def test_flores() -> None:
    own = {"eng_Latn": "eng", "rus_Cyrl": "rus", "zho_Hans": "cmn", "zho_Hant": "cmn"}
    with tarfile.open(FLORES) as archive:
        texts = {name: _read(archive, f"flores200_dataset/devtest/{name}.devtest") for name in own}
    for name, label in own.items():
        script = "Han" if label == "cmn" else "Latin"
        identifier = Heli([label], script)
        assert identifier.others(texts[name]).count("") >= 0.99 * len(texts[name])
        for other, lines in texts.items():
            decided = [line for line in lines if Script(script).evidence(line).is_enough]
            if own[other] != label:
                assert identifier.others(decided).count("") <= 0.01 * len(decided)


def _read(archive: tarfile.TarFile, name: str) -> list[str]:
    file = archive.extractfile(name)
    assert file
    return file.read().decode("utf-8").splitlines()


def test_a_language_that_heli_lacks_is_no_reason(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert Heli(["tlh"], "Latin").others([GERMAN]) == [""]
        assert Heli([], "Latin").others([GERMAN]) == [""]
    assert "HeLI-OTS does not know this language (tlh): no line is dropped" in caplog.text
    assert "(it has no label)" in caplog.text


def test_a_model_of_fasttext(model: Path) -> None:
    english, russian = FastText(model, ["eng"], "Latin"), FastText(model, ["rus_Cyrl", "ru"], "Cyrillic")
    assert english.others([*ENGLISH, *RUSSIAN]) == ["", "", "", *["rus_Cyrl"] * 3]
    assert russian.others([*ENGLISH, *RUSSIAN, *SERBIAN]) == [
        *["eng_Latn"] * 2,
        "",
        *[""] * 3,
        *["srp_Cyrl"] * 3,
    ]
    assert english.others([]) == []


def test_a_model_of_fasttext_is_believed_where_it_is_sure(model: Path) -> None:
    short = "вчера вечером"
    both = f"{ENGLISH[0]} {RUSSIAN[0]}"
    assert FastText(model, ["srp"], "Latin").others([short, RUSSIAN[0]]) == ["", "rus_Cyrl"]
    assert FastText(model, ["srp"], "Latin", always=True).others([short]) == ["rus_Cyrl"]
    always = FastText(model, ["srp"], "Latin", always=True).others([both])
    assert always[0] in ("rus_Cyrl", "eng_Latn")


def test_a_model_of_fasttext_is_not_believed_of_another_script(model: Path) -> None:
    mixed = f"{RUSSIAN[0]} вчера {ENGLISH[0]} {ENGLISH[2]}"
    assert FastText(model, ["rus"], "Cyrillic", always=True).others([mixed]) == ["eng_Latn"]
    assert FastText(model, ["rus"], "Cyrillic").others([mixed]) == [""]


def test_whole_labels_have_a_script(model: Path) -> None:
    assert FastText(model, ["srp"], "Cyrillic").others(SERBIAN) == [""] * 3
    assert FastText(model, ["srp_Cyrl"], "Cyrillic").others(SERBIAN) == [""] * 3
    assert FastText(model, ["rus_Cyrl"], "Cyrillic").others(SERBIAN) == ["srp_Cyrl"] * 3


def test_a_language_that_a_model_lacks_is_no_reason(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = FastText(model, ["srp_Latn", "xho"], "Latin")
    assert (found.labels, found.others(RUSSIAN)) == (frozenset(), [""] * 3)
    assert "model.bin does not know this language (srp_Latn xho): no line is dropped" in caplog.text


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"<html>not found</html>")
    with pytest.raises(InputError, match="is no model of fastText"):
        FastText(tmp_path / "model.bin", ["eng"], "Latin")


def test_an_unknown_script_is_an_error() -> None:
    with pytest.raises(InputError, match="Cyrilic"):
        Heli(["rus"], "Cyrilic")


GALICIAN = [
    "Cando remate de copiar os ficheiros, prema no botón para pechar a xanela e volver ao cartafol anterior.",
    "As modificacións que fixese non se gardarán ata que inicie outra vez a sesión no seu computador.",
]
PORTUGUESE = [
    "Quando terminar de copiar os ficheiros, carregue no botão para fechar a janela e voltar à pasta.",
    "As alterações que fizer não serão guardadas até que inicie novamente a sessão no seu computador.",
]
DOUBTFUL = "Mostrar o diálogo de Apagar"  # Galician, and could be Portuguese


@pytest.mark.parametrize(
    ("rest", "label"),
    [
        ([], "por"),
        (GALICIAN * 10, "por"),  # too few to learn from
        (GALICIAN * 100, ""),
        (GALICIAN * 80 + PORTUGUESE * 20, "por"),
        (PORTUGUESE * 100, "por"),
    ],
    ids=["alone", "few", "its own", "mixed", "the neighbour's"],
)
def test_the_data_set_decides_what_a_short_line_does_not(rest: list[str], label: str) -> None:
    identifier = Heli(["glg"], "Latin")
    identifier.learn(rest)
    assert identifier.others([DOUBTFUL]) == [label]
    assert identifier.others(PORTUGUESE) == ["por", "por"]


def test_what_was_learnt_of_another_data_set_is_forgotten() -> None:
    identifier = Heli(["glg"], "Latin")
    identifier.learn(GALICIAN * 60 + PORTUGUESE * 40)
    assert identifier.shares == {"por": 0.4}
    identifier.learn(GALICIAN)
    assert identifier.shares is None
    identifier.learn(GALICIAN * 100)
    assert identifier.others([DOUBTFUL]) == [""]
    identifier.learn([])
    assert identifier.others([DOUBTFUL]) == ["por"]


SHORT_PORTUGUESE = ["Não guardar", "Fechar janela", "Sair agora", "OK", "Firefox"]
SHORT_GALICIAN = ["Non gardar", "Abrir o ficheiro", "Saír agora", "OK", "Firefox"]


@pytest.mark.parametrize(
    ("share", "found", "lost"),
    [
        (None, "", []),
        (0, "", []),
        (20, "", []),
        (50, "por", []),
        (80, "por", []),
        (100, "por", ["Abrir o ficheiro", "Saír agora"]),
    ],
)
def test_a_data_set_with_much_of_a_relative_decides_for_short_lines(
    share: int | None, found: str, lost: list[str]
) -> None:
    """Those with fewer than 20 letters; in one wholly in Portuguese a line is so, unless it cannot be."""
    identifier = Heli(["glg"], "Latin")
    if share is not None:
        identifier.learn(GALICIAN * (100 - share) + PORTUGUESE * share)
    assert identifier.others(SHORT_PORTUGUESE) == [found, found, found, "", ""]
    told = dict(zip(SHORT_GALICIAN, identifier.others(SHORT_GALICIAN), strict=True))
    assert [line for line, label in told.items() if label] == lost


@pytest.mark.parametrize(("lines", "shares"), [(SHORT_PORTUGUESE, {"por": 1.0}), (SHORT_GALICIAN, {})])
def test_short_lines_tell_together_what_a_data_set_is_in(lines: list[str], shares: dict[str, float]) -> None:
    identifier = Heli(["glg"], "Latin")
    identifier.learn(lines[:3] * 20)
    assert identifier.shares is None  # too few
    identifier.learn(lines[:3] * 100)
    assert identifier.shares == shares


def test_models_of_fasttext_tell_shares_and_do_not_go_by_them(model: Path) -> None:
    identifier = FastText(model, ["rus"], "Cyrillic")
    identifier.learn([line * 3 for line in [*RUSSIAN, *SERBIAN[:1]] * 20])
    assert identifier.shares == {"srp_Cyrl": 0.25}
    assert identifier.others(["велики пас"]) == [""]


def test_a_sample_is_of_lines_that_may_be_long_and_of_others_where_these_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = [*GALICIAN, "可以打开文件并且保存到另外一个文件夹里面的按钮在这里"]
    write_lines(tmp_path / "text", ["short", *long[:2], "短", "", long[2], "x" * 4_000])
    assert sample_of(tmp_path / "text") == [*long, "short", "短"]
    monkeypatch.setattr("pipeline.clean.identification.SAMPLE", 3)
    assert sample_of(tmp_path / "text") == long


def test_a_few_long_lines_do_not_stand_for_a_text_of_short_ones() -> None:
    """As in the demo, where they are the noise."""
    identifier = Heli(["glg"], "Latin")
    identifier.learn(PORTUGUESE * 25 + SHORT_GALICIAN[:3] * 1_000)
    assert identifier.shares
    assert identifier.shares["por"] < 0.15
    assert identifier.others(SHORT_GALICIAN) == [""] * 5
