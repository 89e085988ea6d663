"""Folders of images as samples."""

from __future__ import annotations

import os
import struct
import sys
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import btests
from btests.comparison.sources import load
from btests.data.errors import LargeError
from btests.data.images import image_table, open_images


def _save(folder: str, pixels: Any, suffix: str = "png", **options: Any) -> None:
    Path(folder).mkdir(exist_ok=True)
    for k, one in enumerate(pixels):
        Image.fromarray(one).save(f"{folder}/{k:04d}.{suffix}", **options)


def _grey(seed: int, n: int = 40, light: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 200, (n, 6, 5), dtype=np.uint8) + np.uint8(light)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_images_are_rows() -> None:
    pixels = _grey(1)
    _save("a", pixels)
    Path("a/notes.txt").write_text("none")
    source = btests.open_source("a/")
    assert (source.n_rows, source.width, str(source.dtype)) == (40, 30, "float32")
    np.testing.assert_array_equal(source.read(3, 7), pixels[3:7].reshape(4, 30) / np.float32(255.0))
    np.testing.assert_array_equal(source.take(np.array([0, 39])), pixels[[0, 39]].reshape(2, 30) / np.float32(255.0))
    assert sum(map(len, source.scan(7))) == 40
    colours = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), dtype=np.uint8)
    _save("c", colours)
    np.testing.assert_array_equal(btests.open_source("c").read(0, 4), colours.reshape(4, 90) / np.float32(255.0))
    Image.fromarray(colours[0]).convert("L").save("c/9.png")
    assert btests.open_source("c/*.png").width == 90


def test_two_folders_are_tested() -> None:
    _save("a", _grey(1), "jpg", quality=95)
    _save("b", _grey(2), "jpeg", quality=95)
    _save("light", _grey(3, light=50))
    same, other = (btests.btest("a", name, seed=0).pvalue for name in ("b", "light"))
    rows = [btests.open_source(name).read(0, 40) for name in ("a", "b")]
    assert same == btests.btest(*rows, seed=0).pvalue > 0.01
    assert other <= 0.01
    found = btests.compare("a", "light", seed=0)
    assert found.columns[0].name == "image"
    assert found.columns[0].changed
    assert load("a", "table").table["image"].type.list_size == 30


def test_deep_grey_images() -> None:
    deep = np.random.default_rng(0).integers(0, 65536, (3, 4, 4)).astype(np.uint16)
    _save("deep", deep)
    np.testing.assert_allclose(btests.open_source("deep").read(0, 3), deep.reshape(3, 16) / 65535.0, rtol=1e-6)


def test_deep_grey_images_beside_colours() -> None:
    deep = np.random.default_rng(0).integers(0, 65536, (3, 4, 4)).astype(np.uint16)
    _save("x", [*deep, np.zeros((4, 4, 3), dtype=np.uint8)])
    rows = btests.open_source("x").read(0, 4)
    np.testing.assert_allclose(
        rows[:3].reshape(3, 16, 3), np.repeat(deep.reshape(3, 16, 1) / 65535.0, 3, axis=2), rtol=1e-6
    )
    assert (rows[3] == 0.0).all()


def test_transparency_is_ignored() -> None:
    colours = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), dtype=np.uint8)
    Path("x").mkdir()
    for k, one in enumerate(colours):
        palette = Image.fromarray(one).quantize(8)
        palette.save(f"x/{k}.png", transparency=bytes([0, 128, 255, 7]))
        palette.convert("RGB").save(f"{k}.png")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = btests.open_source("x").read(0, 4)
    np.testing.assert_array_equal(found, btests.open_source("*.png").read(0, 4))


def test_pictures_beside_tables_are_no_parts() -> None:
    _save("x", _grey(1, 2))
    Path("x/a.csv").write_text("u,v\n1,2\n3,4\n")
    assert load("x", "table").table.column_names == ["u", "v"]
    assert btests.open_source("x").width == 2


def _bomb(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(9))) + chunk(b"IEND", b"")


def test_trouble_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    _save("a", _grey(1, 4))
    Image.fromarray(np.zeros((9, 9), dtype=np.uint8)).save("a/z.png")
    with pytest.raises(ValueError, match=r"9 x 9 pixels, and 'a/0000.png' has 5 x 6; .* resized first"):
        btests.btest("a", "a")
    with pytest.raises(ValueError, match="9 x 9 pixels"):
        btests.compare("a", "a")
    os.remove("a/z.png")
    for width, height in ((4000, 4000), (100_000, 100_000), (2**31 - 1, 2**31 - 1)):
        Path("bomb").mkdir(exist_ok=True)
        Path("bomb/a.png").write_bytes(_bomb(width, height))
        with pytest.raises(ValueError, match=r"pixels|no readable image"):
            btests.open_source("bomb")
        with pytest.raises(ValueError, match=r"pixels|no readable image") as refused:
            btests.compare("bomb", "bomb")
        assert "memory" not in str(refused.value)  # which has nothing to do with it
    Path("a/0001.png").write_bytes(Path("a/0001.png").read_bytes()[:60])
    with pytest.raises(ValueError, match=r"0001.png' is no readable image"):
        btests.btest("a", "a", seed=0)
    Path("a/0001.png").write_bytes(b"text")
    with pytest.raises(ValueError, match=r"0001.png' is no readable image of PNG or JPEG"):
        btests.open_source("a")
    _save("b", _grey(1, 4))
    with pytest.raises(ValueError, match="have no names"):
        btests.open_source("b", ["u"])
    Path("b/a.csv").write_text("u\n1\n")
    with pytest.raises(ValueError, match="other parts are none"):
        btests.open_source("b/*")
    with pytest.raises(LargeError, match="may take"):
        image_table("b", ["b/0000.png"], 10)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ValueError, match=r"needs Pillow; python -m pip install 'btests\[images\]'"):
        open_images("b", ["b/0000.png"])
