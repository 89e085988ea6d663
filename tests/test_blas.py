"""One thread of BLAS: nested, in several threads at once, and whatever number of threads it had before."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import btests
from btests._core.threads import one_blas_thread


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_overlapping_blocks_give_the_threads_back() -> None:
    barrier = Barrier(2)

    def first() -> None:
        with one_blas_thread():
            barrier.wait()  # the other is inside
            barrier.wait()
        barrier.wait()  # this one left first

    def second() -> set[int]:
        with one_blas_thread():
            barrier.wait()
            barrier.wait()
            barrier.wait()
            return threads()

    before = threads()
    with ThreadPoolExecutor(2) as pool:
        left_first, left_last = pool.submit(first), pool.submit(second)
        left_first.result()
        assert left_last.result() == {1}
    assert threads() == before


def test_libraries_that_are_loaded_later_are_limited() -> None:
    code = """
import btests._core.threads as threads
with threads.one_blas_thread():
    pass
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits
with threadpool_limits(2, user_api="blas"), threads.one_blas_thread():
    print({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "{1}\n"


def test_an_error_inside_gives_the_threads_back() -> None:
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(KeyError), one_blas_thread(), one_blas_thread():
            raise KeyError
        assert threads() == {2}


@pytest.mark.parametrize("null", [btests.Pearson(), btests.Spectrum(), btests.Permutation(), btests.SignFlip()])
def test_results_do_not_depend_on_the_threads_of_blas(null: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 3)), rng.normal(0.1, 1.0, size=(120, 3))
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(btests.btest(x, y, kernel=lambda p, q: p @ np.swapaxes(q, -1, -2), null=null, seed=1))
    assert found[0].pvalue == found[1].pvalue
    assert found[0].threshold() == found[1].threshold()


def test_features_have_the_same_bits_for_any_number_of_blas_threads() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 3000, 10))
    found = []
    for n in (1, 2):
        with threadpool_limits(n, user_api="blas"):
            found.append(btests.btest(x, y, statistic="features", seed=0).statistic)
    assert found[0] == found[1]
