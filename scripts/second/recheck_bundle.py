#!/usr/bin/env python3
"""Recomputes every expected value of bundles of test vectors: recheck_bundle.py DIR...

Written only from docs/reference/bundle-format.md and docs/reference/bundle-array.md; shares no code with guardbit. Needs NumPy. Reads every
format of a bundle, and all must agree. Exit code 1 if a value differs.
"""

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

SHOWN = 10


class Recheck:
    """Counts the comparisons and keeps the first differences."""

    def __init__(self):
        self.checked, self.differ, self.first = 0, 0, []

    def same(self, what, expected, found):
        self.checked += 1
        if expected != found:
            self.differ += 1
            if len(self.first) < SHOWN:
                self.first.append(f"{what}: recomputed {expected}, the bundle has {found}")


# Words and values (section 1)


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


class Column:
    """Values of a data file: `[word][lane]`."""

    def __init__(self, info, values):
        self.info, self.values = info, values

    def one(self, word):
        return self.values[word][0]

    def __len__(self):
        return len(self.values)


def from_hex(info, lines):
    slot, bits = info["slot_bits"], info["lane_bits"]
    words = []
    for line in lines:
        word = int(line, 16)
        assert word >> info["bits"] == 0, f"{info['path']}: unused top bits are not 0"
        lanes = [word >> lane * slot & (1 << slot) - 1 for lane in range(info["lanes"])]
        if info["signed"]:
            lanes = [signed(lane, slot) for lane in lanes]
            assert all(-(1 << bits - 1) <= lane < 1 << bits - 1 for lane in lanes), f"{info['path']}: no sign extension"
        words.append(lanes)
    return words


def from_bin(info, data):
    size, lanes = info["slot_bits"] // 8, info["lanes"]
    assert info["slot_bits"] == (info["lane_bits"] + 7) // 8 * 8, info["path"]
    assert len(data) == size * lanes * info["words"], f"{info['path']}: {len(data)} bytes"
    values = [int.from_bytes(data[at : at + size], "little", signed=info["signed"]) for at in range(0, len(data), size)]
    return [values[at : at + lanes] for at in range(0, len(values), lanes)]


