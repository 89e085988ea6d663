"""Text that would like to be more than text, and a comparison that is full of it."""

from __future__ import annotations

from typing import Any

TEXTS = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "</title></style></textarea><img src=x onerror='window.hacked = 1'>",
    '" onmouseover="window.hacked = 1" x="',
    "' autofocus onfocus='window.hacked = 1' x='",
    "javascript:window.hacked=1",
    '</text></svg><svg onload="window.hacked = 1">',
    "]]><!--<script>",
    "{{ 7 * 7 }}{% for x in y %}${7*7}",
    "&lt;b&gt;&amp;&#39;",
    "</desc><foreignObject><iframe srcdoc='<script>parent.hacked = 1</script>'>",
)

#: Words that the page decides by, which no table can choose.
FIXED = {"kind", "type", "schema", "version", "question"}


def poisoned(value: Any, text: str, key: str = "") -> Any:
    """Return a comparison in which every text that could come from data ends with ``text``."""
    if isinstance(value, dict):
        return {k: poisoned(v, text, k) for k, v in value.items()}
    if isinstance(value, list):
        return [poisoned(v, text, key) for v in value]
    return value + text if isinstance(value, str) and key not in FIXED else value
