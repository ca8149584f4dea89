"""New files and folders that appear whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from discreet.errors import InputError

ROOM = 2**20
"""How many bytes are claimed before a release, so that a full disk is found before it is paid."""


def check_new(path: Path, *, force: bool = False) -> None:
    """Refuse to write over what is there, or where there is no folder."""
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; give the name of a new file.")
    if os.path.lexists(path) and not force:
        raise InputError(f"{path}: this exists already. Choose another name, or pass --force.")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist; make it first.")


@contextmanager
def new_file(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Give a path to write to, of the same suffix; what is written there becomes ``path``."""
    check_new(path, force=force)
    handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=f".{path.stem}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _settle(temporary)
        os.chmod(temporary, 0o666 & ~_mask())
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write a text to a new file."""
    with new_file(path, force=force) as temporary:
        temporary.write_text(text, encoding="utf-8")


class NewFolder:
    """A folder in the making; it appears under its name when it is complete.

    Entering makes a place beside it, and claims some room on the disk.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._beside: Path | None = None

    def __enter__(self) -> Self:
        path = self._path
        if os.path.lexists(path):
            raise InputError(f"{path}: this exists already. Choose another name, or remove it.")
        parent = path.resolve().parent
        if not parent.is_dir():
            raise InputError(f"{path}: the folder {path.parent} does not exist; make it first.")
        self._beside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=parent))
        try:
            self._claim()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    @property
    def inside(self) -> Path:
        """Where to make the folder; it does not exist yet."""
        return self._place / "made"

    def publish(self) -> None:
        """Give the folder its name."""
        for file in self.inside.rglob("*"):
            _settle(file)
        if os.path.lexists(self._path):
            raise InputError(f"{self._path}: this exists by now; somebody else made it.")
        os.rename(self.inside, self._path)
        _settle_folder(self._path.resolve().parent)

    @property
    def _place(self) -> Path:
        if self._beside is None:
            raise InputError("a new folder is made inside a with statement.")
        return self._beside

    def _claim(self) -> None:
        with (self._place / "room").open("wb") as file:
            file.write(bytes(ROOM))
            file.flush()
            os.fsync(file.fileno())

    def give_room(self) -> None:
        """Free what was claimed, for what is to be written now."""
        (self._place / "room").unlink()

    def _remove(self) -> None:
        if self._beside is not None:
            shutil.rmtree(self._beside, ignore_errors=True)


def _settle(path: Path) -> None:
    """Wait until a file is on the disk."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _settle_folder(path: Path) -> None:
    """Wait until a folder's names are on the disk, where the system can say so."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
