"""Means of vectors at each coordinate, beside plain numpy, and their maps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import btests
from btests.comparison.coordinate_means import coordinate_means
from btests.report.coordinates import coordinate_maps, vector_map
from btests.report.page import make


def _lists(rows: Any, missing: int = 0) -> Any:
    return pa.chunked_array([pa.array([*rows[:5].tolist(), *[None] * missing]), pa.array(rows[5:].tolist())])


def test_moments_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3000, 6)) + 1e6, rng.normal(size=(40, 6)) + 1e6 + np.arange(6) * 3.0
    found = coordinate_means([_lists(a, missing=2), _lists(b)], 6, None)
    assert found is not None
    assert found.counts == (3000, 40)
    np.testing.assert_allclose(found.means[:, 0], [a.mean(axis=0), b.mean(axis=0)], rtol=1e-14)
    np.testing.assert_allclose(found.variances[:, 0], [a.var(axis=0, ddof=1), b.var(axis=0, ddof=1)], rtol=1e-9)
    largest = found.to_dict()["largest"]
    assert (largest["row"], largest["column"]) == (0, 5)


def test_images_are_averaged_over_colours_and_cells() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.random(size=(30, 100 * 3 * 3)) for _ in range(2))
    found = coordinate_means([_lists(a), _lists(b)], 900, (100, 3, 3))
    assert found is not None
    assert found.shape == (100, 3)
    assert found.means.shape == (2, 64, 3)
    edges = np.linspace(0, 100, 65).astype(int)
    pixels = a.reshape(30, 100, 3, 3).mean(axis=(0, 3))
    expected = [pixels[first:last].mean(axis=0) for first, last in pairwise(edges)]
    np.testing.assert_allclose(found.means[0], expected)


@pytest.mark.parametrize("rows", [np.zeros((20, 3)), np.random.default_rng(2).normal(size=(20, 3))])
def test_without_a_difference_all_are_zero(rows: Any) -> None:
    found = coordinate_means([_lists(rows), _lists(rows)], 3, None)
    assert found is not None
    assert not np.any(found.differences())


def test_a_side_without_vectors_has_no_map() -> None:
    rows = np.ones((20, 3))
    assert coordinate_means([_lists(rows), pa.chunked_array([pa.nulls(5, pa.list_(pa.float64()))])], 3, None) is None


def test_the_page_maps_vectors() -> None:
    rng = np.random.default_rng(3)
    shift = 2.0 * (np.arange(40) == 7)
    a, b = (
        pa.table({"v": (rng.normal(size=(200, 40)) + own).tolist(), "k": rng.normal(size=200)}) for own in (0, shift)
    )
    found = btests.compare(a, b, seed=0).to_dict()
    (own,) = coordinate_maps(found["columns"], found["excluded"])
    assert own.heading == "Where along v"
    assert "40 numbers in their order" in own.title
    assert own.text.startswith(
        "The means of 1 of 40 numbers differ by more than chance, most at number 7 (counted from 0)"
    )
    assert "wb" in own.drawing
    assert "Where along v" in make(found)
    assert all(vector_map(0, column) is None for column in found["columns"] if column["name"] == "k")


def test_the_page_maps_pixels(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(4)
    for side, light in (("a", 0), ("b", 120)):
        (tmp_path / side).mkdir()
        for number in range(40):
            pixels = rng.integers(0, 100, size=(6, 9, 3))
            pixels[4, 2] += light
            image.fromarray(pixels.astype(np.uint8)).save(tmp_path / side / f"{number}.png")
    found = btests.compare(tmp_path / "a", tmp_path / "b", seed=0).to_dict()
    (own,) = coordinate_maps(found["columns"], found["excluded"])
    assert own.title == "Difference of the means of image, 6 x 9 pixels"
    files = {row["file"] for row in found["examples"]["rows"]["a"]}
    assert files <= {str(tmp_path / "a" / f"{number}.png") for number in range(40)}
    page = make(found)
    assert all(f">of {Path(name).name}</span>" in page for name in files)
    assert "The means of 1 of 54 pixels differ by more than chance, most at row 4, column 2" in own.text
