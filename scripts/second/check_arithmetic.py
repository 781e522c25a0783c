"""Recomputes random networks on random datapaths by the rules of docs/reference/arithmetic.md and of the two pages that it refers to.

A network has two fully connected layers, the second of which reads the first, or the product of the outputs of two layers.

    python scripts/second/check_arithmetic.py GUARDBIT [--cases N] [--seed S]

GUARDBIT is the program to check. Every code, event and count that `guardbit run` writes is compared with the model
below. The model uses only Python's integers; NumPy only reads and writes files. Exit code 1 if anything differs.
"""

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np

from arithmetic_orders import DATA_WALKS, arranged, random_bits, static_order

MODES = ["wrap", "saturate", "saturate_symmetric", "saturate_zero", "sticky", "observe"]
FIXED = ["floor", "toward_zero", "half_up", "half_down", "half_away", "half_to_zero", "half_even", "half_odd"]
ROUNDINGS = [*FIXED, "stochastic", "stochastic"]
WALKS = ["forward", "reverse", "stride", "random", "file", *DATA_WALKS]
# Ties of the schemes; for a multiplier that is a power of two, this is their only difference.
SCHEMES = {"single": "half_up", "away": "half_away", "even": "half_even", "float64_away": "half_away"}
ACTIVATIONS = {"none": (None, None), "relu": (0, None), "relu6": (0, 6), "relu_n1_to_1": (-1, 1)}
DTYPES = {"int8": (-128, 127), "uint8": (0, 255)}


def rounded(value, shift, rounding):
    """Returns `value / 2^shift`, rounded."""
    exact = value / Fraction(2) ** shift
    down = floor(exact)
    rest = exact - down
    if rest == 0:
        return down
    up = {
        "floor": False,
        "toward_zero": value < 0,
        "half_up": True,
        "half_down": False,
        "half_away": value > 0,
        "half_to_zero": value < 0,
        "half_even": down % 2 == 1,
        "half_odd": down % 2 == 0,
    }[rounding]
    if rounding not in ("floor", "toward_zero") and rest != Fraction(1, 2):
        up = rest > Fraction(1, 2)
    return down + up


class Register:
    """Register with a width and an overflow mode; `bits` is None for auto."""

    def __init__(self, bits=None, overflow="saturate", signed=True):
        self.bits, self.overflow, self.signed = bits, overflow, signed
        if bits is not None:
            half = 2 ** (bits - 1)
            self.low, self.high = (-half, half - 1) if signed else (0, 2 * half - 1)
            self.rails = (1 - half, half - 1) if signed and overflow == "saturate_symmetric" else (self.low, self.high)

    def holds(self, value):
        return self.bits is None or self.low <= value <= self.high

    def fit(self, exact):
        """Returns the held value, and 1 or -1 if the exact value is above or below the rails."""
        if self.bits is None or self.rails[0] <= exact <= self.rails[1]:
            return exact, 0
        side = 1 if exact > self.rails[1] else -1
        if self.overflow == "wrap":
            return (exact - self.low) % 2**self.bits + self.low, side
        if self.overflow == "saturate_zero":
            return 0, side
        if self.overflow == "observe":
            return exact, side
        assert self.overflow in ("saturate", "saturate_symmetric", "sticky"), self.overflow
        return self.rails[side > 0], side

    def yaml(self):
        if self.bits is None:
            return {"bits": "auto"}
        return {"bits": self.bits, "overflow": self.overflow, "signed": self.signed}


def required(value, signed):
    if not signed:
        return 65 if value < 0 else max(1, value.bit_length())
    return (~value if value < 0 else value).bit_length() + 1


class Dot:
    """Result of one dot product at one level."""

    def __init__(self):
        self.adds, self.events, self.prefixes, self.finals = 0, [], [0], [0]


def dropped(stage, value, bits):
    """Returns the result of a stage's shift; `bits(seed, shift)` returns a random number."""
    if stage["round"] != "stochastic" or stage["shift"] == 0:
        return rounded(value, stage["shift"], stage["round"])
    return value + bits(stage["seed"], stage["shift"]) >> stage["shift"]


