"""Networks, accelerators and tables as values."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import guardbit
from conftest import DIGITS
from guardbit import Graph

RNG = np.random.default_rng(7)
WEIGHTS = [RNG.integers(-100, 100, (8, 24), dtype=np.int8), RNG.integers(-100, 100, (3, 8), dtype=np.int8)]


def mlp(weights=WEIGHTS, **more) -> Graph:
    node = lambda x, w, y: dict(op="fully_connected", inputs=[x, w], output=dict(name=y, dtype="int8", scale=40.0))  # noqa: E731
    return Graph(
        inputs=[dict(name="x", shape=[1, 24], dtype="int8", scale=0.1)],
        constants=[dict(name=f"w{i}", data=w, scale=0.1) for i, w in enumerate(weights)],
        nodes=[node("x", "w0", "h"), node("h", "w1", "y")],
        outputs=["y"],
        **more,
    )


def requantized(sums: np.ndarray, multiplier: float) -> np.ndarray:
    """Requantizes with half away from 0. Doubles suffice, because no sum of these networks is close to a half."""
    real = sums * multiplier
    return np.clip(np.sign(real) * np.floor(np.abs(real) + 0.5), -128, 127).astype(np.int64)


def narrow(x: np.ndarray, w: np.ndarray, bits: int) -> np.ndarray:
    """Returns sums that saturate after every addition."""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    sums = np.zeros((x.shape[0], w.shape[0]), dtype=np.int64)
    for k in range(x.shape[1]):
        sums = np.clip(sums + x[:, k : k + 1].astype(np.int64) * w[:, k].astype(np.int64), low, high)
    return sums


def test_a_graph_of_arrays_is_what_numpy_computes():
    graph = mlp()
    x = RNG.integers(-128, 128, (50, 24), dtype=np.int8)
    result = guardbit.run(graph, "fpga-int14-os", x, set={"accumulation.acc.bits": 15}, tensors=True)
    scale = np.float32(0.1) * np.float64(np.float32(0.1)) / np.float64(np.float32(40.0))
    for bits, kind in [(40, "exact"), (15, "simulated")]:
        h = requantized(narrow(x, WEIGHTS[0], bits), scale)
        y = requantized(narrow(h, WEIGHTS[1], bits), 0.1 * 40.0 / 40.0)
        np.testing.assert_array_equal(result.tensors[f"{kind}/h"].reshape(50, 8), h)
        np.testing.assert_array_equal(result.outputs[f"{kind}/y"].reshape(50, 3), y)
    one = graph.interpret(x[0])
    np.testing.assert_array_equal(one["y"].ravel(), result.outputs["exact/y"][0].ravel())
    np.testing.assert_array_equal(graph.constant("w0"), WEIGHTS[0])
    assert graph.constant("w0").dtype == np.int8
    assert [tensor["name"] for tensor in graph.inputs + graph.outputs] == ["x", "y"]
    assert graph.inputs[0]["shape"] == [1, 24] and len(graph.nodes()) == 2
    assert "2 nodes" in repr(graph) and "fully" in graph._repr_html_().lower().replace("_", "")


def test_graphs_are_exported(tmp_path):
    """The written file reads as an equal network; `force` replaces only a file that guardbit wrote."""
    codes = dict(scale=0.1, dtype="uint8", zero_point=128)
    dense = dict(op="fully_connected", inputs=["x", "w"], output=dict(name="y", **codes), requantize="even", keep_num_dims=True)
    graph = Graph(
        inputs=[dict(name="x", shape=[1, 24], **codes)],
        constants=[dict(name="w", data=WEIGHTS[0], scale=0.1)],
        nodes=[dense],
        outputs=["y"],
    )
    path = graph.export(tmp_path / "net.onnx")
    again = guardbit.load(path)
    x = RNG.integers(0, 256, 24, dtype=np.uint8)
    assert [tensor["name"] for tensor in again.inputs + again.outputs] == ["x", "y"]
    np.testing.assert_array_equal(again.interpret(x)["y"], graph.interpret(x)["y"])
    written = path.read_bytes()
    with pytest.raises(guardbit.GuardbitError) as refused:
        graph.export(path)
    assert refused.value.code == "guardbit::file"
    graph.export(path, force=True)
    assert path.read_bytes() == written
    foreign = tmp_path / "foreign.onnx"
    foreign.write_bytes(b"mine")
    with pytest.raises(guardbit.GuardbitError, match="foreign"):
        graph.export(foreign, force=True)
    assert foreign.read_bytes() == b"mine"
    with pytest.raises(guardbit.GuardbitError, match="ends in .onnx"):
        graph.export(tmp_path / "net.txt")
    with pytest.raises(guardbit.GuardbitError) as other:
        guardbit.load(DIGITS / "digits_int8.tflite").export(tmp_path / "digits.onnx")
    assert other.value.code == "guardbit::onnx::export::node" and not (tmp_path / "digits.onnx").exists()


def test_one_changed_weight_is_another_network():
    changed = [WEIGHTS[0].copy(), WEIGHTS[1]]
    changed[0][3, 5] ^= 1
    x = np.zeros((1, 24), dtype=np.int8)
    identities = [guardbit.run(mlp(weights), "fpga-int14-os", x).info["identity"] for weights in (WEIGHTS, WEIGHTS, changed)]
    assert identities[0] == identities[1] != identities[2]


def test_networks_of_files():
    graph = guardbit.load(DIGITS / "digits_int8.tflite")
    images = np.load(DIGITS / "test_images.npy")
    exact = guardbit.run(graph, "exact-int32-os", images[:2])
    name = graph.outputs[0]["name"]
    np.testing.assert_array_equal(graph.interpret(images[0])[name].ravel(), exact.outputs[f"exact/{name}"][0].ravel())
    with pytest.raises(KeyError):
        graph.constant("nothing")


def test_accelerators_are_values():
    assert "fpga-int14-os" in guardbit.presets()
    hw = guardbit.accelerator({"extends": "fpga-int14-os", "name": "mine"}, set={"array.rows": 4})
    assert hw["array"]["rows"] == 4 and hw["name"] == "mine"


@pytest.mark.parametrize("kind", ["pandas", "polars", "dict"])
def test_tables(kind):
    guardbit.set_tables(kind)
    try:
        result = guardbit.run(DIGITS / "digits_int8.tflite", "fpga-int14-os", random=3)
        text = (result.folder / "layers.csv").read_text()
        rows = list(csv.DictReader(io.StringIO(text)))
        assert result.columns == list(rows[0])
        assert [int(cell) for cell in result["events"]] == [int(row["events"]) for row in rows]
        assert list(result["layer"]) == [row["layer"] for row in rows]
        assert type(result.table).__module__.split(".")[0] == (kind if kind != "dict" else "builtins")
        assert "<table" in result._repr_html_() and "Run" in result._repr_html_()
        with pytest.raises(KeyError, match="layers"):
            result.read("nothing")
    finally:
        guardbit.set_tables(None)
    with pytest.raises(ValueError):
        guardbit.set_tables("excel")


def test_columns_keep_every_value():
    text = "a,b,c,d,e,f,g\n1,0.1,x,,true,9007199254740993,1_0\n-2,inf,,3,false,1,2\n"
    found = guardbit.columns(text)
    assert found["a"].tolist() == [1, -2] and found["a"].dtype == np.int64
    assert found["b"].tolist() == [0.1, float("inf")]
    assert found["c"].tolist() == ["x", ""]
    assert found["d"].tolist() == [None, 3] and found["d"].dtype == np.int64
    assert found["e"].tolist() == [True, False]
    assert found["f"].tolist() == [9007199254740993, 1]
    assert found["g"].tolist() == ["1_0", "2"]
    # No float64 holds this value, and the column has a blank cell.
    assert guardbit.columns("a\n9007199254740993\n\"\"\n")["a"].tolist() == [9007199254740993, None]
