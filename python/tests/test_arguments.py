"""Valid forms of arguments, and messages about invalid ones."""

from __future__ import annotations

import copy
import inspect
import itertools
import json
import multiprocessing
import pickle
import re
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import guardbit
from conftest import DIGITS, ROOT, assert_same
from guardbit import Graph
from guardbit._arguments import KINDS
from guardbit._errors import in_python
from guardbit._table import TABLE

MODEL, HW = DIGITS / "digits_int8.tflite", "fpga-int14-os"
FLOAT = DIGITS / "digits_float.onnx"
X = np.load(DIGITS / "test_images.npy")[:4]
Y = np.load(DIGITS / "test_labels.npy")[:4]
CHEAP = dict(plots=False, report=False)
HUGE = 10**12


def dense(bits: str = "int8", **more) -> Graph:
    """Returns a network of one layer, without states."""
    codes = dict(dtype=bits, scale=0.1)
    return Graph(
        inputs=[dict(name="x", shape=[1, 4], **codes)],
        constants=[dict(name="w", data=np.arange(-6, 6, dtype=np.int8).reshape(3, 4), scale=0.1)],
        nodes=[dict(op="fully_connected", inputs=["x", "w"], output=dict(name="y", **codes))],
        outputs=["y"],
        **more,
    )


def run(x, **more) -> dict[str, np.ndarray]:
    return guardbit.run(more.pop("model", MODEL), HW, x, **CHEAP, **more).outputs


def assert_outputs(ours, theirs) -> None:
    assert list(ours) == list(theirs)
    for name, array in theirs.items():
        np.testing.assert_array_equal(ours[name], array)


# Values that are representable


@pytest.mark.parametrize("given", [X.astype(np.int64), X.astype(np.int32), X.tolist(), X.astype(">i8"), {"serving_default_image:0": X.tolist()}])
def test_codes_of_any_integers(given) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_outputs(run(given), run(X))


