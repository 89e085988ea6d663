"""Copies of files at addresses such as ``https://host/a.csv`` in a temporary folder, and their names in messages."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from btests._imports import optional
from btests._memory import amount
from btests._text import shortly
from btests.data.errors import DamagedError, LargeError, MissingFileError
from btests.data.formats import INSIDE, UTF_8

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")

# Where files are fetched from, each with the package beside fsspec that it needs.
_PACKAGES = {
    **dict.fromkeys(("http", "https"), "aiohttp"),
    "s3": "s3fs",
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("az", "abfs"), "adlfs"),
    "hf": "huggingface_hub",
}

# Bytes that show whether a page came in place of a file.
_START = 1024

# Names of temporary folders begin so, and characters of each part of the path in them.
_PREFIX, _LONGEST = "btests-remote-", 200


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Limits of the time that fetching a file takes.

    Attributes
    ----------
    connect, read : float
        Seconds until there is a connection, and between two pieces of the answer.
    patience, rate : float
        After ``patience`` seconds an answer must have come at ``rate`` bytes per second on average.
    """

    connect: float = 20.0
    read: float = 30.0
    patience: float = 60.0
    rate: float = 1000.0


#: Limits for any file.
LIMITS = TimeLimits()


def is_url(path: object) -> bool:
    """Return whether a path is an address such as ``https://host/a.csv``, and no file has that name.

    Examples
    --------
    >>> is_url("https://host/a.csv"), is_url("a.csv"), is_url("C:/a.csv"), is_url(3)
    (True, False, False, False)
    """
    return isinstance(path, str) and _SCHEME.match(path) is not None and not os.path.lexists(path)


def public(url: str) -> str:
    """Return an address without user, password, query and fragment, which may be secrets; a path as it is.

    Examples
    --------
    >>> public("https://me:secret@host:80/a.xlsx?token=x::Sheet"), public("a.csv?")
    ('https://host:80/a.xlsx::Sheet', 'a.csv?')
    """
    if not is_url(url):
        return url
    address, mark, inside = _without_table(url)
    return _without_secrets(address) + mark + inside


def _without_secrets(text: str) -> str:
    """Return a text without users, passwords, queries and fragments of the addresses in it."""
    return re.sub(r"([A-Za-z][A-Za-z0-9+.-]+://)(?:[^\s/?#'\"]*@)?([^\s?#'\"]*)(?:[?#][^\s'\"]*)?", r"\1\2", text)


def shown(text: str) -> str:
    """Return a text with the addresses of files in place of the paths of their copies."""
    folder = re.escape(os.path.join(tempfile.gettempdir(), _PREFIX))
    return re.sub(
        rf"{folder}[^/]+/(\w+)/([^/\s'\"]+)", lambda found: f"{found[1]}://{found[2].replace('%3A', ':')}", text
    )


@contextmanager
def local_copies(*sources: Any) -> Iterator[tuple[Any, ...]]:
    """Copy sources that are addresses to a temporary folder, which is removed after the block.

    Yields
    ------
    tuple
        The sources, paths of copies in place of addresses. Errors of the block name the addresses.
    """
    if not any(map(is_url, sources)):
        yield sources
        return
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder, naming_addresses():
        yield tuple(fetched(source, folder) if is_url(source) else source for source in sources)


