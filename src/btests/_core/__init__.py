"""The compiled inner loops, and nothing else; ``statistics/gram.py`` and ``nulls/signs.py`` are their plain twins.

The library is plain C++ behind a C interface, so that one build serves every Python and a call releases the
interpreter's lock. Where it was not built, ``is_available()`` is False and the plain path takes over.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from btests._core.bandwidth_chain import Chain, Term, belong_together, chain
from btests._core.threads import map_ranges
from btests.pairwise_sum import starts
from btests.plan import Array, Index, Plan

__all__ = [
    "belong_together",
    "flip",
    "instruction_set",
    "is_available",
    "lanes_are_blocks",
    "measure_exponentials",
    "measure_products",
    "summarize",
    "use_instruction_set",
]

_SHAPES = {"gaussian": 0, "laplacian": 1, "matern": 2, "rational": 3, "distance": 4}
_FAMILIES = {"gaussian": 5, "laplacian": 6}
_STEPS = {"all": 0, "sums": 1, "conclude": 2}
_SUMS = (6, 32, 32)  # what task.hpp says a block of step "sums" takes, for each kernel
_LARGE, _PARTS = 1024, 8  # what task.hpp says: rows of a large block, and the parts that the work on it is cut into
_FEW_NODES = 16
_LEVELS = {"generic": 0, "avx2": 1, "avx512": 2}

# Lanes are blocks while the packed rows of a vector of blocks take no more than 8 MiB (in float64, with 8 lanes)...
_PACKED_COORDINATES = 2**16
# ... and the data are narrow enough that distances are taken from differences, not from products. Of a family they are
# a smaller part of the work, and what it does with them this layout does faster.
_NARROW, _NARROW_FAMILY = 36, 512


class _Task(ctypes.Structure):
    """Mirrors ``Task`` in task.hpp."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("x", "y", "order_x", "order_y", "origin", "edges")),
        *((name, ctypes.c_void_p) for name in ("ratios", "squarings", "values", "moments", "sums")),
        *((name, ctypes.c_int64) for name in ("n_x", "n_y", "d", "n_blocks", "n_groups", "first_node", "last_node")),
        *((name, ctypes.c_int64) for name in ("n_kernels", "n_wide", "values_step", "cores_step", "part")),
        ("scale", ctypes.c_double),
        *(
            (name, ctypes.c_int32)
            for name in ("shape", "power", "rows_are_float32", "paired", "lanes_are_blocks", "step")
        ),
    )


class _Frame(Protocol):
    @property
    def origin(self) -> Array: ...

    def reach(self) -> float: ...


class _Sample(Protocol):
    @property
    def rows(self) -> npt.NDArray[Any]: ...

    @property
    def order(self) -> npt.NDArray[np.int64] | None: ...

    @property
    def start(self) -> int: ...

    @property
    def frame(self) -> _Frame: ...


def _load() -> ctypes.CDLL | None:
    path = Path(__file__).with_name("_core.so")
    if not path.exists():
        return None
    library = ctypes.CDLL(str(path))
    if not hasattr(library, "btests_size_of_task") or library.btests_size_of_task() != ctypes.sizeof(_Task):
        raise ImportError(f"{path.name} was built for another version of btests; install the package again")
    library.btests_instruction_set.restype = ctypes.c_char_p
    library.btests_summarize.argtypes = [ctypes.POINTER(_Task), ctypes.c_int32]
    library.btests_flip.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 5
    library.btests_flip.restype = None
    for measure in (library.btests_sum_exponentials, library.btests_sum_products):
        measure.argtypes = [ctypes.c_int64, ctypes.c_int32]
        measure.restype = ctypes.c_double
    return library


_core = _load()


def is_available() -> bool:
    """Whether the compiled loops were built with this installation."""
    return _core is not None


def instruction_set() -> str:
    """Return the name of the instruction set in use: ``generic``, ``avx2`` or ``avx512``."""
    return "none" if _core is None else _core.btests_instruction_set().decode()


def use_instruction_set(name: str | None) -> None:
    """Use the loops built for ``name``, or the best that this machine has for None."""
    level = -1 if name is None else _LEVELS[name]
    if _core is None or _core.btests_use_level(level) != 0:
        raise ValueError(f"this machine or this build has no loops for {name!r}")


