#!/usr/bin/env python3
"""Recomputes the sums, codes, overflows, spilled sums and tiles of whole layers: recheck_layers.py DIR...

Written only from docs/reference/whole-layers.md and docs/reference/bundle-format.md; shares no code with guardbit. Reads nothing
but layout.json and the memory images that it names. Needs NumPy. Exit code 1 if a value differs.
"""

import json
import sys
from pathlib import Path

import numpy as np

from recheck_bundle import Recheck, drop, limits, scaled, signed


def fit(values, stage):
    """Returns the fitted values, and where they were above and below the rails."""
    if stage["bits"] is None:
        nowhere = np.zeros(values.shape, bool)
        return values, nowhere, nowhere
    least, greatest = limits(stage)
    high, low, mode = values > greatest, values < least, stage["overflow"]
    if mode == "wrap":
        span = 1 << stage["bits"]
        fitted = (values - least) % span + least
    elif mode in ("saturate", "saturate_symmetric", "sticky"):
        fitted = np.clip(values, least, greatest)
    elif mode == "saturate_zero":
        fitted = np.where(high | low, 0, values)
    else:
        fitted = values
    return fitted, high, low


def dropped(values, shift, rounding):
    if shift == 0:
        return values
    return np.array([drop(int(value), shift, rounding) for value in values.ravel()]).reshape(values.shape)


class Files:
    """The memory images of a folder."""

    def __init__(self, folder, layout):
        self.folder, self.infos = folder, {info["path"]: info for info in layout["files"]}

    def lanes(self, path):
        """Returns the elements of a file, one after the other."""
        info = self.infos[path]
        bits, lanes = info["lane_bits"], info["lanes"]
        mask, elements = (1 << bits) - 1, []
        for line in (self.folder / path).read_text().split():
            word = int(line, 16)
            for lane in range(lanes):
                value = word >> lane * bits & mask
                elements.append(signed(value, bits) if info["signed"] else value)
        return np.array(elements, dtype=np.int64)

    def tensor(self, path, place):
        """Returns the values of a file in the order of their axes."""
        return self.lanes(path)[element(place, np.indices(place["shape"]))]


def element(place, at):
    """Returns the elements of values at `at`, the indices along the four axes."""
    total = 0
    for axis, (index, stride) in enumerate(zip(at, place["strides"])):
        block = place["block"] if axis == place["blocked"] else 1
        total = total + index // block * stride + index % block
    return total


class Layer:
    """Operands of a layer, for all outputs at a time: arrays of shape [image, row, column, channel]."""

    def __init__(self, files, layout, layer):
        self.files, self.layer = files, layer
        self.window, self.arithmetic = layer["layer"]["window"], layer["arithmetic"]
        w = self.window
        shape = [w["batch"], *w["output"]]
        self.n, self.h, self.w, self.c = np.indices(shape)
        self.image = layout["images"][layer["input"]]
        self.activations = files.tensor(self.image["file"], self.image["place"]).ravel()
        self.zero_points = files.lanes(layer["zero_points"])
        self.order = files.lanes(layer["order"])
        self.folds = self.arithmetic["zero_point"] == "fold"
        (kind, self.weights), = layer["weights"].items()
        self.constant = kind == "constant"
        if self.constant:
            self.codes = files.tensor(self.weights["file"], self.weights["place"])
        else:
            second = layout["images"][self.weights["image"]]
            self.weights_place = second["place"]
            self.codes = files.tensor(second["file"], second["place"]).ravel()

    def cell(self, k):
        _, cols, channels = self.window["kernel"]
        cell = int(self.order[k])
        return cell // (cols * channels), cell // channels % cols, cell % channels

    def taps(self, k):
        """Returns the indices of the activations in their tensor, and where they are padding."""
        w, (i, j, channel) = self.window, self.cell(k)
        rows, cols, channels = w["input"]
        row = self.h * w["stride"][0] + i * w["dilation"][0] - w["pad"][0]
        col = self.w * w["stride"][1] + j * w["dilation"][1] - w["pad"][1]
        group = self.c // (w["output"][2] // w["groups"])
        outside = (row < 0) | (row >= rows) | (col < 0) | (col >= cols)
        index = ((self.n * rows + row) * cols + col) * channels + channel + w["kernel"][2] * group
        return np.where(outside, 0, index), outside

    def weight_index(self, k):
        """Returns the index of the weights: along four axes, or in their tensor."""
        i, j, channel = self.cell(k)
        if self.constant:
            return self.c, np.full_like(self.c, i), np.full_like(self.c, j), np.full_like(self.c, channel)
        by_output, by_row, by_col, by_input = self.weights["strides"]
        return np.array(self.weights["starts"])[self.n] + self.c * by_output + i * by_row + j * by_col + channel * by_input

    def operands(self, k):
        zero_point = self.layer["layer"]["input"]["zero_points"][0]
        index, outside = self.taps(k)
        codes, weights = self.activations[index], self.codes[self.weight_index(k)]
        if self.folds:
            return np.where(outside, zero_point, codes), weights
        return np.where(outside, 0, codes - zero_point), weights - self.zero_points[self.c]


