"""A disk that loses power: whatever was not synced may be gone, in any combination."""

import contextlib
import os
import random
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from wikisum.pipeline.engine import files


class PowerCut(Exception):
    """The power failed; nothing reaches the disk from now on."""


class Entry(NamedTuple):
    """What a name in a folder stands for."""

    inode: int
    is_folder: bool


class Disk:
    """Watches the file layer below `root`, and takes it back to what a power cut could leave.

    A file's content lasts from its `fsync` on, a name in a folder from the `fsync` of the folder
    on. Of everything else each change is kept or lost on its own, by chance: an unsynced file may
    be whole, cut, empty or as at its last sync; a new name may be absent, an old or deleted one
    there. That is more than real filesystems lose.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.operations = 0
        self._cut_at = float("inf")
        self._synced: dict[int, bytes] = {}  # content by inode
        self._seen: dict[int, bytes] = {}  # content of files that were deleted or replaced
        self._names: dict[Path, dict[str, Entry]] = {}  # entries of each folder at its last sync

    def settle(self) -> None:
        """Count everything as synced, as after a long time."""
        for folder, _, names in os.walk(self.root):
            self._sync_names(Path(folder))
            for name in names:
                path = Path(folder, name)
                self._synced[path.stat().st_ino] = path.read_bytes()

    @contextlib.contextmanager
    def watched(self, cut_at: float = float("inf")) -> Iterator[None]:
        """Count the operations in the block; from number `cut_at` on they raise PowerCut."""
        self.operations, self._cut_at = 0, cut_at
        real = {name: getattr(os, name) for name in ("fsync", "replace", "remove")}
        create = files._create

        def fsync(opened: int) -> None:
            self._count()
            real["fsync"](opened)
            self._sync(opened)

        def replace(source: Any, target: Any) -> None:
            self._count()
            self._keep(target)
            real["replace"](source, target)

        def remove(path: Any) -> None:
            self._count()
            self._keep(path)
            real["remove"](path)

        def created(path: str) -> Any:
            self._count()
            file = create(path)
            inode = os.fstat(file.fileno()).st_ino
            self._synced.pop(inode, None)  # of a deleted file whose number is used again
            self._seen.pop(inode, None)
            return file

        try:
            os.fsync, os.replace, os.remove = fsync, replace, remove
            files._create = created
            yield
        finally:
            os.fsync, os.replace, os.remove = real["fsync"], real["replace"], real["remove"]
            files._create = create

    def lose(self, random: random.Random) -> None:
        """Put the folder into a state that the power cut could have left."""
        content = {
            path.stat().st_ino: path.read_bytes() for path in self.root.rglob("*") if path.is_file()
        }
        kept = dict(self._surviving(self.root, random, self._seen | content))
        shutil.rmtree(self.root)
        for path, data in kept.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.root.mkdir(exist_ok=True)
        self._synced, self._seen, self._names = {}, {}, {}
        self.settle()

    def _surviving(
        self, folder: Path, random: random.Random, content: dict[int, bytes]
    ) -> Iterator[tuple[Path, bytes]]:
        now, synced = _entries(folder), self._names.get(folder, {})
        for name in sorted(now.keys() | synced.keys()):
            entry = random.choice([now.get(name), synced.get(name)])
            if entry is None:
                continue
            if entry.is_folder:
                yield from self._surviving(folder / name, random, content)
            else:
                yield folder / name, self._content(entry.inode, random, content)

    def _content(self, inode: int, random: random.Random, content: dict[int, bytes]) -> bytes:
        last, synced = content.get(inode, b""), self._synced.get(inode)
        if last == synced:
            return last
        cut = last[: random.randrange(len(last) + 1)]
        return random.choice([last, cut, b"", bytes(len(last)), synced or b""])

    def _count(self) -> None:
        self.operations += 1
        if self.operations >= self._cut_at:
            raise PowerCut

    def _keep(self, path: Any) -> None:
        path = Path(path)
        if path.is_file():
            self._seen[path.stat().st_ino] = path.read_bytes()

    def _sync(self, opened: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{opened}"))
        if not path.is_relative_to(self.root):
            return
        if stat.S_ISDIR(os.fstat(opened).st_mode):
            self._sync_names(path)
        else:
            self._synced[os.fstat(opened).st_ino] = path.read_bytes()

    def _sync_names(self, folder: Path) -> None:
        self._names[folder] = _entries(folder)


def _entries(folder: Path) -> dict[str, Entry]:
    if not folder.is_dir():
        return {}
    return {e.name: Entry(e.inode(), e.is_dir()) for e in os.scandir(folder)}
