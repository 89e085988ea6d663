"""The joint kernel test of all columns, on rows in memory or in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from btests.api import btest
from btests.block_size import FEATURES, BlockRule, check_block_rule
from btests.comparison.cells import Cells
from btests.comparison.compare_options import Options
from btests.comparison.encoding import Encoding
from btests.comparison.format import option
from btests.comparison.row_units import RowUnits, comes_first, row_orders
from btests.data.permuted import PermutedRows
from btests.data.source import Source
from btests.execution.checkpoint import Recorder
from btests.execution.out_of_core_sample import OutOfCoreSample
from btests.execution.samples import OutOfCoreSamples, open_samples
from btests.kernels.random_fourier import has_features
from btests.nulls import Null, SignFlip, null_of
from btests.nulls.null import kinds_of_blocks, wants_gram
from btests.pipeline import Procedure
from btests.plan import Index
from btests.result import TestResult
from btests.selection import KERNELS, MedianHeuristic, Setting, default_aggregate, default_family, selector_of
from btests.statistics.cost import pair_seconds, prefers_features

#: Default kernels of the joint test, and the index of the Gaussian with median bandwidth among them.
DEFAULT_KERNELS = default_aggregate()
CENTRE = 5

# Rows of each side for the median heuristic of the effect, and resamples of its null distribution, which is not used.
_MEDIAN_ROWS = 500
_FEW_RESAMPLES = 19


@dataclass(frozen=True, slots=True)
class Joint:
    """Joint test, and the test with one kernel fixed in advance, whose MMD^2 is the effect."""

    result: TestResult
    effect: TestResult


def joint_in_memory(
    columns: Sequence[Cells], encoding: Encoding, orders: tuple[Index, Index], options: Options
) -> Joint:
    """Return the joint test of pooled columns; the effect depends neither on the seed nor on which table is first."""
    x, y = encoding.encode(columns, orders)
    null, settings = null_of(options.null), _settings(options)
    chosen, one = _kernels(options, null)
    result = btest(x, y, kernel=chosen, null=null, seed=options.seed, **settings)
    if options.seed != 0:
        fixed = row_orders(columns, 0)
        x, y = (side[_inverse(own)[always]] for side, own, always in zip((x, y), orders, fixed, strict=True))
    return Joint(result, btest(x, y, kernel=one, null=SignFlip(_FEW_RESAMPLES), seed=0, **settings))


def joint_of_units(columns: Sequence[Cells], encoding: Encoding, units: RowUnits, options: Options) -> Joint:
    """Return the joint test of units of rows, which are swapped as a whole; the effect does not depend on the seed."""
    null = null_of(options.null)
    chosen, one = _kernels(options, null)
    found = []
    for kernel, own, seed in ((chosen, null, options.seed), (one, SignFlip(_FEW_RESAMPLES), 0)):
        orders = units.orders(columns, seed)
        x, y = encoding.encode(columns, units.rows(orders))
        found.append(btest(x, y, units=units.labels(orders), kernel=kernel, null=own, seed=seed, **_settings(options)))
    return Joint(*found)


def _kernels(options: Options, null: Null) -> tuple[Any, Any]:
    """Return the kernel or kernels of the test, and that of the effect in memory."""
    chosen = DEFAULT_KERNELS if options.kernel is None and isinstance(null, SignFlip) else options.kernel
    return chosen, MedianHeuristic(n_rows=_MEDIAN_ROWS) if options.kernel is None else options.kernel


def _settings(options: Options) -> dict[str, Any]:
    # The rows are in random order, and the columns on one scale.
    return {"block_size": options.block_size, "budget": options.budget, "shuffle": False, "scale": False}


def _inverse(order: Index) -> Index:
    out = np.empty_like(order)
    out[order] = np.arange(len(order))
    return out


def null_in_pieces(null: object) -> Null:
    """Return the null of the joint test.

    Raises
    ------
    ValueError
        If it needs all rows in memory.
    """
    found = null_of(null)
    if wants_gram(found):
        raise ValueError(
            f"{option('null')} {null} needs all rows in memory at once, and these tables are larger; "
            f"draw some of their rows with {option('max_rows')}, or take another null"
        )
    return found


def joint_of_sources(
    x: Source,
    y: Source,
    columns: Sequence[Cells],
    options: Options,
    recorder: Recorder,
    *,
    report: Callable[[int], None],
) -> Joint:
    """Return the joint test of all rows of two sources in random order.

    Parameters
    ----------
    x, y : Source
        Coordinates of the rows.
    columns : sequence of Cells
        Some rows of both, which determine the random order of two sources of one length.
    options : Options
        Kernel, null, block size and workers.
    recorder : Recorder
        Saves and restores finished chunks.
    report : callable
        Called with the number of shuffled rows.
    """
    null = null_in_pieces(options.null)
    blocks = kinds_of_blocks(null)
    features = None if isinstance(null, SignFlip) else False
    rule = check_block_rule(options.block_size, None, options.budget, **blocks, features=features)
    kernel, _ = _kernels(options, null)
    streams = _streams(columns, x.n_rows, y.n_rows)
    # Features are sums over rows as they are stored; blocks take rows in random order.
    if options.workers is None and _takes_features(kernel, rule, x, y):
        opened = OutOfCoreSamples.of(x, y, recorder.seed, True, streams)
    else:
        opened = shuffled(x, y, recorder.seed, streams, report, workers=options.workers)
    with closing(opened) as samples:
        read, executor = samples.read, samples.executor(recorder)
        setting = Setting(rule, executor=executor)
        result = Procedure(kernel, null, recorder.seed, setting, samples.order).run(samples.x, samples.y)
        effect = result
        if kernel is DEFAULT_KERNELS:
            fixed, same = result.candidates[CENTRE].kernel, BlockRule(result.block_size)
            if result.block_rule == FEATURES:
                same = replace(rule, features=True)
            procedure = Procedure(
                fixed, SignFlip(_FEW_RESAMPLES), 0, Setting(same, executor=samples.executor()), samples.order
            )
            effect = procedure.run(samples.x, samples.y)
    return Joint(replace(result, read=read), effect)


def _takes_features(kernel: Any, rule: BlockRule, x: Source, y: Source) -> bool:
    """Return whether the joint test takes features, which need no shuffle; the costs do not depend on bandwidths."""
    kernels: tuple[Any, ...] = (KERNELS[kernel] if isinstance(kernel, str) else kernel,)
    if kernel is DEFAULT_KERNELS:
        kernels = tuple(one for family in default_family().families for one in family.around(1.0))  # type: ignore[union-attr]
    elif isinstance(chosen := selector_of(kernel), MedianHeuristic):
        kernels = (chosen.make(1.0),)
    elif chosen is not None:
        return False
    suits = prefers_features(kernels)
    seconds, spectra = pair_seconds(kernels, x.width), all(map(has_features, kernels))
    size = rule.size_for(x.n_rows, y.n_rows, seconds, has_features=suits, has_spectra=spectra)
    return suits and size.rule == FEATURES


def _streams(columns: Sequence[Cells], n_x: int, n_y: int) -> tuple[int, int]:
    """Return the random stream of each side, 1 and 2, the same ones if the sides change places."""
    first = n_x > n_y if n_x != n_y else comes_first(columns)
    return (1, 2) if first else (2, 1)


def shuffled(
    x: Source, y: Source, seed: int, streams: tuple[int, int], report: Callable[[int], None], *, workers: Any = None
) -> OutOfCoreSamples:
    """Return both sources in random order, on workers or through temporary files, in one pass over each."""
    if workers is not None:
        return open_samples(x, y, seed, True, workers, streams=streams)
    # No read-ahead, so that the source is read only in that pass.
    permuted = [
        PermutedRows.of(source, seed, stream, True, memory=1) for source, stream in zip((x, y), streams, strict=True)
    ]
    permuted[0].prepare(report)
    permuted[1].prepare(lambda done: report(x.n_rows + done))
    return OutOfCoreSamples(OutOfCoreSample(permuted[0], 0, x.n_rows), OutOfCoreSample(permuted[1], 0, y.n_rows))
