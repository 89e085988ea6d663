"""Whether a scheduler of dask listens at an address, before a client is made that would wait for it."""

from __future__ import annotations

import socket
import time

# What every server of dask says first, before it is asked, among other things: how it packs and pickles.
_GREETING = b"pickle-protocol"

# Bytes within which it says so.
_LONGEST = 2**12


def knock(address: str, seconds: float) -> None:
    """Raise unless somebody answers there as dask does, or does so within a while."""
    from distributed.comm.addressing import parse_address, parse_host_port

    scheme, place = parse_address(address)
    if scheme not in ("tcp", "tls"):
        return
    host, port = parse_host_port(place, 8786)
    end = time.monotonic() + seconds
    while True:
        try:
            with socket.create_connection((host, port), timeout=seconds) as line:
                if scheme == "tcp":  # who listens at the end of tls, a client finds out
                    _listen(line, end)
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _listen(line: socket.socket, end: float) -> None:
    """Raise unless a server of dask introduces itself: a client would wait for another for ever."""
    heard = b""
    while _GREETING not in heard:
        line.settimeout(max(0.01, end - time.monotonic()))
        more = line.recv(_LONGEST)
        heard += more
        if not more or len(heard) >= _LONGEST:
            raise ConnectionError("somebody answers there, and not as a scheduler of dask does")
