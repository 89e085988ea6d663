"""Protocol of a design."""

from __future__ import annotations

from typing import Protocol


class Design(Protocol):
    """Two samples, the permutation that each is put into, and which sizes go together."""

    @property
    def streams(self) -> tuple[int, int]:
        """Number of the random permutation of x and of y; samples with one number keep their rows side by side."""
        ...

    @property
    def compares_columns(self) -> bool:
        """Whether x and y have the same columns, matched by name if they have names."""
        ...

    def check(self, n_x: int, n_y: int, width_x: int, width_y: int) -> None:
        """Raise ``ValueError`` unless samples of these lengths and widths suit the design."""
        ...
