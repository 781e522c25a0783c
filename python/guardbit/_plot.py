"""Plots of columns of finished results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _guardbit
from ._errors import GuardbitError, translated


class Svg(str):
    """A picture as the text of an SVG document, which notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


def of_column(
    folders: Sequence[Path], y: str, x: str | None, by: str | Sequence[str], style: Mapping[str, str | None], kind: str, ax: Any
) -> Any:
    """Returns the plot of a column as SVG or, with `kind="matplotlib"` or an `ax`, as a matplotlib Axes."""
    if kind not in ("svg", "matplotlib"):
        raise GuardbitError(f"invalid kind {kind!r}: expected 'svg' or 'matplotlib'")
    given: dict[str, Any] = {name: value for name, value in {"x": x, **style}.items() if value is not None}
    by = [by] if isinstance(by, str) else list(by)
    arguments = {"folders": [str(folder) for folder in folders], "y": y, "by": by, **given}
    with translated({}):
        drawn = json.loads(_guardbit.plot(json.dumps(arguments)))
    if kind == "svg" and ax is None:
        return Svg(drawn["svg"])
    return _axes(drawn, ax)


def _axes(drawn: dict[str, Any], ax: Any) -> Any:
    """Draws the table of a plot with matplotlib: one curve with intervals per value of its second column."""
    if ax is None:
        try:
            import matplotlib.pyplot as pyplot
        except ImportError as error:
            raise GuardbitError("kind='matplotlib' needs matplotlib: install it, or use kind='svg'") from error
        ax = pyplot.subplots()[1]
    curves: dict[str, list[list[str]]] = {}
    for row in drawn["rows"]:
        curves.setdefault(row[1], []).append(row[-4:])
    for name, rows in curves.items():
        xs = [_place(row[0]) for row in rows]
        if all(isinstance(place, float) for place in xs):
            rows = [row for _, row in sorted(zip(xs, rows), key=lambda pair: pair[0])]
            xs = sorted(xs)
        ys = [float(row[1]) for row in rows]
        # Without an interval, its ends are the value.
        below = [y - float(row[2] or y) for y, row in zip(ys, rows)]
        above = [float(row[3] or y) - y for y, row in zip(ys, rows)]
        bars = [below, above] if any(below + above) else None
        ax.errorbar(xs, ys, yerr=bars, marker="o", capsize=2, label=name or None)
    ax.set_xlabel(drawn["columns"][-4])
    ax.set_ylabel(drawn["columns"][-3])
    if len(curves) > 1:
        ax.legend(title=", ".join(drawn["columns"][2:-4]))
    return ax


def _place(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