def summarize(
    x: _Sample,
    y: _Sample,
    plan: Plan,
    numbers: tuple[int, int],
    nodes: Index,
    *,
    terms: tuple[Term, ...],
    dtype: str,
    n_threads: int | None = 1,
    endless: bool = False,
) -> tuple[list[Array], list[Array]]:
    """Return values (m,) of blocks ``numbers[0] .. numbers[1] - 1`` and cores (q, k, k) of their nodes.

    For each of some terms, which are one, or several that ``belong_together``; several are always computed in float64.
    """
    links = chain(terms)
    n_blocks, n_nodes = numbers[1] - numbers[0], len(nodes)
    edges = np.append(starts(nodes), numbers[1])
    values = np.empty((len(terms), n_blocks))
    moments = np.empty((len(terms), n_nodes, plan.moment_size, plan.moment_size))
    lanes = lanes_are_blocks(plan, x.rows.shape[1], len(terms), endless=endless)
    # All but which nodes: threads only copy it, so that none waits for another's Python.
    task = _task(x, y, plan, terms[0], links, lanes=lanes)
    task.edges, task.values_step, task.cores_step = edges.ctypes.data, values[0].size, moments[0].size
    float32 = dtype == "float32" and len(terms) == 1
    values_at, cores_at = values.ctypes.data, moments.ctypes.data

    def run(first: int, last: int, *, step: int = 0, sums: Array | None = None, part: int = 0) -> None:
        own = _Task.from_buffer_copy(task)
        own.first_node, own.last_node = first, last
        own.values = values_at + 8 * int(edges[first] - edges[0])
        own.moments = cores_at + 8 * first * plan.moment_size**2
        own.part, own.step = part, step
        own.sums = None if sums is None else sums.ctypes.data
        _run(own, float32)

    rows = max(plan.n_x, plan.n_y) * n_blocks // plan.n_blocks
    work = 2 * plan.block_size * rows * (task.d + 20 + 4 * len(terms)) // 20
    if n_nodes < _FEW_NODES and plan.block_size >= _LARGE and not lanes:  # cores would be idle
        _in_parts(run, n_nodes, (n_blocks, *_SUMS, len(terms)), work, n_threads)
    else:
        # A range of few blocks fills the last of its vectors of blocks badly.
        most = min(4, max(1, n_blocks // 128))
        map_ranges(run, n_nodes, work, n_threads, ranges_per_thread=most)
    back = np.argsort(links.order)  # the loops have the widest first
    return [values[i] for i in back], [moments[i] for i in back]


def _in_parts(run: Callable[..., None], n_nodes: int, shape: tuple[int, ...], work: int, n_threads: int | None) -> None:
    """Cut the work on each block into parts, and conclude from the sums of all."""

    def add_up(first: int, last: int) -> list[Array]:
        found = []
        for part in range(first, last):
            sums = np.zeros(shape)
            run(0, n_nodes, step=_STEPS["sums"], sums=sums, part=part)
            found.append(sums)
        return found

    parts = [sums for found in map_ranges(add_up, _PARTS, work, n_threads) for sums in found]
    total = parts[0]
    for sums in parts[1:]:  # one after another, in their order: the same however many threads there were
        total = total + sums
    run(0, n_nodes, step=_STEPS["conclude"], sums=total)


def _task(x: _Sample, y: _Sample, plan: Plan, term: Term, links: Chain, *, lanes: bool) -> _Task:
    n_kernels, d = links.order.size, x.rows.shape[1]
    n_wide = links.n_wide(x.frame.reach()) if lanes and n_kernels > 1 else 0
    return _Task(
        x=_address(x),
        y=_address(y),
        order_x=None if x.order is None else x.order.ctypes.data,
        order_y=None if y.order is None else y.order.ctypes.data,
        origin=x.frame.origin.ctypes.data,
        ratios=links.ratios.ctypes.data,
        squarings=links.squarings.ctypes.data,
        n_x=plan.n_x,
        n_y=plan.n_y,
        d=d,
        n_blocks=plan.n_blocks,
        n_groups=plan.n_groups,
        n_kernels=n_kernels,
        n_wide=n_wide,
        scale=links.scale * 2.0 ** max(n_wide - 1, 0),
        shape=(_FAMILIES if n_kernels > 1 else _SHAPES)[term.shape],
        power=term.power,
        rows_are_float32=x.rows.dtype == np.float32,
        paired=plan.paired,
        lanes_are_blocks=lanes,
    )


def _address(sample: _Sample) -> int:
    """Return where the first row of the whole sample would be: the loops count rows from there."""
    rows = sample.rows
    first = sample.start * rows.shape[1] * rows.itemsize
    return int(rows.ctypes.data) - int(first)


def _run(task: _Task, float32: bool) -> None:
    assert _core is not None, "callers ask is_available() first"
    status = _core.btests_summarize(ctypes.byref(task), int(float32))
    if status == 2:
        raise MemoryError(f"no memory for the rows of a block of {task.n_x // task.n_blocks}")
    if status != 0:
        raise AssertionError(f"the compiled loops know no shape {task.shape} of power {task.power}")


def lanes_are_blocks(plan: Plan, d: int, n_terms: int = 1, *, endless: bool = False) -> bool:
    """Whether a vector holds one row of several blocks, and not several rows of one block.

    Depends on all blocks, or on their shape alone where there is no end of them (``endless``), and never on the chunk
    at hand, so that chunks cannot change a bit of the result.
    """
    enough = endless or plan.n_blocks >= (8 if plan.block_size <= 64 else 24)
    fits = d <= (_NARROW if n_terms == 1 else _NARROW_FAMILY) and plan.block_size * d <= _PACKED_COORDINATES
    return plan.paired and enough and (fits or plan.block_size <= 16)


def flip(moments: Array, words: npt.NDArray[np.uint64], n_draws: int) -> Array:
    """Return ``sum_f s_f' C_f s_f`` for each draw of signs: (f, g, g) and words to (n_draws,)."""
    core = _core
    assert core is not None, "callers ask is_available() first"
    n_strata, n_groups, n_words = words.shape
    out = np.empty(n_words * 64)
    moments = np.ascontiguousarray(moments)

    def run(first: int, last: int) -> None:
        core.btests_flip(
            moments.ctypes.data, words.ctypes.data, out.ctypes.data, n_strata, n_groups, n_words, first, last
        )

    map_ranges(run, n_words, work=moments.size * n_draws // 2)
    return out[:n_draws]


def measure_exponentials(n: int, *, float32: bool = False) -> None:
    """Sum ``n`` exponentials of numbers in first-level cache, for the benchmark to time."""
    if _core is not None:
        _core.btests_sum_exponentials(n, int(float32))


def measure_products(n: int, *, float32: bool = False) -> None:
    """Do ``n`` multiply-adds in registers, for the benchmark to time."""
    if _core is not None:
        _core.btests_sum_products(n, int(float32))
