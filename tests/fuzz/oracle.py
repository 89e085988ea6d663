"""What every input must lead to: a verdict, or a refusal of one line."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.fuzz.commands import Command

#: Seconds of CPU time, and bytes of resident memory beside what the process had before, of one input.
MAX_SECONDS, MAX_BYTES = 60.0, 500_000_000

#: Exceptions that a call from Python may raise.
REFUSALS = (ValueError, TypeError, OSError)


@dataclass(frozen=True, slots=True)
class Outcome:
    """``verdict``, ``refusal`` or ``finding``, and what it was in one line and in detail."""

    kind: str
    what: str = ""
    detail: str = ""


class BrokenRuleError(Exception):
    """An input led to something that it must not lead to."""


def require(holds: bool, what: str) -> None:
    """Raise unless a rule holds."""
    if not holds:
        raise BrokenRuleError(what)


def is_clean(text: str, allowed: str = "") -> bool:
    """Return whether a text has no control characters, no lone surrogates, and nothing that changes its direction."""
    return not any(
        letter not in allowed and (unicodedata.category(letter) in ("Cc", "Cs") or letter in "\u2028\u2029\u202e")
        for letter in text
    )


def check_message(message: str) -> None:
    """Raise unless a message is one clean line of moderate length."""
    require(message.strip() != "", "an empty message")
    require(is_clean(message), "a message with control characters or of several lines")
    require(len(message) <= 10_000, f"a message of {len(message)} characters")
    require("should not happen" not in message, "an error that should not happen")
    require("not enough memory" not in message.lower(), "not enough memory for a small input")


def check_pvalue(pvalue: Any) -> None:
    """Raise unless a p-value is a number in (0, 1]."""
    require(isinstance(pvalue, (int, float)) and not isinstance(pvalue, bool), f"a p-value of {type(pvalue).__name__}")
    require(math.isfinite(pvalue) and 0.0 < pvalue <= 1.0, f"a p-value of {pvalue!r}")


def strict_json(text: str) -> Any:
    """Return the value of JSON text; NaN and infinity are none."""

    def refuse(name: str) -> None:
        raise BrokenRuleError(f"{name} in JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError:
        raise BrokenRuleError("invalid JSON") from None


def check_document(document: Any) -> None:
    """Raise unless all p-values of a document are in (0, 1]."""
    for name, value in _items(document):
        if name in ("pvalue", "pvalue_corrected", "pvalue_any_difference") and value is not None:
            check_pvalue(value)


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, own in value.items():
            yield name, own
            yield from _items(own)
    elif isinstance(value, list):
        for own in value:
            yield from _items(own)


def judge_command(command: Command, status: Any, out: str, err: str) -> Outcome:
    """Return the outcome of a command, or raise ``BrokenRuleError``."""
    require(status in (0, 1, 2), f"exit status {status!r}")
    require("Traceback" not in err, "a traceback")
    if status == 2:
        require(err.startswith("btests: "), "a refusal that does not begin with btests:")
        require(err.endswith("\n") and err.count("\n") == 1, "a refusal of several lines")
        check_message(err[:-1])
        require(out == "", "output beside a refusal")
        return Outcome("refusal", err[:-1])
    require(is_clean(err, "\n"), "control characters on standard error")
    require(all(line.startswith("btests: ") for line in err.splitlines()), "foreign lines on standard error")
    require(is_clean(out, "\n"), "control characters on standard output")
    if out.startswith("{\n") or (command.has("--json") and "compare" in command.words[:1]):
        document = strict_json(out)
        check_document(document)
        _check_status(document, status)
    for text in re.findall(r"^p-value\s+(\S+)$", out, flags=re.MULTILINE):
        require(re.fullmatch(r"(<= |<)?[0-9.e-]+", text) is not None, f"a p-value of {text!r}")
    return Outcome("verdict", out.partition("\n")[0])


def _check_status(document: Mapping[str, Any], status: int) -> None:
    found = document.get("verdict", document)
    decided = found.get("different", found.get("dependent")) if isinstance(found, dict) else None
    if decided is not None:
        require(status == int(decided), f"exit status {status} where the verdict is {decided}")
    if isinstance(found, dict) and "alpha" in found and isinstance(found.get("pvalue"), float) and decided is not None:
        require(decided == (found["pvalue"] <= found["alpha"]), "a verdict that is not that of its p-value")


def judge_result(result: Any) -> Outcome:
    """Return the outcome of a call that returned, or raise ``BrokenRuleError``."""
    check_pvalue(result.pvalue)
    document = result.to_dict()
    try:
        text = json.dumps(document, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BrokenRuleError(f"to_dict() is not JSON: {error}") from None
    check_document(json.loads(text))
    require(is_clean(str(result), "\n"), "control characters in the text of a result")
    require(bool(repr(result)), "no text of a result")
    return Outcome("verdict", type(result).__name__)


def judge_error(error: Exception) -> Outcome:
    """Return the outcome of a call that raised, or raise ``BrokenRuleError``."""
    require(isinstance(error, REFUSALS), f"an exception of {type(error).__name__}")
    require(not isinstance(error, UnicodeError), f"an exception of {type(error).__name__}")
    check_message(str(error))
    return Outcome("refusal", str(error))
