"""Tests of the filter that joins segmented words of languages without spaces."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.clean.filtering.segmented import joined
from tests.pipeline.clean.filtering.opuscleaner import filter_file, ours


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我 在 2008 年 用 Windows XP 系统 。", "我在2008年用Windows XP系统。"),
        ("他 说 ： “ 你 好 ” ， 然后 走 了 。", "他说：“你好”，然后走了。"),
        ("谢谢 你", "谢谢你"),
        ("私 は 昨日 コーヒー を 飲み ました 。", "私は昨日コーヒーを飲みました。"),
        ("ฉัน ชอบ กิน ข้าว กับ Google Maps", "ฉันชอบกินข้าวกับ Google Maps"),
        ("ខ្ញុំ ចូលចិត្ត ញ៉ាំ បាយ", "ខ្ញុំចូលចិត្តញ៉ាំបាយ"),
        ("ຂ້ອຍ ມັກ ກິນ ເຂົ້າ 3 ຄັ້ງ", "ຂ້ອຍມັກກິນເຂົ້າ 3 ຄັ້ງ"),
        ("ကျွန်တော် ထမင်း စား တယ်", "ကျွန်တော်ထမင်းစားတယ်"),
    ],
)
def test_segmented_words_are_joined(text: str, expected: str) -> None:
    assert joined(text) == expected
    assert joined(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "在 Windows 系统中安装 Python 模块",
        "北京市人民政府办公厅发布通知 关于进一步加强管理工作的意见",
        "วันนี้อากาศดีมากเราจึงไปเที่ยวทะเลกัน พรุ่งนี้คงจะมีฝนตกหนักทั้งวัน",
        "저는 어제 大學 에서 한국 말 을 배웠 습니다",
        "New York Times and the BBC",
        "Это просто слова с пробелами",
        "3 4 5",
        "",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert joined(text) == text


@given(st.text(st.sampled_from("我们你はกขa1 ，。한"), max_size=30))
def test_nothing_but_spaces_is_lost(text: str) -> None:
    assert joined(text).replace(" ", "") == text.replace(" ", "")
    assert joined(joined(text)) == joined(text)


def test_the_sides_that_the_file_names_are_joined(tmp_path: Path) -> None:
    entry: dict[str, Any] = {"filter": "desegment", "parameters": {}, "language": "<trg>"}
    pair = ("我 是 学生 。", "我 是 学生 。")
    assert ours(filter_file(tmp_path, entry), [pair], ("en", "zh")) == [(pair[0], "我是学生。")]
    both = {**entry, "language": "<src>,<trg>"}
    assert ours(filter_file(tmp_path, both), [pair], ("ja", "zh")) == [("我是学生。", "我是学生。")]
