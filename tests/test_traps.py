"""Earlier failures, and the tests that would catch them; the tests named here must exist.

A trap is a measured fact about Marian, OpusTrainer, SentencePiece or another tool that breaks a model or a
run without a word. Bad input is what a person can get wrong. Whoever renames a test finds its row here.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

MARIAN, TRAIN, CHECKPOINTS = (
    "pipeline/common/test_marian",
    "pipeline/train/test_train",
    "pipeline/train/test_checkpoints",
)
PAIRS, FEED, SETTINGS = (
    "pipeline/train/test_pairs",
    "pipeline/train/test_feed",
    "pipeline/train/test_settings",
)
STOPPING, STUDENTS = "pipeline/train/test_stopping", "pipeline/train/test_students"
QUANTIZE, EXPORT = "pipeline/quantize/test_quantize", "pipeline/quantize/test_export"
BAD, LOAD, DISK = "end_to_end/test_bad_input", "config/test_load", "store/test_disk"

TRAPS = {
    "decode and score end at the first line longer than max-length, with exit code 0": {
        MARIAN: [
            "test_lines_are_always_cropped",
            "test_lines_of_any_length_keep_their_number",
            "test_scores_of_lines_of_any_length_keep_their_order",
            "test_n_best_lists_have_beam_size_entries_a_line",
            "test_missing_lines_are_an_error_although_marian_says_nothing",
        ],
        PAIRS: ["test_what_is_dropped_is_counted"],
    },
    "SIGTERM to what feeds Marian leaves it alive, and it then ends as if it had finished": {
        STOPPING: [
            "test_sigterm_leaves_a_complete_set_of_that_update",
            "test_a_stopped_training_is_no_finished_step",
            "test_a_stop_is_exit_75_whatever_marian_does",
            "test_nothing_outlives_a_script_that_is_killed",
        ],
    },
    "the feed's state is behind or ahead of Marian's checkpoint": {
        FEED: [
            "test_the_state_taken_is_the_newest_that_marian_has_passed",
            "test_going_on_from_any_state_gives_the_lines_that_would_have_followed",
        ],
        CHECKPOINTS: [
            "test_files_of_two_saves_are_never_kept_together",
            "test_a_set_that_is_being_written_does_not_count",
        ],
    },
    "a truncated optimizer.npz stops a resume, a missing one goes unnoticed": {
        CHECKPOINTS: [
            "test_a_damaged_set_is_passed_over_and_the_log_says_why",
            "test_a_set_without_an_optimizer_is_no_set",
        ],
        STOPPING: ["test_training_goes_on_from_a_set_and_from_the_one_before_a_damaged_one"],
    },
    "vocabularies or shortlist columns in the wrong order translate nonsense, with exit code 0": {
        MARIAN: [
            "test_a_model_translates_with_its_vocabularies_in_its_order",
            "test_true_pairs_score_above_shuffled_ones",
        ],
        QUANTIZE: [
            "test_it_translates_as_well_as_the_float_model",
            "test_the_folder_is_whole_and_carries_the_models_vocabularies",
            "test_a_shortlist_with_swapped_columns_is_refused",
        ],
        "pipeline/alignments/test_shortlist": [
            "test_lines_are_target_source_and_probability",
            "test_pieces_are_those_of_their_own_vocabulary",
        ],
        "stages/test_stages": [
            "test_the_backwards_model_is_turned_round",
            "test_evaluation_of_the_backwards_model_is_turned_round",
        ],
        "stages/test_translation": ["test_the_score_model_reads_the_target_side"],
    },
    "alignments that point outside of their sentence, or are missing, train on": {
        PAIRS: [
            "test_an_alignment_outside_the_sentence_is_an_error",
            "test_an_alignment_of_another_form_is_an_error",
            "test_what_is_dropped_is_counted",
        ],
        "pipeline/alignments/test_align": ["test_links_stay_inside_the_sentence_and_never_touch_spaces"],
    },
    "pymarian cannot load a file whose types are numbered for Firefox": {
        EXPORT: ["test_only_type_numbers_differ_from_marians_file"],
        "pipeline/quantize/test_marian_binary": ["test_other_type_numbers_can_be_taken_back"],
    },
    "the first 50 entries of a binary shortlist are only symbols and bytes": {
        QUANTIZE: [
            "test_the_shortlist_allows_all_special_pieces_and_fifty_more",
            "test_an_emoji_comes_through_the_shortlist",
            "test_fifty_pieces_alone_would_lose_it",
        ],
    },
    "the size of the feed's batches changes the text that it produces": {
        FEED: [
            "test_the_number_of_workers_does_not_change_the_text",
            "test_the_size_of_batches_stands_in_the_curriculum",
        ],
    },
    "a repeated option aborts Marian, and what is not overridden stays": {
        SETTINGS: [
            "test_later_sources_override_earlier_ones",
            "test_an_unknown_option_is_refused_by_name",
            "test_transformer_big_keeps_what_is_not_overridden",
        ],
    },
    "decoder.yml holds paths of the time of training": {
        TRAIN: ["test_the_result_is_a_models_folder"],
        QUANTIZE: ["test_decoder_yml_works_from_any_folder"],
    },
    "decoding in 8 bits depends on the batch": {
        MARIAN: ["test_a_quantised_model_is_decoded_with_its_shortlist_and_fixed_batches"],
    },
    "identifiers take short lines and names for other languages": {
        "pipeline/clean/test_identification": [
            "test_names_are_no_evidence",
            "test_short_lines_are_undecided",
            "test_code_and_words_of_other_scripts_are_no_evidence",
        ],
        "pipeline/clean/test_evidence": ["test_what_is_enough", "test_what_is_judged"],
    },
    "eflomal has neither symmetrisation nor lexical extraction, and minds empty lines": {
        "pipeline/alignments/test_symmetrize": ["test_cases_by_hand"],
        "pipeline/alignments/test_lexicon": ["test_probabilities_are_shares_of_the_source_units_links"],
        "pipeline/alignments/test_eflomal_runs": ["test_lines_without_words_get_no_links_and_keep_the_count"],
        "pipeline/alignments/test_align": ["test_a_corpus_longer_than_a_block_is_aligned_in_blocks"],
    },
    "without OpusTrainer's Tags Marian reads tokenised text": {
        FEED: [
            "test_marian_reads_no_tokenised_text",
            "test_a_student_reads_alignments_of_sentencepiece_pieces",
        ],
        "pipeline/alignments/test_icu_tokens": ["test_opustrainer_reads_the_same_tokens_and_the_same_text"],
    },
    "asynchronous updates are the default on a CPU, and fitting a batch to memory takes for ever there": {
        SETTINGS: ["test_training_on_a_cpu_is_synchronous_and_without_16_bit_floats"],
        "pipeline/train/test_batches": ["test_fitting_the_batch_to_memory_is_for_gpus_only"],
    },
    "a cost that is not a number breaks resuming": {
        "pipeline/train/test_curve": ["test_a_cost_that_is_not_a_number_is_an_error"],
        TRAIN: ["test_a_training_that_diverges_says_so"],
        STUDENTS: ["test_a_student_learns_from_alignments_and_long_pairs_are_dropped"],
    },
    "a space before a tab, or a third field in the validation set, derails Marian": {
        PAIRS: [
            "test_columns_are_parted_by_tabs_without_spaces_before_them",
            "test_the_development_set_has_two_fields",
        ],
    },
    "the settings inside a model end in an extra zero byte": {
        "pipeline/quantize/test_marian_binary": ["test_the_configuration_is_read_without_its_zero_bytes"],
    },
}

BAD_INPUT = {
    "unknown key, wrong type, unknown stage, unknown language, what is not built yet": {
        BAD: ["test_a_wrong_config_is_one_line_that_names_the_place"],
        LOAD: [
            "test_a_wrong_line_in_experiment",
            "test_an_unknown_language",
            "test_all_problems_are_told_at_once_by_line",
        ],
        "cli/test_errors": ["test_one_message", "test_a_broken_config_is_named_with_its_line"],
    },
    "a dataset that does not exist, is empty, damaged, of unequal length or not UTF-8": {
        BAD: [
            "test_a_bad_dataset_is_told_with_its_name_and_what_to_do",
            "test_a_bad_mono_text_is_told",
            "test_bad_datasets_stop_no_other_and_lose_nothing",
            "test_repaired_datasets_and_nothing_else_run_again",
        ],
        "pipeline/data/test_parallel_opus": [
            "test_a_dataset_that_does_not_exist",
            "test_a_corpus_that_cannot_be_used",
        ],
        "pipeline/common/test_downloads": ["test_without_a_network_the_message_says_what_to_do"],
        "pipeline/common/test_lines": ["test_invalid_utf8_is_told_with_file_and_line", "test_zip_lines"],
    },
    "a corpus that cleaning or merging leaves empty": {
        BAD: ["test_a_corpus_that_cleaning_leaves_empty"],
        "pipeline/clean/test_merge_parallel": ["test_an_empty_result_says_what_dropped_everything"],
        "pipeline/clean/test_merge_mono": ["test_an_empty_result_says_what_dropped_everything"],
    },
    "a line of a megabyte": {
        BAD: ["test_lines_of_a_megabyte_go_through_the_whole_chain"],
        "pipeline/common/test_lines": ["test_a_line_of_a_megabyte"],
        MARIAN: ["test_lines_of_any_length_keep_their_number"],
        "pipeline/data/test_parallel_opus": ["test_a_line_of_a_megabyte_passes"],
        "pipeline/alignments/test_align": ["test_empty_and_endless_lines_get_no_links_and_are_counted"],
    },
    "a vocabulary too large for the text": {
        BAD: ["test_a_vocabulary_too_large_for_the_text"],
        "pipeline/train/test_vocab": ["test_a_size_too_large_names_the_largest_possible"],
    },
    "a full disk": {
        BAD: ["test_a_disk_that_is_full_or_read_only"],
        DISK: [
            "test_a_full_disk_is_told_and_leaves_nothing_half_written",
            "test_a_write_that_is_cut_short_leaves_nothing_half_written",
        ],
        "runners/test_attempt": [
            "test_a_disk_that_is_full_during_the_commit_is_temporary",
            "test_a_disk_that_was_full_for_the_script_is_temporary_and_named",
        ],
    },
    "a store folder that cannot be written": {
        BAD: ["test_a_store_in_the_place_of_a_file_is_refused", "test_a_disk_that_is_full_or_read_only"],
        DISK: ["test_a_forbidden_folder_is_told", "test_a_read_only_folder_is_told"],
    },
    "an archive with dangerous names or resource forks": {
        "pipeline/common/test_archives": [
            "test_extracts_what_is_wanted_and_nothing_else",
            "test_only_safe_real_files_are_listed",
            "test_a_dangerous_member_cannot_be_extracted",
            "test_links_and_folders_are_no_files",
        ],
    },
}


@cache
def names_in(module: str) -> frozenset[str]:
    """The names of the test functions of a module below this folder."""
    tree = ast.parse((TESTS / f"{module}.py").read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def rows() -> Iterator[tuple[str, str, str]]:
    """Each trap, with module and test."""
    for what, modules in (TRAPS | BAD_INPUT).items():
        for module, names in modules.items():
            for name in names:
                yield what, module, name


@pytest.mark.parametrize("what", TRAPS | BAD_INPUT)
def test_what_has_gone_wrong_before_is_caught_by_tests_that_exist(what: str) -> None:
    named = [(module, name) for row, module, name in rows() if row == what]
    assert named
    assert [f"{module}.py::{name}" for module, name in named if name not in names_in(module)] == []
