"""Sums of floating-point products in fixed-point registers, and by ordinary additions, in rational numbers.

    python scripts/second/sums.py [--cases N] [--seed S]

N random and adversarial dot products of each kind and their results follow on stdout, one line of JSON each, for the
test that compares guardbit with them (`num/tests/sums.rs`).

`fixed`: each product is cut to a multiple of `2^-fraction_bits`, `terms` of them are added, and their sum is added to a
two's complement register of `bits` bits, or of any number of bits if 0. `overflow` says what it holds after a sum beyond
its rails. At the end it becomes a float32, to nearest even. With
`promotion`, it is added to a float32 sum after that number of additions, and starts again at zero.

`ordinary`: products are exact (`fused`), or rounded and without a sign if they are zero. `group` of them are added by a
tree of neighbours, missing ones as +0, and their sum is added to the accumulator. Every result is rounded to the format
of the accumulator. With `flush`, subnormals become zero.
"""

import argparse
import json
import random
import sys
from fractions import Fraction
from math import ceil, floor, trunc

from aligned import FINITE, FORMATS, NAN, decode

ROUNDINGS = ["floor", "toward_zero", "half_up", "half_down", "half_away", "half_to_zero", "half_even", "half_odd"]
OVERFLOWS = ["wrap", "saturate", "saturate_symmetric", "saturate_zero", "sticky", "observe"]
# Products of bfloat16 reach beyond every fixed-point register.
PAIRS = [("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e5m2"), ("e2m1", "e3m2"), ("f16", "f16"), ("e4m3fnuz", "e5m2fnuz")]
ACCUMULATORS = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "tf32": "tf32"}


def rounded(number, how):
    """Returns a rational number as an integer."""
    low = floor(number)
    rest = number - low
    if how == "floor" or rest == 0:
        return low
    if how == "toward_zero":
        return trunc(number)
    if rest != Fraction(1, 2):
        return low if rest < Fraction(1, 2) else low + 1
    away = low + 1 if number > 0 else low
    return {
        "half_up": ceil(number),
        "half_down": low,
        "half_away": away,
        "half_to_zero": 2 * low + 1 - away,
        "half_even": low + low % 2,
        "half_odd": low + 1 - low % 2,
    }[how]


def encode(name, value, how="half_even"):
    """Returns the code of ("nan",), ("inf", sign), or ("number", rational, whether a zero is negative)."""
    form = FORMATS[name]
    top = form.bits - 1
    if value[0] == "nan":
        return form.infinity | 1 << (form.fraction_bits - 1)
    if value[0] == "inf":
        return form.infinity | (value[1] < 0) << top
    _, number, negative = value
    if number == 0:
        return negative << top
    # The denominator is a power of two.
    leading = abs(number.numerator).bit_length() - number.denominator.bit_length()
    exponent = max(form.least_exponent, leading)
    significand = rounded(number / Fraction(2) ** (exponent - form.fraction_bits), how)
    code = ((exponent - form.least_exponent) << form.fraction_bits) + abs(significand)
    return min(code, form.infinity) | (number < 0) << top


def read(name, code):
    kind, significand, exponent = decode(name, code)
    if kind != FINITE:
        return ("nan",) if kind == NAN else ("inf", significand)
    negative = FORMATS[name].signed and code >> (FORMATS[name].bits - 1) == 1
    return "number", significand * Fraction(2) ** exponent, negative


def times(a, b):
    if "nan" in (a[0], b[0]):
        return ("nan",)
    if "inf" in (a[0], b[0]):
        sign = a[1] * b[1]
        return ("nan",) if sign == 0 else ("inf", 1 if sign > 0 else -1)
    return "number", a[1] * b[1], a[2] != b[2]


def plus(a, b):
    if "nan" in (a[0], b[0]):
        return ("nan",)
    infinities = {value[1] for value in (a, b) if value[0] == "inf"}
    if infinities:
        return ("nan",) if len(infinities) == 2 else ("inf", infinities.pop())
    total = a[1] + b[1]
    negative = a[2] and b[2] if a[1] == 0 and b[1] == 0 else total < 0
    return "number", total, negative


ZERO = "number", Fraction(0), False


def fits(exact, bits, overflow):
    """Returns what a register holds after an exact sum, and whether that overflows."""
    most = 2 ** (bits - 1) - 1
    least = -most if overflow == "saturate_symmetric" else -most - 1
    if least <= exact <= most:
        return exact, False
    rail = most if exact > most else least
    wrapped = (exact + most + 1) % 2**bits - most - 1
    return {"wrap": wrapped, "saturate_zero": 0, "observe": exact}.get(overflow, rail), True


