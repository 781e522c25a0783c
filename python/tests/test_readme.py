"""The Python code of README and docs runs, and gives the results of the command line."""

from __future__ import annotations

import re

import numpy as np
import pytest

import guardbit
from conftest import DIGITS, ROOT


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/python.md"])
def test_the_first_lines(page, command, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(blocks(page)[0], names)
    t = names["t"]
    theirs = command(
        "sweep", DIGITS / "digits_int8.tflite", "--hw", "fpga-int14-os", "--input", DIGITS / "test_images.npy", "--labels",
        DIGITS / "test_labels.npy", "--axis", "accumulation.acc.bits=15,16", "--axis", "reduction_order.walk=forward,reverse",
    )  # fmt: skip
    # The files contain equal samples under other names.
    for table in ("summary.csv", "sweep.csv"):
        assert (t.folder / table).read_bytes() == (theirs / table).read_bytes()
    assert "accuracy" in capsys.readouterr().out


def test_the_other_lines(monkeypatch):
    """Runs the code of docs/how-to/python.md in order."""
    monkeypatch.chdir(ROOT)
    rng = np.random.default_rng(1)
    quantize = guardbit.quantize
    monkeypatch.setattr(guardbit, "quantize", lambda model, *more, **named: quantize(DIGITS / "digits_float.onnx", *more, **named))
    names = {
        "np": np,
        "guardbit": guardbit,
        "weights": rng.integers(-9, 9, (10, 64), dtype=np.int8),
        "codes": rng.integers(-9, 9, (5, 64), dtype=np.int8),
        "model": DIGITS / "digits_int8.tflite",
        "x": np.load(DIGITS / "test_images.npy")[:4],
        "calibration": np.load(DIGITS / "calibration.npy"),
    }
    others = blocks("docs/how-to/python.md")[1:]
    assert len(others) == 3
    for block in others:
        exec(block, names)


def test_the_figure_of_the_tutorial(monkeypatch, tmp_path):
    """Runs the code of docs/tutorials/paper-figure.md in order, in a folder with the examples."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("docs/tutorials/paper-figure.md"):
        exec(block, names)
    for name in ("digits-bits.pdf", "digits-bits.png"):
        assert (tmp_path / name).stat().st_size > 5000


def test_the_unit_of_the_golden_model(capsys):
    """Runs the code of docs/how-to/golden-model.md."""
    (block,) = blocks("docs/how-to/golden-model.md")
    exec(block, {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[4] == "8191 10000 True" and lines[-1] == "-3809"
