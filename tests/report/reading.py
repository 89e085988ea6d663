"""Numbers of the page, read as a reader does."""

from __future__ import annotations

from btests.report.number_format import MINUS, TIMES

_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def read(text: str) -> float:
    """Return the number that a text such as ``1,234``, ``12.3 %`` or a power of ten stands for."""
    text = text.replace(",", "").replace(MINUS, "-").strip()
    text, share = text.rstrip("%").rstrip(), 0.01 if text.endswith("%") else 1.0
    digits = text.rstrip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    if digits != text:
        mantissa = digits.removesuffix("10").removesuffix(TIMES)
        text = f"{mantissa if mantissa.strip('-') else mantissa + '1'}e{text[len(digits) :].translate(_LOWERED)}"
    return float(text) * share