@contextmanager
def naming_addresses() -> Iterator[None]:
    """Name addresses in place of the paths of their copies in the errors of the block."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (shown(error.args[0]),)
        raise


class CopyFolder:
    """Temporary folder that is removed with this object, and not with its pickled copies in other processes."""

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def make(cls) -> CopyFolder:
        """Return a new folder."""
        found = cls(tempfile.mkdtemp(prefix=_PREFIX))
        weakref.finalize(found, shutil.rmtree, found.path, ignore_errors=True)
        return found


def fetched(url: str, folder: str, limits: TimeLimits = LIMITS) -> str:
    """Return the path of a copy of a file, with the table that the address names inside it.

    Parameters
    ----------
    url : str
        The address, with ``::`` and the name of a table behind it if the file holds several.
    folder : str
        Folder for the copy, in which its path is that of the address.
    limits : TimeLimits
        How long it may take.
    """
    scheme = url.partition("://")[0].lower()
    if scheme not in _PACKAGES:
        known = ", ".join(f"{name}://" for name in _PACKAGES)
        raise ValueError(f"{public(url)!r} is an address of a kind that is not read; known are {known}")
    address, mark, inside = _without_table(url)
    name = public(address)
    try:
        parts = urlsplit(name)
        folders = [part for part in parts.path.split("/") if part]
    except ValueError:
        raise ValueError(f"{name!r} is no address of a file") from None
    if not parts.netloc or not folders or name.endswith("/"):
        raise ValueError(f"{name!r} names no file; name a single file, such as {scheme}://host/table.csv")
    if scheme not in ("http", "https") and any(letter in address for letter in "*?["):
        raise ValueError(f"{name!r} is a pattern, and addresses are of single files; name one")
    target = Path(folder, scheme, *map(_component, (parts.netloc, *folders)))
    target.parent.mkdir(parents=True, exist_ok=True)
    _fetch(scheme, address, name, str(target), limits)
    return f"{target}{mark}{inside}"


def _without_table(url: str) -> tuple[str, str, str]:
    """Return an address, ``::`` and the name of a table; both are empty without one. The host may have colons."""
    host_end = url.find("/", url.find("://") + 3)
    place = url.rfind(INSIDE)
    return (url[:place], INSIDE, url[place + len(INSIDE) :]) if 0 <= host_end < place else (url, "", "")


def _component(text: str) -> str:
    """Return a part of a path as the name of a folder or file, with the last suffixes if it is long."""
    text = re.sub(r"[^\w.%+=@~,-]", lambda found: "%3A" if found[0] == ":" else "_", text)
    return "_" if text in (".", "..") else text[-_LONGEST:]


def _fetch(scheme: str, address: str, name: str, target: str, limits: TimeLimits) -> None:
    """Write a file at an address to a path."""
    fsspec = optional("fsspec", "python -m pip install 'btests[remote]'")
    if isinstance(fsspec, str):
        raise ValueError(f"{name!r} is an address, and fetching it needs fsspec; {fsspec}")
    extra = "'btests[remote]'" if scheme in ("http", "https") else _PACKAGES[scheme]
    package = optional(_PACKAGES[scheme], f"python -m pip install {extra}")
    if isinstance(package, str):
        raise ValueError(f"{name!r} is an address, and fetching it needs {_PACKAGES[scheme]}; {package}")
    hook = _progress_check(name, os.path.dirname(target), limits)
    try:
        files = fsspec.filesystem(scheme, skip_instance_cache=True, **_settings(scheme, package, limits))
        with _closing_session(files):
            files.get_file(address, target, callback=fsspec.callbacks.Callback(hooks={"check": hook}))
    except (DamagedError, LargeError, MemoryError, RecursionError):
        raise
    except Exception as error:  # of other packages, which alone run here
        raise _explained(error, name) from None
    if not os.path.isfile(target):
        raise ValueError(f"{name!r} is a folder; name a single file")
    with open(target, "rb") as file:
        start = file.read(_START).removeprefix(UTF_8).lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):  # two such pages would be tables of one column
        raise DamagedError(f"{name!r} is an HTML page, such as one to log in or of an error, and no table")


@contextmanager
def _closing_session(files: Any) -> Iterator[None]:
    """Close the connections of a file system of fsspec, if it has some, at the end of the block."""
    try:
        yield
    finally:
        session = getattr(files, "_session", None)
        if session is not None and hasattr(files, "close_session"):
            files.close_session(files.loop, session)


def _settings(scheme: str, package: Any, limits: TimeLimits) -> dict[str, Any]:
    """Return time limits as arguments of each file system."""
    if scheme in ("http", "https"):
        timeout = package.ClientTimeout(total=None, sock_connect=limits.connect, sock_read=limits.read)
        headers = {"Accept-Encoding": "identity"}  # the bytes of the file
        return {"client_kwargs": {"timeout": timeout, "headers": headers, "trust_env": True}}
    if scheme == "s3":
        times = {"connect_timeout": limits.connect, "read_timeout": limits.read}
        return {"config_kwargs": {**times, "retries": {"max_attempts": 2}}}
    return {"requests_timeout": limits.read} if scheme in ("gs", "gcs") else {}


def _progress_check(name: str, folder: str, limits: TimeLimits) -> Callable[..., None]:
    """Return a check that raises if a file does not fit into a folder, or arrives too slowly."""
    began, free = time.monotonic(), shutil.disk_usage(folder).free

    def check(size: int | None, value: int, **_: Any) -> None:
        most = max(size or 0, value)
        if most > free:
            raise LargeError(f"{name!r} has {amount(most)}, and {amount(free)} are free for a copy of it")
        seconds = time.monotonic() - began
        if seconds > limits.patience and value < limits.rate * seconds:
            raise DamagedError(f"{name!r} comes too slowly: {value} bytes in {seconds:.0f} s; try again later")

    return check


# Names of errors, of packages that need not be there, and what they mean.
_REASONS = {
    "ClientPayloadError": "its end is missing, the server closed the connection early",
    "ClientConnectorDNSError": "its host is not known, or there is no network",
    "ClientConnectorError": "its host takes no connections there",
    **dict.fromkeys(("ClientConnectorCertificateError", "ClientConnectorSSLError"), "its host has no good certificate"),
    **dict.fromkeys(("ConnectionTimeoutError", "ServerTimeoutError"), "its host does not answer in time"),
    **dict.fromkeys(("SocketTimeoutError", "FSTimeoutError", "TimeoutError"), "its host stopped answering"),
    "TooManyRedirects": "the server redirects it in a circle",
    **dict.fromkeys(
        ("NonHttpUrlRedirectClientError", "InvalidUrlRedirectClientError"),
        "the server redirects it to what is no address of http:// or https://",
    ),
    "ServerDisconnectedError": "the server closed the connection without an answer",
    "PermissionError": "it is not for everybody, or not with these credentials",
    "NoCredentialsError": "it needs credentials, and there are none",
}


def _explained(error: Exception, name: str) -> ValueError:
    """Return the error to raise in place of one of fsspec and what it calls."""
    status = getattr(error, "status", None)
    if isinstance(error, FileNotFoundError) or status == 404:
        return MissingFileError(f"there is no file {name!r}")
    if status == 400 and error.__cause__ is not None:  # aiohttp could not parse the answer
        return ValueError(f"{name!r} cannot be fetched: the answer of the server is not valid HTTP")
    if isinstance(status, int) and status:
        return ValueError(f"{name!r} cannot be fetched: the server answers with status {status}")
    why = _REASONS.get(type(error).__name__) or shortly(
        ValueError(_without_secrets(str(error)) or type(error).__name__)
    )
    return ValueError(f"{name!r} cannot be fetched: {why}")