def test_codes_outside_the_input() -> None:
    wide = X.astype(np.int64)
    wide[0, 0, 0, 0] = 128
    with pytest.raises(guardbit.GuardbitError, match="x: code 128 is outside int8") as raised:
        run(wide)
    assert raised.value.code == "guardbit::input::range"
    # An explicitly chosen dtype is not converted.
    with pytest.raises(guardbit.GuardbitError, match="expected int8 codes") as raised:
        run(np.abs(X.astype(np.int16)).astype(np.uint8) // 2)
    assert raised.value.code == "guardbit::input::dtype"


def test_real_values_are_rounded_aloud() -> None:
    real = np.load(DIGITS / "test_images_float.npy")[:4].astype(np.float64)
    same = real.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = run(same)
        # Nothing is rounded.
        assert_outputs(run(same.astype(np.float64)), expected)
        assert_outputs(run(same.tolist()), expected)
    with pytest.warns(guardbit.GuardbitWarning, match="x: .* of .* values of float64 are not float32") as warned:
        run(same.astype(np.float64) * (1 + 1e-12))
    assert warned[0].filename == __file__
    with pytest.raises(guardbit.GuardbitError, match="x: 1e[+]?300 is outside float32"):
        run(np.full(X.shape, 1e300))


def test_labels_and_layers() -> None:
    accuracy = guardbit.run(MODEL, HW, X, Y, **CHEAP).accuracy
    assert guardbit.run(MODEL, HW, X.tolist(), Y.tolist(), **CHEAP).accuracy == accuracy
    # Samples are the layer's inputs, not those of the network.
    layer = guardbit.run(MODEL, HW, random=2, tensors=True, **CHEAP)
    names = dict(zip(layer["name"], layer["layer"]))
    read = layer.tensors[f"exact/{names['conv_1']}"].astype(np.int64)
    assert_outputs(run(read, layer="depthwise_1"), run(read.astype(np.int8), layer="depthwise_1"))


def quantized(calibration) -> bytes:
    result = guardbit.quantize(FLOAT, calibration)
    return result.path.read_bytes()


def test_float_networks_take_any_numbers() -> None:
    calibration = np.load(DIGITS / "calibration.npy")[:8]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        networks = [quantized(given) for given in (calibration, calibration.astype(np.float64), calibration.tolist())]
        whole = [quantized(given) for given in (np.rint(calibration), np.rint(calibration).astype(np.int64))]
    assert networks[0] == networks[1] == networks[2] and whole[0] == whole[1]


# One value instead of a list


@pytest.mark.parametrize(
    ("one", "several"),
    [
        (dict(bits=15), dict(bits=[15])),
        (dict(bits=np.int64(15)), dict(bits="15")),
        (dict(bits="15", overflow="wrap"), dict(bits=[15], overflow=["wrap"])),
        (dict(axes={"accumulation.acc.bits": 14}), dict(axes={"accumulation.acc.bits": [14]})),
        (dict(axes={"accumulation.acc.bits": np.int32(14)}), dict(axes={"accumulation.acc.bits": range(14, 15)})),
        (dict(axes={"accumulation.acc.bits": np.array(14)}), dict(axes={"accumulation.acc.bits": np.array([14])})),
        (dict(axes={"memory.double_buffer": True}), dict(axes={"memory.double_buffer": ["true"]})),
        (dict(axes={"input": X}), dict(axes={"input": [X]})),
        (dict(axes={"a": 1, "b": 2}, zip=["array.rows", "array.cols"]), dict(axes={"a": 1, "b": 2}, zip=[["array.rows", "array.cols"]])),
        (dict(bits=15, set="array.rows=4"), dict(bits=15, set={"array.rows": 4})),
        (dict(bits=15, seed=np.uint8(3), random=np.int16(2)), dict(bits=15, seed=3, random=2)),
        (dict(bits=15, shard=(np.int64(1), 1)), dict(bits=15, shard="1/1")),
        (dict(bits=iter([15, 16])), dict(bits=[15, 16])),
        (dict(bits=15, hw=[HW]), dict(bits=15, hw=HW)),
    ],
)
def test_lone_values_and_numpy_scalars(one, several) -> None:
    def points(arguments):
        given = dict(model=MODEL, hw=HW) | arguments
        if "zip" in given:
            given["axes"] = {"array.rows": [8, 16], "array.cols": [4, 2]}
        if "input" not in given.get("axes", {}):
            given.setdefault("random", 2)
        return guardbit.sweep(**given, **CHEAP)

    assert_same(points(one).folder, points(several).folder)


def test_numpy_scalars_of_a_run() -> None:
    numpy = guardbit.run(
        MODEL, HW, random=np.int64(3), seed=np.uint32(5), events=np.int8(7), layer=None, tensors=np.bool_(True), histograms=np.True_,
        sums=np.int64(0), threads=np.int8(1), set={"accumulation.acc.bits": np.int16(15), "clock_mhz": np.float64(250)}, **CHEAP,
    )  # fmt: skip
    plain = guardbit.run(
        MODEL, HW, random=3, seed=5, events=7, tensors=True, histograms=True, sums=["0"], threads=1,
        set=["accumulation.acc.bits=15", "clock_mhz=250.0"], **CHEAP,
    )  # fmt: skip
    assert_same(numpy.folder, plain.folder)
    assert guardbit.vectors(MODEL, HW, np.int64(1), X, cases=np.int64(2), formats="dec", seed=np.int64(1)).files


# Bad calls

_W, _S, _E, _Z, _Q, _V = guardbit.run, guardbit.sweep, guardbit.explore, guardbit.size, guardbit.quantize, guardbit.vectors
_C = np.load(DIGITS / "calibration.npy")[:4]

#: Function, the argument that the message must name, and arguments in addition to required ones.
BAD = [
    *[(_W, "threads", dict(threads=given)) for given in (0, -1, 1025, HUGE, 10**30, 1.5, "2", True, [1])],
    *[(_W, "random", dict(random=given)) for given in (0, -1, HUGE, 10**30, 2.0, "many", True, itertools.count())],
    *[(_W, "seed", dict(random=1, seed=given)) for given in (-1, 2**64, 1.0, "x")],
    *[(_W, "events", dict(random=1, events=given)) for given in (-1, 2**64, "all", None)],
    (_W, "samples", dict(x=X, samples=5)),
    (_W, "samples", dict(x=X, samples=-5)),
    (_W, "samples", dict(random=1, samples=5)),
    (_W, "seed", dict(x=X, seed=5)),
    (_W, "x", dict(x=X, random=2)),
    *[(_W, "x", dict(x=given)) for given in (
        X[:, :4], X[0], np.zeros((0, 8, 8, 1), np.int8), X.astype(np.uint8), np.array(["a"]), np.array([None]), [[1, 2], [3]], "no.npy",
        itertools.count(), (one for one in X), range(HUGE), object(), 5, np.full(X.shape, np.nan, np.float32), X.astype(complex),
        X.astype(np.int64) + 300,
    )],
    *[(_W, "y", dict(x=X, y=given)) for given in (Y[:3], Y.astype(np.float32), Y + 100, [[1], [2]], "no.npy", ["a"] * 4, -Y - 1)],
    *[(_W, "set", dict(random=1, set=given)) for given in (
        "nonsense", ["nonsense"], {"nonsense": 1}, {"array.rows": 0}, {"array.rows": "abc"}, {"array.rows": object()}, {"array.rows": float("nan")},
        {3: 4}, 5, {"accumulation.acc.bits": 99}, {"accumulation.other.bits": 14}, {"accumulation.acc.overflow": "fold"}, {"layers.no.array.rows": 2},
        {"array": [1]}, {"clock_mhz": -1}, {"array.rows": HUGE}, itertools.repeat("array.rows=4"),
    )],
    *[(_W, "mode", dict(random=1, mode=given)) for given in ("sideways", 1, ["isolated"])],
    *[(_W, "stats", dict(random=1, stats=given)) for given in ("some", 1)],
    (_W, "requantize", dict(random=1, requantize="none")),
    (_W, "profile", dict(random=1, profile="mine")),
    (_W, "task", dict(random=1, task="guess")),
    (_W, "task|output", dict(random=1, task="detect")),
    (_W, "output", dict(random=1, output="no")),
    (_W, "layer", dict(random=1, layer="no")),
    (_W, "layer", dict(random=1, layer=99)),
    (_W, "layer", dict(random=1, layer=-1)),
    (_W, "layer", dict(random=1, layer=1.5)),
    (_W, "sums|layer", dict(random=1, sums="no")),
    (_W, "sums", dict(random=1, sums=itertools.count())),
    (_W, "cost", dict(random=1, cost="no")),
    (_W, "cost", dict(random=1, cost=5)),
    (_W, "format", dict(random=1, format="xlsx")),
    (_W, "from_|tensor", dict(random=1, from_="no")),
    (_W, "to|tensor", dict(random=1, to=["no"])),
    (_W, "dim", dict(random=1, dim={"n": 0})),
    (_W, "dim", dict(random=1, dim=5)),
    (_W, "dim|axis|axes", dict(random=1, dim={"n": 4})),
    (_W, "tensors", dict(random=1, tensors="yes")),
    (_W, "force", dict(random=1, force=1)),
    (_W, "plots", dict(random=1, plots="no")),
    (_W, "progress", dict(random=1, progress=5)),
    (_W, "statistic", dict(random=1, statistic=5)),
    (_W, "statistic", dict(random=1, statistic=lambda exact, simulated: None)),
    (_W, "statistic", dict(random=1, statistic=lambda exact, simulated: "text")),
    (_W, "statistic", dict(random=1, statistic={"f": lambda exact, simulated: object()})),
    (_W, "statistic", dict(random=1, statistic={"layer": lambda exact, simulated: 1})),
    (_W, "out", dict(random=1, out=5)),
    (_W, "out", dict(random=1, out="/proc/nowhere/out")),
    *[(_W, "model", dict(random=1, model=given)) for given in ("no.tflite", "no.txt", 5, b"", b"junk", b"\x00\x00\x00\x00TFL3", b"\x08\x01")],
    *[(_W, "hw", dict(random=1, hw=given)) for given in (
        "no", 5, {"extends": "no"}, {"extends": HW, "array": {"rows": 0}}, {"extends": HW, "nonsense": 1}, {"extends": HW, "array": 3},
        {"extends": HW, "accumulation": [{"name": "acc", "reduce": "no", "terms": "all", "bits": 3}]}, {"extends": object()},
    )],
    *[(_S, "bits", dict(random=1, bits=given)) for given in (range(HUGE), range(10**30), itertools.count(), "9..=2", "x", 14.5, ["a"], [], 0, 99, {"a": 1})],
    *[(_S, "overflow", dict(random=1, bits=14, overflow=given)) for given in ("fold", ["wrap", "fold"], 5, itertools.repeat("wrap"))],
    *[(_S, "axes|axis|array.rows", dict(random=1, axes=given)) for given in (
        5, ["array.rows"], {3: [1]}, {"array.rows": range(HUGE)}, {"array.rows": itertools.count()}, {"array.rows": []}, {"array.rows": None},
        {"array.rows": [None]}, {"array.rows": [object()]}, {"nonsense": [1]}, {"array.rows": "1,,2"}, {"array.rows": "0..=99999999999"},
        {"array.rows": [4, 4]}, {"array.rows": ["x"]},
    )],
    *[(_S, "random", dict(axes={"random": given})) for given in (["x"], [-1], [HUGE])],
    *[(_S, "mode", dict(axes={"mode": given})) for given in (["x"], [5])],
    (_S, "input", dict(axes={"input": [X, object()]})),
    (_S, "input", dict(axes={"input": ["no.npy"]})),
    (_S, "model", dict(random=1, axes={"model": ["no.tflite"]})),
    (_S, "hw", dict(random=1, axes={"hw": [{"extends": "no"}]})),
    (_S, "seed", dict(random=1, axes={"seed": [1, "x"]})),
    (_S, "zip", dict(random=1, axes={"array.rows": [1, 2]}, zip="array.cols")),
    (_S, "zip", dict(random=1, axes={"array.rows": [1, 2], "array.cols": [1]}, zip=["array.rows", "array.cols"])),
    (_S, "zip", dict(random=1, axes={"array.rows": [1]}, zip=5)),
    (_S, "where", dict(random=1, axes={"array.rows": [1]}, where="array.rows ~ 3")),
    (_S, "where", dict(random=1, axes={"array.rows": [1]}, where=5)),
    (_S, "shard", dict(random=1, bits=14, shard="3/2")),
    (_S, "shard", dict(random=1, bits=14, shard=(1, 2, 3))),
    (_S, "shard", dict(random=1, bits=14, shard=5)),
    (_S, "level", dict(random=1, bits=14, level="no")),
    (_S, "level", dict(random=1, bits=14, level=5)),
    (_S, "bits|axes", dict(random=1)),
    (_S, "points|values", dict(random=1, axes={"array.rows": range(1, 200), "array.cols": range(1, 200)})),
    (_Z, "budget", dict(random=1, budget="lots")),
    (_Z, "budget|y", dict(random=1, budget="accuracy=1%")),
    (_Z, "area", dict(random=1, area="guess")),
    (_E, "objective", dict(random=1, axes={"array.rows": 4}, objective="beauty")),
    (_E, "cost", dict(random=1, axes={"array.rows": 4}, cost="no")),
    (_E, "axes", dict(random=1, axes={"seed": [1, 2]})),
    (_V, "layer", dict(layer="no", x=X)),
    (_V, "cases", dict(layer=0, x=X, cases=-1)),
    (_V, "formats", dict(layer=0, x=X, formats="xlsx")),
    (_V, "waves", dict(layer=0, x=X, waves=["xlsx"])),
    (_Q, "method", dict(method="guess")),
    (_Q, "weights", dict(weights="int99")),
    (_Q, "layers", dict(layers="no:weights=int8")),
    (_Q, "least_sqnr", dict(least_sqnr=float("nan"))),
    (_Q, "least_sqnr", dict(least_sqnr="much")),
    (_Q, "calibration|x", dict(calibration=_C[:, :3])),
    (_Q, "calibration", dict(calibration=itertools.count())),
    (_Q, "hw", dict(method="guaranteed")),
    (_Q, "out", dict(out="net.txt")),
    (_Q, "report", dict(report="folder")),
    (_Q, "mixed", dict(mixed="lots")),
]  # fmt: skip

#: Text that no message may contain: options, Rust types, positions in JSON, files that the user did not name.
FOREIGN = re.compile(r"(?<![\w-])--?[a-z]|\b[ui](8|16|32|64|128|size)\b|\busize\b|line \d+ column|guardbit-\w{6,}|invalid digit|NonZero|serde")


@pytest.mark.parametrize(("function", "names", "arguments"), BAD, ids=lambda value: None if isinstance(value, dict) else getattr(value, "__name__", str(value)))
def test_bad_calls(function, names, arguments, tmp_path, monkeypatch) -> None:
    """Each call is refused immediately, with a message in terms of its arguments."""
    monkeypatch.chdir(tmp_path)
    needs = {guardbit.quantize: dict(model=FLOAT, calibration=_C)}.get(function, dict(model=MODEL, hw=HW))
    began = time.monotonic()
    with pytest.raises(guardbit.GuardbitError) as raised:
        function(**(needs | arguments))
    took = time.monotonic() - began
    text = str(raised.value)
    assert not FOREIGN.search(text), text
    assert re.search(rf"(?<![\w.])({names})(?!\w)", text), text
    assert len(text) < 2000 and "\n\n" not in text
    assert list(tmp_path.iterdir()) == [], "nothing stays"
    assert took < 20, took


def test_every_argument_has_a_kind() -> None:
    """Arguments that are not in the table have a kind by name, except those checked when they become files or functions."""
    own = {"model", "hw", "path", "shards", "results", "of", "images"}
    for name in ("load", "accelerator", "run", "sweep", "merge", "size", "explore", "compare", "vectors", "discriminate", "diff_layer", "quantize"):
        function = getattr(guardbit, name)
        assert set(inspect.signature(function).parameters) - set(KINDS) - set(TABLE.get(name, {})) <= own, function


def test_every_argument_is_documented() -> None:
    for name in TABLE:
        function = getattr(guardbit, name)
        for parameter in set(inspect.signature(function).parameters) - {"statistic"}:
            assert re.search(rf"^ {{4}}{parameter}: \S", inspect.getdoc(function), re.MULTILINE), (name, parameter)


def test_messages_of_the_command_line() -> None:
    assert in_python("give --input X.npy with at least one sample, or --random N with N above 0") == "give x=X.npy with at least one sample, or random=N with N above 0"
    hint = "name the accelerator with --hw, and the width with e.g. --set accumulation.acc.bits=14"
    shown = 'name the accelerator with hw, and the width with e.g. set={"accumulation.acc.bits": 14}'
    assert in_python(hint) == shown
    assert in_python("leave out --profile; use --requantize for another rounding") == "leave out profile; use requantize for another rounding"
    assert in_python("run `guardbit sweep --shard I/N -o DIR`, or see `guardbit hw list`") == "run `guardbit.sweep`, or see `guardbit.presets()`"
    assert in_python("an axis is KEY=VALUES, as with --axis KEY=VALUES; --force, well-known -- or x--y") == (
        'an axis is a key with its values, as with axes={"KEY": VALUES}; force, well-known -- or x--y'
    )


def test_every_message_of_the_sources_is_translated() -> None:
    """Covers all texts in the libraries' sources that name an option or a command."""
    texts = []
    for file in sorted(ROOT.glob("*/src/**/*.rs")):
        if file.relative_to(ROOT).parts[0] in ("cli", "testing", "fuzz", "python", "rtl-vectors"):
            continue
        for line in file.read_text().splitlines():
            if not line.strip().startswith("//"):
                texts += re.findall(r'"((?:[^"\\]|\\.)*--[a-z][^"]*)"', line)
    assert len(texts) > 25
    for text in texts:
        assert not re.search(r"(?<![\w-])--[a-z]", in_python(text)), text


# Graphs


def _outputs_of(graph: Graph) -> dict[str, np.ndarray]:
    return guardbit.run(graph, HW, random=3, **CHEAP).outputs


def test_graphs_are_pickled_and_copied(tmp_path) -> None:
    part = guardbit.load(MODEL, to="conv_1")
    moved = tmp_path / "moved.tflite"
    moved.write_bytes(MODEL.read_bytes())
    for graph in (dense(), guardbit.load(moved), part, guardbit.load(MODEL.read_bytes()), guardbit.quantize(FLOAT, _C).graph):
        expected = _outputs_of(graph)
        again = pickle.loads(pickle.dumps(graph))
        for one in (again, copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(again))):
            assert (one.name, one.inputs, one.cut, one.profile) == (graph.name, graph.inputs, graph.cut, graph.profile)
            assert_outputs(_outputs_of(one), expected)
    # The pickle does not need the file any more.
    data = pickle.dumps(guardbit.load(moved))
    moved.unlink()
    assert pickle.loads(data).inputs
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert_outputs(pool.map(_outputs_of, [dense()])[0], _outputs_of(dense()))


