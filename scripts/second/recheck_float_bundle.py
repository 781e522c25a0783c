"""Recomputes every expected value of bundles of floating-point layers from their codes, with rational numbers.

    python scripts/second/recheck_float_bundle.py BUNDLE...

Written from docs/reference/bundle-float.md alone. Reads the `.dec` files of each bundle. Prints the number of values that
were compared and that differ; exit code 1 if one differs. Needs Python alone.
"""

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

ZERO = -126
FLOAT32 = {"exponent_bits": 8, "fraction_bits": 23, "bias": 127, "specials": "ieee"}


def rounded(value, how):
    """Returns an integer next to a rational number."""
    low = math.floor(value)
    rest = value - low
    if how == "floor":
        return low
    if how == "toward_zero":
        return low if value >= 0 or rest == 0 else low + 1
    if rest != Fraction(1, 2):
        return low + (rest > Fraction(1, 2))
    up = {
        "half_up": True,
        "half_down": False,
        "half_away": value > 0,
        "half_to_zero": value < 0,
        "half_even": low % 2 == 1,
        "half_odd": low % 2 == 0,
    }[how]
    return low + up


def power(exponent):
    return Fraction(2) ** exponent


class Number:
    """Meaning of a code, or of a product: a value with its exponent, an infinity, or NaN."""

    def __init__(self, value=Fraction(0), exponent=ZERO, infinite=0, nan=False):
        self.value, self.exponent, self.infinite, self.nan = value, exponent, infinite, nan

    def times(self, other):
        zero = [one.value == 0 and not one.infinite for one in (self, other)]
        if self.nan or other.nan or (self.infinite or other.infinite) and any(zero):
            return Number(nan=True)
        exponent = self.exponent + other.exponent
        if self.infinite or other.infinite:
            signs = [one.infinite or (1 if one.value > 0 else -1) for one in (self, other)]
            return Number(exponent=exponent, infinite=signs[0] * signs[1])
        return Number(self.value * other.value, exponent)


def decoded(code, form):
    width, fraction_bits = form["exponent_bits"], form["fraction_bits"]
    sign = -1 if code >> (width + fraction_bits) & 1 else 1
    field, fraction = code >> fraction_bits & ((1 << width) - 1), code & ((1 << fraction_bits) - 1)
    last, specials = (1 << width) - 1, form["specials"]
    if specials == "ieee" and field == last:
        return Number(infinite=sign) if fraction == 0 else Number(nan=True)
    if specials == "last_is_nan" and field == last and fraction == (1 << fraction_bits) - 1:
        return Number(nan=True)
    if specials == "negative_zero_is_nan" and sign < 0 and field == 0 and fraction == 0:
        return Number(nan=True)
    significand = fraction if field == 0 else fraction + (1 << fraction_bits)
    exponent = max(field, 1) - form["bias"]
    value = sign * significand * power(exponent - fraction_bits)
    return Number(value, exponent if significand else ZERO)


def scale(code, form):
    """Returns the meaning of the code of a scale, which has no sign."""
    if form["fraction_bits"] == 0:
        last = (1 << form["exponent_bits"]) - 1
        exponent = code - form["bias"]
        return Number(nan=True) if code == last else Number(power(exponent), exponent)
    return decoded(code, form)


def encoded(value, form, how, negative_zero):
    """Returns the code of a number in a format with infinities."""
    sign = 1 << (form["exponent_bits"] + form["fraction_bits"])
    if value == 0:
        return 0
    leading = math.floor(math.log2(abs(value).numerator) - math.log2(abs(value).denominator))
    while power(leading) > abs(value):
        leading -= 1
    while power(leading + 1) <= abs(value):
        leading += 1
    exponent = max(leading, 1 - form["bias"])
    significand = abs(rounded(value / power(exponent - form["fraction_bits"]), how))
    code = (exponent + form["bias"] - 1 << form["fraction_bits"]) + significand
    infinity = (1 << form["exponent_bits"]) - 1 << form["fraction_bits"]
    negative = value < 0 and (code > 0 or negative_zero)
    return min(code, infinity) + (sign if negative else 0)


