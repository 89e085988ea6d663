"""Tests whether several samples have the same distribution: all at once, and pair by pair."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from btests._option_checks import check_alpha, check_flag, check_seed, check_texts, corrects_keywords
from btests._text import brief, printable, printable_errors
from btests._validation import check_batch, check_names, column_names, coordinates_of
from btests.api import btest
from btests.independence import independence_test, kernel_of
from btests.kernels import Kernel, Linear
from btests.multiple_testing import holm
from btests.nulls import Null
from btests.plan import Array, Index
from btests.result import TestResult
from btests.scaling import check_scale, coordinate_groups, scales_of
from btests.selection import Aggregate, MedianFamily


class PairResult(NamedTuple):
    """Two of several samples, by number, their test, and its p-value corrected for the number of pairs."""

    first: int
    second: int
    pvalue: float
    result: TestResult


@dataclass(frozen=True, slots=True)
class KSampleResult:
    """Test of several samples; unpacks as ``statistic, pvalue``.

    Attributes
    ----------
    statistic : float
        Unbiased HSIC of rows and labels of samples: a weighted sum of MMD^2 between all pairs of samples.
    pvalue : float
        Probability of a statistic at least as large if all samples had the same distribution. Never 0.
    names : tuple of str
        Names of the samples.
    sizes : tuple of int
        Rows of the samples.
    result : TestResult
        The test of all samples at once, with its kernel, null and blocks.
    pairs : tuple of PairResult
        Tests of all pairs of samples, p-values corrected by Holm's method.
    """

    statistic: float
    pvalue: float
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    result: TestResult = field(repr=False)
    pairs: tuple[PairResult, ...] = field(repr=False)

    def __iter__(self) -> Iterator[float]:
        """Yield statistic and p-value, as scipy's results do."""
        yield self.statistic
        yield self.pvalue

    def rejects(self, alpha: float = 0.05) -> bool:
        """Return whether the test at level ``alpha`` finds that not all samples have the same distribution."""
        return self.pvalue <= check_alpha(alpha)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and names of this result as plain Python values."""
        pairs = [
            {"first": self.names[pair.first], "second": self.names[pair.second], "pvalue": pair.pvalue}
            for pair in self.pairs
        ]
        own = {"statistic": self.statistic, "pvalue": self.pvalue, "names": list(self.names), "sizes": list(self.sizes)}
        return own | {"pairs": pairs, "test": self.result.to_dict()}

    def to_json(self) -> str:
        """Return ``to_dict()`` as one line of JSON."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        found, none = "not all of one distribution (p <= 0.05)", "no difference found at level 0.05"
        names = [printable(name) for name in self.names]
        rows = ", ".join(f"{name}: {size}" for name, size in zip(names, self.sizes, strict=True))
        lines = [
            f"B-test of {len(self.names)} samples: {found if self.rejects(0.05) else none}",
            f"  p-value   {self.pvalue:.4g}",
            f"  rows      {rows}, {self.result.blocks_text()}",
            f"  null      {self.result.null!r}, seed {self.result.seed}",
        ]
        lines += ["  pairs     p-values corrected by Holm's method"] if self.pairs else []
        width = max((len(name) for name in names), default=0)
        for pair in sorted(self.pairs, key=lambda pair: pair.pvalue):
            first, second = names[pair.first], names[pair.second]
            lines.append(f"    {first:{width}}  {second:{width}}  {pair.pvalue:.4g}")
        return "\n".join(lines)


@corrects_keywords
def ksample_test(
    *samples: Any,
    names: Sequence[str] | None = None,
    kernel: Kernel | MedianFamily | Sequence[Kernel] | str | None = None,
    block_size: int | str | None = None,
    null: Null | str | None = None,
    scale: bool | str | None = None,
    seed: int | None = None,
    pairwise: bool = True,
    block_exponent: float | None = None,
    budget: float | None = None,
    n_threads: int | None = None,
) -> KSampleResult:
    """Test whether several samples have the same distribution, and which of them differ.

    The samples are pooled, and rows are tested for dependence on the label of their sample by the HSIC with the kernel
    that is 1 for equal labels: it is 0 if and only if all distributions are the same (for a characteristic kernel).
    Swaps of labels within tuples of rows make its p-value exact.

    Parameters
    ----------
    *samples : array_like, shape (n_i, d), or data frame
        Two samples or more, in memory. Columns of frames are matched by name.
    names : sequence of str, optional
        Names of the samples; their numbers by default.
    kernel : Kernel, str, MedianFamily, list of Kernel or None
        Kernel of the rows, as ``kernel_x`` of :func:`btests.independence_test`; None is a Gaussian of several
        bandwidths. Pairs are tested with it, too.
    null : Null, {"swap", "normal", "pearson", "permutation"} or None
        Null distribution of the test of all samples, as in :func:`btests.independence_test`.
    scale : bool, "robust" or None
        Divide each column by its robust scale over all samples. None is True for frames of several columns.
    pairwise : bool
        Whether to test all pairs of samples, too, with p-values corrected by Holm's method.
    block_size, seed, block_exponent, budget, n_threads
        As in :func:`btests.btest`.

    Returns
    -------
    KSampleResult

    See Also
    --------
    btests.btest : Two samples.
    btests.independence_test : Dependence on anything else than the label of a sample.

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = (rng.normal(size=(200, 2)) * scale for scale in (1.0, 1.0, 1.5))
    >>> found = btests.ksample_test(a, b, c, names=["a", "b", "c"], seed=1)
    >>> found.pvalue
    0.0015
    >>> [(found.names[p.first], found.names[p.second]) for p in found.pairs if p.pvalue <= 0.05]
    [('a', 'c'), ('b', 'c')]
    """
    number = check_seed(seed)
    labels = _names_of(names, len(samples))
    with printable_errors():
        rows, columns = _rows_of(samples, labels)
    scaled = check_scale(scale)
    if scaled is None:
        scaled = len(coordinate_groups(columns)) > 1
    pooled = np.concatenate(rows).astype(np.float64)
    if scaled:
        scales = scales_of(pooled, columns)
        pooled, rows = pooled / scales, [own / scales for own in rows]
    labels_of_rows = np.repeat(np.arange(len(rows)), [len(own) for own in rows])
    result = labelled_test(
        pooled,
        labels_of_rows,
        kernel=kernel,
        null=null,
        seed=number,
        block_size=block_size,
        block_exponent=block_exponent,
        budget=budget,
        n_threads=n_threads,
    )
    pairs: tuple[PairResult, ...] = ()
    if check_flag("pairwise", pairwise):
        pairs = pairwise_tests(rows, kernel=kernel, seed=number, n_threads=n_threads)
    sizes = tuple(len(own) for own in rows)
    return KSampleResult(result.statistic, result.pvalue, labels, sizes, result, pairs)