def test_graphs_of_bytes() -> None:
    content = MODEL.read_bytes()
    expected = guardbit.run(MODEL, HW, X, **CHEAP).outputs
    for model in (Graph(content), guardbit.load(content), content, bytearray(content), memoryview(content)):
        assert_outputs(guardbit.run(model, HW, X, **CHEAP).outputs, expected)
    assert Graph(quantized(_C)).outputs
    yaml = (
        b"schema: 1\ninputs: [{name: x, shape: [1, 2], dtype: int8, scale: 1.0}]\n"
        b"nodes: [{op: relu, inputs: [x], output: {name: y, dtype: int8, scale: 1.0}}]\noutputs: [y]\n"
    )
    assert Graph(yaml).outputs[0]["name"] == "y"


@pytest.mark.parametrize("name", ["a/b", "..", "", "é ü", "x" * 5000, "/etc/passwd", "a\nb", "CON", "a.b.yaml", "\u202e", "-o", "'=1"])
def test_any_name(name) -> None:
    graph = dense(name=name)
    assert graph.name == name
    assert_outputs(_outputs_of(graph), _outputs_of(dense()))
    assert pickle.loads(pickle.dumps(graph)).name == name


def test_schemas() -> None:
    for schema in (Graph.schema(), guardbit.schema("graph"), guardbit.schema("hw"), guardbit.schema("study"), guardbit.schema("cost")):
        assert schema["$schema"] and schema["properties"]
    assert "inputs" in Graph.schema()["properties"]


