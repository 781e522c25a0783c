"""Progress of the work: a bar in a notebook, or a line on a terminal."""

from __future__ import annotations

import importlib
import logging
import sys
import time
from typing import Any, Protocol, runtime_checkable

log = logging.getLogger("guardbit")


@runtime_checkable
class Progress(Protocol):
    """Observer of progress. An exception that a method raises ends the work."""

    def start(self, what: str, total: int) -> None:
        """Called when work on `total` samples begins."""

    def advance(self, samples: int) -> None:
        """Called when `samples` further samples are done."""

    def note(self, text: str) -> None:
        """Called with a note."""


class Silent:
    """Shows nothing; notes are sent to the logger `guardbit`."""

    def start(self, what: str, total: int) -> None:
        pass

    def advance(self, samples: int) -> None:
        pass

    def note(self, text: str) -> None:
        log.info(text)

    def close(self) -> None:
        pass


class _Counted(Silent):
    def __init__(self) -> None:
        self.what, self.total, self.done = "", 0, 0
        self.began = self.shown = time.monotonic()

    def start(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self.began = time.monotonic()
        self.show()

    def advance(self, samples: int) -> None:
        self.done += samples
        if self.done >= self.total or time.monotonic() - self.shown > 0.2:
            self.show()

    def show(self) -> None:
        self.shown = time.monotonic()

    def left(self) -> str:
        if self.done == 0 or self.done >= self.total:
            return ""
        seconds = (time.monotonic() - self.began) * (self.total - self.done) / self.done
        return f", {seconds:.0f} s left"


class Terminal(_Counted):
    """Shows a line on stderr."""

    def show(self) -> None:
        super().show()
        if self.total > 0:
            share = min(self.done / self.total, 1.0)
            bar = ("=" * round(30 * share)).ljust(30)
            text = f"{self.what} [{bar}] {self.done}/{self.total} samples{self.left()}"
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


class Notebook(_Counted):
    """Shows a bar below the cell, which disappears when the work is done. Work that is done immediately has none,
    because a notebook would keep its place as an empty output.
    """

    #: Seconds before there is a bar.
    patience = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.handle: Any = None

    def show(self) -> None:
        super().show()
        if self.handle is not None:
            self.handle.update(self)
        elif self.done < self.total and time.monotonic() - self.began > self.patience:
            display: Any = importlib.import_module("IPython.display").display
            self.handle = display(self, display_id=True)

    def _repr_html_(self) -> str:
        from html import escape

        if self.total == 0:
            return ""
        bar = f"<progress value='{min(self.done, self.total)}' max='{self.total}' style='width:20em'></progress>"
        return f"<div>{escape(self.what)} {bar} {self.done}/{self.total} samples{self.left()}</div>"

    def __repr__(self) -> str:
        return "" if self.total == 0 else f"{self.what} {self.done}/{self.total} samples"

    def close(self) -> None:
        self.total = 0
        if self.handle is not None:
            self.handle.update(self)


def shown(progress: bool | Progress | None) -> Any:
    """Returns the observer of progress; None shows a bar if it would be visible."""
    if progress is False:
        return Silent()
    if progress is None or progress is True:
        if _in_notebook():
            return Notebook()
        return Terminal() if progress or sys.stderr.isatty() else Silent()
    return progress


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
