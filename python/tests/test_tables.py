"""Types of columns: those stated by the extension, for any cells."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import guardbit
from conftest import DIGITS

MODEL, HW = DIGITS / "digits_int8.tflite", "fpga-int14-os"
KINDS = ["pandas", "polars", "dict"]


@pytest.fixture(params=KINDS)
def kind(request):
    guardbit.set_tables(request.param)
    yield request.param
    guardbit.set_tables(None)


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict[str, guardbit.Result]:
    x, y = np.load(DIGITS / "test_images.npy")[:12], np.load(DIGITS / "test_labels.npy")[:12]
    calibration = np.load(DIGITS / "calibration.npy")
    pages = dict(plots=False, report=False)
    return {
        "run": guardbit.run(MODEL, HW, x, y, cost="horowitz-45nm", histograms=True, stats="events", **pages),
        "isolated": guardbit.run(MODEL, HW, x, mode="isolated", stats="none", **pages),
        "sweep": guardbit.sweep(MODEL, HW, x, y, bits="14..=16", **pages),
        "size": guardbit.size(MODEL, HW, x, y, **pages),
        "explore": guardbit.explore(MODEL, HW, x, y, axes={"array.rows": [8, 16]}, cost="horowitz-45nm", **pages),
        "quantize": guardbit.quantize(DIGITS / "digits_float.onnx", calibration),
    }


def values(column, kind: str) -> list:
    """Returns cells as Python values, with None for missing ones."""
    if kind == "pandas":
        return [None if cell is None or cell is __import__("pandas").NA else cell for cell in column.tolist()]
    return column.to_list() if kind == "polars" else column.tolist()


def dtype(column) -> str:
    masked = "masked " if isinstance(column, np.ma.MaskedArray) else ""
    return f"{masked}{column.dtype}".lower()


#: Types of columns, with and without blank cells.
EXPECTED = {
    "pandas": {"int64": ["int64", "int64"], "float64": "float64", "bool": ["bool", "boolean"], "width": "int64", "integer": "int64"},
    "polars": {"int64": "int64", "float64": "float64", "bool": "boolean", "width": "int64", "integer": "int64", "text": "string"},
    "dict": {
        "int64": ["int64", "masked int64"], "float64": "float64", "bool": ["bool", "masked bool"], "width": "masked int64",
        "integer": ["int64", "masked int64"], "text": "object",
    },
}  # fmt: skip


def test_every_column_has_its_type(results, kind):
    """Covers every table that the commands write, including blank columns."""
    seen, blank = 0, 0
    for command, result in results.items():
        command = result._command
        for file in (name for name in result.files if name.endswith(".csv")):
            name = file.removesuffix(".csv")
            table = result.read(name)
            rows = list(csv.DictReader(io.StringIO((result.folder / file).read_text())))
            for column in guardbit.describe(command, name):
                found = table[column["name"]]
                expected = EXPECTED[kind].get(column["type"])
                if expected is not None:
                    expected = expected[column["blank"]] if isinstance(expected, list) else expected
                    assert dtype(found) == expected, (file, column)
                cells = [row[column["name"]] for row in rows]
                for cell, value in zip(cells, values(found, kind), strict=True):
                    check(cell, value, column["type"])
                seen += 1
                blank += bool(cells) and not any(cells)
    assert seen > 250 and blank > 20, (seen, blank)


def check(cell: str, value, kind: str) -> None:
    if kind == "text":
        assert value == cell
    elif kind == "float64":
        assert np.isnan(value) if cell == "" else abs(value - float(cell)) <= 1e-6 * max(1, abs(value)) or value == float(cell)
    elif kind == "bool":
        assert value is None if cell == "" else value == (cell == "true")
    else:
        assert value is None if cell in ("", "auto") else value == int(cell)


def test_nullable_integers_of_pandas_are_int64():
    pandas = pytest.importorskip("pandas")
    guardbit.set_tables("pandas")
    try:
        table = guardbit.run(MODEL, HW, random=2, stats="none").table
    finally:
        guardbit.set_tables(None)
    assert table["persistent"].dtype == pandas.Int64Dtype() and table["persistent"].isna().all()
    assert table["sqnr_db"].dtype == np.float64 and table["index"].dtype == np.int64


def test_shares_are_those_of_counts(results, kind):
    """Shares of 12 samples are not exact with six decimals."""
    table = results["sweep"].table
    for share, count in [("accuracy", "right"), ("accuracy_exact", "right_exact"), ("top1_agreement", "agreeing")]:
        for part, whole, found in zip(*(values(table[name], kind) for name in (count, "samples", share)), strict=True):
            assert isinstance(part, int) and found == part / whole
    run = results["run"]
    predictions = run.predictions
    right = int((predictions["simulated_class"] == predictions["label"]).sum())
    assert run.accuracy == right / 12 == run.outcome["accuracy"]
    classes = run.read("classes")
    for part, whole, found in zip(*(values(classes[name], kind) for name in ("right", "labelled", "accuracy")), strict=True):
        assert np.isnan(found) if not whole else found == part / whole


def test_events_of_samples(kind):
    """The sum over all samples and layers equals that of the table of layers."""
    run = guardbit.run(MODEL, HW, random=3, set={"product.bits": 12, "bias.bits": 14}, plots=False, report=False)
    layers, samples = run.table, run.samples
    total = lambda table, column: sum(value or 0 for value in values(table[column], kind))
    columns = ["events", "product_events", "bias_events"]
    counts = [total(layers, column) for column in columns]
    assert all(counts) and [total(samples, column) for column in columns] == counts
    of_layers = run.sample_events
    assert list(of_layers) == values(layers["layer"], kind)
    assert sum(of_layers.values()).T.tolist() == [values(samples[column], kind) for column in columns]
    assert {"product", "bias"} <= set(values(run.read("events")["level"], kind))


def test_integers_of_any_size(kind):
    """Neither float64 nor int64 holds these integers."""
    text = "index,layer,op,level,bits,overflow,dots,terms,max_prefix\n0,x,conv2d,acc,auto,,1,1,170141183460469231731687303715884105727\n1,y,conv2d,acc,14,wrap,1,1,\n"
    table = guardbit._tables.table(text, ("run", "layers"))
    assert values(table["max_prefix"], kind) == [2**127 - 1, None]
    assert values(table["bits"], kind) == [None, 14]


def test_axes_have_the_type_of_their_values(kind):
    axes = {"array.rows": [8, 16], "clock_mhz": [100.5, 200], "memory.double_buffer": [True, False], "accumulation.acc.overflow": ["wrap", "saturate"]}
    table = guardbit.sweep(MODEL, HW, random=1, axes=axes, plots=False, report=False).table
    assert set(values(table["array.rows"], kind)) == {8, 16} and "int64" in dtype(table["array.rows"])
    assert set(values(table["clock_mhz"], kind)) == {100.5, 200.0}
    assert set(values(table["memory.double_buffer"], kind)) == {True, False}
    assert set(values(table["accumulation.acc.overflow"], kind)) == {"wrap", "saturate"}


def test_comparisons_in_every_kind(results, kind):
    other = guardbit.run(MODEL, "fpga-int14-os-wrap", random=2, plots=False, report=False)
    compared = guardbit.compare([results["run"], other])
    for part in (compared.settings, compared.totals, compared.rows):
        assert len(part[compared.folders[0]]) > 0


def test_descriptions():
    columns = {column["name"]: column for column in guardbit.describe("run", "layers")}
    assert columns["cycles"]["unit"] == "cycles" and columns["cycles"]["type"] == "int64" and columns["cycles"]["meaning"]
    with pytest.raises(KeyError, match="run layers"):
        guardbit.describe("run", "nothing")
    assert json.dumps(columns)