def fixed(products, fraction_bits, cut, bits, overflow, terms, promotion):
    """Returns the float32 code of a dot product, overflows, and the integer bits that no sum exceeds."""
    special = [value for value in products if value[0] != "number"]
    if special:
        total = special[0]
        for value in special[1:]:
            total = plus(total, value)
        return encode("f32", total), 0, 1
    unit = Fraction(1, 2**fraction_bits)
    total, overflows, needed, register, ideal, stuck = ZERO, 0, 1, 0, 0, False
    groups = [products[at : at + terms] for at in range(0, len(products), terms)]
    for index, group in enumerate(groups):
        addend = sum(rounded(number / unit, cut) for _, number, _ in group)
        ideal += addend
        length = (ideal if ideal >= 0 else -ideal - 1).bit_length() + 1
        needed = max(needed, length - fraction_bits)
        if bits == 0:
            register = ideal
        elif not stuck:
            register, beyond = fits(register + addend, bits, overflow)
            overflows += beyond
            stuck = beyond and overflow == "sticky"
        last = index + 1 == len(groups)
        if last or promotion and (index + 1) % promotion == 0:
            value = "number", register * unit, register < 0
            total = read("f32", encode("f32", plus(total, value) if promotion else value))
            register, ideal, stuck = 0, 0, False
    return encode("f32", total), overflows, needed


def ordinary(products, name, how, group, fused, flush, promotion):
    """Returns the code of a dot product of exact products: of the accumulator's format, or of float32 if promoted."""

    def result(value):
        code = encode(name, value, how)
        form = FORMATS[name]
        small = code & (form.infinity | (1 << form.fraction_bits) - 1) < 1 << form.fraction_bits
        return read(name, code >> (form.bits - 1) << (form.bits - 1) if flush and small else code)

    def tree(values):
        if len(values) == 1:
            return values[0]
        half = len(values) // 2
        return result(plus(tree(values[:half]), tree(values[half:])))

    total, accumulator = ZERO, ZERO
    groups = [products[at : at + group] for at in range(0, len(products), group)]
    for index, values in enumerate(groups):
        values = values + [ZERO] * (group - len(values))
        values = values if fused else [result(plus(value, ZERO)) for value in values]
        accumulator = result(plus(accumulator, tree(values)))
        if promotion and ((index + 1) % promotion == 0 or index + 1 == len(groups)):
            total, accumulator = read("f32", encode("f32", plus(total, accumulator))), ZERO
    return encode("f32", total) if promotion else encode(name, accumulator, how)


def operands(draw, name, count):
    """Returns codes: of any kind, near each other, or from the ends, rarely with values that are not finite."""
    form, kind = FORMATS[name], draw.randrange(5)
    sign = 1 << (form.bits - 1)
    most = next(code for code in range(sign - 1, 0, -1) if decode(name, code)[0] == FINITE)
    middle = draw.randrange(most)

    def one():
        if draw.randrange(400) == 0:
            return draw.randrange(2 * sign)
        code = {
            0: draw.randrange(most + 1),
            1: min(most, max(0, middle + draw.randrange(-9, 10))),
            2: draw.choice([0, 1, 2, most, most - 1, most - 2]),
            3: draw.randrange(min(most, 4 << form.fraction_bits)),
            4: max(0, most - draw.randrange(4 << form.fraction_bits)),
        }[kind]
        code |= sign * draw.randrange(2)
        return 0 if decode(name, code)[0] == NAN else code

    return [one() for _ in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    for _ in range(options.cases):
        for kind in ("fixed", "ordinary"):
            a_format, b_format = draw.choice(PAIRS if kind == "fixed" else PAIRS + [("bf16", "bf16")] * 3)
            count = draw.choice([1, 2, 3, 7, 16, 40])
            a, b = operands(draw, a_format, count), operands(draw, b_format, count)
            line = {"kind": kind, "formats": [a_format, b_format], "a": a, "b": b}
            promotion = draw.choice([0, 0, 1, 3])
            line["promotion"] = promotion
            if kind == "fixed":
                key = draw.randrange(41), draw.choice(ROUNDINGS), draw.choice([0, *range(2, 65)]), draw.choice(OVERFLOWS)
                terms = draw.choice([1, 2, 5, 32])
                products = [times(read(a_format, x), read(b_format, y)) for x, y in zip(a, b)]
                line |= dict(zip(("fraction_bits", "cut", "bits", "overflow"), key)) | {"terms": terms}
                line["expected"] = fixed(products, *key, terms, promotion)
            else:
                name, how, group = draw.choice(list(ACCUMULATORS)), draw.choice(ROUNDINGS), draw.choice([1, 1, 2, 4, 8])
                fused, flush = draw.random() < 0.5, draw.random() < 0.3
                taken = [[ZERO if flush and subnormal(f, x) else read(f, x) for x in codes]
                         for f, codes in ((a_format, a), (b_format, b))]
                products = [times(x, y) for x, y in zip(*taken)]
                line |= {"result": ACCUMULATORS[name], "round": how, "group": group, "fused": fused, "flush": flush}
                line["expected"] = [ordinary(products, name, how, group, fused, flush, promotion)]
            print(json.dumps(line))


def subnormal(name, code):
    kind, significand, _ = decode(name, code)
    return kind == FINITE and 0 < abs(significand) < 1 << FORMATS[name].fraction_bits


if __name__ == "__main__":
    sys.exit(main())
