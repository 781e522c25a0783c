"""Errors, progress, Ctrl-C, and user-defined functions."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import guardbit
from conftest import DIGITS

MODEL = DIGITS / "digits_int8.tflite"
HW = "fpga-int14-os"


def test_errors_have_code_place_and_help(tmp_path: Path) -> None:
    hw = tmp_path / "hw.yaml"
    hw.write_text("schema: 1\nextends: fpga-int14-os\nname: bad\narray: {rows: 0}\n")
    with pytest.raises(guardbit.GuardbitError) as raised:
        guardbit.run(MODEL, hw, random=1)
    error = raised.value
    assert error.code.startswith("guardbit::hw") and error.place is not None and error.place.line == 4
    assert error.place.file.endswith("hw.yaml") and "help:" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.place, again.help) == (str(error), error.code, error.place, error.help)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (dict(model="absent.tflite"), "guardbit::model::io"),
        (dict(hw="absent"), "guardbit::hw"),
        (dict(x=np.zeros((2, 3), dtype=np.int8)), "guardbit::input::shape"),
        (dict(x=np.zeros((2, 8, 8, 1), dtype=np.uint8)), "guardbit::input::dtype"),
        (dict(mode="sideways"), "guardbit::usage"),
        (dict(set=["nonsense"]), "guardbit::hw"),
        (dict(seed=1, x=np.zeros((2, 8, 8, 1), dtype=np.int8)), "guardbit::usage"),
        (dict(samples=2), "guardbit::usage"),
        (dict(layer="nothing"), "guardbit::layer"),
        (dict(set={"accumulation.acc.overflow": "trap", "accumulation.acc.bits": 8}), "guardbit::trap"),
    ],
)
def test_bad_arguments(arguments: dict, code: str) -> None:
    given = dict(model=MODEL, hw=HW, random=None if "x" in arguments else 2) | arguments
    with pytest.raises(guardbit.GuardbitError) as raised:
        guardbit.run(**given)
    assert raised.value.code.startswith(code), raised.value


class Watch:
    def __init__(self) -> None:
        self.started: list[tuple[str, int]] = []
        self.done = 0

    def start(self, what: str, total: int) -> None:
        self.started.append((what, total))

    def advance(self, samples: int) -> None:
        self.done += samples

    def note(self, text: str) -> None:
        pass


def test_progress() -> None:
    watch = Watch()
    guardbit.sweep(MODEL, HW, random=12, bits="14..=17", progress=watch)
    assert watch.started == [("4 points", 48)] and watch.done == 48


def test_what_progress_raises_ends_the_work(tmp_path: Path) -> None:
    class Stop(Watch):
        def advance(self, samples: int) -> None:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        guardbit.run(MODEL, HW, random=200_000, stats="full", progress=Stop(), out=tmp_path / "out")
    assert os.listdir(tmp_path) == [], "nothing stays behind"


def test_ctrl_c_stops(tmp_path: Path) -> None:
    """A million samples take minutes; SIGINT ends the call at once, and stored points of a sweep are kept."""
    script = f"""
import guardbit
try:
    guardbit.run({str(MODEL)!r}, {HW!r}, random=1_000_000, out={str(tmp_path / "out")!r})
except KeyboardInterrupt:
    print("stopped")
"""
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    time.sleep(4)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out == "stopped\n"
    assert os.listdir(tmp_path) == []


def test_other_threads_run_meanwhile() -> None:
    """The interpreter's lock is released: a thread counts while the simulation runs."""
    counted, done = [0], threading.Event()

    def count() -> None:
        while not done.wait(0.001):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    guardbit.run(MODEL, HW, random=20_000)
    took = time.monotonic() - began
    done.set()
    thread.join()
    # With the lock held throughout, it would count only a few times at the beginning and at the end.
    assert counted[0] > 20, f"{counted[0]} in {took} s"


def test_own_statistic() -> None:
    images = np.load(DIGITS / "test_images.npy")[:6]

    def most(exact: np.ndarray, simulated: np.ndarray) -> int:
        return int(np.abs(exact.astype(int) - simulated.astype(int)).max())

    both = {"most": most, "pair": lambda exact, simulated: {"exact_sum": int(exact.sum()), "n": exact.size}}
    result = guardbit.run(MODEL, HW, images, statistic=both, tensors=True)
    guardbit.set_tables("dict")
    try:
        again = guardbit.run(MODEL, HW, images, statistic=both)
    finally:
        guardbit.set_tables(None)
    table = again.statistics
    assert list(table) == ["sample", "layer", "most", "exact_sum", "n"]
    layers = dict(zip(result["name"], result["layer"]))
    assert len(table["most"]) == 6 * len(layers)
    for sample, layer, figure, total in zip(table["sample"], table["layer"], table["most"], table["exact_sum"]):
        exact, simulated = (result.tensors[f"{run}/{layers[layer]}"][sample] for run in ("exact", "simulated"))
        assert figure == most(exact, simulated) and total == exact.sum()
    plain = guardbit.run(MODEL, HW, images)
    assert {f: (plain.folder / f).read_bytes() for f in plain.files} == {f: (again.folder / f).read_bytes() for f in again.files}


def test_what_a_statistic_raises(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        guardbit.run(MODEL, HW, random=500, statistic=lambda exact, simulated: 1 / 0, out=tmp_path / "out")
    assert os.listdir(tmp_path) == []


def quantize(method, **more):
    calibration = np.load(DIGITS / "calibration.npy")
    return guardbit.quantize(DIGITS / "digits_float.onnx", calibration, method=method, **more)


def test_own_calibration_method() -> None:
    """A user-defined method equal to one of guardbit's gives an equal network; another one gives its ranges."""
    seen: list[guardbit.Observed] = []

    def least_and_greatest(observed: guardbit.Observed) -> tuple[float, float]:
        seen.append(observed)
        return observed.low, observed.high

    named, own = quantize("min-max"), quantize(least_and_greatest)
    codes = [{k: v for k, v in guardbit.run(one.graph, HW, random=20).outputs.items() if k.startswith("exact")} for one in (named, own)]
    for name, array in codes[0].items():
        np.testing.assert_array_equal(array, codes[1][name])
    for observed in seen:
        assert observed.samples.shape[1] == 2 and observed.low <= observed.samples.min() and observed.samples.max() <= observed.high
        assert observed.values.shape == observed.counts.shape and (np.diff(observed.values) > 0).all()
    first = seen[0]
    calibration = np.load(DIGITS / "calibration.npy")
    assert first.counts.sum() + first.zeros == calibration.size
    assert first.zeros == (calibration == 0).sum()
    half = quantize(lambda observed: (observed.low / 2, observed.high / 2))
    scales = [one.graph.inputs[0]["scales"] or one.read("tensors")["scale"][0] for one in (named, half)]
    np.testing.assert_allclose(np.ravel(scales[1]), np.ravel(scales[0]) / 2, rtol=1e-6)
    assert "least_and_greatest" in (own.folder / "quantize.json").read_text()


@pytest.mark.parametrize(("method", "error"), [(lambda o: (1.0, -1.0), ValueError), (lambda o: 1 / 0, ZeroDivisionError), (lambda o: (0.0, float("nan")), ValueError)])
def test_what_a_method_raises(tmp_path: Path, method, error) -> None:
    with pytest.raises(error):
        quantize(method, out=tmp_path / "out.onnx")
    assert os.listdir(tmp_path) == []
