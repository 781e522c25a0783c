"""Results: folders as the command line writes them, read on demand."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _plot, _tables
from ._arguments import listed, whole
from ._errors import GuardbitError
from ._graph import Graph


class Result:
    """A folder of results."""

    #: Name of the manifest.
    _manifest = ""
    #: Name of the main table.
    _main = ""
    #: Command that wrote the tables.
    _command = ""

    def __init__(self, folder: Path, temporary: tempfile.TemporaryDirectory[str] | None) -> None:
        #: Folder of the files. Without `out` it is removed together with the result, unless `save` copies it.
        self.folder = folder
        if temporary is not None:
            weakref.finalize(self, temporary.cleanup)

    @property
    def files(self) -> list[str]:
        """All files, by their paths within the folder."""
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.folder).as_posix() for path in found)

    @property
    def info(self) -> dict[str, Any]:
        """The manifest: settings, SHA-256 of the inputs, outcome."""
        info: dict[str, Any] = json.loads((self.folder / self._manifest).read_text())
        return info

    def read(self, name: str) -> Any:
        """Returns a table by the name of its CSV file, e.g. 'layers'. `guardbit.describe` describes its columns."""
        file = self.folder / f"{name}.csv"
        if not file.is_file():
            tables = [path.removesuffix(".csv") for path in self.files if path.endswith(".csv")]
            raise KeyError(f"unknown table {name!r}; the tables are {', '.join(tables)}")
        return _tables.table(file.read_text(), (self._command, name))

    @property
    def table(self) -> Any:
        """The main table of the result."""
        return self.read(self._main)

    def __getitem__(self, column: str) -> Any:
        """Returns a column of `table`."""
        return self.table[column]

    @property
    def columns(self) -> list[str]:
        """The names of the columns of `table`."""
        table = self.table
        return list(table) if isinstance(table, dict) else list(table.columns)

    def arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """Returns the arrays of a .npz file by name, e.g. 'outputs'."""
        file = self.folder / f"{name}.npz"
        if not file.is_file():
            archives = [path.removesuffix(".npz") for path in self.files if path.endswith(".npz")]
            raise KeyError(f"unknown arrays {name!r}; the arrays are {', '.join(archives)}")
        with np.load(file) as archive:
            return {key: archive[key] for key in archive.files}

    @property
    def report(self) -> str:
        """The page with all tables and plots, as HTML."""
        page = self.folder / "report.html"
        if not page.is_file():
            raise GuardbitError("there is no report: the result was made with report=False")
        return page.read_text()

    def plot(
        self,
        name: str,
        *,
        x: str | None = None,
        by: str | Sequence[str] = (),
        plot_style: str | None = None,
        plot_size: str | None = None,
        plot_font: str | None = None,
        plot_title: str | None = None,
        kind: str = "svg",
        ax: Any = None,
    ) -> Any:
        """Returns a plot as SVG, which notebooks show: a plot of `plots` by its name, or with `x` a column of the table.

        With `x`, `name` is a column of numbers and `x` an axis or column; `by` names axes and columns whose values
        distinguish the curves, as for `guardbit plot`. With `kind="matplotlib"`, or with an `ax` to draw on, the plot
        is a matplotlib Axes.
        """
        if x is not None or by or ax is not None or kind != "svg":
            style = {"plot_style": plot_style, "plot_size": plot_size, "plot_font": plot_font, "plot_title": plot_title}
            return _plot.of_column([self.folder], name, x, by, style, kind, ax)
        if name not in self.plots:
            raise KeyError(f"unknown plot {name!r}; the plots are {', '.join(self.plots) or 'none'}")
        return _plot.Svg((self.folder / "plots" / f"{name}.svg").read_text())

    @property
    def plots(self) -> list[str]:
        """The names of the plots."""
        return [path[len("plots/") : -len(".svg")] for path in self.files if path.startswith("plots/") and path.endswith(".svg")]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Copies the folder to `folder`, which must not exist."""
        shutil.copytree(self.folder, folder)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"

    def _summary(self) -> str:
        return str(self.folder)

    def _repr_html_(self) -> str:
        table = self.table
        html = getattr(table, "_repr_html_", None)
        body = html() if html is not None else _html(table)
        return f"<div><b>{type(self).__name__}</b>: {_escape(self._summary())}</div>{body}"


