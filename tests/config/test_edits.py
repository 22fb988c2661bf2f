"""Edits of documents: lines stay those of what they were read from."""

from translations_assets.config.edits import Edit, apply
from translations_assets.config.yaml_reader import read_yaml

TEXT = """\
datasets:
  train:
    - first
    - second
    - third
  devtest:
    - other
"""


def test_lines_of_a_list_close_up_behind_an_item_that_goes() -> None:
    """By hand: `third` is the second item now, and still in line 5 of the file."""
    document = read_yaml(TEXT, "config.yml")
    apply(Edit(("datasets", "train", 1), "a data set that is gone"), document)
    assert document.value["datasets"]["train"] == ["first", "third"]
    assert [document.line(("datasets", "train", index)) for index in (0, 1)] == [3, 5]
    assert document.line(("datasets", "devtest", 0)) == 7
