"""Results of the functions are byte-equal to those of the command line."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import guardbit
from conftest import DIGITS, assert_same, contents

MODEL = DIGITS / "digits_int8.tflite"
HW = "fpga-int14-os"


def files(tmp_path: Path, x: np.ndarray, y: np.ndarray) -> list[str]:
    """Returns command-line options for these arrays in files, with the file names that the package uses."""
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    return ["--input", str(tmp_path / "x.npy"), "--labels", str(tmp_path / "y.npy")]


def test_run(command, tmp_path, images, labels):
    x, y = images[:40], labels[:40]
    ours = guardbit.run(MODEL, HW, x, y, set={"accumulation.acc.bits": 16}, tensors=True, threads=1)
    theirs = command(
        "run", MODEL, "--hw", HW, *files(tmp_path, x, y), "--set", "accumulation.acc.bits=16", "--dump-tensors"
    )
    assert_same(ours.folder, theirs)
    with np.load(theirs / "tensors.npz") as archive:
        assert set(archive.files) == set(ours.tensors)
        for name in archive.files:
            assert archive[name].dtype == ours.tensors[name].dtype
            np.testing.assert_array_equal(archive[name], ours.tensors[name])
    outcome = ours.info["outcome"]
    assert ours.accuracy == outcome["right"] / outcome["samples"] and abs(ours.accuracy - outcome["accuracy"]) < 1e-6
    saved = tmp_path / "saved"
    ours.save(saved)
    assert contents(saved) == contents(theirs)


def test_sums(command, tmp_path, images):
    ours = guardbit.run(MODEL, HW, images[:5], histograms=True, sums=[0, "conv_1", 2])
    np.save(tmp_path / "x.npy", images[:5])
    theirs = command("run", MODEL, "--hw", HW, "--input", tmp_path / "x.npy", "--histograms", "--dump-sums", "0,conv_1,2")
    assert_same(ours.folder, theirs)
    sums = ours.arrays("sums")
    shapes = {name.split("/")[0]: [] for name in sums}
    for name, array in sums.items():
        shapes[name.split("/")[0]].append(array.shape)
    assert shapes == {"exact": [(5, 8, 8, 16), (5, 6, 6, 32)], "delivered": [(5, 8, 8, 16), (5, 6, 6, 32)]}
    assert ours.arrays("sum_histograms")


@pytest.mark.parametrize("out", [True, False])
def test_sweep(command, tmp_path, images, labels, out):
    x, y = images[:30], labels[:30]
    axes = {"accumulation.acc.bits": [15, 16], "reduction_order.walk": ["forward", "reverse"]}
    t = guardbit.sweep(MODEL, hw=HW, x=x, y=y, axes=axes, out=tmp_path / "ours" if out else None)
    theirs = command(
        "sweep", MODEL, "--hw", HW, *files(tmp_path, x, y),
        "--axis", "accumulation.acc.bits=15,16", "--axis", "reduction_order.walk=forward,reverse",
    )  # fmt: skip
    assert_same(t.folder, theirs)
    rows = list(csv.DictReader(io.StringIO((theirs / "summary.csv").read_text())))
    assert t.columns == list(rows[0])
    # Files have six decimals.
    assert [int(row["right"]) / int(row["samples"]) for row in rows] == list(t["accuracy"])
    assert [float(row["accuracy"]) for row in rows] == [round(share, 6) for share in t["accuracy"]]
    assert [int(row["bits"]) for row in rows] == list(t["bits"])
    assert [row["reduction_order.walk"] for row in rows] == list(t["reduction_order.walk"])


def test_axes_of_arguments(command, tmp_path, images, labels):
    """Values of axes are arrays, numpy numbers, ranges and texts."""
    x = images[:8]
    mine = {"extends": HW, "name": "mine", "accumulation": [{"name": "acc", "reduce": "serial", "terms": "all", "bits": 15, "overflow": "wrap"}]}
    ours = guardbit.sweep(
        MODEL, hw=mine, x=x, axes={"hw": [HW, mine], "accumulation.acc.bits": "14..=16", "product.shift": np.array([0, 1])},
        where="accumulation.acc.bits != 15",
    )  # fmt: skip
    hw = tmp_path / "mine.yaml"
    hw.write_text(
        f"schema: 1\nextends: {HW}\nname: mine\naccumulation:\n- {{name: acc, reduce: serial, terms: all, bits: 15, overflow: wrap}}\n"
    )
    np.save(tmp_path / "x.npy", x)
    theirs = command(
        "sweep", MODEL, "--hw", hw, "--input", tmp_path / "x.npy", "--axis", f"hw={HW},{hw}",
        "--axis", "accumulation.acc.bits=14..=16", "--axis", "product.shift=0,1", "--where", "accumulation.acc.bits != 15",
    )  # fmt: skip
    assert len(ours["bits"]) == 8
    assert_same(ours.folder, theirs)


def test_study_of_several_networks(command, tmp_path):
    other = tmp_path / "other.tflite"
    shutil.copy(MODEL, other)
    ours = guardbit.sweep([MODEL, other], hw=[HW, "exact-int32-os"], random=2, seed=3, bits=[14, 20], level="acc")
    study = tmp_path / "study.yaml"
    study.write_text(
        f"schema: 1\nmodel: [{MODEL}, {other}]\nhw: [{HW}, exact-int32-os]\nrandom: 2\nseed: 3\nsweep: {{bits: [14, 20], level: acc}}\n"
    )
    assert_same(ours.folder, command("sweep", study))


def test_shards(command, tmp_path, images, labels):
    arguments = dict(hw=HW, x=images[:10], y=labels[:10], axes={"accumulation.acc.bits": range(14, 19)})
    shards = [guardbit.sweep(MODEL, **arguments, shard=(index, 3)) for index in (3, 1, 2)]
    merged = guardbit.merge(shards)
    whole = command("sweep", MODEL, "--hw", HW, *files(tmp_path, images[:10], labels[:10]), "--axis", "accumulation.acc.bits=14..=18")
    assert_same(merged.folder, whole)
    with pytest.raises(guardbit.GuardbitError, match="shard 1/3 is missing") as raised:
        guardbit.merge([shards[0], shards[2].folder])
    assert raised.value.code == "guardbit::merge::missing"
    assert "shard 3/3" in repr(shards[0])


def test_size(command, tmp_path, images, labels):
    x, y = images[:20], labels[:20]
    ours = guardbit.size(MODEL, HW, x, y, budget="accuracy=5%")
    theirs = command("size", MODEL, "--hw", HW, *files(tmp_path, x, y), "--budget", "accuracy=5%")
    assert_same(ours.folder, theirs)
    again = guardbit.run(MODEL, ours.folder / "recommended.yaml", x, y)
    assert again.accuracy is not None and again.accuracy >= again.outcome["accuracy_exact"] - 0.05
    assert ours.recommended == (theirs / "recommended.yaml").read_text()


def test_explore(command, tmp_path, images, labels):
    x, y = images[:20], labels[:20]
    ours = guardbit.explore(
        MODEL, HW, x, y, axes={"array.rows": [8, 16], "accumulation.acc.bits": [15, 16, 20]}, budget="agreement=5%", cost="horowitz-45nm",
        objective=["cycles", "energy"], zip=(), where="array.rows != 4",
    )  # fmt: skip
    theirs = command(
        "explore", MODEL, "--hw", HW, *files(tmp_path, x, y), "--axis", "array.rows=8,16", "--axis", "accumulation.acc.bits=15,16,20",
        "--where", "array.rows != 4", "--budget", "agreement=5%", "--cost", "horowitz-45nm", "--objective", "cycles,energy",
    )  # fmt: skip
    assert_same(ours.folder, theirs)
    assert ours.recommended == (theirs / "recommended.yaml").read_text()
    rows = list(csv.DictReader(io.StringIO((theirs / "pareto.csv").read_text())))
    assert [int(row["cycles"]) for row in rows] == list(ours.pareto["cycles"])
    assert len(ours["cycles"]) >= 6
    bounds = {"compute", "mapping", "activation_port", "weight_port", "accumulator_port", "dram", "host"}
    assert set(ours["bound"]) <= bounds and len(ours["warnings"]) == len(ours["cycles"])
    doubled, chosen = list(ours.sensitivity["doubled"]), int(ours.sensitivity["point"][0])
    assert doubled[1:3] == ["memory.sram_bytes_per_cycle", "memory.accumulator_bytes_per_cycle"] and len(doubled) == 11
    assert ours.sensitivity["cycles"][0] == ours["cycles"][chosen]


def test_compare(command, tmp_path, images):
    runs = [guardbit.run(MODEL, HW, images[:3], set={"accumulation.acc.bits": bits}) for bits in (14, 20)]
    compared = guardbit.compare(runs)
    call = [os.environ["GUARDBIT_BINARY"], "compare", *[str(run.folder) for run in runs], "--json"]
    theirs = json.loads(subprocess.run(call, capture_output=True, check=True).stdout)
    columns = [str(run.folder) for run in runs]
    for part in ("settings", "totals"):
        table = getattr(compared, part)
        assert [list(row) for row in zip(*(table[column] for column in ["name", *columns]))] == [
            [row["name"], *row["values"]] for row in theirs[part]
        ]
    assert list(compared.settings["name"]) == ["hw.resolved.accumulation.acc.bits"]
    assert len(compared.rows["row"]) == len(theirs["rows"]) > 0
    page = tmp_path / "compared.html"
    guardbit.compare(runs, page=page)
    assert compared.answer.startswith("Against ")
    assert "guardbit compare" in page.read_text() and "points of top-1 agreement" in page.read_text()
    with pytest.raises(guardbit.GuardbitError, match="already exists"):
        guardbit.compare(runs, page=page)
    guardbit.compare(runs, page=page, force=True)
    with pytest.raises(guardbit.GuardbitError, match="ends in .html"):
        guardbit.compare(runs, page=tmp_path / "compared.txt")


def test_vectors(command, tmp_path, images):
    x = images[:4]
    ours = guardbit.vectors(MODEL, HW, 1, x, cases=4, formats=["dec", "npy"], seed=5)
    np.save(tmp_path / "x.npy", x)
    theirs = command(
        "vectors", MODEL, "--hw", HW, "--layer", "1", "--input", tmp_path / "x.npy", "--cases", "4", "--formats", "dec,npy", "--seed", "5",
    )  # fmt: skip
    assert_same(ours.folder, theirs)
    assert ours.info["layer"]["name"] and "cases" in repr(ours)


def test_whole_layers(command, tmp_path, images):
    ours = guardbit.vectors(MODEL, HW, "all", images[:3], whole=True, sample=2, image_order="blocked:4")
    np.save(tmp_path / "x.npy", images[:3])
    theirs = command(
        "vectors", MODEL, "--hw", HW, "--layer", "all", "--input", tmp_path / "x.npy", "--whole", "--sample", "2", "--image-order", "blocked:4",
    )  # fmt: skip
    assert_same(ours.folder, theirs)
    assert isinstance(ours, guardbit.Whole) and ours.info["order"] == "blocked:4" and ours.layers[0] in repr(ours)

    # What a design wrote, with one code changed.
    layer = ours.info["layers"][0]
    ofm = ours.folder / ours.info["images"][layer["output"]]["file"]
    assert guardbit.diff_layer(ours, ofm, layer=ours.layers[0]).equal
    words = ofm.read_text().split()
    changed = tmp_path / "changed.mem"
    changed.write_text("\n".join([f"{int(words[0], 16) ^ 1:0{len(words[0])}x}", *words[1:]]) + "\n")
    found = guardbit.diff_layer(ours.folder, changed, layer=0, dut_sums=ours.folder / layer["sums"])
    report = subprocess.run(
        [os.environ["GUARDBIT_BINARY"], "diff-layer", theirs, changed, "--layer", "0", "--sums", theirs / layer["sums"], "--json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert report.returncode == 1 and vars(found) == json.loads(report.stdout)
    assert not found.equal and (found.codes_different, found.sums_different, len(found.first)) == (1, 0, 1)
    assert "1 of" in repr(found) and found.first[0]["operands"]
    with pytest.raises(guardbit.GuardbitError, match="layer"):
        guardbit.diff_layer(ours, changed)
    with pytest.raises(guardbit.GuardbitError, match="whole and cases exclude each other"):
        guardbit.vectors(MODEL, HW, "all", images[:3], whole=True, cases=4)
    with pytest.raises(guardbit.GuardbitError, match="images: expected a path"):
        guardbit.diff_layer(3, changed)


def test_discriminate(command):
    ours = guardbit.discriminate(HW, any=["overflow", "check"], terms=32)
    theirs = command("discriminate", "--hw", HW, "--any", "overflow,check", "--terms", "32")
    assert_same(ours.folder, theirs)
    accelerators = [name for one in ours.classes for name in one["accelerators"]]
    assert sorted(ours["accelerator"]) == sorted(accelerators) and len(set(accelerators)) == len(accelerators) > 2
    assert "by" in repr(ours)
    for one in ours.classes:
        assert ours.matching(one["sums"]) == one["accelerators"]
        # What is not known tells nothing apart.
        assert set(ours.matching([None, *one["sums"][1:]])) >= set(one["accelerators"])
    assert set(ours.matching([None] * len(ours.inputs))) == set(accelerators)
    assert ours.matching([12345678] * len(ours.inputs)) == []
    with pytest.raises(guardbit.GuardbitError, match="sums: expected"):
        ours.matching([1] * 99)
    axes = guardbit.discriminate([HW, "exact-int32-os"], axes={"accumulation.acc.bits": [12, 13]}, activation="uint8:128")
    same = command(
        "discriminate", "--hw", HW, "--hw", "exact-int32-os", "--axis", "accumulation.acc.bits=12,13", "--activation", "uint8:128", out="axes"
    )
    assert_same(axes.folder, same)
    with pytest.raises(guardbit.GuardbitError, match="expected 2 to"):
        guardbit.discriminate(HW)


def test_quantize(command, tmp_path, labels):
    calibration = np.load(DIGITS / "calibration.npy")
    x = np.load(DIGITS / "test_images_float.npy")
    ours = guardbit.quantize(
        DIGITS / "digits_float.onnx", calibration, HW, x=x, y=labels, set={"accumulation.acc.bits": 16}, method="percentile",
        weights="int6", layers=["dense:weights=int8"], correct_bias=True,
    )  # fmt: skip
    np.save(tmp_path / "calibration.npy", calibration)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", labels)
    theirs = command(
        "quantize", DIGITS / "digits_float.onnx", "--calibration", tmp_path / "calibration.npy", "--test", tmp_path / "x.npy",
        "--labels", tmp_path / "y.npy", "--hw", HW, "--set", "accumulation.acc.bits=16", "--method", "percentile", "--weights", "int6",
        "--layer", "dense:weights=int8", "--correct-bias", "--report", tmp_path / "report", out="digits.onnx",
    )  # fmt: skip
    assert ours.path.read_bytes() == theirs.read_bytes()
    assert_same(ours.folder, tmp_path / "report")
    codes = guardbit.run(ours.graph, HW, x[:3]).outputs
    assert codes and all(array.shape[0] == 3 for array in codes.values())


def test_folders(tmp_path, images):
    out = tmp_path / "out"
    first = guardbit.run(MODEL, HW, images[:2], out=out)
    before = contents(out)
    with pytest.raises(guardbit.GuardbitError) as raised:
        guardbit.run(MODEL, HW, images[:3], out=out)
    assert raised.value.code == "guardbit::folder" and raised.value.help
    assert contents(out) == before
    guardbit.run(MODEL, HW, images[:3], out=out, force=True)
    assert first.info["input"]["samples"] == 3, "a result is its folder"
    folder = guardbit.run(MODEL, HW, images[:2]).folder
    assert not folder.exists(), "without `out` it goes with its result"


def test_threads(images):
    one, two = (guardbit.run(MODEL, HW, images[:20], threads=threads) for threads in (1, 2))
    assert contents(one.folder) == contents(two.folder)


def test_no_simulator_is_needed(monkeypatch, images):
    """The package does not call the binary."""
    monkeypatch.setenv("PATH", "")
    assert os.environ["PATH"] == ""
    assert guardbit.run(MODEL, HW, images[:1]).files
