"""Tests whether several samples have the same distribution: all at once, and pair by pair."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from btests._validation import check_alpha, check_batch, check_names, check_seed, column_names
from btests.api import btest
from btests.independence import independence_test
from btests.independence_pipeline import DEFAULT_FAMILY
from btests.kernels import Kernel, Linear
from btests.multiple_testing import holm
from btests.nulls import Null
from btests.result import TestResult
from btests.scaling import check_scale, robust_scale
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
        rows = ", ".join(f"{name} {size}" for name, size in zip(self.names, self.sizes, strict=True))
        lines = [
            f"B-test of {len(self.names)} samples: {found if self.rejects(0.05) else none}",
            f"  p-value   {self.pvalue:.4g}",
            f"  rows      {rows}, {self.result.blocks_text()}",
            f"  null      {self.result.null!r}, seed {self.result.seed}",
        ]
        lines += ["  pairs     p-values corrected by Holm's method"] if self.pairs else []
        width = max((len(name) for name in self.names), default=0)
        for pair in sorted(self.pairs, key=lambda pair: pair.pvalue):
            first, second = self.names[pair.first], self.names[pair.second]
            lines.append(f"    {first:{width}}  {second:{width}}  {pair.pvalue:.4g}")
        return "\n".join(lines)


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
    seed : int, optional
        Seed of the order of rows and of the nulls.
    pairwise : bool
        Whether to test all pairs of samples, too, with p-values corrected by Holm's method.
    block_size, block_exponent, budget, n_threads
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
    rows = _rows_of(samples, labels)
    scaled = check_scale(scale)
    if scaled is None:
        scaled = any(column_names(sample) is not None for sample in samples) and rows[0].shape[1] > 1
    pooled = np.concatenate(rows).astype(np.float64)
    if scaled:
        scales = np.array([robust_scale(column)[1] for column in pooled.T])
        pooled, rows = pooled / scales, [own / scales for own in rows]
    members = np.repeat(np.eye(len(rows)), [len(own) for own in rows], axis=0)
    options: dict[str, Any] = {"block_exponent": block_exponent, "budget": budget, "n_threads": n_threads}
    result = independence_test(
        pooled,
        members,
        kernel_x=DEFAULT_FAMILY if kernel is None else kernel,
        kernel_y=Linear(),
        block_size=block_size,
        null=null,
        scale=False,
        seed=number,
        **options,
    )
    found = []
    if pairwise:
        several = isinstance(kernel, (MedianFamily, list, tuple))
        own: Any = {"kernel": Aggregate(kernel) if several else kernel, "scale": False, "seed": number}  # type: ignore[arg-type]
        for i, j in combinations(range(len(rows)), 2):
            found.append((i, j, btest(rows[i], rows[j], n_threads=n_threads, **own)))
    corrected = holm(np.array([test.pvalue for _, _, test in found]))
    pairs = tuple(PairResult(i, j, float(p), test) for (i, j, test), p in zip(found, corrected, strict=True))
    sizes = tuple(len(own) for own in rows)
    return KSampleResult(result.statistic, result.pvalue, labels, sizes, result, pairs)


def _names_of(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if n < 2:
        raise ValueError(f"ksample_test needs two samples or more, got {n}")
    found = tuple(str(i) for i in range(n)) if names is None else tuple(str(name) for name in names)
    if len(found) != n or len(set(found)) != n:
        raise ValueError(f"names must be one for each of {n} samples, and different, got {list(found)}")
    return found


def _rows_of(samples: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Return samples as arrays with the same columns, matched by name."""
    columns = column_names(samples[0])
    found: list[Any] = []
    for name, sample in zip(names, samples, strict=True):
        rows, own = check_batch(f"sample {name}", sample), column_names(sample)
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
    return found