@pytest.mark.parametrize(
    "parts",
    [
        dict(outputs=["y"]),
        dict(inputs=5),
        dict(inputs=[5]),
        dict(constants=[dict(name="w", data=np.array(["a"]), scale=0.1)]),
        dict(constants=[dict(name="w", data=object(), scale=0.1)]),
        dict(nodes=[dict(op="nonsense", inputs=["x"], output=dict(name="y", dtype="int8", scale=1.0))]),
        dict(nodes=[dict(op="relu", inputs=[object()], output=dict(name="y", dtype="int8", scale=1.0))]),
        dict(name=5),
        dict(nodes=itertools.count()),
    ],
)
def test_bad_graphs(parts) -> None:
    given = dict(inputs=[dict(name="x", shape=[1, 4], dtype="int8", scale=1.0)], nodes=[], outputs=["y"]) | parts
    with pytest.raises(guardbit.GuardbitError) as raised:
        Graph(**given)
    text = str(raised.value)
    assert not FOREIGN.search(text) and raised.value.place is None, text


# Samples of a network in memory


def test_interpret_takes_samples() -> None:
    graph = dense()
    x = np.arange(12).reshape(3, 4)
    several = graph.interpret(x)
    assert several["y"].shape == (3, 3) and several["w"].shape == (3, 4)
    for index, sample in enumerate(x):
        one = graph.interpret(sample)
        assert one["y"].shape == (1, 3)
        np.testing.assert_array_equal(one["y"][0], several["y"][index])
    for bad in (np.zeros(5, int), np.zeros(0, int), [1.5] * 4, [300] * 4, [2**40] * 4, {"z": x}, ["a"] * 4):
        with pytest.raises(guardbit.GuardbitError, match="x: "):
            graph.interpret(bad)


