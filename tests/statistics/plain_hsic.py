"""HSIC by its formula, and its moments under swaps of tuples by a double loop."""

from __future__ import annotations

import numpy as np

from btests.plan import Array


def walsh(q: int) -> Array:
    """Return the Walsh functions of Z_2^k, q = 2^k: (q, q)."""
    a = np.arange(q)
    bits = a[:, None] & a[None, :]
    return np.where(np.array([[bin(b).count("1") % 2 for b in row] for row in bits]), -1.0, 1.0)


def hsic(k: Array, l: Array) -> float:  # noqa: E741
    """Return the unbiased HSIC of Gram matrices with zero diagonals."""
    b = len(k)
    r, t = k.sum(axis=0), l.sum(axis=0)
    total = np.sum(k * l) + r.sum() * t.sum() / ((b - 1) * (b - 2)) - 2.0 * r @ t / (b - 2)
    return float(total / (b * (b - 3)))


def hsic_block(k: Array, l: Array, q: int, groups: int) -> tuple[float, Array]:  # noqa: E741
    """Return HSIC of one block, and the matrix C such that w'Cw is the part that swaps change."""
    b = len(k)
    k, l = (np.where(np.eye(b, dtype=bool), 0.0, m) for m in (k, l))  # noqa: E741
    n_tuples = b // q
    n, basis = n_tuples * q, walsh(q)
    transform = np.kron(np.eye(n_tuples), basis)  # (tuple, alpha) from (tuple, member)
    size = (q - 1) * groups + 1
    matrix = np.zeros((size, size))
    pairs = (transform @ k[:n, :n] @ transform.T) * (transform @ l[:n, :n] @ transform.T) / q**2
    linear = 2.0 / q * np.sum((transform @ k[:n, n:]) * (transform @ l[:n, n:]), axis=1)
    linear -= 2.0 / ((b - 2) * q) * (transform @ k.sum(axis=1)[:n]) * (transform @ l.sum(axis=1)[:n])
    group = np.arange(n) // q % groups
    alpha = np.arange(n) % q

    def place(u: int, a: int) -> int:
        return 0 if a == 0 else 1 + u * (q - 1) + a - 1

    for i in range(n):
        matrix[0, place(group[i], alpha[i])] += linear[i]
        for j in range(n):
            if group[i] == group[j]:
                matrix[0, place(group[i], alpha[i] ^ alpha[j])] += pairs[i, j]
            else:
                matrix[place(group[i], alpha[i]), place(group[j], alpha[j])] += pairs[i, j]
    matrix = (matrix + matrix.T) / 2.0
    np.fill_diagonal(matrix, 0.0)
    return hsic(k, l), matrix / (b * (b - 3))