def read(bundle, info):
    """Returns the values of a data file; None for one without values of its own."""
    path = bundle / info["path"]
    suffix = path.suffix[1:]
    if suffix == "mem":
        lines = path.read_text().split("\n")[:-1]
        assert all(len(line) == info["digits"] == (info["bits"] + 3) // 4 for line in lines), info["path"]
        return from_hex(info, lines)
    if suffix == "dec":
        return [[int(value) for value in line.split(" ")] for line in path.read_text().split("\n")[:-1]]
    if suffix == "npy":
        array = np.load(path)
        assert array.dtype == np.int64, info["path"]
        return array.reshape(info["words"], info["lanes"]).tolist()
    if suffix == "bin":
        return from_bin(info, path.read_bytes())
    if suffix == "coe":
        head, body = path.read_text().split("memory_initialization_vector=")
        assert head.strip() == "memory_initialization_radix=16;", info["path"]
        return from_hex(info, [word.strip(" ,;\n") for word in body.strip().rstrip(";").split(",\n")] if info["words"] else [])
    if suffix == "mif":
        lines = [line.split(" : ") for line in path.read_text().split("\n") if " : " in line]
        assert [int(at, 16) for at, _ in lines] == list(range(info["words"])), info["path"]
        return from_hex(info, [word.rstrip(";") for _, word in lines])
    return None


def columns(bundle, manifest, check):
    """Returns every data file by name, read in all existing formats."""
    found = {}
    for info in manifest["files"]:
        if info["words"] is None or info["path"].endswith(".axis"):
            continue
        values = read(bundle, info)
        name = info["path"].rsplit(".", 1)[0]
        check.same(f"words of {info['path']}", info["words"], len(values))
        if name in found:
            pairs = enumerate(zip(found[name].values, values))
            other = next(((at, *pair) for at, pair in pairs if pair[0] != pair[1]), None)
            place = "" if other is None else f" word {other[0]}: {other[2]}, another format has {other[1]}"
            check.same(f"{info['path']}:{place} formats agree", True, other is None)
        else:
            found[name] = Column(info, values)
    return found


# Fits and roundings (section 3)


def limits(stage):
    bits = stage["bits"]
    top = (1 << bits - 1) - 1 if stage["signed"] else (1 << bits) - 1
    if not stage["signed"]:
        return 0, top
    return (-top if stage["overflow"] == "saturate_symmetric" else -top - 1), top


def fit(value, stage):
    """Returns the fitted value, high and low."""
    if stage["bits"] is None:
        return value, False, False
    least, greatest = limits(stage)
    if least <= value <= greatest:
        return value, False, False
    high, mode = value > greatest, stage["overflow"]
    if mode == "wrap":
        value %= 1 << stage["bits"]
        value = signed(value, stage["bits"]) if stage["signed"] else value
    elif mode in ("saturate", "saturate_symmetric", "sticky"):
        value = greatest if high else least
    elif mode == "saturate_zero":
        value = 0
    else:
        assert mode in ("observe", "trap"), mode
    return value, high, not high


def drop(value, shift, rounding):
    if shift == 0:
        return value
    q = value >> shift
    rest, half = value - (q << shift), 1 << shift - 1
    if rounding == "floor":
        return q
    if rounding == "toward_zero":
        return q + (value < 0 and rest > 0)
    if rest != half:
        return q + (rest > half)
    ties = {
        "half_up": True,
        "half_down": False,
        "half_away": value >= 0,
        "half_to_zero": value < 0,
        "half_even": q % 2 == 1,
        "half_odd": q % 2 == 0,
    }
    return q + ties[rounding]


def passed_on(value, stage):
    return drop(value, stage["shift"], stage["round"])


# Levels (sections 3 and 4)


class Serial:
    def __init__(self, level):
        self.level, self.each = level, level["check"] == "each_add"
        self.count, self.sticky = 0, False

    def start(self, initial):
        self.count, self.sticky, self.stuck, self.sum = 0, False, False, 0
        if initial is not None:
            self.sum = initial
            if self.each:
                self.sum, high, low = fit(initial, self.level)
                self.stuck = self.level["overflow"] == "sticky" and (high or low)

    def add(self, value):
        """Adds a value; returns high and low of this addition."""
        self.count += 1
        if not self.each:
            self.sum += value
            return False, False
        if self.stuck:
            return False, False
        self.sum, high, low = fit(self.sum + value, self.level)
        self.stuck = self.level["overflow"] == "sticky" and (high or low)
        return high, low

    def end(self):
        """Ends a run; returns the value handed on, and high and low of the hand-over."""
        value, high, low = (self.sum, False, False) if self.each else fit(self.sum, self.level)
        return passed_on(value, self.level), high, low


def tree(level, values):
    """Returns the value handed on, high and low."""
    assert level["pairing"] == "adjacent"
    each, any_high, any_low = level["check"] == "each_add", False, False
    while len(values) > 1:
        pairs = []
        for left, right in zip(values[::2], values[1::2]):
            value, high, low = fit(left + right, level) if each else (left + right, False, False)
            any_high, any_low = any_high or high, any_low or low
            pairs.append(value)
        values = pairs + ([values[-1]] if len(values) % 2 else [])
    value = values[0]
    if not each:
        value, high, low = fit(value, level)
        any_high, any_low = any_high or high, any_low or low
    return passed_on(value, level), any_high, any_low


class Unit:
    """Levels of a dot product, beat by beat."""

    def __init__(self, arithmetic, initial=None):
        self.arithmetic, self.levels = arithmetic, arithmetic["levels"]
        self.initial = initial
        kinds = {"tree": lambda _: None, "serial": Serial}
        self.serial = [kinds[level["reduce"]](level) for level in self.levels]
        for index, _ in enumerate(self.levels):
            self.restart(index)

    def restart(self, index):
        if self.serial[index] is not None:
            self.serial[index].start(self.initial if index + 1 == len(self.levels) else None)

    def beat(self, operands, last):
        """Returns per level None or (register, high, low, sticky, run ends), and the delivered sum if the dot product ends.

        `last`: no values follow.
        """
        product = self.arithmetic["product"]
        values = [passed_on(fit(a * w, product)[0], product) for a, w in operands]
        shown = [None] * len(self.levels)
        for index, level in enumerate(self.levels):
            if not values:
                break
            if level["reduce"] == "tree":
                handed, high, low = tree(level, values)
                shown[index] = (handed, high, low, high or low, True)
                values = [handed]
                continue
            register = self.serial[index]
            assert len(values) == 1
            high, low = register.add(values[0])
            ends = last or register.count == level["terms"]
            values = []
            if ends:
                handed, leave_high, leave_low = register.end()
                high, low = high or leave_high, low or leave_low
                values = [handed]
            register.sticky = register.sticky or high or low
            shown[index] = (register.sum, high, low, register.sticky, ends)
            if ends:
                self.restart(index)
        return shown, (values[0] if last else None)


# Requantization (section 6)


def half_away(value):
    """Rounds a Fraction half away from zero."""
    whole = math.floor(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def multiplier_words(real, point, scheme=None):
    f, e = math.frexp(float(np.float32(real)) if scheme == "even" else real)
    if point == 53:
        return (int(math.ldexp(f, 53)), e) if e >= -64 and real else (0, 0)
    m = half_away(Fraction(f) * 2**31)
    if m == 1 << 31:
        m, e = 1 << 30, e + 1
    return (m, e) if e >= (-64 if scheme == "even" else -31) else (0, 0)


def float_even(value):
    return int(np.rint(value))


def scaled(scheme, x, real, z):
    m, e = multiplier_words(real, 31)
    f32 = np.float32
    if scheme == "double":
        y = signed((x << max(e, 0)) % (1 << 32), 32)
        h, r = (y * m + (1 << 30)) >> 31, max(-e, 0)
        return (h if r == 0 else (h + (1 << r - 1) - (h < 0)) >> r) + z
    if scheme in ("single", "away"):
        return drop(x * m, 31 - e, "half_up" if scheme == "single" else "half_away") + z
    if scheme == "even":
        return float_even(f32(x) * f32(real)) + z
    if scheme == "float32_upward":
        return int(np.floor(f32(x) * f32(real) + f32(z) + f32(0.5)))
    if scheme == "float64_upward":
        return math.floor(float(x) * real + float(z) + 0.5)
    if scheme == "float32_nearest":
        return half_away(Fraction(float(f32(x) * f32(real) + f32(z))))
    if scheme == "float64_nearest":
        return half_away(Fraction(float(x) * real + float(z)))
    if scheme == "float64_away":
        return half_away(Fraction(float(x) * real)) + z
    if scheme == "tosa_double":
        s = 31 - e
        d = 0 if s <= 31 else (1 << 30 if x >= 0 else -(1 << 30))
        return ((x * m + (1 << s - 1) + d) >> s) + z
    if scheme == "tosa_scale16":
        g, s = drop(m, 16, "half_away"), 15 - e
        if g == 1 << 15:
            g, s = 1 << 14, s - 1
        return drop(x * g << max(-s, 0), max(s, 0), "half_up") + z
    if scheme == "q48":
        g = (m + (1 << 15)) >> 16 if m < 0x7FFF0000 else 0x7FFF
        low = drop(x * g << max(e - 14, 0), 15 - min(e, 14), "half_up") % (1 << 32)
        return signed(low, 32) + z
    raise ValueError(scheme)


def output(arithmetic, case, total, stim_bias):
    bias, out = arithmetic["bias"], arithmetic["requantize"]
    real = case["multiplier"] * 2.0 ** out["unit_shift"]
    biased = fit(total + stim_bias, bias)[0] if bias["at"] == "post" else total
    code = scaled(out["scheme"], biased, real, out["zero_point"])
    if bias["at"] == "post_requantize":
        code += fit(scaled(out["scheme"], case["bias"] or 0, case["multiplier"], 0), bias)[0]
    return min(max(code, out["clamp_min"]), out["clamp_max"])


# The unit (sections 2 to 6)


class Cases:
    def __init__(self, manifest, data, check):
        self.manifest, self.data, self.check = manifest, data, check
        self.arithmetic, self.interface = manifest["arithmetic"], manifest["interface"]
        self.levels = self.arithmetic["levels"]
        self.registers = [0] * len(self.levels)
        self.wide, self.beat, self.word = 0, 0, 0

    def run(self):
        for index, case in enumerate(self.manifest["cases"]):
            self.check.same(f"first beat of {case['id']}", self.beat, case["first_beat"])
            self.case(index, case)
        names = ["ctrl", "stim_a", "stim_w", "exp_flags", "mask", "exp_wide"]
        for name in names + [f"exp_acc_{level['name']}" for level in self.levels]:
            self.check.same(f"words of {name}", self.beat, len(self.data[name]))
        for name in ("exp_sum", "exp_out"):
            self.check.same(f"words of {name}", self.word, len(self.data[name]))
        masks = [word[0] for word in self.data["mask"].values]
        ones = [sum(word >> level & 1 for word in masks) for level in range(len(self.levels))]
        found = self.manifest["compared"]
        self.check.same("compared acc", ones, found["acc"])
        self.check.same("compared sum", self.word, found["sum"])
        self.check.same("compared out", self.word if self.arithmetic["requantize"]["in_rtl"] else 0, found["out"])
        tiles = self.data["array/exp_mask"].values if self.manifest["array"] is not None else []
        self.check.same("compared array_sum", sum(map(sum, tiles)), found["array_sum"])
        for name in ("stim_bias", "stim_mult", "stim_exp"):
            self.check.same(f"words of {name}", len(self.manifest["cases"]), len(self.data[name]))

    def control(self, beat):
        """Returns valid, clear, run_last per level, and lanes in use."""
        word, count, lanes = self.data["ctrl"].one(beat), len(self.levels), self.interface["lanes"]
        bit = lambda at: bool(word >> at & 1)
        keep = [bit(2 + count + lane) for lane in range(lanes)]
        return bit(0), bit(1), [bit(2 + level) for level in range(count)], keep

    def operands(self, case):
        """Returns number, control and operands of every valid beat."""
        sent = []
        for beat in range(case["first_beat"], case["first_beat"] + case["beats"]):
            valid, clear, ends, keep = self.control(beat)
            if not valid:
                continue
            used = sum(keep)
            self.check.same(f"beat {beat}: lanes are used from 0 on", [i < used for i in range(len(keep))], keep)
            a, w = self.data["stim_a"].values[beat], self.data["stim_w"].values[beat]
            sent.append((beat, clear, ends, list(zip(a[:used], w[:used]))))
        return sent

    def case(self, index, case):
        check, bias, name = self.check, self.arithmetic["bias"], case["id"]
        sent = self.operands(case)
        cut = case["out_word"] is None
        every = [pair for *_, pairs in sent for pair in pairs]
        check.same(f"terms of {name}", case["terms"], len(every))
        stim_bias = (case["bias"] or 0) + case["input_sum_factor"] * sum(a for a, _ in every)
        stim_bias = drop(stim_bias, bias["unit_shift"], bias["unit_round"])
        check.same(f"stim_bias of {name}", stim_bias, self.data["stim_bias"].one(index))
        out = self.arithmetic["requantize"]
        words = multiplier_words(case["multiplier"] * 2.0 ** out["unit_shift"], out["mult_point"], out["scheme"])
        if case["group"] == "real" and words[0] != 0:
            check.same(f"{name}: exponent within the layer's", True, out["exp_min"] <= words[1] <= out["exp_max"])
        check.same(f"multiplier of {name}", words, (self.data["stim_mult"].one(index), self.data["stim_exp"].one(index)))

        preloaded = bias["at"] == "preload"
        unit = Unit(self.arithmetic, stim_bias if preloaded else None)
        self.wide = 0
        high, low = [0] * len(self.levels), [0] * len(self.levels)
        valid = {beat: rest for beat, *rest in sent}
        total = None
        for beat in range(case["first_beat"], case["first_beat"] + case["beats"]):
            shown, place = [None] * len(self.levels), f"{name}, beat {beat}"
            if beat in valid:
                clear, ends, pairs = valid[beat]
                first = beat == sent[0][0]
                check.same(f"{place}: clear", first, clear)
                last = not cut and beat == sent[-1][0]
                shown, delivered = unit.beat(pairs, last)
                total = delivered if last else total
                if first and preloaded:
                    self.wide = case["bias"] or 0
                self.wide += sum(a * w for a, w in pairs)
                for level, state in enumerate(shown):
                    if state is not None:
                        check.same(f"{place}: run_last of level {level}", state[4], ends[level])
            elif beat < sent[0][0]:
                # Before the first product, the state of the previous case is kept.
                self.wide = case["bias"] or 0 if preloaded else 0
            self.state(place, beat, shown, high, low)
        self.beat += case["beats"]
        expected = case["expected"]
        check.same(f"{name}: expected high", high, expected["high"])
        check.same(f"{name}: expected low", low, expected["low"])
        check.same(f"{name}: expected exact", self.wide, expected["exact"])
        if cut:
            check.same(f"{name}: nothing is delivered", (None, None), (expected["sum"], expected["code"]))
            return
        check.same(f"{name}: word", self.word, case["out_word"])
        check.same(f"{name}: exp_sum", total, self.data["exp_sum"].one(self.word))
        check.same(f"{name}: expected sum", total, expected["sum"])
        code = output(self.arithmetic, case, total, stim_bias)
        check.same(f"{name}: exp_out", code, self.data["exp_out"].one(self.word))
        check.same(f"{name}: expected code", code, expected["code"])
        self.word += 1

    def state(self, place, beat, shown, high, low):
        """Returns registers, mask, flags and exact sum after a beat."""
        check, mask, flags = self.check, 0, 0
        for index, (level, state) in enumerate(zip(self.levels, shown)):
            if state is not None:
                self.registers[index], is_high, is_low, sticky, _ = state
                mask |= 1 << index
                bits = (is_high or is_low, is_high, is_low, sticky)
                flags |= sum(1 << 4 * index + bit for bit, on in enumerate(bits) if on)
                high[index] += is_high
                low[index] += is_low
            found = self.data[f"exp_acc_{level['name']}"].one(beat)
            check.same(f"{place}: exp_acc_{level['name']}", self.registers[index], found)
        check.same(f"{place}: mask", mask, self.data["mask"].one(beat))
        check.same(f"{place}: exp_flags", flags, self.data["exp_flags"].one(beat))
        check.same(f"{place}: exp_wide", self.wide, self.data["exp_wide"].one(beat))


# The array (docs/reference/bundle-array.md)


def array_sum(arithmetic, operands):
    """Returns the delivered sum of the datapath, without bias."""
    unit = Unit(arithmetic)
    lanes = 1
    total = None
    for at in range(0, len(operands), lanes):
        _, total = unit.beat(operands[at : at + lanes], at + lanes >= len(operands))
    return total


def array(manifest, data, check):
    info, arithmetic = manifest["array"], manifest["arithmetic"]
    a, w = data["array/stim_a"].values, data["array/stim_w"].values
    sums, mask = data["array/exp_sum"].values, data["array/exp_mask"].values
    stays = info["dataflow"] == "output_stationary"
    check.same("array: order of words", "bottom_row_first" if stays else "pixels", info["word_order"])
    check.same("array: words of exp_sum", info["words"], len(sums))
    check.same("array: words of stim_a", info["beats"], len(a))
    covered = 0
    for tile in info["tiles"]:
        if tile["first_word"] is None:
            continue
        check.same("array: first word of a tile", covered, tile["first_word"])
        covered += tile["words"]
        is_real = tile["class"] == "real"
        same = [t for t in info["tiles"] if all(t[k] == tile[k] for k in ("group", "first_pixel", "first_channel"))]
        for line in range(tile["words"]):
            pixel = info["rows"] - 1 - line if stays else line
            for column in range(info["cols"]):
                at = f"array: word {tile['first_word'] + line}, column {column}"
                found = sums[tile["first_word"] + line][column]
                used = pixel < tile["pixels"] and column < tile["channels"]
                check.same(f"{at}: exp_mask", int(used), mask[tile["first_word"] + line][column])
                if not used:
                    check.same(f"{at}: not a sum", 0, found)
                    continue
                operands = []
                for t in [tile] if stays else same:
                    for k in range(t["terms"]):
                        beat = t["first_beat"]
                        activation = a[beat + k][pixel] if stays else a[beat + pixel][k]
                        weight = w[beat + k][column] if stays else w[beat - 1 - k][column]
                        operands.append((activation, weight))
                terms = manifest["layer"]["terms"]
                check.same(f"{at}: terms", terms if is_real else min(terms, len(operands)), len(operands))
                check.same(f"{at}: exp_sum", array_sum(arithmetic, operands), found)
    check.same("array: words of all tiles", info["words"], covered)
    real = [tile for tile in info["tiles"] if tile["class"] == "real"]
    check.same("array: real tiles come first", real, info["tiles"][: len(real)])
    check.same("array: words of real tiles", info["real_words"], sum(tile["words"] for tile in real))


def recheck(bundle):
    manifest = json.loads((bundle / "manifest.json").read_text())
    check = Recheck()
    data = columns(bundle, manifest, check)
    Cases(manifest, data, check).run()
    if manifest["array"] is not None:
        array(manifest, data, check)
    print(f"{bundle}: {check.checked} values recomputed, {check.differ} differ")
    for line in check.first:
        print(f"  {line}")
    return check.differ == 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    results = [recheck(Path(name)) for name in sys.argv[1:]]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
