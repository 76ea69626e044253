"""A lock in an object store: one object, which only one of several runs can create.

Its owner writes it again every minute. A run that finds it renewed less than five minutes ago
fails; an older one, or one of a process of this machine that has ended, is taken over. Each write
is conditional on the version that was read, so that two runs cannot both have it. The clocks of the
machines must agree within some minutes.
"""

import contextlib
import json
import os
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.store import objects

RENEWAL_SECONDS = 60.0
STALE_SECONDS = 300.0


@contextlib.contextmanager
def held(path: str) -> Iterator[None]:
    """Hold the lock for the block. Raises JobFailed if another run holds it."""
    owner = {"host": socket.gethostname(), "process": os.getpid(), "id": uuid.uuid4().hex}
    version = _acquired(path, owner)
    ended = threading.Event()
    thread = threading.Thread(target=_renew, args=(path, owner, version, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        try:
            objects.delete([path])
        except OSError as error:  # the result of the block matters more, and the lock expires
            sys.stderr.write(f"the lock was not deleted: {error}\n")


def _acquired(path: str, owner: dict[str, Any]) -> str:
    """Create or take over the lock; return its version."""
    try:
        if (version := objects.put_new(path, _content(owner))) is not None:
            return version
        found = objects.get_with_version(path)
    except FileNotFoundError as error:
        raise JobFailed(f"{path}: there is no such bucket") from error
    except OSError as error:
        raise JobFailed(str(error)) from error
    if found is None:  # its owner has just ended
        return _acquired(path, owner)
    holder = json.loads(found[0])
    if holder["id"] == owner["id"]:  # a request was repeated after its answer was lost
        return found[1]
    version = objects.put_over(path, _content(owner), found[1]) if _is_stale(holder) else None
    if version is None:
        raise JobFailed(
            f"another run is writing to this folder: process {holder['process']} on "
            f"{holder['host']} holds {path}"
        )
    return version


def _content(owner: dict[str, Any]) -> bytes:
    return json.dumps({**owner, "renewed": time.time()}).encode()


def _is_stale(holder: dict[str, Any]) -> bool:
    if holder["host"] == socket.gethostname():
        try:
            os.kill(holder["process"], 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
    return bool(time.time() - holder["renewed"] > STALE_SECONDS)


def _renew(path: str, owner: dict[str, Any], version: str, ended: threading.Event) -> None:
    """Write the lock again every minute. Ends this process if another run has taken it over."""
    while not ended.wait(RENEWAL_SECONDS):
        try:
            renewed = objects.put_over(path, _content(owner), version)
        except OSError:
            continue  # the store does not respond; the lock is not stale yet
        if renewed is None:
            sys.stderr.write(f"wikisum: another run has taken over {path}\n")
            os._exit(1)
        version = renewed
