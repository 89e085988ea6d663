"""Settings that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from btests import _core

# The same examples in every run: a failure today is a failure tomorrow. A shared machine may be slow, so no deadline.
settings.register_profile(
    "btests", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("btests")


@pytest.fixture(params=_core.instruction_sets() or ["none"])
def instruction_set(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test once as on a machine whose best instruction set is each of those that this one has."""
    name: str = request.param
    if name == "none":
        pytest.skip("the compiled loops were not built")
    found = _core.instruction_sets()
    monkeypatch.setattr(_core.library, "instruction_sets", lambda: found[: found.index(name) + 1])
    return name


# Folders, files and single tests under tests/ that are not in the quick suite, by marker.
_MARKED = {
    "cluster": ("dask", "extending/test_extending.py", "faults/test_lost_workers.py"),
    "browser": ("report/test_browser.py", "report/test_looks.py", "report/test_whole.py"),
    "statistical": (
        "comparison/test_answers.py/test_level_of_the_verdict_and_of_columns",
        "comparison/test_levels.py",
        "comparison/test_row_units.py/test_level_of_all_tests",
        "comparison/test_tolerance.py/test_level_at_the_tolerance_itself",
        "nulls/test_gamma_pearson.py/test_the_level_is_in_the_region",
        "nulls/test_permutation.py/test_the_level_is_held",
        "nulls/test_spectrum.py",
        "nulls/test_tie_weights.py/test_levels_on_rare_coins",
        "nulls/test_tu.py/test_level",
        "nulls/test_ties.py/test_level_of_permutations_with_ties",
        "nulls/test_unequal.py/test_rare_values_do_not_reject_too_often",
        "selection/test_aggregate.py/test_level",
        "selection/test_levels.py",
        "statistical",
        "statistics/test_with_replacement.py/test_level",
        "statistics/test_with_replacement.py/test_the_average_over_draws_of_blocks_is_the_estimate_of_all_rows",
        "test_independence.py/test_level",
        "test_ksample.py/test_level",
        "test_paired.py/test_level",
        "test_result.py/test_pvalue_above_the_truth_is_a_pvalue",
        "test_independence.py/test_the_swaps_are_as_powerful_as_all_permutations",
        "test_intervals.py/test_variance_is_that_of_the_estimate",
        "test_result.py/test_intervals_cover",
        "test_units.py/test_level_and_power",
        "test_weights.py/test_levels",
    ),
    "study": ("studies", "test_benchmarks.py"),
    "slow": (
        "comparison/test_agreement.py",
        "comparison/test_answers.py/test_any_number_of_columns",
        "comparison/test_bad_tables.py/test_a_million_distinct_strings",
        "comparison/test_bad_tables.py/test_very_many_strings",
        "comparison/test_consistency.py/test_groups_do_not_contradict_their_verdict",
        "comparison/test_consistency.py/test_no_part_contradicts_another",
        "comparison/test_groups.py/test_the_document_shows_real_output",
        "comparison/test_large.py",
        "comparison/test_large_limits.py",
        "comparison/test_large_rows.py",
        "comparison/test_large_trouble.py",
        "comparison/test_repeat.py",
        "comparison/test_terminal.py",
        "data/test_arrow.py/test_a_bad_part_among_a_thousand",
        "execution/test_checkpoint.py",
        "fuzz/test_campaign.py/test_a_worker_that_was_killed_is_started_anew",
        "fuzz/test_campaign.py/test_hangs_crashes_and_foreign_exceptions_are_found",
        "fuzz/test_campaign.py/test_many_inputs",
        "fuzz/test_routes.py/test_independence",
        "fuzz/test_routes.py/test_two_samples",
        "execution/test_out_of_core.py/test_chunks_and_threads_leave_no_trace",
        "faults/test_faults.py",
        "nulls/test_quadratic.py/test_a_kernel_of_ones_own_is_never_whole",
        "nulls/test_quadratic.py/test_bytes_are_what_was_said",
        "partial_result/test_partial_result.py/test_chunks_of_a_plan_add_in_any_order",
        "recorded",
        "report/test_page.py/test_any_text_is_fine_anywhere",
        "robust/test_saved_files.py/test_changed_bytes_are_refused_or_harmless",
        "statistics/test_hsic.py/test_distance_covariance_is_that_of_dcor",
        "test_cli.py/test_examples_of_the_help_work_as_typed",
        "test_cross_checks.py",
        "test_examples.py",
        "test_packaging.py",
    ),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that are not in the quick suite, by their place, and run them first: none begins when others end."""
    root = Path(__file__).parent
    for item in items:
        if not item.path.is_relative_to(root):
            continue
        place = item.path.relative_to(root) / getattr(item, "originalname", item.name)
        for marker, places in _MARKED.items():
            if any(place.is_relative_to(own) for own in places):
                item.add_marker(marker)
    items.sort(key=lambda item: not any(item.get_closest_marker(marker) for marker in _MARKED))
