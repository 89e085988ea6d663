"""What a test returns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from btests._option_checks import check_alpha, is_finite
from btests._text import brief
from btests.diagnostics import Normality, ks_normality, skewness
from btests.intervals import ConfidenceInterval, Spread, estimate_spread
from btests.kernels.kernel import Kernel
from btests.nulls.distributions import NullDistribution, ResampledDistribution, smallest_pvalue
from btests.nulls.null import Null
from btests.plan import Array
from btests.plot import plot_blocks, plot_null
from btests.result_text import blocks_text, result_text, statistic_label, text_as_html
from btests.selection.aggregate import Aggregate
from btests.selection.selector import Candidate, Selector
from btests.summary import Summary

# Attributes of a result that files and other programs take, in their order.
_PLAIN = (
    *("statistic", "pvalue", "n_blocks", "block_size", "block_rule", "n_frequencies", "n_landmarks", "n_x", "n_y"),
    *("null", "kernel"),
    *("seed", "engine", "seconds", "selector", "candidates", "note", "n_train", "order", "n_pending", "read", "scale"),
    *("paired", "unit_rows"),
)


@dataclass(frozen=True, slots=True)
class TestResult:
    """The outcome of a test of two samples, or of independence; unpacks as ``statistic, pvalue``.

    Attributes
    ----------
    statistic : float
        The average of the block MMD^2, or of HSIC in tests of independence, unbiased. It may be negative: then the
        samples are, if anything, closer than two samples of one distribution usually are. (With ``CrossMMD``, from the
        pairs between halves alone; with ``Spectrum`` and ``Gamma`` the biased MMD^2 of all rows, which is never
        negative.)
    pvalue : float
        Probability of a statistic at least as large under the null hypothesis. Never 0.
    n_blocks, block_size : int
        Number of blocks, and rows of the smaller sample in the smallest of them; blocks may hold one row more.
    block_rule : str
        The rule that gave the block size: ``"given"``; ``"one block"`` of all rows, where the budget affords it;
        ``"budget"``, the largest block within it; ``"n^0.5"``, the paper's rule; or ``"features"``, random features of
        all rows, which count as one block.
    n_frequencies : int or None
        Random frequencies of each kernel with a spectrum, where features took the place of blocks.
    n_landmarks : int or None
        Landmarks of each kernel without a spectrum, at most, where features took the place of blocks.
    n_x, n_y : int
        Rows that were tested: all, or those that the choice of the kernel left over.
    null, kernel, seed : Null, Kernel, int
        What was used; the seed also where none was given.
    engine : str
        What computed the kernel: ``compiled (...)`` or ``numpy``.
    seconds : float
        Wall time of the whole call.
    summary, null_distribution : Summary, NullDistribution
        Values and moments of the blocks, and the distribution of the statistic under the null hypothesis.
    selector : Selector, Aggregate or None
        What chose the kernel; None where it was given.
    candidates : tuple of Candidate
        The kernels to choose from, with their scores and weights; none where there was only one.
    note : str
        One sentence where the kernel, or the choice of it, is not what was hoped for, else empty.
    n_train : tuple of int
        Rows of x and of y that the choice used up. They were not tested.
    order : str
        How rows were put in order before they filled blocks: ``exact`` (any row anywhere), ``buffered`` (rows
        that are stored near one another may have met the same blocks) or ``as stored``.
    n_pending : tuple of int
        Rows of x and of y that were not tested because they fill no block; of a stream, they wait for others.
    scale : tuple of float or None
        What each column was divided by before the test; None for columns as they are.
    paired : bool
        Whether rows i of x and of y were of one subject, or columns of one row.
    unit_rows : tuple of int or None
        Rows of x and of y where units were tested, ``n_x`` and ``n_y`` of them; None where every row is a unit.
    read : str
        How rows were read: ``at once`` (they were in memory), ``in chunks`` (of files) or ``in batches``.
    """

    __test__ = False  # not a test case, whatever pytest thinks of the name

    statistic: float
    pvalue: float
    n_blocks: int
    block_size: int
    n_x: int
    n_y: int
    null: Null
    kernel: Kernel
    seed: int
    engine: str
    # Not compared: two runs with one seed are equal, and arrays do not compare to one answer.
    seconds: float = field(compare=False)
    summary: Summary = field(repr=False, compare=False)
    null_distribution: NullDistribution = field(repr=False, compare=False)
    # Not compared either: the same kernel on the same rows is the same test, given or selected.
    selector: Selector | Aggregate | None = field(default=None, compare=False)
    candidates: tuple[Candidate, ...] = field(default=(), repr=False)
    note: str = ""
    n_train: tuple[int, int] = (0, 0)
    order: str = "as stored"
    n_pending: tuple[int, int] = (0, 0)
    read: str = field(default="at once", compare=False)
    block_rule: str = field(default="given", compare=False)
    n_frequencies: int | None = field(default=None, compare=False)
    n_landmarks: int | None = field(default=None, compare=False)
    scale: tuple[float, ...] | None = field(default=None, repr=False)
    paired: bool = field(default=False, compare=False)
    unit_rows: tuple[int, int] | None = field(default=None, compare=False)

    def __iter__(self) -> Iterator[float]:
        """Yield statistic and p-value, as scipy's results do."""
        yield self.statistic
        yield self.pvalue

    def rejects(self, alpha: float = 0.05) -> bool:
        """Return whether the test at level ``alpha`` finds a difference."""
        return self.pvalue <= check_alpha(alpha)

    def threshold(self, alpha: float = 0.05) -> float:
        """Return the value that the statistic must exceed to be significant at level ``alpha``."""
        return self.null_distribution.threshold(check_alpha(alpha))

    @property
    def smallest_pvalue(self) -> float:
        """Smallest p-value that so many rows and draws can give.

        1 / (R + 1) of R random draws, with conservative ties; the share of the largest of all draws where there are
        few; of a null without draws the smallest normal float, 2.2e-308, though its tail is not as accurate as that.
        """
        return smallest_pvalue(self.null_distribution)

    @property
    def block_values(self) -> Array:
        """The unbiased MMD^2 of each block, which cannot be written to: (n_blocks,)."""
        values = self.summary.values.view()
        values.setflags(write=False)
        return values

    @property
    def standard_error(self) -> float:
        """Standard error of the estimate of MMD^2, whether or not the distributions differ."""
        return self._spread().standard_error

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Return a two-sided confidence interval for MMD^2, whether or not the distributions differ.

        It is about the average of the block values (with ``CrossMMD``, ``Spectrum`` and ``Gamma`` too, whose
        statistics are other estimates) and corrected for skewness: it reaches further up than down as a rule. MMD^2
        itself is never negative; the interval may begin below zero, and it does not begin above zero where the test
        does not reject at the level ``1 - confidence_level``.

        Parameters
        ----------
        confidence_level : float, default: 0.95
            Probability that the interval holds MMD^2, between 0 and 1.

        Returns
        -------
        ConfidenceInterval
            Named tuple of ``low`` and ``high``; ``low <= summary.mean() <= high``.

        Raises
        ------
        ValueError
            For one block of fewer than 8 rows, and for one block of samples of different lengths in a result of a
            stream or of a partial result, which keep no rows.

        See Also
        --------
        pvalue_above : one-sided p-value of the same pivot.
        """
        confidence_level = check_alpha(confidence_level)
        alpha, mean, spread = 1.0 - confidence_level, self.summary.mean(), self._spread()
        low, high = mean + spread.quantile(alpha / 2.0), mean + spread.quantile(1.0 - alpha / 2.0)
        return ConfidenceInterval(min(low, 0.0) if self._pvalue_of_zero() > alpha else low, high)

    def pvalue_above(self, tau: float) -> float:
        """Return the p-value of "MMD^2 is at most ``tau``": small where the difference is more than tolerated.

        Unlike ``pvalue`` it does not assume that the distributions are the same. It is 0.025 at the lower end of the
        95 % interval, and never less than ``pvalue``: distributions that are the same differ by at most ``tau``, too.
        """
        if isinstance(tau, bool) or not isinstance(tau, Real):
            raise TypeError(f"tau must be a number, got {brief(tau)}")
        if not is_finite(tau) or tau < 0:
            raise ValueError(f"tau must be a finite number of at least 0, got {brief(tau)}")
        return max(self._pvalue_of_zero(), self._spread().pvalue(tau - self.summary.mean()))

    def _pvalue_of_zero(self) -> float:
        """Return ``pvalue``, or 0 if it is the smallest one that the number of draws allows."""
        null_distribution = self.null_distribution
        return (
            0.0
            if isinstance(null_distribution, ResampledDistribution)
            and self.statistic > null_distribution.draws[-1] + null_distribution.tolerance
            else self.pvalue
        )

    def plot(self, kind: str = "null", ax: Any = None, *, alpha: float = 0.05) -> Any:
        """Plot this result with matplotlib, and return the axes.

        Parameters
        ----------
        kind : {"null", "blocks"}
            ``"null"``: the null distribution with the observed value and the threshold. ``"blocks"``: a histogram of
            the block values.
        ax : matplotlib.axes.Axes, optional
            Axes to draw in; those of a new figure by default.
        alpha : float, default: 0.05
            Level of the threshold.
        """
        if kind == "null":
            return plot_null(self, ax, alpha=check_alpha(alpha), label=statistic_label(self).replace("^2", "²"))
        if kind != "blocks":
            raise ValueError(f"kind must be 'null' or 'blocks', got {brief(kind)}")
        return plot_blocks(self.block_values, ax)

    def skewness(self) -> float:
        """Return the sample skewness of the block values, NaN for fewer than 3 blocks."""
        return skewness(self.block_values)

    def normality(self) -> Normality:
        """Return a Kolmogorov-Smirnov test of the block values against a normal distribution (Figure 1)."""
        return ks_normality(self.block_values)

    def _spread(self) -> Spread:
        return estimate_spread(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and names of this result as plain Python values."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        as_text = {name: None if plain[name] is None else repr(plain[name]) for name in ("null", "kernel", "selector")}
        candidates = [{"kernel": repr(c.kernel), "score": c.score, "weight": c.weight} for c in self.candidates]
        as_lists = {name: list(value) for name, value in plain.items() if isinstance(value, tuple)}
        return plain | as_lists | as_text | {"candidates": candidates}

    def to_json(self) -> str:
        """Return ``to_dict()`` as one line of JSON."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        return result_text(self)

    def _repr_html_(self) -> str:
        """Return this result as HTML for a notebook."""
        return text_as_html(result_text(self))

    def blocks_text(self) -> str:
        """Return the number and the size of the blocks in words, with the rule that gave them."""
        return blocks_text(self)
