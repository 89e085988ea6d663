"""A folder for the workers of this process, which is removed even where the process was killed: by the next one."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks on this system: what a killed process leaves stays
    fcntl = None  # type: ignore[assignment]

PREFIX = "btests-workers-"

# A file in the folder that its process keeps locked for as long as it lives, and that names its machine.
_OWNER = "owner"


@contextmanager
def own_folder() -> Iterator[str]:
    """Yield a new folder, which is removed afterwards; first remove those that killed processes have left."""
    remove_left_behind(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder, _locked(Path(folder)):
        yield folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    with (folder / f"{_OWNER}.new").open("w") as file:
        with suppress(OSError):  # a file system without locks
            file.write(socket.gethostname())
            file.flush()
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Under this name it is locked: nobody finds it before.
            os.rename(file.name, folder / _OWNER)
        yield


def remove_left_behind(among: Path) -> None:
    """Remove the folders of this user's workers whose process is gone: nobody holds the lock that it held."""
    if fcntl is None:
        return
    for folder in among.glob(f"{PREFIX}*"):
        with suppress(OSError):  # it is in use, or gone by now, or none of ours
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                continue
            descriptor = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "r+") as file:
                # Elsewhere on a shared file system locks may not be seen.
                if os.fstat(descriptor).st_uid == os.getuid() and file.read() == socket.gethostname():
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises where the process lives
                    shutil.rmtree(folder, ignore_errors=True)