def reduce_level(level, values, start, bits):
    """Reduces `values`, which are (held, unbounded, last k); `bits(seed, shift, run)` returns a random number. Returns the
    results of the
    runs, the statistics, and the events of a preloaded bias."""
    seen, biased, out = Dot(), [], []
    register, each = level["register"], level["check"] == "each_add"
    length = level["terms"] or max(1, len(values))
    for run, first in enumerate(range(0, len(values), length)):
        part = values[first : first + length]

        def add(left, right, k):
            exact = left + right
            held, side = register.fit(exact) if each else (exact, 0)
            if side:
                seen.events.append((run, k, left, right, held, side))
            return held, side

        if level["reduce"] == "serial":
            held, unbounded, stuck = start or 0, start or 0, False
            if each:
                seen.prefixes.append(unbounded)
                if start is not None:
                    held, side = register.fit(start)
                    if side:
                        biased.append((run, 0, 0, start, held, side))
                    stuck = side != 0 and register.overflow == "sticky"
            for value, exact, k in part:
                if not stuck:
                    held, side = add(held, value, k)
                    stuck = side != 0 and register.overflow == "sticky"
                unbounded += exact
                seen.adds += 1
                if each:
                    seen.prefixes.append(unbounded)
        else:
            assert level["reduce"] == "tree", level["reduce"]
            nodes = part
            while len(nodes) > 1:
                paired = []
                for i in range(0, len(nodes) - 1, 2):
                    (a, exact_a, _), (b, exact_b, k) = nodes[i], nodes[i + 1]
                    paired.append((add(a, b, k)[0], exact_a + exact_b, k))
                    seen.adds += 1
                    if each:
                        seen.prefixes.append(exact_a + exact_b)
                nodes = paired + (nodes[-1:] if len(nodes) % 2 else [])
            held, unbounded, _ = nodes[0]
        last_k = part[-1][2]
        seen.finals.append(unbounded)
        seen.prefixes.append(unbounded)
        if not each:
            exact = held
            held, side = register.fit(exact)
            if side:
                seen.events.append((run, last_k, exact, 0, held, side))
        shift = lambda value: dropped(level, value, lambda seed, shift: bits(seed, shift, run))
        out.append((shift(held), shift(unbounded), last_k))
    return out, seen, biased


def random_code(rng):
    """Returns any int8 code, half of the time the minimum or the maximum."""
    return rng.choice([rng.randint(-128, 127), rng.choice([-128, 127])])