def labelled_test(rows: Array, labels: Index, *, kernel: Any = None, **options: Any) -> TestResult:
    """Return the test of all samples at once: rows (n, d), the numbers of their samples (n,).

    The kernel of labels is 1 for equal ones and 0 otherwise, so that the result does not depend on how samples are
    numbered.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Rows of all samples, on one scale.
    labels : ndarray of int, shape (n,)
        Number of the sample of each row, from 0.
    kernel : Kernel, MedianFamily, list of Kernel, str or None
        Kernel of the rows, as in :func:`ksample_test`.
    **options
        Other options of :func:`btests.independence_test`.
    """
    members = np.eye(int(labels.max()) + 1)[labels]
    own = kernel_of("kernel", kernel, several=True)
    return independence_test(rows, members, kernel_x=own, kernel_y=Linear(), scale=False, **options)


def pairwise_tests(
    samples: Sequence[Array],
    *,
    kernel: Any = None,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> tuple[PairResult, ...]:
    """Return the tests of all pairs of samples (n_i, d), with p-values corrected by Holm's method.

    Parameters
    ----------
    samples : sequence of ndarray
        Samples on one scale.
    kernel : Kernel, MedianFamily, list of Kernel, str or None
        Kernel of the rows, as in :func:`ksample_test`.
    progress : callable, optional
        Called with the share of pairs that are done.
    **options
        Other options of :func:`btests.btest`.
    """
    chosen = Aggregate(kernel) if isinstance(kernel, (MedianFamily, list, tuple)) else kernel
    numbers, results = list(combinations(range(len(samples)), 2)), []
    for i, j in numbers:
        results.append(btest(samples[i], samples[j], kernel=chosen, scale=False, **options))
        if progress is not None:
            progress(len(results) / len(numbers))
    corrected = holm(np.array([result.pvalue for result in results]))
    return tuple(PairResult(i, j, float(p), own) for (i, j), p, own in zip(numbers, corrected, results, strict=True))


def _names_of(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if n < 2:
        raise ValueError(
            f"ksample_test needs two samples or more, as separate arguments, ksample_test(*samples), got {n}"
        )
    found = tuple(str(i) for i in range(n)) if names is None else check_texts("names", names)
    if len(found) != n or len(set(found)) != n:
        raise ValueError(f"names must be one for each of {n} samples, and different, got {brief(list(found))}")
    return found


def _rows_of(samples: Sequence[Any], names: Sequence[str]) -> tuple[list[Any], list[str] | None]:
    """Return samples as arrays with the same columns, matched by name, and these names if a sample has some."""
    columns: list[str] | None = None
    known: list[str] | None = None
    found: list[Any] = []
    for name, sample in zip(names, samples, strict=True):
        given = coordinates_of(f"sample {name}", sample)
        rows, own = check_batch(f"sample {name}", given), column_names(given)
        columns, known = columns if found else own, known or own
        if len(rows) < 2:
            count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
            raise ValueError(f"sample {name} has {count}; a test needs at least 2 rows in each sample")
        if columns is not None and own is not None and own != columns:
            check_names(columns, own, f"sample {names[0]}", f"sample {name}", "all samples")
            rows = rows[:, [own.index(column) for column in columns]]
        if found and rows.shape[1] != found[0].shape[1]:
            widths = f"{rows.shape[1]} columns and sample {names[0]} has {found[0].shape[1]}"
            raise ValueError(f"sample {name} has {widths}; they must have the same")
        found.append(rows)
    return found, known