# User-defined functions


def test_statistics_of_several_numbers() -> None:
    def ends(exact, simulated):
        return exact.min(), exact.max()

    def grid(exact, simulated):
        return np.array([[1, 2], [3, 4]]) * 0.5

    guardbit.set_tables("dict")
    try:
        table = guardbit.run(MODEL, HW, X, statistic={"ends": ends, "grid": grid, "m": lambda exact, simulated: {"n": exact.size, "z": np.zeros(1)}}, **CHEAP).statistics
        some = guardbit.run(MODEL, HW, X, statistic=lambda exact, simulated: {"n": 1} if exact.size < 1000 else {"m": 0.5}, **CHEAP).statistics
    finally:
        guardbit.set_tables(None)
    assert list(table) == ["sample", "layer", "ends_0", "ends_1", "grid_0_0", "grid_0_1", "grid_1_0", "grid_1_1", "n", "z_0"]
    assert table["ends_0"].dtype == np.int64 and table["grid_1_1"].tolist() == [2.0] * len(table["n"])
    assert some["n"].mask.any() and np.isnan(some["m"]).any() and np.array_equal(some["n"].mask, ~np.isnan(some["m"]))


def test_statistics_get_sums_and_events() -> None:
    """Sums equal those of sums.npz, and events those of layers.csv."""

    def asked(exact, simulated, *, sums, events):
        assert isinstance(sums, guardbit.Sums) and sums.exact.shape == sums.delivered.shape == events.shape == exact.shape
        return {"exact": int(sums.exact.sum()), "delivered": int(sums.delivered.sum()), "events": int(events.sum())}

    guardbit.set_tables("dict")
    try:
        result = guardbit.run(MODEL, HW, X, statistic=asked, sums=["conv_1", "pointwise_1"], **CHEAP)
        table, layers = result.statistics, result.table
    finally:
        guardbit.set_tables(None)
    for index, layer in enumerate(layers["name"]):
        of_layer = table["layer"] == layer
        assert table["events"][of_layer].sum() == layers["events"][index]
    sums = result.arrays("sums")
    names = dict(zip(layers["name"], layers["layer"]))
    for layer in ("conv_1", "pointwise_1"):
        for kind in ("exact", "delivered"):
            expected = sums[f"{kind}/{names[layer]}"].reshape(len(X), -1).sum(axis=1)
            np.testing.assert_array_equal(table[kind][table["layer"] == layer], expected)


