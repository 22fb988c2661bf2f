"""Sets that are used twice: validated and tested on, or trained on."""

from tests.config.texts import SMALL, notes_on, problem_of, problems_of, with_line
from translations_assets.config.load import parse_config


def test_the_one_set_of_ntrex_may_be_validated_and_tested_on_but_not_trained_on() -> None:
    both = SMALL.replace("    - flores_dev\n", "    - ntrex_aug-upper_test\n") + "    - ntrex_test\n"
    assert [(note.line, note.key) for note in notes_on(both)] == [
        (9, "datasets.devtest[0]"),
        (12, "datasets.test[1]"),
    ]
    assert all("better than on unseen text" in note.message for note in notes_on(both))
    parse_config(both, "my.yml")
    found = problems_of(with_line("    - ntrex_test", "    - opus_ParaCrawl/v9") + "    - ntrex_test\n")
    assert [problem.partition(": ")[0] for problem in found] == ["8 datasets.train[1]", "13 datasets.test[1]"]


def test_a_dev_set_that_is_a_test_set_is_left_out() -> None:
    """The merge of the dev set drops lines of test sets, and all of NTREX's would be."""
    both = SMALL.replace("    - flores_dev\n", "    - flores_dev\n    - ntrex_test\n") + "    - ntrex_test\n"
    parse_config(both, "my.yml")
    assert [note.message for note in notes_on(both)] == [
        "'ntrex_test' is in test too: lines of test sets are left out of the dev set",
        "'ntrex_test' is in devtest too: lines of test sets are left out of the dev set",
    ]
    found = problem_of(both.replace("    - flores_dev\n", ""))
    assert found.startswith("8 datasets.devtest: nothing is left of it: lines of test sets are left out")
