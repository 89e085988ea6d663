"""Results of tests as text, for terminals and notebooks."""

from __future__ import annotations

import html
from typing import Any

from btests.kernels.combination import shortened
from btests.kernels.pair import KernelPair
from btests.selection.aggregate import Aggregate
from btests.symmetries import Redraw, SharedSwaps

# Rules for block sizes in words.
_RULES = {"budget": "budget of operations", "n^0.5": "square root of n"}


def statistic_label(result: Any) -> str:
    """Return what the statistic of a result is called."""
    is_kernel = callable(result.kernel)  # members of other statistics are names
    label = result.kernel.label if isinstance(result.kernel, KernelPair) else "MMD^2" if is_kernel else "statistic"
    return str(getattr(result.null, "label", label))


def result_text(result: Any) -> str:
    """Return a `TestResult` as some lines: the verdict first, then what it rests on."""
    of_pairs = isinstance(result.kernel, KernelPair)
    found, what = ("dependent", "dependence") if of_pairs else ("different", "difference")
    verdict = f"{found} (p <= 0.05)" if result.rejects(0.05) else f"no {what} found at level 0.05"
    permuted = ", of all permutations of y" if isinstance(result.summary.symmetry, Redraw) else ""
    rows, label_of_rows = f"{result.n_x} and {result.n_y}", "rows"
    if of_pairs or result.paired:
        rows = f"{result.n_x} pairs"
    if result.unit_rows is not None:
        units = f"{result.n_x} in both samples" if result.paired else rows
        rows, label_of_rows = f"{units} ({result.unit_rows[0]} and {result.unit_rows[1]} rows)", "units"
    lines = [
        f"B-test: {verdict}",
        f"  p-value   {result.pvalue:.4g}",
        f"  {statistic_label(result):9} {result.statistic:.4g}{_interval(result)}",
        f"  {label_of_rows:9} {rows}, {result.blocks_text()}",
        *_order_lines(result),
        f"  kernel    {shortened(result.kernel)}",
        *_choice_lines(result),
        f"  null      {result.null!r}{permuted}, seed {result.seed}",
        f"  computed  {result.engine}, {result.seconds:.3g} s",
    ]
    return "\n".join(lines)


def blocks_text(result: Any) -> str:
    """Return the number and the size of the blocks of a result in words, with the rule that gave them."""
    sizes = (result.n_frequencies, "random features"), (result.n_landmarks, "landmarks")
    if features := " or ".join(f"{size} {what}" for size, what in sizes if size is not None):
        return f"all pairs by {features} of each kernel"
    if result.n_blocks == 1:
        return "in one block"
    shares = isinstance(result.summary.symmetry, SharedSwaps)
    same_size = shares or min(result.n_x, result.n_y) % result.n_blocks == 0
    size = f"{result.block_size}" if same_size else f"{result.block_size} or more"
    rule = "" if result.block_rule == "given" else f" (by the {_RULES.get(result.block_rule, result.block_rule)})"
    drawn = ", drawn with replacement" if shares else ""
    return f"in {result.n_blocks} blocks of {size}{drawn}{rule}"


def _order_lines(result: Any) -> list[str]:
    lines = [] if result.read == "at once" else [f"  order     {result.order}, {result.read}"]
    if result.scale is not None:
        pooled = "" if isinstance(result.kernel, KernelPair) else ", pooled over both samples"
        lines.append(f"  scaled    each column by its robust scale{pooled}")
    if any(result.n_pending):
        lines.append(f"  waiting   {result.n_pending[0]} and {result.n_pending[1]} rows, which fill no block")
    return lines


def _choice_lines(result: Any) -> list[str]:
    n_x, n_y = result.n_train
    rows = f"{n_x} rows a side" if n_x == n_y else f"{n_x} and {n_y} rows"
    lines = [f"  chosen    by {result.selector!r} on {rows}"] if n_x else []
    if isinstance(result.selector, Aggregate):
        lines = [f"  chosen    the strongest of {len(result.candidates)}, {result.selector!r}"]
    elif result.selector is None and len(result.candidates) > 1:
        lines = [f"  chosen    the strongest of {len(result.candidates)} members of the statistic"]
    return [*lines, f"  note      {result.note}"] if result.note else lines


def _interval(result: Any) -> str:
    if hasattr(result.null, "label"):  # intervals are for MMD^2
        return ""
    try:
        low, high = result.confidence_interval()
    except ValueError:
        return ""
    return f"  (95 % interval {low:.4g} to {high:.4g})"


def text_as_html(text: str) -> str:
    r"""Return lines of a label and a value each, below a headline, as a table for notebooks.

    Examples
    --------
    >>> text_as_html("B-test: different\n  p-value   0.01")[:35]
    '<div><b>B-test: different</b><table'
    """
    headline, *lines = text.splitlines()
    left = 'style="text-align:left"'
    cells = [(line[2:12].strip(), line[12:].strip()) for line in lines]
    rows = "".join(
        f"<tr><th {left}>{html.escape(label)}</th><td {left}>{html.escape(value)}</td></tr>" for label, value in cells
    )
    return f"<div><b>{html.escape(headline)}</b><table>{rows}</table></div>"