def test_statistics_of_sweeps(tmp_path) -> None:
    """Statistics of every point equal those of its run, even if the folder has all points already."""

    def wrong(exact, simulated, events):
        return {"wrong": int((exact != simulated).sum()), "events": int(events.sum())}

    arguments = dict(x=X, bits=[13, 15], overflow=["wrap", "saturate"], out=tmp_path / "out", **CHEAP)
    guardbit.set_tables("dict")
    try:
        plain = guardbit.sweep(MODEL, HW, **arguments)
        sweep = guardbit.sweep(MODEL, HW, **arguments, statistic=wrong)
        assert plain.statistics is None
        table, summary = sweep.statistics, sweep.table
        assert list(table) == ["point", "sample", "layer", "wrong", "events"]
        for point, (bits, overflow) in enumerate(zip(summary["bits"], summary["overflow"])):
            set = {"accumulation.acc.bits": bits, "accumulation.acc.overflow": overflow}
            alone = guardbit.run(MODEL, HW, X, set=set, statistic=wrong, **CHEAP).statistics
            for name in ("sample", "layer", "wrong", "events"):
                np.testing.assert_array_equal(table[name][table["point"] == point], alone[name])
            assert table["events"][table["point"] == point].sum() == summary["events"][point]
    finally:
        guardbit.set_tables(None)
    with pytest.raises(ZeroDivisionError):
        guardbit.sweep(MODEL, HW, X, bits=[14, 15], statistic=lambda exact, simulated: 1 / 0)


