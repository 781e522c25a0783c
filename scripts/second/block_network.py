"""Recomputes the outputs of a network with block scales on aligned accumulators, in rational numbers, bit for bit.

    python scripts/second/block_network.py MODEL.onnx SAMPLES.npy FOLDER TERMS FRACTION_BITS GROUP PROMOTE_TERMS

MODEL.onnx is written by `guardbit quantize` with codes such as mxfp8 or nvfp4, and FOLDER by `guardbit run MODEL.onnx
--input SAMPLES.npy` on a unit with `block_scales`. GROUP is 1 for `per_term`, otherwise `group_terms`; PROMOTE_TERMS is 0
without promotion. The accumulator is a float32, rounded toward zero. The scales of blocks are computed from the standards
of OCP and NVFP4 here, not by the functions of the file. Exit code 1 if an output differs. Needs numpy, onnx and ml_dtypes.
"""

import sys
from fractions import Fraction
from functools import cache
from math import prod
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

from aligned import FORMATS, encode_exact, fused, term
from float_network import Network as Plain

F = np.float32
ELEMENTS = {
    onnx.TensorProto.FLOAT8E4M3FN: ("e4m3", ml_dtypes.float8_e4m3fn),
    onnx.TensorProto.FLOAT8E5M2: ("e5m2", ml_dtypes.float8_e5m2),
    onnx.TensorProto.FLOAT4E2M1: ("e2m1", ml_dtypes.float4_e2m1fn),
}
NAMES = {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float4_e2m1": "e2m1"}
DTYPES = dict(ELEMENTS.values())
# Exponent of the largest value of each format, and this value.
LARGEST = {"e4m3": (8, 448.0), "e5m2": (15, 57344.0), "e2m1": (2, 6.0)}


class Codes:
    """Codes of a format, the scale codes of their blocks, and the product of all other scales."""

    def __init__(self, name, codes, blocks=None, scale=F(1)):
        self.name, self.codes, self.blocks, self.scale = name, codes, blocks, scale

    def values(self):
        values = self.codes.view(DTYPES[self.name]).astype(F)
        if self.blocks is not None:
            values = values * self.blocks[1]
        return values * self.scale

    def moved(self, function):
        blocks = self.blocks and (self.blocks[0], function(self.blocks[1]))
        return Codes(self.name, function(self.codes), blocks, self.scale)


def encode(name, reals):
    """Returns the nearest codes, ties to even, saturated."""
    largest = F(LARGEST[name][1])
    return np.clip(reals, -largest, largest).astype(DTYPES[name]).view(np.uint8)


def block_scales(kind, reals, axis, size, name):
    """Returns the scale of each element's block by the standard."""
    moved = np.moveaxis(np.abs(reals), axis, -1)
    count = moved.shape[-1]
    padded = np.pad(moved, [(0, 0)] * (moved.ndim - 1) + [(0, -count % size)])
    largest = padded.reshape(*padded.shape[:-1], -1, size).max(axis=-1)
    exponent, most = LARGEST[name]
    if kind == "MxBlockScale":
        power = np.frexp(largest)[1] - 1 - exponent
        scales = np.ldexp(F(1), np.where(largest == 0, -127, np.clip(power, -127, 127))).astype(F)
    else:
        quotient = np.minimum(largest / F(most), F(448)).astype(ml_dtypes.float8_e4m3fn).astype(F)
        scales = np.maximum(quotient, F(2.0**-9))
    return np.moveaxis(np.repeat(scales, size, axis=-1)[..., :count], -1, axis)


def factored(each):
    """Returns scales as values of ue4m3, times one scale: the first that gives each of them again in float32."""
    small = np.arange(126, 0, -1, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(F)
    near = (each.max() / small).view(np.uint32)[:, None] + np.arange(-2, 3)
    for one in [F(1), *near.reshape(-1).astype(np.uint32).view(F)]:
        values = (each / one).astype(ml_dtypes.float8_e4m3fn).astype(F)
        if (values * one == each).all():
            return values, one
    raise SystemExit("scales of blocks are not ue4m3 times one scale")


@cache
def operand(name, code):
    return term(name, code)


@cache
def scale_term(name, value):
    """Returns the scale's value and the exponent by which it moves a product."""
    exponent = int(np.frexp(value)[1]) - 1
    # A subnormal of ue4m3 keeps the least exponent.
    return Fraction(value), max(exponent, -6) if name == "ue4m3" else exponent


def times(*factors):
    return prod(number for number, _ in factors), sum(exponent for _, exponent in factors)


class Unit:
    def __init__(self, terms, bits, group, promoted):
        self.terms, self.bits, self.group, self.promoted = terms, bits, group, promoted

    def sums(self, products):
        terms = []
        if self.group == 1:
            terms = [times(product, *scales) for _, product, scales in products]
        else:
            groups = {}
            for (pixel, channel), product, scales in products:
                groups.setdefault((pixel, channel // self.group), []).append((product, scales))
            for group in groups.values():
                assert all(scales == group[0][1] for _, scales in group), "scales differ within a group"
                terms.append(times((sum(product[0] for product, _ in group), 0), *group[0][1]))
        step, c, total = self.terms // self.group, 0, F(0)
        for i, at in enumerate(range(0, len(terms), step)):
            added = fused([*terms[at : at + step], term("f32", c)], self.bits)[0]
            c = encode_exact(FORMATS["f32"], 23, "zero", added, False)
            if self.promoted and (i + 1) % (self.promoted // self.terms) == 0:
                total, c = total + np.uint32(c).view(F), 0
        delivered = total + np.uint32(c).view(F)
        exact = encode_exact(FORMATS["f32"], 23, "even", Fraction(sum(number for number, _ in terms)), False)
        return delivered, np.uint32(exact).view(F)


class Network(Plain):
    def __init__(self, path, unit):
        self.graph, self.unit = onnx.load(path).graph, unit
        self.constants = {}
        for one in self.graph.initializer:
            if one.data_type in ELEMENTS:
                codes, count = np.frombuffer(one.raw_data, np.uint8), prod(one.dims)
                if one.data_type == onnx.TensorProto.FLOAT4E2M1:
                    codes = np.stack([codes & 15, codes >> 4], axis=-1).reshape(-1)[:count]
                self.constants[one.name] = Codes(ELEMENTS[one.data_type][0], codes.reshape(one.dims))
            else:
                self.constants[one.name] = numpy_helper.to_array(one)

    def run(self, sample):
        both = [dict(self.constants), dict(self.constants)]
        for which, values in enumerate(both):
            values[self.graph.input[0].name] = sample
            for node in self.graph.node:
                attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
                inputs = [values[name] for name in node.input if name]
                values[node.output[0]] = self.node(node.op_type, attributes, inputs, which)
        return [values[self.graph.output[0].name] for values in both]

    def node(self, op, attributes, inputs, which):
        match op:
            case "MxBlockScale" | "NvBlockScale":
                name = NAMES[attributes["elements"].decode()]
                made = block_scales(op, inputs[0], attributes["axis"], attributes["block_size"], name)
                return {"scales": made, "format": "ue8m0" if op == "MxBlockScale" else "ue4m3"}
            case "Cast" if attributes["to"] in ELEMENTS:
                name = ELEMENTS[attributes["to"]][0]
                return Codes(name, encode(name, inputs[0]))
            case "Cast":
                return inputs[0]
            case "QuantizeLinear":
                return Codes(inputs[2].name, encode(inputs[2].name, inputs[0] / inputs[1]))
            case "DequantizeLinear":
                return self.dequantized(attributes, *inputs[:2])
            case "Div" | "Mul" if isinstance(inputs[1], dict):
                if op == "Div":
                    return inputs[0] / inputs[1]["scales"]
                return Codes(inputs[0].name, inputs[0].codes, (inputs[1]["format"], inputs[1]["scales"]))
            case "Mul" if any(isinstance(one, Codes) for one in inputs):
                codes, scale = inputs if isinstance(inputs[0], Codes) else inputs[::-1]
                return Codes(codes.name, codes.codes, codes.blocks, codes.scale * scale.reshape(-1)[0])
            case "Div":
                return inputs[0] / inputs[1]
            case "Mul":
                return inputs[0] * inputs[1]
            case "Add":
                return inputs[0] + inputs[1]
            case "Conv" | "MatMul" | "Gemm":
                return self.product(op, attributes, inputs, which)
            case "Reshape":
                function = lambda array: array.reshape([int(size) for size in inputs[1]])
                return inputs[0].moved(function) if isinstance(inputs[0], Codes) else function(inputs[0])
            case "Transpose" if isinstance(inputs[0], Codes):
                return inputs[0].moved(lambda array: np.transpose(array, attributes["perm"]))
        return self.step(op, attributes, inputs)

    def dequantized(self, attributes, codes, scale):
        if "block_size" not in attributes:
            shape = [1] * codes.codes.ndim
            if scale.size > 1:
                shape[attributes["axis"]] = -1
            return Codes(codes.name, codes.codes, codes.blocks, codes.scale * scale.reshape(shape))
        axis, size = attributes["axis"], attributes["block_size"]
        each = np.repeat(scale, size, axis=axis).take(range(codes.codes.shape[axis]), axis=axis).astype(F)
        if (np.frexp(each)[0] == 0.5).all():
            return Codes(codes.name, codes.codes, ("ue8m0", each), codes.scale)
        values, one = factored(each)
        return Codes(codes.name, codes.codes, ("ue4m3", values), codes.scale * one)

    def product(self, op, attributes, inputs, which):
        x, w = inputs[:2]
        if op == "Gemm":
            assert not attributes.get("transA") and attributes.get("alpha", 1) == attributes.get("beta", 1) == 1
            w = w.moved(np.transpose) if attributes.get("transB") else w
        if op != "Conv":
            columns = w.codes.shape[1]
            places = [(0, channel) for channel in range(w.codes.shape[0])]
            sums = np.array(
                [[self.sum(places, row(x, i), column(w, j))[which] for j in range(columns)] for i in range(len(x.codes))]
            )
            made = sums * (F(x.scale) * np.broadcast_to(w.scale, w.codes.shape)[0])
            return made + inputs[2] if op == "Gemm" else made
        return self.convolution(attributes, x, w, inputs[2] if len(inputs) > 2 else F(0), which)

    def convolution(self, attributes, x, w, bias, which):
        assert attributes.get("strides", [1, 1]) == [1, 1] == attributes.get("dilations", [1, 1])
        top, left, bottom, right = attributes.get("pads", [0] * 4)
        pad = lambda array: np.pad(array, ((0, 0), (0, 0), (top, bottom), (left, right)))
        codes, blocks = pad(x.codes), None if x.blocks is None else pad(x.blocks[1])
        outputs, depth, rows, cols = w.codes.shape
        of_group = outputs // attributes.get("group", 1)
        height, width = codes.shape[2] - rows + 1, codes.shape[3] - cols + 1
        places = [(pixel, channel) for pixel in range(rows * cols) for channel in range(depth)]
        order = lambda array: np.moveaxis(array, 0, -1).reshape(-1)
        made = np.zeros((1, outputs, height, width), F)
        scale = F(np.max(x.scale)) * np.broadcast_to(w.scale, w.codes.shape)[:, 0, 0, 0]
        for o in range(outputs):
            first = o // of_group * depth
            weights = [order(w.codes[o]), None if w.blocks is None else order(w.blocks[1][o])]
            for i in range(height):
                for j in range(width):
                    cut = np.s_[0, first : first + depth, i : i + rows, j : j + cols]
                    own = order(codes[cut]), None if blocks is None else order(blocks[cut])
                    made[0, o, i, j] = self.sum(places, (x, *own), (w, *weights))[which]
        return made * scale[:, None, None] + np.asarray(bias, F).reshape(-1, 1, 1)

    def sum(self, places, x, w):
        """Returns the delivered and the exact sum; an operand is its tensor, its codes and the values of their scales."""
        products = []
        for at, place in enumerate(places):
            scales = []
            for tensor, _, values in (x, w):
                # Padding has no scale.
                if values is not None and values[at] != 0:
                    scales.append(scale_term(tensor.blocks[0], float(values[at])))
            factors = [operand(tensor.name, int(codes[at])) for tensor, codes, _ in (x, w)]
            products.append((place, times(*factors), scales))
        return self.unit.sums(products)


def row(x, i):
    return x, x.codes[i], None if x.blocks is None else x.blocks[1][i]


def column(w, j):
    return w, w.codes[:, j], None if w.blocks is None else w.blocks[1][:, j]


def main():
    model, samples, folder, *numbers = sys.argv[1:]
    network = Network(model, Unit(*map(int, numbers)))
    shape = [axis.dim_value or 1 for axis in network.graph.input[0].type.tensor_type.shape.dim]
    made = [network.run(sample.reshape(shape)) for sample in np.load(samples).astype(F)]
    archive, wrong = np.load(Path(folder) / "outputs.npz"), []
    for which, part in enumerate(("simulated", "exact")):
        expected = np.stack([both[which] for both in made]).astype(F)
        keys = [key for key in archive.files if key.startswith(part)]
        found = archive[keys[0]].reshape(expected.shape).astype(F)
        differing = (found.view(np.uint32) != expected.view(np.uint32)).sum()
        wrong += [f"{part}: {differing} of {expected.size} outputs differ"] if differing else []
    print("\n".join(wrong) or f"{len(made)} samples have equal outputs")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
