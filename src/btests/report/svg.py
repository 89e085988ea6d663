"""Elements of a drawing as text. Whatever comes from data is escaped here, and nowhere else is markup made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import category

from markupsafe import Markup, escape

#: Average width of a character of the page's typeface, as a part of its size.
_CHARACTER = 0.56


def element(name: str, *children: str, **attributes: object) -> Markup:
    """Return one element: ``class_`` is ``class``, ``stroke_width`` is ``stroke-width``; None leaves one out.

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
    """Return a number with a tenth of a pixel, and anything else as text."""
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return printable(str(value))


def printable(text: str) -> str:
    r"""Return the text with control characters and marks of writing direction made visible.

    A right-to-left override in a name would turn the words around it, which must not happen in a report.

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
    """Return as much of the text as fits into a width, with an ellipsis where some is cut off.

    Examples
    --------
    >>> clipped("a long name of a column", 60)
    'a long n…'
    """
    room = max(int(width / (_CHARACTER * size)), 2)
    text = " ".join(text.split())
    return text if len(text) <= room + 1 else text[:room].rstrip() + "…"


def points(pairs: Sequence[tuple[float, float]], *, closed: bool = False) -> str:
    """Return the ``d`` of a path through points."""
    steps = " ".join(f"{'L' if i else 'M'}{_short(float(x))} {_short(float(y))}" for i, (x, y) in enumerate(pairs))
    return steps + ("Z" if closed else "")


@dataclass(frozen=True, slots=True)
class Caption:
    """What a drawing says to those who do not see it; ``name`` is unique on the page."""

    name: str
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class PlotArea:
    """The room of a drawing: its size, and the margins around the part where data are drawn."""

    width: float = 350.0
    height: float = 230.0
    left: float = 58.0
    right: float = 10.0
    top: float = 10.0
    bottom: float = 42.0

    @property
    def x(self) -> tuple[float, float]:
        """The first and the last pixel from left to right."""
        return self.left, self.width - self.right

    @property
    def y(self) -> tuple[float, float]:
        """The first and the last pixel upwards."""
        return self.height - self.bottom, self.top

    def drawing(self, caption: Caption, *children: Markup) -> Markup:
        """Return the picture, with its title and its description in words."""
        title, description = f"{caption.name}-title", f"{caption.name}-text"
        return element(
            "svg",
            element("title", caption.title, id=title),
            element("desc", caption.description, id=description),
            *children,
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            role="img",
            aria_labelledby=f"{title} {description}",
            class_="chart",
        )