# Calls that write only tables


def test_tables_alone(tmp_path) -> None:
    both = guardbit.run(MODEL, HW, X)
    alone = guardbit.run(MODEL, HW, X, **CHEAP)
    pages = {name for name in both.files if name == "report.html" or name.startswith("plots/") and not name.endswith(".csv")}
    assert [name for name in both.files if name not in pages] == alone.files
    assert alone.plots == [] and both.plots and guardbit.run(MODEL, HW, X, plots=False).report
    for name in alone.files:
        if name.endswith((".csv", ".npz")):
            assert (both.folder / name).read_bytes() == (alone.folder / name).read_bytes()
    with pytest.raises(guardbit.GuardbitError, match="report=False"):
        _ = alone.report
    with pytest.raises(KeyError, match="none"):
        alone.plot("accuracy")
    # Existing pages of a folder are kept.
    out = tmp_path / "out"
    whole = guardbit.sweep(MODEL, HW, X, bits=[14], out=out).files
    assert guardbit.sweep(MODEL, HW, X, bits=[14], out=out, **CHEAP).files == whole
    few = guardbit.sweep(MODEL, HW, X, bits=[14], out=tmp_path / "few", **CHEAP).files
    assert guardbit.sweep(MODEL, HW, X, bits=[14], out=tmp_path / "few").files == whole and len(few) < len(whole)


STREAMS = json.loads((ROOT / "frontends" / "tests" / "data" / "tflite_streams.json").read_text())


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream["name"])
def test_interpret_runs_every_step_of_a_stream(stream) -> None:
    """Samples are steps: LiteRT computed these outputs, 50 in sequence."""
    graph = guardbit.load(bytes.fromhex(stream["model"]))
    assert graph.has_states and not dense().has_states
    (given,), (expected,) = stream["inputs"], stream["litert_ref"]
    made = graph.interpret(np.array(given))[graph.outputs[0]["name"]]
    assert len(made) == 50
    np.testing.assert_array_equal(made.ravel(), expected)
    # A single step is the first one, and has the sample axis too.
    first = graph.interpret(np.array(given)[: len(given) // 50])[graph.outputs[0]["name"]]
    np.testing.assert_array_equal(first, made[:1])


def test_a_layer_may_be_called_anything() -> None:
    from guardbit._statistics import Collected

    codes = np.zeros(1, np.int8)
    with pytest.raises(guardbit.GuardbitError, match=r"returned 'x' for layer \{a\} of sample 0"):
        Collected(lambda exact, simulated: "x", points=False).observe(0, "{a}", 0, codes, codes, None)