class Layer:
    """Layer with weights `[units][k]` of scale 1 and one zero point; the output's scale is `2^scale` times the input's."""

    def __init__(self, rng, terms, units, source):
        self.terms, self.units, self.source = terms, units, source
        self.dtype = rng.choice(["int8", "int8", "uint8"])
        self.weight_zero = rng.choice([0, 0, rng.randint(-128, 127)])
        self.weights = [[random_code(rng) for _ in range(terms)] for _ in range(units)]
        self.bias = [rng.randint(-9000, 9000) for _ in range(units)] if rng.random() < 0.6 else None
        low, high = DTYPES[self.dtype]
        self.zero = rng.choice([rng.choice([low, high, 0]), rng.randint(low, high)])
        self.scale = rng.randint(5, 9)
        self.real_scale = self.scale + source.real_scale
        self.activation = rng.choice([*ACTIVATIONS, "none", "none"])

    def dots(self, made):
        """Returns index of the output, place `(image, column, channel)`, activations and weights of every dot product;
        `made` has the
        codes of all tensors of a run."""
        x = made[self.source]
        return [(unit, (0, 0, unit), x, self.weights[unit]) for unit in range(self.units)]

    def finish(self, path, total, bias_scaled):
        """Converts a sum at unit 1 and a bias on its own (or None) to a code."""
        ties = SCHEMES[path["scheme"]]
        code = rounded(total, self.scale, ties) + bias_scaled + self.zero
        low, high = DTYPES[self.dtype]
        bound = lambda real: min(max(self.zero + rounded(real, self.real_scale, "half_away"), low), high)
        below, above = (None if real is None else bound(real) for real in ACTIVATIONS[self.activation])
        if below is not None:
            code = max(code, below)
        if above is not None:
            code = min(code, above)
        if path["output"] == "wrap":
            return (code - low) % 256 + low
        return min(max(code, low), high)

    def constants(self, path, unit):
        """Returns the bias plus the constants of folded zero points, or None."""
        zx, zw = self.source.zero, self.weight_zero
        if path["zero_point"] == "subtract" or zx == 0:
            return None if self.bias is None else self.bias[unit]
        own = 0 if self.bias is None else self.bias[unit]
        return own - zx * self.constant_sum(unit) + self.terms * zx * zw

    def constant_sum(self, unit):
        """Returns the sum of the constant weights."""
        return sum(self.weights[unit])

    def sides(self, x, w):
        """Returns factors and sums of the operands that are not constant, under fold."""
        return [(-self.weight_zero, sum(x))]

    def exact(self, path, x, w, unit):
        """Returns the code of the exact sum of these activations and weights."""
        zx, zw = self.source.zero, self.weight_zero
        total = sum((a - zx) * (b - zw) for a, b in zip(x, w, strict=True))
        own = 0 if self.bias is None else self.bias[unit]
        if path["at"] != "post_requantize":
            return self.finish(path, total + own, 0)
        bias = self.constants(path, unit) or 0
        return self.finish(path, total + own - bias, rounded(bias, self.scale, SCHEMES[path["scheme"]]))

    def narrow(self, path, x, weights, unit, place):
        """Returns the narrow result; `place` has the layer, its node, the sample and the output."""
        folds = path["zero_point"] == "fold"
        zx, zw = (0, 0) if folds else (self.source.zero, self.weight_zero)
        order = static_order(path["walk"], self.terms, path["permutations"][place[0]])
        pairs = [(x[k] - zx, weights[k] - zw) for k in order]
        sides = self.sides(x, weights) if folds else []
        side = sum(factor * total for factor, total in sides)
        has_side = any(factor for factor, _ in sides)
        bias, at = self.constants(path, unit), path["at"]
        if path["walk"][0] in DATA_WALKS:
            start = bias or 0 if at == "preload" else 0
            pairs = [pairs[k] for k in arranged(path["walk"][0], [a * w for a, w in pairs], start)]
        bits = lambda seed, stage, shift, number: random_bits(seed, *place[1:], stage, shift, number)

        product = path["product"]
        values, product_events = [], []
        run_length = path["levels"][0]["terms"] or max(1, len(pairs))
        for k, (a, w) in enumerate(pairs):
            held, side_of_rail = product["register"].fit(a * w)
            if side_of_rail:
                product_events.append((k // run_length, k, 0, a * w, held, side_of_rail))
            shift = lambda value: dropped(product, value, lambda seed, shift: bits(seed, 0, shift, k))
            values.append((shift(held), shift(a * w), k))

        stages = [product, *path["levels"]]

        def to_unit(value, count):
            """Converts `value` to the unit after the first `count` stages."""
            shifting = [stage for stage in stages[:count] if stage["shift"]]
            if not shifting:
                return value
            rounding = shifting[-1]["round"]
            rounding = "half_even" if rounding == "stochastic" else rounding
            return rounded(value, sum(s["shift"] for s in shifting), rounding)

        start = to_unit(bias, len(stages) - 1) if at == "preload" and bias is not None else None
        seen, bias_events = [], []
        for index, level in enumerate(path["levels"]):
            last = index + 1 == len(path["levels"])
            of_level = lambda seed, shift, run: bits(seed, 1 + index, shift, run)
            values, dot, biased = reduce_level(level, values, start if last else None, of_level)
            seen.append(dot)
            bias_events += biased
        delivered = values[0][0]

        unit_shift = sum(stage["shift"] for stage in stages)
        total = sum(a * w for a, w in pairs) + (bias or 0 if at == "preload" else 0)
        error = delivered * 2**unit_shift - total
        end, scaled = delivered, 0

        def fit_bias(held, addend):
            stored, side_of_rail = path["bias"].fit(held + addend)
            if side_of_rail:
                bias_events.append((0, self.terms - 1, held, addend, stored, side_of_rail))
            return stored

        if at == "post" and (bias is not None or has_side):
            end = fit_bias(delivered, to_unit((bias or 0) + side, len(stages)))
        elif at != "post":
            end += to_unit(side, len(stages))
        if at == "post_requantize":
            scaled = fit_bias(0, rounded(bias or 0, self.scale, SCHEMES[path["scheme"]]))
        code = self.finish(path, end * 2**unit_shift, scaled)
        return code, error, seen, product_events, bias_events


class Product(Layer):
    """Product of `[images, rows, k]` and `[images, k, units]`, both computed by other layers."""

    def __init__(self, rng, left, right, shape):
        self.images, self.rows, self.terms, self.units = shape
        self.source, self.right = left, right
        self.bias, self.activation, self.weight_zero = None, "none", right.zero
        self.adj = [rng.random() < 0.5, rng.random() < 0.5]
        self.dtype = rng.choice(["int8", "uint8"])
        low, high = DTYPES[self.dtype]
        self.zero = rng.randint(low, high)
        self.scale = rng.randint(5, 9)
        self.real_scale = self.scale + left.real_scale + right.real_scale

    def shapes(self):
        """Returns the shapes of both operands as stored."""
        pairs = [self.rows, self.terms], [self.terms, self.units]
        return [[self.images, *(reversed(pair) if adj else pair)] for pair, adj in zip(pairs, self.adj)]

    def dots(self, made):
        stored = [np.array(made[of]).reshape(shape) for of, shape in zip((self.source, self.right), self.shapes())]
        left, right = (codes.swapaxes(1, 2) if adj else codes for codes, adj in zip(stored, self.adj))
        places = [(n, w, c) for n in range(self.images) for w in range(self.rows) for c in range(self.units)]
        return [(i, at, left[at[0], at[1]].tolist(), right[at[0], :, at[2]].tolist()) for i, at in enumerate(places)]

    def constant_sum(self, unit):
        return 0

    def sides(self, x, w):
        return [(-self.weight_zero, sum(x)), (-self.source.zero, sum(w))]


class Source:
    """Input of the first layer."""

    real_scale = -12

    def __init__(self, rng):
        self.zero = rng.choice([0, rng.randint(-128, 127)])


def random_register(rng, least, most, auto=0.15):
    if rng.random() < auto:
        return Register()
    return Register(rng.randint(least, most), rng.choice(MODES), rng.random() < 0.85)


def random_path(rng):
    levels = []
    count = rng.randint(1, 3)
    for index in range(count):
        last = index + 1 == count
        levels.append({
            "name": f"level{index}",
            "reduce": rng.choice(["serial", "tree"]),
            "terms": None if last else rng.randint(1, 9),
            "register": random_register(rng, 8, 22),
            "check": rng.choice(["each_add", "each_add", "hand_over"]),
            "shift": rng.choice([0, 0, 1, 2, 3]),
            "round": rng.choice(ROUNDINGS),
            "seed": rng.randrange(2**31),
        })
    at = rng.choice(["post", "preload", "post_requantize"])
    if at == "preload":
        levels[-1]["reduce"] = "serial"
    return {
        "zero_point": rng.choice(["subtract", "fold"]),
        "walk": (rng.choice(WALKS), rng.randint(1, 6)),
        "product": {
            "register": random_register(rng, 10, 18, auto=0.6),
            "shift": rng.choice([0, 0, 1, 2, 4]),
            "round": rng.choice(ROUNDINGS),
            "seed": rng.randrange(2**31),
        },
        "levels": levels,
        "at": at,
        "bias": random_register(rng, 8, 24),
        "scheme": rng.choice(list(SCHEMES)),
        "output": rng.choice(["saturate", "saturate", "wrap"]),
    }


def accelerator(path):
    """Returns the text of the accelerator's file; JSON is valid YAML."""
    kind, number = path["walk"]
    key = {"stride": {"stride": number}, "random": {"seed": number}, "file": {"file": "order.json"}}
    seed = lambda stage: {"seed": stage["seed"]} if stage["round"] == "stochastic" else {}
    level = lambda l: {
        "name": l["name"], "reduce": l["reduce"], "terms": l["terms"] or "all", "check": l["check"],
        "shift": l["shift"], "round": l["round"], **seed(l), **l["register"].yaml(),
    }
    bias = path["bias"].yaml()
    bias.pop("signed", None)
    path["bias"] = Register(path["bias"].bits, path["bias"].overflow)
    return json.dumps({
        "schema": 1,
        "name": "random",
        "operands": {"zero_point": path["zero_point"]},
        "reduction_order": {"axes": ["kh", "kw", "ic"], "walk": kind, **key.get(kind, {})},
        "product": {
            "shift": path["product"]["shift"], "round": path["product"]["round"], **seed(path["product"]),
            **path["product"]["register"].yaml(),
        },
        "accumulation": [level(l) for l in path["levels"]],
        "bias": {"at": path["at"]} if path["at"] == "preload" else {"at": path["at"], **bias},
        "requantize": {"scheme": path["scheme"], "output": path["output"]},
    })


def network(layers):
    constants, nodes = [], []
    output = lambda i, name: {
        "name": name, "dtype": layers[i].dtype, "scale": 2.0**layers[i].real_scale, "zero_point": layers[i].zero,
    }
    for i, layer in enumerate(layers):
        if isinstance(layer, Product):
            for j, shape in enumerate(layer.shapes()):
                nodes.append({"op": "reshape", "inputs": [f"y{j}"], "shape": shape, "output": output(j, f"m{j}")})
            adj_x, adj_y = layer.adj
            op = {"op": "batch_matmul", "inputs": ["m0", "m1"], "adj_x": adj_x, "adj_y": adj_y}
            nodes.append({**op, "output": output(i, f"y{i}")})
            continue
        codes = [w for row in layer.weights for w in row]
        constants.append({
            "name": f"w{i}", "shape": [layer.units, layer.terms], "dtype": "int8", "scale": 1.0,
            "zero_point": layer.weight_zero, "values": codes,
        })
        inputs = ["x" if layer.source not in layers else f"y{layers.index(layer.source)}", f"w{i}"]
        if layer.bias is not None:
            constants.append({"name": f"b{i}", "shape": [layer.units], "dtype": "int32", "values": layer.bias})
            inputs.append(f"b{i}")
        nodes.append({
            "op": "fully_connected", "inputs": inputs, "activation": layer.activation,
            "output": output(i, f"y{i}"),
        })
    source = layers[0].source
    first = {
        "name": "x", "shape": [1, layers[0].terms], "dtype": "int8", "scale": 2.0**source.real_scale,
        "zero_point": source.zero,
    }
    return json.dumps({
        "schema": 1, "name": "random", "inputs": [first], "constants": constants, "nodes": nodes,
        "outputs": [f"y{i}" for i in range(len(layers))],
    })


def expected(path, layers, samples):
    """Returns the codes of both runs, and the rows of `layers.csv` and `events.csv`."""
    codes = {f"{run}/y{i}": [] for run in ("exact", "simulated") for i in range(len(layers))}
    rows = [[{} for _ in path["levels"]] for _ in layers]
    events = set()
    add = lambda row, key, value: row.__setitem__(key, row.get(key, 0) + value)
    widen = lambda row, key, value: row.__setitem__(key, max(row.get(key, value), value))
    for sample, x in enumerate(samples):
        right, made = {layers[0].source: list(x)}, {layers[0].source: list(x)}
        for i, layer in enumerate(layers):
            exact, simulated = [], []
            # The product is node 4, after two reshapes.
            node = 4 if isinstance(layer, Product) else i
            for of_exact, (index, place, operands, weights) in zip(layer.dots(right), layer.dots(made)):
                unit = place[-1]
                at = (i, node, sample, index)
                code, error, seen, product_events, bias_events = layer.narrow(path, operands, weights, unit, at)
                exact.append(layer.exact(path, *of_exact[2:], unit))
                simulated.append(code)
                own = layer.exact(path, operands, weights, unit)
                last = rows[i][-1]
                for key, value in {
                    "wrong": error != 0, "harmless": error != 0 and own == code, "sum_abs_err": abs(error),
                    "output_mismatch": exact[-1] != code, "product_events": len(product_events),
                    "bias_events": len(bias_events),
                }.items():
                    add(last, key, int(value))
                widen(last, "max_abs_err", abs(error))
                levels = [(level["name"], dot.events) for level, dot in zip(path["levels"], seen)]
                for name, listed in [*levels, ("product", product_events), ("bias", bias_events)]:
                    for run, k, held, addend, stored, side in listed:
                        direction = "high" if side > 0 else "low"
                        numbers = (run, k, held, addend, held + addend, stored)
                        events.add((sample, node, name, *place, *numbers, direction))
                for row, level, dot in zip(rows[i], path["levels"], seen):
                    register = level["register"]
                    persistent = not all(map(register.holds, dot.finals))
                    prefix = not all(map(register.holds, dot.prefixes))
                    for key, value in {
                        "dots": 1, "adds": dot.adds, "events": len(dot.events),
                        "events_high": sum(side > 0 for *_, side in dot.events),
                        "events_low": sum(side < 0 for *_, side in dot.events),
                        "outputs_touched": bool(dot.events), "persistent": persistent,
                        "transient": prefix and not persistent,
                    }.items():
                        add(row, key, int(value))
                    row["min_prefix"] = min(row.get("min_prefix", 0), *dot.prefixes)
                    widen(row, "max_prefix", max(dot.prefixes))
                    for key, sums in (("required_final", dot.finals), ("required_prefix", dot.prefixes)):
                        signed = register.signed or register.bits is None
                        widen(row, key, max(required(value, signed) for value in sums))
            codes[f"exact/y{i}"].append(exact)
            codes[f"simulated/y{i}"].append(simulated)
            right[layer], made[layer] = exact, simulated
    return codes, rows, events


def check(guardbit, rng, folder):
    """Returns the differences of one random case."""
    source = Source(rng)
    terms, units = rng.randint(1, 40), rng.randint(1, 5)
    if rng.random() < 0.5:
        first = Layer(rng, terms, units, source)
        layers = [first, Layer(rng, units, rng.randint(1, 4), first)]
    else:
        shape = images, rows, depth, units = [rng.randint(1, most) for most in (2, 3, 20, 3)]
        layers = [Layer(rng, terms, images * depth * of, source) for of in (rows, units)]
        layers.append(Product(rng, *layers, shape))
    path = random_path(rng)
    path["permutations"] = [rng.sample(range(layer.terms), layer.terms) for layer in layers]
    # The last layer by its length if it is the only one of that length, the others by name.
    by_length = [layer.terms for layer in layers].count(layers[-1].terms) == 1
    last = str(layers[-1].terms) if by_length else f"y{len(layers) - 1}"
    given = {f"y{i}": order for i, order in enumerate(path["permutations"][:-1])}
    given[last] = path["permutations"][-1]
    (folder / "order.json").write_text(json.dumps(given))
    samples = [[random_code(rng) for _ in range(terms)] for _ in range(3)]
    (folder / "hw.yaml").write_text(accelerator(path))
    (folder / "net.yaml").write_text(network(layers))
    np.save(folder / "x.npy", np.array(samples, np.int8))
    out = folder / "out"
    command = [guardbit, "--quiet", "run", "net.yaml", "--hw", "hw.yaml", "--input", "x.npy", "--events", "100000"]
    ran = subprocess.run([*command, "-o", "out"], cwd=folder, capture_output=True, text=True)
    if ran.returncode != 0:
        return [ran.stderr], 0
    codes, rows, events = expected(path, layers, samples)
    different, values = [], 0
    archive = np.load(out / "outputs.npz")
    for name, value in codes.items():
        found = archive[name].reshape(len(samples), -1).tolist()
        values += sum(map(len, value))
        if found != value:
            different.append(f"{name}: {found}, expected {value}")
    with open(out / "layers.csv") as file:
        table = list(csv.DictReader(file))
    for found, row in zip(table, [row for layer in rows for row in layer], strict=True):
        for key, value in row.items():
            values += 1
            if found[key] != str(value):
                different.append(f"{found['layer']} {found['level']} {key}: {found[key]}, expected {value}")
    with open(out / "events.csv") as file:
        numbers = ["sample", "index", "out_n", "out_w", "out_c", "run", "k", "held", "addend", "exact", "stored"]
        listed = [{k: int(v) if k in numbers else v for k, v in row.items()} for row in csv.DictReader(file)]
    keys = ["sample", "index", "level", *numbers[2:], "direction"]
    found = {tuple(row[key] for key in keys) for row in listed}
    values += len(events)
    different += [f"event {event} is missing" for event in sorted(events - found)[:3]]
    different += [f"event {event} is too many" for event in sorted(found - events)[:3]]
    if different:
        different.insert(0, (folder / "hw.yaml").read_text())
    return different, values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("guardbit", type=Path)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    total, failed = 0, 0
    for case in range(args.cases):
        with tempfile.TemporaryDirectory() as folder:
            different, values = check(args.guardbit.resolve(), random.Random(f"{args.seed} {case}"), Path(folder))
        total += values
        if different:
            failed += 1
            print(f"case {case}:", *different[:8], sep="\n  ")
    print(f"{args.cases} random datapaths, {total} values compared, {failed} cases differ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