class Run(Result):
    """Result of a run; `table` has one row per layer and level (layers.csv)."""

    _manifest, _main, _command = "run.json", "layers", "run"

    #: Results of the functions given as `statistic`, for every layer and sample; None without one.
    statistics: Any = None

    @property
    def outcome(self) -> dict[str, Any]:
        """Accuracy and errors of the outputs, as in run.json; shares are computed from counts."""
        outcome: dict[str, Any] = self.info["outcome"]
        return {name: _tables.share("sweep", "summary", outcome, name) for name in outcome}

    @property
    def accuracy(self) -> float | None:
        """Share of samples that are classified as labelled; None without labels."""
        return self.outcome.get("accuracy")

    @property
    def outputs(self) -> dict[str, npt.NDArray[Any]]:
        """Codes of every output for all samples: 'exact/NAME' and 'simulated/NAME'."""
        return self.arrays("outputs")

    @property
    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """Codes of every tensor for all samples, if the run has tensors=True: 'exact/NAME' and 'simulated/NAME'."""
        return self.arrays("tensors")

    @property
    def samples(self) -> Any:
        """The events of every sample over all layers (samples.csv); without rows with stats="none" and "values"."""
        return self.read("samples")

    @property
    def sample_events(self) -> dict[str, npt.NDArray[Any]]:
        """The events of every sample by layer name, `[samples, 3]`: events of levels, of products, of the bias; with
        stats="events" and "full"."""
        return self.arrays("sample_events")

    @property
    def aligned(self) -> Any:
        """The layers of floating-point codes (aligned.csv), if the accelerator runs any."""
        return self.read("aligned")

    @property
    def predictions(self) -> dict[str, npt.NDArray[Any]]:
        """Predictions for every sample: classes, labels and codes, exact and simulated."""
        return self.arrays("predictions")

    def _summary(self) -> str:
        info = self.info
        shown = f"{info['model']['file']} on {info['hw']['name']}, {info['input']['samples']} samples"
        return shown if self.accuracy is None else f"{shown}, accuracy {self.accuracy:.4f}"


class Sweep(Result):
    """Result of a sweep; `table` has one row per point (summary.csv)."""

    _manifest, _main, _command = "sweep.json", "summary", "sweep"

    #: Results of the functions given as `statistic`, for every point, layer and sample; None without one.
    statistics: Any = None

    @property
    def layers(self) -> Any:
        """The layers of every point (sweep.csv)."""
        return self.read("sweep")

    @property
    def aligned(self) -> Any:
        """The layers of floating-point codes of every point (aligned.csv), if the accelerator runs any."""
        return self.read("aligned")

    def _summary(self) -> str:
        return f"{len(self.info['points'])} points"


class Shard(Sweep):
    """Part of a sweep, for `guardbit.merge`; it has no tables."""

    def _summary(self) -> str:
        shard = self.info["shard"]
        return f"shard {shard['index']}/{shard['count']} of {len(self.info['points'])} points"

    def _repr_html_(self) -> str:
        return f"<div><b>Shard</b>: {_escape(self._summary())}</div>"


class Size(Result):
    """Widths that a network requires; `table` has one row per layer and level (size.csv)."""

    _manifest, _main, _command = "size.json", "size", "size"

    @property
    def recommended(self) -> str:
        """The accelerator with these widths, as YAML; its file is `folder / 'recommended.yaml'`."""
        return (self.folder / "recommended.yaml").read_text()


class Exploration(Result):
    """Result of an exploration; `table` has one row per design (points.csv)."""

    _manifest, _main, _command = "explore.json", "points", "explore"

    @property
    def pareto(self) -> Any:
        """The Pareto front: designs that no other design beats in every objective (pareto.csv)."""
        return self.read("pareto")

    @property
    def sensitivity(self) -> Any:
        """Changes when one resource of the chosen design is doubled, one row per resource (sensitivity.csv)."""
        return self.read("sensitivity")

    @property
    def recommended(self) -> str | None:
        """The cheapest accelerator within the budget, as YAML; None without a budget."""
        file = self.folder / "recommended.yaml"
        return file.read_text() if file.is_file() else None


class Quantized(Result):
    """A quantized network; `table` has one row per part (parts.csv)."""

    _manifest, _main, _command = "quantize.json", "parts", "quantize"

    def __init__(self, folder: Path, temporary: tempfile.TemporaryDirectory[str] | None, path: Path) -> None:
        super().__init__(folder, temporary)
        #: The ONNX file.
        self.path = path

    @property
    def graph(self) -> Graph:
        """The network."""
        graph = Graph._load(self.path, None)
        # The file is kept as long as the graph exists.
        graph._kept = self  # type: ignore[attr-defined]
        return graph


class Bundle(Result):
    """Test vectors of a layer, in the format of docs/reference/bundle-format.md."""

    _manifest = "manifest.json"

    def _summary(self) -> str:
        info = self.info
        return f"layer {info['layer']['name']}, {len(info['cases'])} cases"

    def _repr_html_(self) -> str:
        return f"<div><b>Bundle</b>: {_escape(self._summary())}</div>"


