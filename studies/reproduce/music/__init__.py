"""The experiments on music: Table 2, Figure 1 and Figure 5, on two songs."""

from __future__ import annotations

from pathlib import Path

from studies.harness.experiment import Experiment

# Seconds of each song that a quick run uses.
_EXCERPT = 40.0


def prepare(
    song_p: Path | None, song_q: Path | None, seed: int, quick: bool
) -> tuple[list[Experiment], tuple[dict[str, str], ...]]:
    """Return the experiments on music, and what the manifest says of the songs, one dictionary each.

    The songs are those named, else Debian's where they are installed, else synthesised ones. Both are read here, so
    that what is wrong with them is said before anything runs.

    Parameters
    ----------
    song_p, song_q
        Audio files, or None twice.
    seed, quick
        As the experiments want them.

    Raises
    ------
    ValueError
        In one sentence, where a song cannot be read, is silent or too short, or both are one recording.
    """
    from studies.reproduce.music.audio import LONGEST
    from studies.reproduce.music.figure1 import Figure1
    from studies.reproduce.music.figure5 import Figure5
    from studies.reproduce.music.songs import choose_pair, describe, refuse_same
    from studies.reproduce.music.table2 import FULL, QUICK, Table2

    pair = choose_pair(song_p, song_q, seed, _EXCERPT if quick else LONGEST)
    n = (QUICK if quick else FULL).larger.n
    # Two samples of P under the null hypothesis, and they share no row.
    p, q = describe(pair.p, 2 * n), describe(pair.q, n)
    refuse_same(pair.p, pair.q)
    described = f"**Songs.** P: {p}. Q: {q}. {pair.origin}"
    experiments: list[Experiment] = [make(pair, described, seed, quick) for make in (Table2, Figure1, Figure5)]
    return experiments, (pair.p.to_dict("P"), pair.q.to_dict("Q"))
