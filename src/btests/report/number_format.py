"""Formatting of numbers, percentages, durations and sizes."""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"
TIMES = "\N{MULTIPLICATION SIGN}"
#: Placeholder for an absent number.
NOTHING = "\N{EN DASH}"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with a few significant digits, a true minus sign and commas between thousands.

    Examples
    --------
    >>> number(336776), number(0.00012345), number(1.5), number(1e-9)
    ('336,776', '0.0001234', '1.5', '10⁻⁹')
    """
    if value is None or math.isnan(value):
        return NOTHING
    if value < 0:
        return MINUS + number(-value, digits)
    if math.isinf(value):
        return "∞"
    if isinstance(value, int) and value < 1e15:
        return f"{value:,}"
    return _rounded(float(value), digits)


def _rounded(value: float, digits: int) -> str:
    """Return a positive number with few digits, as a power of ten if it is very large or very small."""
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    power = int(exponent)
    if -5 < power < 9:
        # Rounded to its digits first: 123456 with four of them is 123,500.
        return _without_zeros(f"{float(f'{value:.{digits}g}'):,.{max(digits - 1 - power, 0)}f}")
    mantissa = _without_zeros(mantissa)
    return ("" if mantissa == "1" else mantissa + TIMES) + "10" + str(power).translate(_RAISED)


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def pvalue(value: float | None) -> str:
    """Return a p-value with two or three digits.

    Examples
    --------
    >>> pvalue(0.0005), pvalue(0.04987), pvalue(1.0)
    ('0.0005', '0.0499', '1')
    """
    return number(value, 3 if value is not None and abs(value) >= 0.01 else 2)


def percent(value: float | None) -> str:
    r"""Return a share as a percentage.

    Examples
    --------
    >>> percent(0.12345), percent(1.0), percent(0.0), percent(0.00002), percent(2.8e-17), percent(0.99999)
    ('12.3\xa0%', '100\xa0%', '0\xa0%', '0.002\xa0%', '0\xa0%', '99.999\xa0%')
    """
    if value is None:
        return NOTHING
    value = exact_share(value)
    return f"{number(100.0 * value, share_digits(value, 2 if abs(value) < 0.01 else 3))}\N{NO-BREAK SPACE}%"


# Rounding error of shares: smaller than one row of any table.
_ROUNDING = 1e-12


def exact_share(value: float) -> float:
    """Return a share, 0 or 1 where it differs from that by rounding error only."""
    return float(round(value)) if abs(value - round(value)) < _ROUNDING else value


def share_digits(value: float, digits: int) -> int:
    """Return so many digits of a share as a percentage, or as many as it takes that it is not rounded to 100 %.

    Examples
    --------
    >>> share_digits(0.5, 3), share_digits(0.9999999, 3), share_digits(1.0, 3)
    (3, 7, 3)
    """
    while 0.0 < value < 1.0 and digits < 17 and float(f"{100.0 * value:.{digits}g}") >= 100.0:
        digits += 1
    return digits


def whole_percent(value: float) -> str:
    """Return a share as a whole percentage without its sign, which is not rounded to 0 or 100 either.

    Examples
    --------
    >>> [whole_percent(share) for share in (0.0, 0.001, 0.256, 0.999, 1.0)]
    ['0', '<1', '26', '>99', '100']
    """
    value = exact_share(value)
    shown = f"{100.0 * value:.0f}"
    return {"0": "<1", "100": ">99"}.get(shown, shown) if 0.0 < value < 1.0 else shown


def year(value: float | None) -> str:
    """Return a year, or a mean of years, without commas.

    Examples
    --------
    >>> year(2007), year(2007.25)
    ('2007', '2007.2')
    """
    return number(value, 5).replace(",", "")


# Units of time with the next smaller one, and seconds.
_PARTS = (("h", "min", 3600, 60), ("min", "s", 60, 1))
_DAY = 86400


def duration(value: float | None) -> str:
    """Return seconds in words.

    Examples
    --------
    >>> duration(0.0123), duration(4.56), duration(125), duration(5400), duration(216_000), duration(-7200)
    ('12 ms', '4.6 s', '2 min 5 s', '1 h 30 min', '2.5 days', '\N{MINUS SIGN}2 h')
    """
    if value is None:
        return NOTHING
    if value < 0:
        return MINUS + duration(-value)
    if 0 < value < 1:
        return f"{number(1000.0 * value, 2)} ms"
    if round(value) < 60:
        return f"{number(float(value), 2)} s"
    if value >= _DAY:
        days = number(value / _DAY, 3)
        return f"{days} {'day' if days == '1' else 'days'}"
    unit, smaller, one, other = next(part for part in _PARTS if round(value / part[3]) * part[3] >= part[2])
    whole, rest = divmod(round(value / other) * other, one)
    return f"{whole} {unit}" + (f" {rest // other} {smaller}" if rest else "")


#: How numbers of a column are shown, by the form that its chart names.
FORMS = {"number": number, "year": year, "duration": duration}


def size(value: float | None) -> str:
    """Return bytes in words.

    Examples
    --------
    >>> size(512), size(3_400_000), size(2.5e9)
    ('512 bytes', '3.4 MB', '2.5 GB')
    """
    if value is None:
        return NOTHING
    for unit, power in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= power:
            return f"{number(value / power, 3)} {unit}"
    return f"{number(value)} bytes"


def plural(n: int, noun: str) -> str:
    """Return the singular or plural of a noun for a count.

    Examples
    --------
    >>> plural(1, "block"), plural(0, "row"), plural(12, "more column")
    ('block', 'rows', 'more columns')
    """
    return noun if n == 1 else noun + "s"


def plain(value: float | bool) -> str:
    """Return a setting as text.

    Examples
    --------
    >>> plain(0.05), plain(123456), plain(True)
    ('0.05', '123456', 'yes')
    """
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
