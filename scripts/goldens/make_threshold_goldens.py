#!/usr/bin/env python3
"""Computes calibration thresholds of fixed values without guardbit.

Writes quantize/tests/data/thresholds.json (or the given file). For every set of values it has the results of the
methods' definitions (NumPy, below), those of ONNX Runtime's own calibrators, and the results of its `compute_scale_zp`
for ranges. Needs numpy, onnx and onnxruntime (scripts/requirements/onnx.txt).
"""

import contextlib
import io
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import calibrate
from onnxruntime.quantization.quant_utils import compute_scale_zp

SAMPLES, SIZE = 4, 1500
UNIT = 2.0**-20


class Draws:
    """Generator x <- 1664525 x + 1013904223 mod 2^32; a draw is its upper 20 bits."""

    def __init__(self, seed):
        self.state = seed

    def draw(self):
        self.state = (1664525 * self.state + 1013904223) % 2**32
        return self.state >> 12

    def bell(self):
        return sum(self.draw() for _ in range(4)) - 2**21


def heavy(n):
    return (1 if n >= 0 else -1) * (n * n >> 20)


# Odd multiples of the unit are never on the edge of a bin; the last value of most sets is the power of two 4.
SETS = {
    "bell": (lambda n: n | 1, True),
    "heavy": (lambda n: heavy(n) | 1, True),
    "rectified": (lambda n: n | 1 if n > 0 else 0, True),
    "leaky": (lambda n: (n if n > 0 else n // 8) | 1, True),
    "no_power_of_two": (lambda n: n | 1, False),
}


def values(name):
    shape, ends_at_four = SETS[name]
    draws = Draws(sum(name.encode()))
    out = np.array([shape(draws.bell()) for _ in range(SAMPLES * SIZE)], dtype=np.float64) * UNIT
    if ends_at_four:
        out[-1] = 4.0
    out = out.astype(np.float32)
    return out.reshape(SAMPLES, SIZE)


def base_width(peak):
    return 2.0 ** int(np.ceil(np.log2(peak / 8192)))


def bins_of(x, width):
    """Returns the index of the bin (i w, (i + 1) w] of a magnitude."""
    return np.maximum(np.ceil(np.abs(x) / width) - 1, 0).astype(int)


def coarse(peak, most):
    width = base_width(peak)
    while np.ceil(peak / width) > most:
        width *= 2
    return width


def magnitudes(x, most):
    width = coarse(np.abs(x).max(), most)
    return np.bincount(bins_of(x, width)), width


def two_sided(x, most):
    width = coarse(np.abs(x).max(), most)
    index = bins_of(x, width)
    half = index.max() + 1
    place = np.where(x < 0, half - 1 - index, half + index)
    return np.bincount(place, minlength=2 * half), width


def centred(x, most):
    width = coarse(np.abs(x).max(), 2 * most)
    index = np.where(x == 0, 0, bins_of(x, width))
    sides = (index.max() + 1) // 2
    place = sides + np.sign(x).astype(int) * ((index + 1) // 2)
    return np.bincount(place, minlength=2 * sides + 1), 2 * width


def percentile(x, percent):
    counts, width = magnitudes(x, 2048)
    cdf = np.cumsum(counts / counts.sum())
    return max(int(np.searchsorted(cdf, percent / 100)), 1) * width


def smooth(p):
    empty = p == 0
    share = 1e-4 * empty.sum() / (~empty).sum()
    if share >= 1 or (p[~empty] <= share).any():
        return None
    return np.where(empty, 1e-4, p - share)


def divergence(p, q):
    p, q = smooth(p), smooth(q)
    if p is None or q is None:
        return np.inf
    p, q = p / p.sum(), q / q.sum()
    return (p * np.log(p / q)).sum()


def kl(x, quantized=128, theirs=None):
    counts, width = two_sided(x, 1024)
    middle = len(counts) // 2
    found = []
    for half in range(quantized // 2, middle + 1):
        start, end = middle - half, min(middle + half + 1, len(counts))
        inside = counts[start:end]
        p = inside.astype(float)
        p[0] += counts[:start].sum()
        p[-1] += counts[end:].sum()
        joined = len(inside) // quantized
        main = inside[: joined * quantized].reshape(quantized, joined).sum(axis=1)
        main[-1] += inside[joined * quantized :].sum()
        filled = (p[: joined * quantized].reshape(quantized, joined) > 0).sum(axis=1)
        share = np.where(filled > 0, main // np.maximum(filled, 1), 0)
        q = np.zeros(len(p))
        q[: joined * quantized] = np.repeat(share, joined)
        found.append((divergence(p, q), (start - middle) * width, (end - middle) * width))
    best = min(found, key=lambda row: row[0])
    if theirs is not None:
        # It computes in float32, so it may choose another one of several equal parts.
        loss = [row[0] for row in found if abs(row[2] - theirs) < width / 2]
        assert all(one < best[0] * 1.001 for one in loss), (loss, best)
    return max(best[1], min(x.min(), 0)), min(best[2], max(x.max(), 0))


def kl_tvm(x, quantized=255):
    counts, width = centred(x, 4000)
    middle = len(counts) // 2
    found = []
    for half in range(quantized // 2, middle + 1):
        start, end = middle - half, middle + half + 1
        inside = counts[start:end].astype(float)
        inside[0] = 0
        p = inside.copy()
        p[0] = counts[: start + 1].sum()
        p[-1] += counts[end:].sum()
        joined = len(inside) // quantized
        ends = [bin * joined for bin in range(quantized)] + [len(inside)]
        q = np.zeros(len(p))
        for low, high in zip(ends, ends[1:]):
            filled = np.count_nonzero(inside[low:high])
            if filled:
                q[low:high] = np.where(p[low:high] > 0, inside[low:high].sum() / filled, 0)
        found.append((divergence(p, q), (half + 0.5) * width))
    return min(found, key=lambda row: row[0])[1]


def parameters(low, high, least, most, symmetric):
    low, high = min(low, 0.0), max(high, 0.0)
    if symmetric:
        low, high = -max(high, -low), max(high, -low)
    scale = (high - low) / (most - least)
    zero = np.round((least + most) / 2) if symmetric else np.round(least - low / scale)
    return float(np.float32(scale)), zero


def mse(x, least, most, symmetric):
    width = base_width(np.abs(x).max())
    index, sign = bins_of(x[x != 0], width), np.sign(x[x != 0])
    middles, counts = np.unique(sign * (index + 0.5) * width, return_counts=True)
    low, high = min(x.min(), 0.0), max(x.max(), 0.0)

    def error(below, above):
        scale, zero = parameters(low * below / 100, high * above / 100, least, most, symmetric)
        code = np.clip(np.round(middles / scale) + zero, least, most)
        return (((code - zero) * scale - middles) ** 2 * counts).sum()

    steps = range(100, 0, -1)
    best = min((error(s, s), 100 - s, (s, s)) for s in steps)
    while not symmetric and low < 0 < high:
        before = best[2]
        turn = min((error(s, best[2][1]), 100 - s, (s, best[2][1])) for s in steps)
        best = turn if turn[0] < best[0] else best
        turn = min((error(best[2][0], s), 100 - s, (best[2][0], s)) for s in steps)
        best = turn if turn[0] < best[0] else best
        if best[2] == before:
            break
    return low * best[2][0] / 100, high * best[2][1] / 100


def ort_histogram(x, method, **settings):
    known = dict(symmetric=False, num_bins=2048, num_quantized_bins=128, percentile=99.999, scenario="same")
    collector = calibrate.HistogramCollector(method, **(known | settings))
    with contextlib.redirect_stdout(io.StringIO()):
        collector.collect({"x": x.ravel()})
        low, high = collector.compute_collection_result()["x"][:2]
    return float(low), float(high)


class Reader(calibrate.CalibrationDataReader):
    def __init__(self, rows):
        self.rows = iter([{"x": row} for row in rows])

    def get_next(self):
        return next(self.rows, None)


def ort_extremes(x, moving_average, one_by_one):
    node = helper.make_node("Relu", ["x"], ["y"])
    real = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [SIZE]) for name in "xy"]
    graph = helper.make_graph([node], "g", real[:1], real[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnx"
        onnx.save(model, path)
        calibrator = calibrate.create_calibrator(
            path,
            augmented_model_path=str(path.with_suffix(".augmented.onnx")),
            extra_options={"moving_average": moving_average, "averaging_constant": 0.01},
        )
        for rows in [[row] for row in x] if one_by_one else [x]:
            calibrator.collect_data(Reader(rows))
        low, high = calibrator.compute_data()["x"].range_value
    return float(np.ravel(low)[0]), float(np.ravel(high)[0])


TYPES = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16}
RANGES = [
    (-1.0, 1.0), (0.0, 6.0), (-0.375, 8.0), (-3.7, 0.0), (0.5, 2.0), (-2.0, -0.5), (0.0, 0.0), (1e-40, 1e-39),
    (-1e-30, 3e-30), (-128.0, 127.0), (-0.1, 25.3), (-3e38, 3e38), (0.0, 1e-37), (-5.1, 5.0), (0.0, 255.0), (-1.0, 254.0),
]


def scale_rows():
    rows = []
    for name, kind in TYPES.items():
        info = np.iinfo(kind)
        spans = [(info.min, info.max)] + ([(-info.max, info.max)] if info.min < 0 else [])
        for least, most in spans:
            for symmetric in (False, True):
                for low, high in RANGES:
                    ends = [np.array(end, dtype=np.float32) for end in (low, high)]
                    zero, scale = compute_scale_zp(*ends, np.array(least, kind), np.array(most, kind), symmetric)
                    real = [float(end) for end in ends]
                    rows.append([least, most, symmetric, *real, float(scale), int(zero)])
    return rows


def of_set(name):
    x = values(name)
    flat = x.astype(np.float64).ravel()
    entropy, ends_at_four = ort_histogram(x, "entropy"), SETS[name][1]
    return {
        "checksum": float(np.abs(flat).sum()),
        "numpy": {
            "percentile 99.999": percentile(flat, 99.999),
            "percentile 99": percentile(flat, 99.0),
            "percentile 100": percentile(flat, 100.0),
            "kl": kl(flat, theirs=entropy[1] if ends_at_four else None),
            "kl int4": kl(flat, 8),
            "kl-tvm": kl_tvm(flat),
            "mse int8": mse(flat, -128, 127, False),
            "mse int4": mse(flat, -8, 7, False),
            "mse int4 symmetric": mse(flat, -7, 7, True),
        },
        "ort": {
            "min-max": ort_extremes(x, False, False),
            "average": ort_extremes(x, True, False),
            "moving-average": ort_extremes(x, True, True),
            "percentile 99.999": ort_histogram(x, "percentile", symmetric=True),
            "percentile 99": ort_histogram(x, "percentile", symmetric=True, percentile=99.0),
            # For other values its bins differ.
            **({"kl": entropy} if ends_at_four else {}),
        },
    }


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "quantize/tests/data/thresholds.json"
    made = {"sets": {name: of_set(name) for name in SETS}, "scales": scale_rows()}
    text = json.dumps(made, indent=1)
    # One row of the scales per line.
    head, rows = text.split('"scales": [')
    rows = ",\n  ".join(json.dumps(row) for row in made["scales"])
    target.write_text(head + '"scales": [\n  ' + rows + "\n ]\n}\n")


main()
