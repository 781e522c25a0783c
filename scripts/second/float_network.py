"""Recomputes a run of a float8e4m3fn network on aligned accumulators: outputs and aligned.csv, bit for bit.

    python scripts/second/float_network.py MODEL.onnx SAMPLES.npy FOLDER TERMS FRACTION_BITS RESULT PROMOTE_TERMS

FOLDER is that of `guardbit run MODEL.onnx --input SAMPLES.npy`, in propagated mode with all statistics. RESULT is
float32 or e8m13, rounded toward zero; PROMOTE_TERMS is 0 without promotion. The network may have QuantizeLinear and
DequantizeLinear of float8e4m3fn, Conv, Gemm with bias, Relu, AveragePool, Transpose and Flatten. Exit code 1 if a
figure differs. Needs numpy and onnx.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from aligned import Rule, add_many, fields

CODES = "e4m3"
# Every product of two values of e4m3 is a multiple of 2^-18.
UNIT = 18
MOST = 40
ZERO = -126


def values():
    """Returns the value of every code, NaN as 0."""
    kinds, significands, exponents = fields(CODES, np.arange(256))
    return np.where(kinds == 0, significands * 2.0 ** (exponents - 3.0), 0.0).astype(np.float32)


VALUES = values()


def encode(reals):
    """Returns the nearest codes, ties to even, saturated."""
    magnitudes = np.abs(reals).astype(np.float64)
    positive = VALUES[:127].astype(np.float64)
    above = np.clip(np.searchsorted(positive, magnitudes), 1, 126)
    low, high = positive[above - 1], positive[above]
    up = (magnitudes - low > high - magnitudes) | ((magnitudes - low == high - magnitudes) & (above % 2 == 0))
    return (np.where(up, above, above - 1) | np.where(np.signbit(reals), 128, 0)).astype(np.uint8)


class Unit:
    """The accumulator, and what it lost."""

    def __init__(self, terms, bits, result, promoted):
        self.terms, self.bits, self.promoted = terms, bits, promoted // terms
        self.result = {"float32": "f32", "e8m13": "f32_e8m13"}[result]

    def rule(self, bits):
        return Rule(bits, self.result)

    def run(self, a, b, bits):
        """Returns float32 sums over the last axis, and per dot product: terms cut, terms vanished, bits required."""
        shape = np.broadcast_shapes(a.shape, b.shape)
        a, b = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
        c, total = np.zeros(shape[:-1], np.uint32), np.zeros(shape[:-1], np.float32)
        cut, vanished, required = (np.zeros(shape[:-1], np.int64) for _ in range(3))
        for i, at in enumerate(range(0, shape[-1], self.terms)):
            own = a[..., at : at + self.terms], b[..., at : at + self.terms]
            lost = losses(*own, c, bits)
            cut, vanished, required = cut + lost[0], vanished + lost[1], np.maximum(required, lost[2])
            c = add_many(self.rule(bits), CODES, CODES, "f32", *own, c)
            if self.promoted and (i + 1) % self.promoted == 0:
                total, c = total + c.view(np.float32), np.zeros_like(c)
        sums = total + c.view(np.float32) if self.promoted else c.view(np.float32)
        return sums, cut, vanished, required


def losses(a, b, c, bits):
    """Returns terms cut, terms vanished and bits required, for each addition."""
    (_, x, x_exponent), (_, y, y_exponent) = fields(CODES, a), fields(CODES, b)
    (_, z, z_exponent) = fields("f32", c)
    exponents = np.where(x == 0, ZERO, x_exponent) + np.where(y == 0, ZERO, y_exponent)
    terms = np.concatenate([np.abs(x * y), np.abs(z)[..., None]], axis=-1)
    z_exponent = np.where(z == 0, ZERO, z_exponent)
    largest = np.maximum(exponents.max(axis=-1), z_exponent)[..., None]
    last = np.concatenate([x_exponent + y_exponent - 6, (z_exponent - 23)[..., None]], axis=-1)
    leading = last + np.frexp(terms.astype(np.float64))[1] - 1
    # The lowest set bit.
    lowest = last + np.frexp((terms & -terms).astype(np.float64))[1] - 1
    there, unit = terms != 0, largest - bits
    required = np.where(there, np.maximum(largest - lowest, 0), 0).max(axis=-1)
    return (there & (lowest < unit)).sum(axis=-1), (there & (leading < unit)).sum(axis=-1), required


def exact(a, b):
    """Returns the exact sums, rounded once to float32."""
    steps = np.round(VALUES.astype(np.float64) * 2 ** (UNIT // 2)).astype(np.int64)
    # The conversion of an integer rounds once; a power of two is exact.
    return (steps[a] * steps[b]).sum(axis=-1).astype(np.float32) * np.float32(2.0**-UNIT)


def place(reals):
    magnitudes = (reals.view(np.uint32) & 0x7FFFFFFF).astype(np.int64)
    return np.where(np.signbit(reals), -magnitudes, magnitudes)


def layer(unit, a, b, scale, bias, row):
    """Returns the delivered and the exact outputs of dot products over the last axis; `row` collects statistics."""
    sums, cut, vanished, required = unit.run(a, b, unit.bits)
    right = exact(a, b)
    widest, _, _, exact_bits = unit.run(a, b, MOST)
    most = np.minimum(exact_bits, MOST)
    needed = np.zeros(sums.shape, np.int64)
    for bits in range(MOST):
        differs = (unit.run(a, b, bits)[0].view(np.uint32) != widest.view(np.uint32)) & (bits < most)
        needed = np.where(differs, bits + 1, needed)
    reached = widest == right
    ulps = np.abs(place(sums) - place(right))
    error = right.astype(np.float64) - sums
    found = {
        "dots": sums.size,
        "terms": sums.size * (a.shape[-1] + -(-a.shape[-1] // unit.terms)),
        "cut_terms": cut.sum(),
        "vanished_terms": vanished.sum(),
        "cut_dots": (cut > 0).sum(),
        "vanished_dots": (vanished > 0).sum(),
        "wrong": (sums != right).sum(),
        "ulps": ulps.sum(),
        "unreached": (~reached).sum(),
        "signal": (right.astype(np.float64) ** 2).sum(),
        "noise": (error**2).sum(),
    }
    largest = {
        "max_cut_bits": np.maximum(required - unit.bits, 0).max(),
        "max_ulps": ulps.max(),
        "required_exact": exact_bits.max(),
        "required_result": needed.max(),
    }
    for name, value in found.items():
        row[name] = row.get(name, 0) + value
    for name, value in largest.items():
        row[name] = max(row.get(name, 0), int(value))
    outputs = [real * scale for real in (sums, right)]
    return [real + bias for real in outputs] if bias is not None else outputs


class Network:
    def __init__(self, path, unit):
        self.graph, self.unit, self.rows = onnx.load(path).graph, unit, {}
        self.constants = {}
        for one in self.graph.initializer:
            codes = one.data_type == onnx.TensorProto.FLOAT8E4M3FN
            array = np.frombuffer(one.raw_data, np.uint8).reshape(one.dims) if codes else numpy_helper.to_array(one)
            self.constants[one.name] = array

    def run(self, sample):
        """Returns the output of both networks, `[delivered, exact]`."""
        both = [dict(self.constants), dict(self.constants)]
        scales = {}
        for values in both:
            values[self.graph.input[0].name] = sample
        for node in self.graph.node:
            attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
            if node.op_type == "DequantizeLinear":
                scales[node.output[0]] = node.input[1]
            is_layer = node.op_type in ("Conv", "Gemm")
            rows, outputs = self.rows.setdefault(node.output[0], {}) if is_layer else None, []
            for which, values in enumerate(both):
                inputs = [values[name] for name in node.input]
                if is_layer:
                    codes = [values[name] for name in node.input[:2]]
                    scale = [self.constants[scales[name]] for name in node.input[:2]]
                    # Statistics are those of the delivered network's operands.
                    made = self.layer(node.op_type, attributes, codes, scale, inputs[2], rows if which == 0 else {})
                    outputs.append(made[which].astype(np.float64))
                    # The bias of a product is added by the host, after the layer.
                    values[node.output[0]] = made[which] + (inputs[2] if node.op_type == "Gemm" else 0)
                    continue
                values[node.output[0]] = self.step(node.op_type, attributes, inputs)
            if is_layer:
                made, right = outputs
                rows["output_mismatch"] = rows.get("output_mismatch", 0) + (made != right).sum()
                rows["output_signal"] = rows.get("output_signal", 0) + (right**2).sum()
                rows["output_noise"] = rows.get("output_noise", 0) + ((right - made) ** 2).sum()
        return [values[self.graph.output[0].name] for values in both]

    def step(self, op, attributes, inputs):
        match op:
            case "QuantizeLinear":
                return encode(inputs[0] / inputs[1])
            case "DequantizeLinear":
                return inputs[0]
            case "Relu":
                return np.maximum(inputs[0], np.float32(0))
            case "Transpose":
                return np.transpose(inputs[0], attributes["perm"])
            case "Flatten":
                return inputs[0].reshape(inputs[0].shape[0], -1)
            case "AveragePool":
                total, (rows, cols) = np.float32(0), attributes["kernel_shape"]
                ends = [size // step * step for size, step in zip(inputs[0].shape[2:], (rows, cols))]
                for i in range(rows):
                    for j in range(cols):
                        total = total + inputs[0][:, :, i : ends[0] : rows, j : ends[1] : cols]
                return total / np.float32(rows * cols)
        raise SystemExit(f"unknown operator {op}")

    def layer(self, op, attributes, codes, scales, bias, row):
        x, w = codes
        scale = np.float32(scales[0]) * scales[1].astype(np.float32)
        if op == "Gemm":
            return layer(self.unit, x[:, None, :], w[None], scale, None, row)
        top, left, bottom, right = attributes["pads"]
        x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
        rows, cols = attributes["kernel_shape"]
        windows = np.lib.stride_tricks.sliding_window_view(x, (rows, cols), axis=(2, 3))
        groups, depth = attributes["group"], w.shape[1]
        outputs = []
        for channel in range(w.shape[0]):
            first = channel // (w.shape[0] // groups) * depth
            # Pixels, and products in the order rows, columns, input channels.
            a = np.moveaxis(windows[:, first : first + depth], 1, -1)
            a = a.reshape(*a.shape[:3], -1)
            b = np.moveaxis(w[channel], 0, -1).reshape(-1)
            outputs.append(layer(self.unit, a, b, scale[channel], bias[channel], row))
        return [np.stack([output[which] for output in outputs], axis=1) for which in (0, 1)]


def decibels(signal, noise):
    return float("inf") if noise == 0 else 10 * np.log10(signal / noise)


def check(rows, found, unit):
    wrong = []
    for row, (name, own) in zip(rows, found.items(), strict=True):
        own["mean_ulps"] = round(own["ulps"] / own["dots"], 6)
        if own["unreached"]:
            own["required_float32"] = ""
        else:
            own["required_float32"] = own["required_result"]
        if own["required_exact"] > MOST:
            own["required_exact"] = ""
        for key in ("signal", "noise", "output_signal", "output_noise", "ulps"):
            own.setdefault(key, 0)
        ratios = {
            "sum_sqnr_db": decibels(own.pop("signal"), own.pop("noise")),
            "output_sqnr_db": decibels(own.pop("output_signal"), own.pop("output_noise")),
        }
        own.pop("ulps")
        for key, value in own.items():
            same = float(row[key]) == float(value) if value != "" and row[key] != "" else row[key] == value
            wrong += [] if same else [f"{name} {key}: {row[key]} instead of {value}"]
        for key, value in ratios.items():
            near = float(row[key]) == value or abs(float(row[key]) - value) <= 6e-6 * abs(value)
            wrong += [] if near else [f"{name} {key}: {row[key]} instead of {value}"]
    return wrong


def main():
    model, samples, folder, terms, bits, result, promoted = sys.argv[1:]
    network = Network(model, Unit(int(terms), int(bits), result, int(promoted)))
    shape = [axis.dim_value for axis in network.graph.input[0].type.tensor_type.shape.dim]
    made = [network.run(sample.reshape(shape)) for sample in np.load(samples).astype(np.float32)]
    archive, name = np.load(Path(folder) / "outputs.npz"), network.graph.output[0].name
    wrong = []
    for which, part in enumerate(("simulated", "exact")):
        expected = np.stack([both[which] for both in made]).astype(np.float32)
        keys = [key for key in archive.files if key.startswith(part)]
        found = archive[keys[0]].reshape(expected.shape).astype(np.float32)
        differing = (found.view(np.uint32) != expected.view(np.uint32)).sum()
        wrong += [f"{part} {name}: {differing} of {expected.size} outputs differ"] if differing else []
    with open(Path(folder) / "aligned.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    dots = sum(row["dots"] for row in network.rows.values())
    wrong += check(rows, network.rows, network.unit)
    print("\n".join(wrong) or f"{len(rows)} layers with {dots} dot products and {len(made)} outputs are equal")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
