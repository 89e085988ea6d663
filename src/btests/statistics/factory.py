"""The statistic of a two-sample test, made from its kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from btests._text import brief
from btests.kernels.kernel import Kernel
from btests.statistics.mmd import MMD
from btests.statistics.statistic import Statistic, is_statistic, wants_all_rows

#: Class or function from a tuple of kernels to a statistic.
StatisticFactory = Callable[[tuple[Kernel, ...]], Statistic]


class Choice(NamedTuple):
    """Statistic that was asked for by ``statistic`` of :func:`btests.btest`.

    Attributes
    ----------
    factory : callable or None
        Class or function from a tuple of kernels to a statistic; None for MMD^2 by blocks or features.
    features : bool or None
        Whether it is by features; None where one block of all rows is beyond the budget.
    """

    factory: StatisticFactory | None
    features: bool | None


def choose_statistic(value: Any, dtype: str, *, shares_flips: bool = True) -> Choice:
    """Return the choice that a value of ``statistic`` stands for, or raise.

    ``shares_flips`` is whether the null distribution is that of :class:`btests.SignFlip`, which features need.
    """
    if value is None or isinstance(value, str):
        if value not in (None, "blocks", "features"):
            raise ValueError(f"statistic must be 'blocks', 'features' or a class such as MMD, got {brief(value)}")
        if value == "features" and not shares_flips:
            raise ValueError("statistic='features' takes null=SignFlip(): other null distributions are for blocks")
        suits = shares_flips and dtype == "float64"
        return Choice(None, value == "features" if value is not None or not suits else None)
    check_factory(value, dtype)
    return Choice(value, False)


def check_factory(value: object, dtype: str) -> None:
    """Raise ``TypeError`` unless a value is None or may be called with kernels, ``ValueError`` for another dtype."""
    if value is None:
        return
    if is_statistic(value):
        name = type(value).__name__
        raise TypeError(f"statistic must be a class or function of a tuple of kernels, such as {name}, not an object")
    if not callable(value):
        raise TypeError(
            f"statistic must be a class or function of a tuple of kernels, such as MMD, got {type(value).__name__}"
        )
    if dtype != "float64":
        raise ValueError(f"dtype={dtype!r} is for the default statistic; one that is named is in float64")


def require_rows(statistic: Statistic, *, in_memory: bool) -> None:
    """Raise ``ValueError`` for a statistic that needs all rows in memory where they are not."""
    if wants_all_rows(statistic) and not in_memory:
        raise ValueError(
            f"{type(statistic).__name__} draws its blocks from all rows, which must be in memory; load them, "
            "or take statistic=None"
        )


def make_statistic(factory: StatisticFactory | None, kernels: tuple[Kernel, ...], dtype: str) -> Statistic:
    """Return the statistic of some kernels; None is :class:`MMD`.

    Parameters
    ----------
    factory : callable or None
        Class or function from a tuple of kernels to a statistic, whose members need not be the kernels one by one.
    kernels : tuple of Kernel
        One kernel, or those that are tested at once.
    dtype : {"float64", "float32"}
        Arithmetic of :class:`MMD` with one kernel. A family is always in float64: its flat members are nothing but
        rounding in float32.

    Returns
    -------
    Statistic

    Raises
    ------
    TypeError
        If the factory does not return a statistic.
    ValueError
        If the statistic is not one of two samples.
    """
    if factory is None:
        return MMD(kernels, dtype if len(kernels) == 1 else "float64")
    found: Any = factory(kernels)
    if not is_statistic(found):
        raise TypeError(
            f"statistic must return a statistic of the kernels, such as MMD(kernels), got {type(found).__name__}"
        )
    if not found.kernels:
        raise ValueError(f"{type(found).__name__} has no members: its kernels are empty")
    if not found.design.compares_columns:
        raise ValueError(
            f"{type(found).__name__} is a statistic of pairs of rows, and btest compares two samples; pairs have "
            "independence_test"
        )
    return found
