"""SVG elements as markup; text from data is escaped here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import category

from markupsafe import Markup, escape

#: Average width of a character of the page's typeface, relative to its size.
_CHARACTER = 0.56


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


def points(pairs: Sequence[tuple[float, float]], *, closed: bool = False) -> str:
    """Return the ``d`` of a path through points."""
    steps = " ".join(f"{'L' if i else 'M'}{_short(float(x))} {_short(float(y))}" for i, (x, y) in enumerate(pairs))
    return steps + ("Z" if closed else "")


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

    def drawing(self, caption: Caption, *children: Markup) -> Markup:
        """Return the SVG element with its title and description."""
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
