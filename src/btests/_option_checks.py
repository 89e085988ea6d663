"""Checks of options: values, and keywords that users guess, such as ``rng`` in place of ``seed``."""

from __future__ import annotations

import codecs
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Integral, Real
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from btests._text import brief, close_match, converting

# Bits of seeds: fewer than Python writes as text.
_SEED_BITS = 1024

# Types of names and of cells.
_SCALARS = (str, int, float, np.str_, np.integer, np.floating)

P = ParamSpec("P")
T = TypeVar("T")

# Names of a source of random numbers that are accepted in place of ``seed``: SPEC 7, and scikit-learn.
_SEEDS = ("rng", "random_state")

_DRAWS = "draws belong to the null distribution: null=SignFlip(n_resamples=1999) or null=Permutation(n_resamples=999)"
_BANDWIDTH = "a bandwidth belongs to the kernel, exp(-d^2 / (2 bandwidth^2)): kernel=Gaussian(bandwidth=1.0)"
_LEVEL = "a test returns a p-value, and the result is asked for a level: result.rejects(0.05)"

# Arguments of a function for which people have other names; the first that it has is meant.
_SYNONYMS = {
    **dict.fromkeys(("level", "significance_level", "significance"), ("alpha",)),
    **dict.fromkeys(("cols", "usecols", "features", "variables", "include"), ("columns",)),
    **dict.fromkeys(("ignore", "drop", "skip", "excluded"), ("exclude",)),
    **dict.fromkeys(("sep", "separator"), ("delimiter",)),
    **dict.fromkeys(("group", "groups", "groupby", "group_by", "split"), ("by", "names")),
    **dict.fromkeys(("na_values", "na", "nan"), ("missing",)),
    **dict.fromkeys(("categorical", "cat_columns"), ("categories",)),
    **dict.fromkeys(("threshold", "min_effect", "delta"), ("tolerance",)),
    **dict.fromkeys(("id", "key", "cluster", "unit_column"), ("unit", "units")),
    **dict.fromkeys(("n_jobs", "num_threads", "threads", "nthreads"), ("n_threads", "workers")),
    **dict.fromkeys(("labels", "sample_names"), ("names",)),
    **dict.fromkeys(("method", "test"), ("statistic",)),
    **dict.fromkeys(("window",), ("window_size",)),
    **dict.fromkeys(("nrows", "sample", "n_rows", "max_samples"), ("max_rows",)),
}

_PAGE = "a page is written by its result: found.to_html('report.html')"

# Advice on arguments of other packages that have no counterpart here.
_ADVICE = {
    **dict.fromkeys(("n_permutations", "n_resamples", "permutations", "n_perm", "reps", "num_resamples"), _DRAWS),
    **dict.fromkeys(("sigma", "bandwidth", "lengthscale", "length_scale"), _BANDWIDTH),
    "gamma": f"{_BANDWIDTH}, with bandwidth = (2 gamma)^-1/2",
    **dict.fromkeys(("alpha", "level", "significance_level", "p_val"), _LEVEL),
    **dict.fromkeys(("output", "out", "html", "path", "save", "to_html"), _PAGE),
    **dict.fromkeys(("json", "as_json"), "JSON is a method of the result: found.to_json()"),
    **dict.fromkeys(("axis", "axes"), "rows are observations and columns are coordinates of one joint test"),
    "alternative": "the test is against every other distribution, and has no direction",
    "verbose": "progress is reported to a function: progress=print",
}


def check_dtype(dtype: object) -> None:
    """Raise unless this names the type of the arithmetic."""
    if not isinstance(dtype, (str, np.dtype)) or dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {brief(dtype)}")