class Level:
    """A serial level, for all outputs at a time."""

    def __init__(self, level, shape):
        self.level, self.each = level, level["check"] == "each_add"
        self.high, self.low = np.zeros(shape, bool), np.zeros(shape, bool)
        self.initial = np.zeros(shape, np.int64)
        self.restart()

    def restart(self):
        self.count, self.sum, self.stuck = 0, self.initial, np.zeros(self.initial.shape, bool)
        if self.each and self.initial.any():
            self.sum, high, low = fit(self.initial, self.level)
            self.stuck = (high | low) & (self.level["overflow"] == "sticky")

    def add(self, values, last):
        """Returns what is handed on if the run ends."""
        self.count += 1
        if not self.each:
            self.sum = self.sum + values
        else:
            added, high, low = fit(self.sum + values, self.level)
            self.high |= high & ~self.stuck
            self.low |= low & ~self.stuck
            self.sum = np.where(self.stuck, self.sum, added)
            self.stuck = self.stuck | ((high | low) & (self.level["overflow"] == "sticky"))
        if not last and self.count != self.level["terms"]:
            return None
        handed = self.sum
        if not self.each:
            handed, high, low = fit(self.sum, self.level)
            self.high |= high
            self.low |= low
        return dropped(handed, self.level["shift"], self.level["round"])

    def tree(self, values):
        each = self.each
        while len(values) > 1:
            pairs = []
            for left, right in zip(values[::2], values[1::2]):
                value = left + right
                if each:
                    value, high, low = fit(value, self.level)
                    self.high |= high
                    self.low |= low
                pairs.append(value)
            values = pairs + ([values[-1]] if len(values) % 2 else [])
        value = values[0]
        if not each:
            value, high, low = fit(value, self.level)
            self.high |= high
            self.low |= low
        return dropped(value, self.level["shift"], self.level["round"])


