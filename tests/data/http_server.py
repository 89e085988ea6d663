"""A server of files on the loopback address, which answers in several ways."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass(slots=True)
class Site:
    """Files by their names, and what was asked for.

    The first part of a path says how the file is sent: ``plain``, ``ranges`` (parts of it if they are asked for),
    ``redirect``, ``circle``, ``file`` (a redirect to a file), ``silent``, ``foreign`` (no HTTP), ``cut`` (half of it),
    ``stalled``, ``drops`` (a byte at a time), or a status
    such as ``403``.
    """

    files: dict[str, bytes]
    port: int = 0
    asked: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def url(self, how: str, name: str) -> str:
        """Return the address of a file."""
        return f"http://127.0.0.1:{self.port}/{how}/{name}"


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Site]:
    """Serve files until the block ends."""
    site = Site(files)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.send_error(405)

        def do_GET(self) -> None:
            _answer(self, site)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


# Beginnings of redirects.
_LOCATIONS = {"redirect": "/plain/", "file": "file:///etc/"}


def _answer(request: BaseHTTPRequestHandler, site: Site) -> None:
    site.asked.append(request.path)
    how, _, name = urlsplit(request.path).path.removeprefix("/").partition("/")
    data = site.files.get(name)
    if how in ("redirect", "circle", "file"):
        request.send_response(302)
        request.send_header("Location", _LOCATIONS.get(how, f"/{how}/") + name)
        request.end_headers()
        return
    if how in ("silent", "foreign"):
        request.wfile.write(b"SSH-2.0-none\r\n" if how == "foreign" else b"")
        return
    if data is None or how.isdigit():
        request.send_error(int(how) if how.isdigit() else 404)
        return
    wanted = request.headers.get("Range") if how == "ranges" else None
    first, last = (0, len(data) - 1) if wanted is None else map(int, wanted.removeprefix("bytes=").split("-"))
    request.send_response(200 if wanted is None else 206)
    request.send_header("Content-Length", str(last + 1 - first))
    if how == "ranges":
        request.send_header("Accept-Ranges", "bytes")
    request.end_headers()
    if how in ("stalled", "drops"):
        while not site.closing.wait(0.05):
            if how == "drops":
                request.wfile.write(data[:1])
                request.wfile.flush()
        return
    request.wfile.write(data[first : last + 1] if how != "cut" else data[: len(data) // 2])