def check_flag(name: str, value: object) -> bool:
    """Return a flag, or raise unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {brief(value)}")
    return bool(value)


def check_delimiter(delimiter: object) -> str | None:
    """Return the delimiter of text files, or None; raise unless it is one character that can be one."""
    if delimiter is None:
        return None
    if not isinstance(delimiter, str):
        raise TypeError(f"delimiter must be one ASCII character and no quote, or None, got {brief(delimiter)}")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ValueError(f"delimiter must be one ASCII character and no quote, or None, got {brief(delimiter)}")
    return str(delimiter)


def check_decimal(decimal: object) -> str | None:
    """Return the mark before the fraction of a number, or None; raise unless it is a comma or a point."""
    if decimal is not None and not (isinstance(decimal, str) and decimal in (",", ".")):
        raise ValueError(f"decimal must be ',' or '.', or None, got {brief(decimal)}")
    return None if decimal is None else str(decimal)


def check_encoding(encoding: object) -> str | None:
    """Return the name of an encoding of text, as Python has it, or None; raise if there is none of that name."""
    if encoding is None:
        return None
    try:
        "a".encode(encoding).decode(encoding)  # type: ignore[arg-type]
        found = codecs.lookup(encoding).name  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        such = "such as 'latin-1' or 'utf-16'"
        raise ValueError(f"encoding must be the name of an encoding, {such}, or None, got {brief(encoding)}") from None
    return {"utf-8": "utf-8-sig", "iso8859-1": "latin-1"}.get(found, found)


def is_one_of(value: object, *options: str) -> bool:
    """Whether this is one of some texts; arrays and frames would be compared cell by cell."""
    return isinstance(value, str) and value in options


def is_finite(value: object) -> bool:
    """Whether this is a number that is finite as a float."""
    value = value.item() if isinstance(value, np.generic) else value  # numpy casts the bound to float32
    return isinstance(value, Real) and not isinstance(value, bool) and bool(abs(value) <= sys.float_info.max)  # type: ignore[operator]


def share_of(what: str, text: str) -> float:
    """Return a share of the rows, 5% or 0.05, as a number from 0 to less than 1.

    Examples
    --------
    >>> share_of("tolerance", "5%"), share_of("tolerance", "0.05")
    (0.05, 0.05)
    """
    digits = text.strip().removesuffix("%")
    is_percent = digits != text.strip()
    try:
        share = float(digits) / (100.0 if is_percent else 1.0)
    except ValueError:
        share = math.nan
    if math.isnan(share):
        raise ValueError(f"{what} must be a share of the rows, such as 5% or 0.05, got {brief(text)}")
    if not 0.0 <= share < 1.0:
        why = _out_of_range(share, text.strip(), is_percent=is_percent)
        raise ValueError(f"{what} must be from 0% to less than 100% of the rows, and {brief(text)} is {why}")
    return share


def _out_of_range(share: float, text: str, *, is_percent: bool) -> str:
    """Return the reason to refuse a share that is not from 0 to less than 1."""
    if share < 0.0:
        return "below 0"
    if share == 1.0:
        return "all of them: tables never differ by more"
    return "more than all of them" + ("" if is_percent or share >= 100.0 else f"; a percentage is written {text}%")


def check_seed(seed: object) -> int:
    """Return the seed, or a fresh one for None: the result names it, so that every run can be repeated."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(11))
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0 or None, got {brief(seed)}")
    if seed >= 2**_SEED_BITS:
        raise ValueError(f"seed must be less than 2^{_SEED_BITS}, got a number of {int(seed).bit_length()} bits")
    return int(seed)


def whole_number(name: str, value: object, least: int) -> int:
    """Return a whole number as one of Python, whose sums do not overflow; raise unless it is ``least`` or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {brief(value)}")
    return int(value)


def check_threads(n_threads: object) -> int | None:
    """Return a number of threads, or None; raise unless it is one of both."""
    if n_threads is None:
        return None
    if isinstance(n_threads, bool) or not isinstance(n_threads, (int, np.integer)) or n_threads < 1:
        raise ValueError(f"n_threads must be a whole number of at least 1 or None, got {brief(n_threads)}")
    return int(n_threads)


def check_shuffle(shuffle: object) -> None:
    """Raise unless rows are to be shuffled, or not, or within a buffer."""
    if not isinstance(shuffle, (bool, np.bool_)) and not (isinstance(shuffle, str) and shuffle == "buffered"):
        raise TypeError(f"shuffle must be True, False or 'buffered', got {brief(shuffle)}")


def check_path(name: str, value: object) -> None:
    """Raise unless this is the path of a file, or None."""
    if value is not None and (not isinstance(value, (str, os.PathLike)) or value == ""):
        raise TypeError(f"{name} must be the path of a file, or None, got {brief(value)}")


def check_callback(name: str, function: object, of: str) -> None:
    """Raise unless this can be called, or is None; ``of`` says with what."""
    if function is not None and not callable(function):
        raise TypeError(f"{name} must be a function of {of}, or None, got {brief(function)}")


def check_alpha(alpha: object) -> float:
    """Return a level or a confidence between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float, np.floating)) or not 0.0 < alpha < 1.0:
        raise ValueError(f"a level must be between 0 and 1, both excluded, got {brief(alpha)}")
    return float(alpha)