def run(layer, bias_words, ends):
    """Returns the delivered sums, the flags, and the last register after each of the numbers of products in `ends`."""
    arithmetic, shape = layer.arithmetic, layer.n.shape
    levels = [Level(level, shape) for level in arithmetic["levels"]]
    if arithmetic["bias"]["at"] == "preload":
        levels[-1].initial = bias_words
        levels[-1].restart()
    product = arithmetic["product"]
    terms, held, products = len(layer.order), {}, np.zeros(shape, bool)
    is_tree = arithmetic["levels"][0]["reduce"] == "tree"
    waiting, delivered = [], None
    for k in range(terms):
        a, w = layer.operands(k)
        value, high, low = fit(a * w, product)
        products |= high | low
        value, last = dropped(value, product["shift"], product["round"]), k + 1 == terms
        values, index = value, 0
        if is_tree:
            waiting.append(value)
            if not last and len(waiting) != arithmetic["levels"][0]["terms"]:
                continue
            values, waiting, index = levels[0].tree(waiting), [], 1
        ended = []
        while values is not None and index < len(levels):
            values = levels[index].add(values, last)
            if values is not None:
                ended.append(index)
            index += 1
        if k + 1 in ends:
            register = levels[-1]
            bits = arithmetic["levels"][-1]["acc_bits"]
            held[k + 1] = (register.sum & ((1 << bits) - 1)) + (register.stuck.astype(np.int64) << bits)
        for index in ended:
            if index + 1 < len(levels):
                levels[index].restart()
        if values is not None and last:
            delivered = values
    flags = sum((level.high.astype(np.int64) << 2 * i) + (level.low.astype(np.int64) << 2 * i + 1) for i, level in enumerate(levels))
    return delivered, flags + (products.astype(np.int64) << 2 * len(levels)), held


def bias_words(layer):
    """Returns the bias of every output in the unit of its place."""
    bias = layer.arithmetic["bias"]
    at_one = layer.files.lanes(layer.layer["bias"])[layer.c]
    if layer.folds:
        pairs = [layer.operands(k) for k in range(len(layer.order))]
        at_one = at_one - layer.zero_points[layer.c] * sum(a for a, _ in pairs)
        if layer.layer["layer"].get("two_activations", False):
            at_one = at_one - layer.layer["layer"]["input"]["zero_points"][0] * sum(w for _, w in pairs)
    return at_one, dropped(at_one, bias["unit_shift"], bias["unit_round"])


def codes(layer, sums, at_one, words):
    bias, requantize = layer.arithmetic["bias"], layer.arithmetic["requantize"]
    mult, exp = (layer.files.lanes(layer.layer[name]) for name in ("mult", "exp"))
    biased = fit(sums + words, bias)[0] if bias["at"] == "post" else sums
    scheme, z, found = requantize["scheme"], requantize["zero_point"], []
    for x, c, b in zip(biased.ravel(), layer.c.ravel(), at_one.ravel()):
        real = float(mult[c]) * 2.0 ** float(exp[c] - requantize["mult_point"])
        code = scaled(scheme, int(x), real, z)
        if bias["at"] == "post_requantize":
            own = scaled(scheme, int(b), real / 2.0 ** requantize["unit_shift"], 0)
            code += int(fit(np.array(own), bias)[0])
        found.append(min(max(int(code), requantize["clamp_min"]), requantize["clamp_max"]))
    return np.array(found).reshape(sums.shape)


def place_of(layer, pixels, channels):
    """Returns [image, row, column, channel] of pixels and channels of a tile."""
    _, cols, outs = layer.window["output"]
    rows = layer.window["output"][0]
    pixel, channel = np.meshgrid(np.arange(*pixels), np.arange(*channels), indexing="ij")
    row, col = pixel // cols % rows, pixel % cols
    if layer.layer["layer"].get("two_activations", False):
        return channel // outs, row, col, channel % outs
    return pixel // (rows * cols), row, col, channel