class Unit:
    def __init__(self, rule):
        self.rule = rule
        self.clear()

    def clear(self):
        self.accumulator, self.additions, self.sum = 0, 0, 0

    def terms(self, products, scales):
        """Returns the terms of a beat: products by lane, None where a lane is not in use."""
        rule = self.rule.get("scales")
        if not rule:
            return [product for product in products if product]
        size = rule["group_terms"] or 1
        terms = []
        for group, codes in enumerate(scales):
            own = [product for product in products[group * size : (group + 1) * size] if product]
            if own:
                term = Number(sum(product.value for product in own), 0) if rule["group_terms"] else own[0]
                for code, side in zip(codes, ("activation", "weight")):
                    term = term.times(scale(code, rule[side]))
                terms.append(term)
        return terms

    def special(self, products, held):
        """Returns the code of a sum that is not finite, or None."""
        result = self.rule["result"]
        terms = [*products, held]
        signs = {term.infinite for term in terms} - {0}
        if self.rule["apart"] and not signs:
            signs = {1 if term.value > 0 else -1 for term in products if abs(term.value) >= power(128)}
        if any(term.nan for term in terms) or len(signs) == 2:
            return self.rule["nan"]
        infinity = (1 << result["exponent_bits"]) - 1 << result["fraction_bits"]
        sign = 1 << (result["exponent_bits"] + result["fraction_bits"])
        return infinity + (sign if -1 in signs else 0) if signs else None

    def cut(self, term, exponent, bits, how):
        """Returns a term as a multiple of a unit, and counts what it loses."""
        unit = power(exponent - bits)
        kept = rounded(term.value / unit, how) * unit
        self.lost[0] |= term.value % unit != 0
        self.lost[1] |= 0 < abs(term.value) < unit
        return kept

    def aligned(self, terms):
        exponent = max([term.exponent for term in terms], default=ZERO)
        bits, how = self.rule["fraction_bits"], self.rule["align_round"]
        return sum((self.cut(term, exponent, bits, how) for term in terms), Fraction(0)), exponent

    def apart(self, products, held):
        rule = self.rule
        groups = [products[0::2], products[1::2]] if rule["interleaved"] else [products]
        sums = [self.aligned(group) for group in groups]
        exponent = max(one for _, one in sums)
        unit = power(exponent - rule["fraction_bits"])
        total = sum((math.floor(one / unit) * unit for one, _ in sums), Fraction(0))
        largest = max(exponent, held.exponent)
        unit = power(largest - rule["sum_bits"])
        total = math.floor(total / unit) * unit
        if rule["reach"] is None or held.exponent >= largest - rule["reach"]:
            total += self.cut(held, largest, rule["accumulator_bits"], "floor")
        return total

    def add(self, products):
        """Adds the products of a beat; returns the code of the accumulator and the flags."""
        rule, held = self.rule, decoded(self.accumulator, self.rule["result"])
        self.lost = [False, False]
        code = self.special(products, held)
        if code is None:
            total = self.apart(products, held) if rule["apart"] else self.aligned([*products, held])[0]
            code = encoded(total, rule["result"], rule["result_round"], rule["negative_zero"])
        self.accumulator = code
        return code, self.lost[0] + 2 * self.lost[1]

    def promote(self):
        own, other = decoded(self.accumulator, self.rule["result"]), decoded(self.sum, FLOAT32)
        signs = {own.infinite, other.infinite} - {0}
        if own.nan or other.nan or len(signs) == 2:
            self.sum = 0x7FC00000
        elif signs:
            self.sum = 0x7F800000 if 1 in signs else 0xFF800000
        elif own.value + other.value:
            self.sum = encoded(own.value + other.value, FLOAT32, "half_even", True)
        else:
            self.sum = 0
        self.accumulator, self.additions = 0, 0


def words(folder, name):
    return [[int(word) for word in line.split()] for line in (folder / f"{name}.dec").read_text().splitlines()]


def recheck(folder):
    """Returns the numbers of values compared and of values that differ."""
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["kind"] == "float", f"{folder}: not a bundle of a floating-point layer"
    rule, fields = manifest["arithmetic"], {field["name"]: field for field in manifest["interface"]["ctrl"]}
    every = rule["promote_additions"]
    names = ["ctrl", "stim_a", "stim_w", "exp_acc", "exp_flags"] + (["exp_total"] if every else [])
    names += ["stim_sa", "stim_sw"] if rule.get("scales") else []
    columns = {name: words(folder, name) for name in names}
    sums, finished = [word for [word] in words(folder, "exp_sum")], []
    unit, total, compared, differ = Unit(rule), 0, 0, 0
    for beat, ctrl in enumerate(columns["ctrl"]):
        # A word of more than 64 bits is a row of bits.
        ctrl = ctrl[0] if len(ctrl) == 1 else sum(bit << place for place, bit in enumerate(ctrl))
        valid, clear, last, keep = (
            ctrl >> fields[name]["lsb"] & ((1 << fields[name]["bits"]) - 1) for name in ("valid", "clear", "last", "keep")
        )
        if not valid:
            continue
        if clear:
            unit.clear()
        products = [
            decoded(columns["stim_a"][beat][lane], rule["activation"]).times(
                decoded(columns["stim_w"][beat][lane], rule["weight"])
            )
            if keep >> lane & 1
            else None
            for lane in range(rule["terms"])
        ]
        scales = zip(columns["stim_sa"][beat], columns["stim_sw"][beat]) if rule.get("scales") else []
        code, flags = unit.add(unit.terms(products, scales))
        unit.additions += 1
        if every and (unit.additions == every or last):
            unit.promote()
            total = unit.sum
        found = [("exp_acc", code), ("exp_flags", flags)] + ([("exp_total", total)] if every else [])
        for name, own in found:
            compared += 1
            if columns[name][beat] != [own]:
                differ += 1
                if differ <= 10:
                    print(f"{folder} {name} of beat {beat}: {columns[name][beat][0]:#x}, recomputed {own:#x}")
        if last:
            finished.append(unit.sum if every else code)
    for index, (own, expected) in enumerate(zip(finished, sums, strict=True)):
        compared += 1
        if own != expected:
            differ += 1
            if differ <= 10:
                print(f"{folder} sum {index}: {expected:#x}, recomputed {own:#x}")
    return compared, differ


def main():
    results = [recheck(Path(folder)) for folder in sys.argv[1:]]
    compared, differ = (sum(counts) for counts in zip(*results))
    print(f"{compared} values of {len(results)} bundle(s) recomputed, {differ} differ")
    sys.exit(1 if differ or not compared else 0)


if __name__ == "__main__":
    main()