class Whole(Bundle):
    """Memory images of whole layers, in the format of docs/reference/whole-layers.md; `info` is layout.json."""

    _manifest = "layout.json"

    @property
    def layers(self) -> list[str]:
        """The folders of the layers, in order of execution: names for `diff_layer`."""
        return [layer["folder"] for layer in self.info["layers"]]

    def _summary(self) -> str:
        return f"layers {', '.join(self.layers)} of {self.info['source']['model']}"

    def _repr_html_(self) -> str:
        return f"<div><b>Whole</b>: {_escape(self._summary())}</div>"


class Discrimination(Result):
    """Inputs that tell accelerators apart; `table` has one row per accelerator, with its sum of every input (classes.csv)."""

    _manifest, _main, _command = "discriminate.json", "classes", "discriminate"

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The inputs i1, i2, ...: 'products', pairs of the codes of activation and weight, and 'bias'."""
        found: list[dict[str, Any]] = self.info["result"]["inputs"]
        return found

    @property
    def classes(self) -> list[dict[str, Any]]:
        """The classes: 'accelerators' of equal sums, 'sums' per input, and whether they are 'proved_equal' for every input."""
        found: list[dict[str, Any]] = self.info["result"]["classes"]
        return found

    def matching(self, sums: Sequence[int | None]) -> list[str]:
        """Returns the accelerators that return these sums for the inputs; None stands for a sum that is not known."""
        sums = [None if seen is None else whole(-(2**127), 2**127 - 1)("sums", seen) for seen in listed("sums", sums)]
        if len(sums) != len(self.inputs):
            raise GuardbitError(f"sums: expected {len(self.inputs)} sums, one per input, found {len(sums)}")
        equal = (one for one in self.classes if all(seen is None or seen == own for seen, own in zip(sums, one["sums"])))
        return [name for one in equal for name in one["accelerators"]]

    def _summary(self) -> str:
        accelerators = sum(len(one["accelerators"]) for one in self.classes)
        return f"{len(self.classes)} classes of {accelerators} accelerators by {len(self.inputs)} inputs"


class LayerDiff:
    """Comparison of the output image of a design with that of a whole layer."""

    def __init__(self, compared: dict[str, Any]) -> None:
        #: Whether nothing differs.
        self.equal: bool = compared["equal"]
        #: Folder of the layer.
        self.folder: str = compared["folder"]
        #: Name of the layer.
        self.layer: str = compared["layer"]
        #: Number of outputs.
        self.outputs: int = compared["outputs"]
        #: Outputs whose code differs or is not known.
        self.codes_different: int = compared["codes_different"]
        #: Outputs whose code has unknown bits, or that no word holds.
        self.codes_unknown: int = compared["codes_unknown"]
        #: Outputs whose sum differs or is not known; None if no sums are compared.
        self.sums_different: int | None = compared["sums_different"]
        #: The first differences, at most 10: 'output', 'word', 'lane', 'window', 'operands', 'terms', 'code', 'sum', 'overflow'.
        self.first: list[dict[str, Any]] = compared["first"]

    def __repr__(self) -> str:
        return f"<LayerDiff: {self.folder}, {self.codes_different} of {self.outputs} codes differ>"


class Comparison:
    """Comparison of results."""

    def __init__(self, compared: dict[str, Any], answer: str) -> None:
        #: What the other folders change against the first, in a sentence.
        self.answer = answer
        #: Command that wrote all results.
        self.command: str = compared["command"]
        #: Folders as given.
        self.folders: list[str] = compared["folders"]
        self._compared = compared

    @property
    def settings(self) -> Any:
        """Settings that differ: their name, and one column per folder."""
        return self._table("settings", "name")

    @property
    def totals(self) -> Any:
        """Figures of each result as a whole: their name, and one column per folder."""
        return self._table("totals", "name")

    @property
    def rows(self) -> Any:
        """Figures of layers or points that differ: the row, the column, and one column per folder."""
        return self._table("rows", "row", "column")

    def _table(self, part: str, *names: str) -> Any:
        rows = self._compared[part]
        columns = {name: [row[name] for row in rows] for name in names}
        columns |= {folder: [row["values"][index] for row in rows] for index, folder in enumerate(self.folders)}
        return _tables.of_columns({name: np.array(cells, dtype=object) for name, cells in columns.items()})

    def __repr__(self) -> str:
        return f"<Comparison: {self.command}, {len(self.folders)} folders, {len(self._compared['settings'])} settings differ>"


def _escape(text: str) -> str:
    from html import escape

    return escape(text)


def _html(columns: _tables.Columns) -> str:
    head = "".join(f"<th>{_escape(name)}</th>" for name in columns)
    rows = zip(*columns.values())
    body = "".join("<tr>" + "".join(f"<td>{_escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
