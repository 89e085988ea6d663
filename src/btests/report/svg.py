"""SVG: elements as markup with text escaped here, and axes with ticks at round numbers and times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from unicodedata import category

from markupsafe import Markup, escape

from btests.report.number_format import number

#: Average width of a character of the page's typeface, relative to its size.
_CHARACTER = 0.56

_DAY = 86400.0
#: Steps between ticks of a time axis in seconds, and formats of the labels.
_TIMES = (
    (1.0, "%H:%M:%S"),
    (10.0, "%H:%M:%S"),
    (60.0, "%H:%M"),
    (600.0, "%H:%M"),
    (3600.0, "%H:%M"),
    (6 * 3600.0, "%d %b %H:%M"),
    (_DAY, "%d %b"),
    (2 * _DAY, "%d %b"),
    (7 * _DAY, "%d %b"),
)

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


def ticks(low: float, high: float, n: int = 5) -> list[float]:
    """Return about ``n`` round numbers between two values.

    Examples
    --------
    >>> ticks(0.0, 11.0)
    [0.0, 2.5, 5.0, 7.5, 10.0]
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low or not math.isfinite(high - low):
        return [low] if math.isfinite(low) else []
    rough = (high - low) / n
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 1e-300 else rough
    step = power * next(factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # A range that is tiny relative to its values contains no distinct round numbers.
    return [i * step + 0.0 for i in range(first, last + 1)] if last - first <= 3 * n else [low, high]


def seconds(text: str) -> float:
    """Return seconds since 1970 of an ISO date or time; without a zone it is read as UTC.

    Examples
    --------
    >>> seconds("1970-01-02")
    86400.0
    """
    # Years and nanoseconds beyond the range of datetime are clipped.
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


def _moment(value: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value)


def time_ticks(low: float, high: float, n: int = 4) -> list[tuple[float, str]]:
    """Return about ``n`` round times between two times in seconds since 1970, with their labels.

    Examples
    --------
    >>> time_ticks(0.0, 3 * 365 * 86400.0)
    [(0.0, '1970'), (31536000.0, '1971'), (63072000.0, '1972')]
    """
    span = (high - low) / n
    for step, pattern in _TIMES:
        if span <= step:
            first = math.ceil(low / step)
            return [(i * step, f"{_moment(i * step):{pattern}}") for i in range(first, math.floor(high / step) + 1)]
    months = next((m for m in (1, 2, 3, 6, 12) if span <= m * 31 * _DAY), 12 * math.ceil(span / (365.25 * _DAY)))
    start, found = _moment(low), []
    month = (start.year * 12 + start.month - 1) // months * months
    while month // 12 <= 9999:
        when = datetime(max(month // 12, 1), month % 12 + 1, 1, tzinfo=UTC)
        value = (when - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
        if value > high:
            break
        if value >= low:
            found.append((value, f"{when:%Y}" if months >= 12 else f"{when:%b %Y}"))
        month += months
    return found


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


def number_marks(low: float, high: float, n: int = 5) -> list[tuple[float, str]]:
    """Return ticks of a number axis with their labels."""
    values = ticks(low, high, n)
    # As many digits as distinguish neighbours.
    for digits in range(2, 16):
        texts = [number(value, digits) for value in values]
        if len(set(texts)) == len(texts) and all(
            math.isclose(float(f"{v:.{digits}g}"), v, rel_tol=1e-9, abs_tol=1e-300) for v in values
        ):
            break
    return list(zip(values, texts, strict=True)) if values else []


def shade(value: float, largest: float) -> int:
    """Return the shade of a value, from -SHADES to SHADES; only values near zero have shade 0."""
    return round(SHADES * max(-1.0, min(1.0, value / largest))) if largest > 0 else 0