def tiles(layer, output, held, check):
    """Checks that tiles hold every product of every output once and in order, and their words."""
    name, info = layer.layer["folder"], layer.layer
    done = np.zeros(layer.n.shape, np.int64)
    spill = layer.files.lanes(info["spill"]) if info["spill"] else []
    weights_place = layer.weights["place"] if layer.constant else layer.weights_place
    taps = [layer.taps(k) for k in range(len(layer.order))]
    weight_index = [layer.weight_index(k) for k in range(len(layer.order))]
    positions = lambda place, index: np.unravel_index(index, place["shape"])
    for number, tile in enumerate(info["tiles"]):
        what = f"{name} tile {number}"
        at = place_of(layer, tile["pixels"], tile["channels"])
        first, end = tile["terms"]
        check.same(f"{what} terms", True, bool((done[at] == first).all()))
        done[at] = end
        words = element(output["place"], at) // output["place"]["lanes"]
        finished = end == len(layer.order)
        check.same(f"{what} writes", [int(words.min()), int(words.max())] if finished else None, tile["writes"])
        reads, weights = [], []
        for k in range(first, end):
            index, outside = taps[k]
            inside = index[at][~outside[at]]
            reads.append(element(layer.image["place"], positions(layer.image["place"], inside)) // layer.image["place"]["lanes"])
            index = weight_index[k]
            axes = [axis[at] for axis in index] if layer.constant else positions(weights_place, index[at])
            weights.append(element(weights_place, axes) // weights_place["lanes"])
        reads, weights = np.concatenate([read.ravel() for read in reads]), np.concatenate([each.ravel() for each in weights])
        check.same(f"{what} reads", [int(reads.min()), int(reads.max())] if len(reads) else None, tile["reads"])
        check.same(f"{what} weights", [int(weights.min()), int(weights.max())], tile["weights"])
        if tile["spill"] is not None:
            expected = held[end][at].ravel()
            for offset, value in enumerate(expected):
                check.same(f"{what} spill {offset}", int(value), int(spill[tile["spill"] + offset]))
    check.same(f"{name} products", True, bool(not info["tiles"] or (done == len(layer.order)).all()))


def recheck(folder, check):
    layout = json.loads((folder / "layout.json").read_text())
    assert layout["schema"] == 1
    files = Files(folder, layout)
    for info in layout["layers"]:
        layer, output = Layer(files, layout, info), layout["images"][info["output"]]
        ends = {tile["terms"][1] for tile in info["tiles"] if tile["spill"] is not None}
        at_one, words = bias_words(layer)
        sums, flags, held = run(layer, words, ends)
        found = codes(layer, sums, at_one, words)
        # The bias has the top bit, which is not recomputed.
        mask = (1 << 2 * len(info["arithmetic"]["levels"]) + 1) - 1
        files_of = [("sum", sums, info["sums"]), ("code", found, output["file"]), ("overflow", flags & mask, info["overflow"])]
        for what, values, path in files_of:
            expected = files.tensor(path, output["place"]).ravel()
            expected = expected & mask if what == "overflow" else expected
            for index, (one, other) in enumerate(zip(values.ravel(), expected)):
                check.same(f"{info['folder']} {what} {index}", int(one), int(other))
        tiles(layer, output, held, check)
    # A word of an image that differs, differs in the memory as well.
    if not check.differ:
        recheck_dram(folder, layout)


def recheck_dram(folder, layout):
    """Compares the regions of the memory with the words of their files."""
    dram = layout["dram"]
    lines = (folder / dram["file"]).read_text().split()
    memory = b"".join(int(line, 16).to_bytes(dram["word_bytes"], "little") for line in lines)
    assert len(memory) == dram["bytes"]
    end = 0
    for region in dram["regions"]:
        size, start = region["word_bytes"], region["address"]
        assert start >= end and start % dram["alignment"] == 0 and not any(memory[end:start])
        end = start + size * region["words"]
        words = [int(line, 16) if region["is_given"] else 0 for line in (folder / region["file"]).read_text().split()]
        assert memory[start:end] == b"".join(word.to_bytes(size, "little") for word in words), region["file"]
    placed = {region["file"] for region in dram["regions"]} | set(dram["on_chip"])
    assert placed >= {image["file"] for image in layout["images"]}


def main():
    passed = True
    for name in sys.argv[1:]:
        check = Recheck()
        recheck(Path(name), check)
        print(f"{Path(name).name}: {check.checked} values recomputed, {check.differ} differ")
        print("\n".join(check.first), end="\n" if check.first else "")
        passed = passed and check.differ == 0
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
