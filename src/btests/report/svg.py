"""SVG: elements as markup with text escaped here, and the axes of drawings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import category

from markupsafe import Markup, escape

#: Average width of a character of the page's typeface, relative to its size.
_CHARACTER = 0.56

#: Shades on each side of zero; the style sheet has a colour for each, and others for dark screens.
SHADES = 6


def element(name: str, *children: str, **attributes: object) -> Markup:
    """Return one element: ``class_`` is ``class``, ``stroke_width`` is ``stroke-width``; None omits an attribute.

    Children that are not ``Markup`` are text, and are escaped.

    Examples
    --------
    >>> print(element("text", "a < b", class_="tick", x=1.5))
    <text class="tick" x="1.5">a &lt; b</text>
    """
    given = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None)
    start = Markup().join(Markup(' {}="{}"').format(key, _short(value)) for key, value in given)
    inside = Markup().join(escape(printable(child) if not isinstance(child, Markup) else child) for child in children)
    form = Markup("<{0}{1}>{2}</{0}>") if inside else Markup("<{0}{1}/>")
    return form.format(Markup(name), start, inside)


def _short(value: object) -> str:
    """Return a number rounded to a tenth of a pixel, and anything else as text."""
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return printable(str(value))


def printable(text: str) -> str:
    r"""Return the text with control characters and marks of writing direction made visible.

    A right-to-left override in a name would reverse the text around it.

    Examples
    --------
    >>> printable("a" + chr(0) + "b" + chr(0x202E))
    'a\\x00b\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c in "\n\t" or category(c) not in {"Cc", "Cf", "Cs"} else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def clipped(text: str, width: float, size: float = 12.0) -> str:
    """Return the text shortened to a width, with an ellipsis if it is cut off.

    Examples
    --------
    >>> clipped("a long name of a column", 60)
    'a long n…'
    """
    room = max(int(width / (_CHARACTER * size)), 2)
    text = " ".join(text.split())
    return text if len(text) <= room + 1 else text[:room].rstrip() + "…"


def shortened(text: str, width: float, size: float = 12.0) -> str:
    """Return the text shortened to a width; long names keep their beginning and end, which tell them apart.

    Examples
    --------
    >>> shortened("department of number 17", 80)
    'departme… 17'
    """
    room = max(int(width / (_CHARACTER * size)), 4)
    text = " ".join(text.split())
    end = room // 3
    return text if len(text) <= room + 1 else text[: room - end].rstrip() + "…" + text[-end:]


def points(pairs: Sequence[tuple[float, float]]) -> str:
    """Return the ``d`` of a path through points; those within a horizontal line are left out.

    Examples
    --------
    >>> points([(0.0, 1.0), (0.0, 2.5), (1.0, 2.5), (3.0, 2.5), (4.0, 5.0)])
    'M0 1V2.5H3L4 5'
    """
    rounded = [(_short(float(x)), _short(float(y))) for x, y in pairs]
    inner = zip(rounded, rounded[1:-1], rounded[2:], strict=False)
    kept = [
        *rounded[:1],
        *(now for before, now, after in inner if not before[1] == now[1] == after[1]),
        *rounded[1:][-1:],
    ]
    found = [f"M{x} {y}" for x, y in kept[:1]]
    for before, (x, y) in pairwise(kept):
        found.append(f"V{y}" if x == before[0] else f"H{x}" if y == before[1] else f"L{x} {y}")
    return "".join(found)


@dataclass(frozen=True, slots=True)
class Caption:
    """Title and description of a drawing for screen readers; ``name`` is unique on the page."""

    name: str
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class PlotArea:
    """Size of a drawing, and the margins around its data area."""

    width: float = 350.0
    height: float = 230.0
    left: float = 58.0
    right: float = 10.0
    top: float = 10.0
    bottom: float = 42.0

    @property
    def x(self) -> tuple[float, float]:
        """First and last pixel from left to right."""
        return self.left, self.width - self.right

    @property
    def y(self) -> tuple[float, float]:
        """First and last pixel upwards."""
        return self.height - self.bottom, self.top

    def drawing(self, caption: Caption, *children: Markup, fixed: bool = False) -> Markup:
        """Return the SVG element with its title and description; it fills its place, or has a ``fixed`` width."""
        title, description = f"{caption.name}-title", f"{caption.name}-text"
        return element(
            "svg",
            element("title", caption.title, id=title),
            element("desc", caption.description, id=description),
            *children,
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            width=self.width if fixed else None,
            role="img",
            aria_labelledby=f"{title} {description}",
            class_="chart",
        )


@dataclass(frozen=True, slots=True)
class Scale:
    """Linear map from values to pixels."""

    values: tuple[float, float]
    pixels: tuple[float, float]

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        (low, high), (start, end) = self.values, self.pixels
        # Halves, so that the width of the range of all floats does not overflow.
        width = high / 2 - low / 2
        return start + (end - start) * ((value / 2 - low / 2) / width if width > 0 else 0.5)


def bottom_axis(
    frame: PlotArea, label: str, marks: Sequence[tuple[float, str]], place: Callable[[float], float]
) -> Markup:
    """Return the axis below a drawing; labels that overlap their neighbours are dropped."""
    base = frame.y[0]
    parts = [bottom_line(frame)]
    taken = -math.inf
    for value, text in marks:
        x, half = place(value), len(text) * 3.7
        if x - half < taken + 6 or not frame.x[0] - 1 <= x <= frame.x[1] + 1:
            continue
        middle = min(x, frame.width - half)  # within the picture
        taken = middle + half
        parts.append(element("line", class_="axis", x1=x, x2=x, y1=base, y2=base + 4))
        parts.append(element("text", text, class_="tick middle", x=middle, y=base + 17))
    return Markup().join([*parts, bottom_label(frame, label)])


def bottom_line(frame: PlotArea) -> Markup:
    """Return the line of the axis below a drawing."""
    base = frame.y[0]
    return element("line", class_="axis", x1=frame.x[0], x2=frame.x[1], y1=base, y2=base)


def bottom_label(frame: PlotArea, label: str) -> Markup:
    """Return the label of the axis below a drawing."""
    middle, room = (frame.x[0] + frame.x[1]) / 2, frame.x[1] - frame.x[0]
    return element("text", clipped(label, room), class_="label middle", x=middle, y=frame.height - 6)


def left_axis(
    frame: PlotArea, label: str, marks: Sequence[tuple[float, str]], place: Callable[[float], float]
) -> Markup:
    """Return the axis to the left of a drawing, with faint lines across it."""
    left, right = frame.x
    parts = []
    for value, text in marks:
        y = place(value)
        parts.append(element("line", class_="grid", x1=left, x2=right, y1=y, y2=y))
        parts.append(element("text", text, class_="tick end", x=left - 5, y=y + 4))
    return Markup().join([*parts, left_label(frame, label)])


def left_label(frame: PlotArea, label: str) -> Markup:
    """Return the label of the axis to the left of a drawing, turned upwards."""
    middle = (frame.y[0] + frame.y[1]) / 2
    shown, turn = clipped(label, frame.y[0] - frame.y[1]), f"rotate(-90 12 {middle:g})"
    return element("text", shown, class_="label middle", x=12, y=middle, transform=turn)


def shade(value: float, largest: float) -> int:
    """Return the shade of a value, from -SHADES to SHADES; only values near zero have shade 0."""
    return round(SHADES * max(-1.0, min(1.0, value / largest))) if largest > 0 else 0
