"""The bar in a notebook."""

from __future__ import annotations

import sys
import types

import pytest
from guardbit import _progress


def test_quick_work_leaves_no_empty_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work of less than a second displays nothing, because displayed output stays in the saved notebook."""
    shown: list[str] = []

    class Handle:
        def update(self, bar: _progress.Notebook) -> None:
            shown.append(repr(bar))

    def display(bar: _progress.Notebook, display_id: bool) -> Handle:
        shown.append(repr(bar))
        return Handle()

    module = types.ModuleType("IPython.display")
    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])

    def work(seconds: float) -> list[str]:
        shown.clear()
        bar = _progress.Notebook()
        bar.start("run", 10)
        for _ in range(10):
            now[0] += seconds / 10
            bar.advance(1)
        bar.close()
        return list(shown)

    assert work(0.5) == []
    slow = work(10.0)
    assert slow[0] == "run 2/10 samples" and slow[-1] == "", slow