def check_name(name: str, value: object) -> None:
    """Raise unless this is the name of a column, or None."""
    if value is not None and not isinstance(value, _SCALARS):
        raise TypeError(f"{name} must be the name of a column, or None, got {brief(value)}")


def check_texts(name: str, values: object) -> tuple[str, ...]:
    """Return names or cells as a tuple of texts: one of them, several, or none for None."""
    if values is None:
        return ()
    listed: list[Any] = [values]
    if not isinstance(values, _SCALARS):
        if not isinstance(values, Iterable) or isinstance(values, (bytes, Mapping)) or hasattr(values, "columns"):
            raise TypeError(f"{name} must be a text or a list of texts, got {brief(values)}")
        with converting(name):
            listed = list(values)
    for one in listed:
        if isinstance(one, bool) or not isinstance(one, _SCALARS):
            raise TypeError(f"{name} must be a text or a list of texts, got {brief(one)}")
    return tuple(map(str, listed))


def is_data(value: object) -> bool:
    """Whether this is an array, a data frame or a module, and no option."""
    marks = ("__array__", "__arrow_c_stream__", "__dask_graph__", "collect_schema")
    return isinstance(value, ModuleType) or any(hasattr(type(value), mark) for mark in marks)


def as_array(what: str, value: object) -> np.ndarray[Any, Any]:
    """Return an object of the user as an array, or raise an error that names it."""
    with converting(what):
        return np.asarray(value)


def corrects_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function, or ``__init__``, that takes ``rng`` or ``random_state`` for ``seed``, and gives advice.

    Advice is on unknown keywords. ``seed`` and its other names may be a `numpy.random.Generator`, `RandomState` or
    `SeedSequence`, from which one seed is drawn. Where a function takes ``by`` and values of it, ``a`` and ``b`` are
    these, as on the command line.
    """
    code = function.__code__
    known = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) - {"self"}
    name = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> T:
        return function(*arguments, **_corrected(name, known, len(arguments), keywords))

    return call


def _corrected(name: str, known: frozenset[str], n_given: int, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return keywords by their own names; raise a `TypeError` with advice where there is none."""
    found = dict(keywords)
    if {"by", "value_a"} <= known and n_given and found.get("by") is not None:
        for side in ("a", "b")[: 3 - n_given]:
            if side in found and f"value_{side}" not in found:
                found[f"value_{side}"] = found.pop(side)
    for other in _SEEDS:
        if other in found and "seed" in known:
            if found.get("seed") is not None:
                raise TypeError(f"{name}() takes seed or {other}, and not both")
            found["seed"] = _seed_of(other, found.pop(other))
    if found.get("seed") is not None:
        found["seed"] = _seed_of("seed", found["seed"])
    for keyword in found:
        if keyword not in known:
            raise TypeError(f"{name}() has no argument {keyword!r}{_advice(keyword, known)}")
    return found


def _advice(keyword: str, known: frozenset[str]) -> str:
    meant = next((name for name in _SYNONYMS.get(keyword, ()) if name in known), None)
    if meant is None and keyword in _ADVICE and (_ADVICE[keyword] != _PAGE or "tolerance" in known):
        return f"; {_ADVICE[keyword]}"
    like = meant or close_match(keyword, known)
    return f"; did you mean {like}?" if like else f"; there are {', '.join(sorted(known))}"


def _seed_of(name: str, source: object) -> object:
    """Return a seed drawn from a source of random numbers; anything else as it is, to be checked as a seed."""
    if isinstance(source, np.random.Generator):
        return int(source.integers(2**53))
    if isinstance(source, np.random.RandomState):
        return int(source.randint(2**31 - 1))
    if isinstance(source, np.random.SeedSequence):
        return int(source.generate_state(1, np.uint64)[0] >> np.uint64(11))
    if name != "seed" and (isinstance(source, bool) or not isinstance(source, (int, np.integer, type(None)))):
        raise TypeError(f"{name} must be a whole number or a numpy Generator, got {brief(source)}")
    return source
