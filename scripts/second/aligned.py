"""Aligned, truncated sums of floating-point products, as tensor cores add them, in two independent models.

One addition computes `d = c + a[0] * b[0] + .. + a[n-1] * b[n-1]`:

1. Every finite value is `significand * 2^exponent`. A subnormal has its format's least normal exponent, and a zero
   has exponent -126 in every format, or, as a variant, that of a subnormal.
2. The exponent of a product is the sum of its operands' exponents. `c` is one more term.
3. `E` is the largest exponent of all terms.
4. Every term is cut to a multiple of `2^(E - F)`, F = `Rule.fraction_bits`, toward zero or down.
5. The terms are added exactly. The sum is converted to the format of the result. A negative sum that becomes zero is
   +0, or, as a variant, -0.
6. A NaN, an infinity times zero, or infinities of both signs give NaN; an infinity gives itself.

`add_exact` computes one addition in rational numbers, as do its relatives for block scales and for CDNA3. `add_many`
computes many with NumPy, in 64-bit integers: a term has at most F + 2 bits and a sign, and a sum of n terms and c at
most `F + 3 + log2(n + 1)` bits, which is at most 45 for F = 35 and n = 64. All take and return codes (bit patterns).

Sources of the rule: arXiv 2511.10909 and its model, microsoft/MMA-Sim; DeepSeek-V3 technical report, section 3.5.2.
"""

from fractions import Fraction
from functools import cache
from math import floor, prod, trunc
from typing import NamedTuple

import numpy as np

FINITE, INFINITE, NAN = 0, 1, 2


class Format(NamedTuple):
    """Floating-point format. A code has a sign (unless `signed` is false), then the exponent, then the fraction."""

    exponent_bits: int
    fraction_bits: int
    bias: int
    # ieee: infinities and NaN in the largest exponent; fn: only the largest magnitude is NaN;
    # fnuz: only the code of -0 is NaN; none: every code is finite.
    specials: str = "ieee"
    signed: bool = True

    @property
    def bits(self):
        return self.signed + self.exponent_bits + self.fraction_bits

    @property
    def least_exponent(self):
        return 1 - self.bias

    @property
    def infinity(self):
        return (2**self.exponent_bits - 1) << self.fraction_bits


FORMATS = {
    "e4m3": Format(4, 3, 7, "fn"),
    "e5m2": Format(5, 2, 15),
    "e4m3fnuz": Format(4, 3, 8, "fnuz"),
    "e5m2fnuz": Format(5, 2, 16, "fnuz"),
    "e3m2": Format(3, 2, 3, "none"),
    "e2m3": Format(2, 3, 1, "none"),
    "e2m1": Format(2, 1, 1, "none"),
    "ue4m3": Format(4, 3, 7, "fn", signed=False),
    "ue8m0": Format(8, 0, 127, "fn", signed=False),
    "f16": Format(5, 10, 15),
    "bf16": Format(8, 7, 127),
    "tf32": Format(8, 10, 127),
    "f32": Format(8, 23, 127),
}
# Format that a result is converted to, its fraction bits and its rounding.
RESULTS = {"f32": ("f32", 23, "zero"), "f32_e8m13": ("f32", 13, "zero"), "f16": ("f16", 10, "even")}
NAN_CODES = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}


class Rule(NamedTuple):
    """Parameters of one addition."""

    fraction_bits: int
    result: str = "f32"
    cut: str = "zero"
    # Whether a zero operand has its format's least exponent instead of ZERO_EXPONENT.
    zero_as_subnormal: bool = False
    # Whether a negative sum that rounds to zero is -0 instead of +0.
    negative_zero: bool = False


ZERO_EXPONENT = -126


def decode(name, code):
    """Returns the kind, the significand (an integer with a sign) and the exponent of its last bit."""
    form = FORMATS[name]
    sign = -1 if form.signed and code >> (form.bits - 1) else 1
    field = code >> form.fraction_bits & (2**form.exponent_bits - 1)
    fraction = code & (2**form.fraction_bits - 1)
    magnitude = code & (2 ** (form.exponent_bits + form.fraction_bits) - 1)
    if form.specials == "ieee" and magnitude >= form.infinity:
        return (NAN, 0, 0) if fraction else (INFINITE, sign, 0)
    if form.specials == "fn" and magnitude == 2 ** (form.exponent_bits + form.fraction_bits) - 1:
        return NAN, 0, 0
    if form.specials == "fnuz" and sign < 0 and magnitude == 0:
        return NAN, 0, 0
    if name == "ue8m0":
        # The only format without zero: each code is a power of two.
        return FINITE, 1, field - form.bias
    significand = fraction + (1 << form.fraction_bits if field else 0)
    return FINITE, sign * significand, max(field, 1) - form.bias - form.fraction_bits


def value(name, code):
    """Returns a finite code's value and the exponent with which it takes part in an addition."""
    kind, significand, exponent = decode(name, code)
    assert kind == FINITE
    magnitude, fraction_bits = abs(significand), FORMATS[name].fraction_bits
    leading = exponent + fraction_bits
    assert magnitude < 2 << fraction_bits and (magnitude >> fraction_bits or leading == FORMATS[name].least_exponent)
    return significand * Fraction(2) ** exponent, leading


def special(a_format, b_format, c_format, a, b, c, scales=()):
    """Returns NAN, an infinity's sign as 1 or -1, or None if all products and c are finite."""
    signs, nan = set(), any(decode(name, code)[0] == NAN for name, code in scales)
    kind, significand, _ = decode(c_format, c)
    nan |= kind == NAN
    if kind == INFINITE:
        signs.add(significand)
    for x, y in zip(a, b):
        (x_kind, x_significand, _), (y_kind, y_significand, _) = decode(a_format, x), decode(b_format, y)
        if NAN in (x_kind, y_kind):
            nan = True
        elif INFINITE in (x_kind, y_kind):
            product = x_significand * y_significand
            if product == 0:
                nan = True
            else:
                signs.add(1 if product > 0 else -1)
    return NAN if nan or len(signs) == 2 else signs.pop() if signs else None


def term(name, code, zero_as_subnormal=False):
    """Returns a finite code's value and the exponent with which it takes part in an addition."""
    number, exponent = value(name, code)
    return number, exponent if number or zero_as_subnormal else ZERO_EXPONENT


def fused(terms, bits, cut=trunc):
    """Returns the sum of terms, each cut to `bits` below the largest exponent, and that exponent."""
    largest = max(exponent for _, exponent in terms)
    unit = Fraction(2) ** (largest - bits)
    return sum(cut(number / unit) for number, _ in terms) * unit, largest


def infinity(form, sign):
    return form.infinity | (sign < 0) << (form.bits - 1)


def add_exact(rule, a_format, b_format, c_format, a, b, c):
    """Returns the code of `c + sum(a[i] * b[i])` by the rule: one addition, in rational numbers."""
    out, fraction_bits, rounding = RESULTS[rule.result]
    found = special(a_format, b_format, c_format, a, b, c)
    if found is not None:
        return NAN_CODES[out] if found == NAN else infinity(FORMATS[out], found)
    terms = [term(c_format, c)]
    for x, y in zip(a, b):
        factors = term(a_format, x, rule.zero_as_subnormal), term(b_format, y, rule.zero_as_subnormal)
        terms.append(product(*factors))
    total, _ = fused(terms, rule.fraction_bits, {"zero": trunc, "floor": floor}[rule.cut])
    return encode_exact(FORMATS[out], fraction_bits, rounding, total, rule.negative_zero)


def product(*factors):
    return prod(number for number, _ in factors), sum(exponent for _, exponent in factors)


def add_scaled_exact(fraction_bits, formats, scale_format, group, a, b, scales, c):
    """Returns a float32 code by an addition whose products are scaled by block.

    `scales` has a pair of codes per part; all parts have the same number of products. With `group` 1, each product is a
    term of its own. Otherwise `group` products are added exactly to one term, whose exponent is that of its scales.
    """
    pairs = [(scale_format, code) for pair in scales for code in pair]
    found = special(*formats, "f32", a, b, c, pairs)
    if found is not None:
        return NAN_CODES["f32"] if found == NAN else infinity(FORMATS["f32"], found)
    products = [product(term(formats[0], x), term(formats[1], y)) for x, y in zip(a, b)]
    terms = [term("f32", c)]
    for at in range(0, len(products), group):
        both = [term(scale_format, code) for code in scales[at * len(scales) // len(products)]]
        exact = sum(number for number, _ in products[at : at + group])
        terms.append(product((exact, products[at][1] if group == 1 else 0), *both))
    return encode_exact(FORMATS["f32"], 23, "zero", fused(terms, fraction_bits)[0], False)


def add_apart_exact(formats, interleaved, reach, a, b, c):
    """Returns a float32 code by an addition of CDNA3: 24 fraction bits, and c after the products.

    `interleaved` adds even and odd products separately first. c is dropped if it is more than `reach` below.
    """
    pairs = list(zip(a, b))
    found = special(*formats, "f32", a, b, c)
    signs = set() if found is None else {found}
    if found is None:
        products = [product(term(formats[0], x), term(formats[1], y)) for x, y in pairs]
        signs = {1 if number > 0 else -1 for number, _ in products if abs(number) >= 2**128}
    if NAN in signs or len(signs) == 2:
        return 0x7FC00000
    if signs:
        return infinity(FORMATS["f32"], signs.pop())
    total = fused(products[::2], 24), fused(products[1::2], 24)
    total = fused(total, 24, floor) if interleaved else fused(products, 24)
    c_value, c_exponent = term("f32", c)
    largest = max(total[1], c_exponent)
    if reach is not None and c_exponent < largest - reach:
        c_value = Fraction(0)
    units = Fraction(2) ** (largest - 31), Fraction(2) ** (largest - 24)
    both = floor(total[0] / units[0]) * units[0] + floor(c_value / units[1]) * units[1]
    return encode_exact(FORMATS["f32"], 23, "even", both, True)


def encode_exact(form, fraction_bits, rounding, number, negative_zero):
    magnitude, exponent = abs(number), form.least_exponent
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - fraction_bits)
    # round() of a Fraction rounds ties to even.
    significand = trunc(magnitude / unit) if rounding == "zero" else round(magnitude / unit)
    code = ((exponent - form.least_exponent) << fraction_bits) + significand
    code = min(code << (form.fraction_bits - fraction_bits), form.infinity)
    return code | (number < 0 and (code > 0 or negative_zero)) << (form.bits - 1)


@cache
def tables(name):
    """Returns kinds, significands and exponents (of the leading bit's place) of every code of a format."""
    form = FORMATS[name]
    codes = np.arange(2**form.bits, dtype=np.int64)
    return split(form, codes)


def split(form, codes):
    codes = codes.astype(np.int64)
    magnitude = codes & (2 ** (form.exponent_bits + form.fraction_bits) - 1)
    negative = (codes >> (form.bits - 1) == 1) if form.signed else np.zeros(codes.shape, bool)
    field, fraction = magnitude >> form.fraction_bits, magnitude & ((1 << form.fraction_bits) - 1)
    significand = np.where(field > 0, fraction | 1 << form.fraction_bits, fraction)
    significand = np.where(negative, -significand, significand)
    kind = np.zeros(codes.shape, np.int8)
    if form.specials == "ieee":
        kind[magnitude == form.infinity] = INFINITE
        kind[magnitude > form.infinity] = NAN
    elif form.specials == "fn":
        kind[magnitude == 2 ** (form.exponent_bits + form.fraction_bits) - 1] = NAN
    elif form.specials == "fnuz":
        kind[negative & (magnitude == 0)] = NAN
    return kind, significand, np.maximum(field, 1) - form.bias


def fields(name, codes):
    """Returns kinds, significands and exponents of codes, in a format with zero."""
    assert name != "ue8m0"
    if FORMATS[name].bits > 20:
        return split(FORMATS[name], codes)
    return tuple(table[codes] for table in tables(name))


def shifted(numbers, left, rounding):
    """Returns `numbers * 2^left`, rounded: toward zero, down (floor) or, for numbers >= 0, to nearest even."""
    left = np.clip(left, -62, 62)
    right = np.maximum(-left, 0)
    if rounding == "zero":
        down = np.sign(numbers) * (np.abs(numbers) >> right)
    else:
        down = numbers >> right
    if rounding == "even":
        rest, half = numbers - (down << right), (np.int64(1) << right) >> 1
        down += (right > 0) & ((rest > half) | ((rest == half) & (down & 1 == 1)))
    return down << np.maximum(left, 0)


def add_many(rule, a_format, b_format, c_format, a, b, c):
    """Returns the codes of many additions: `a` and `b` have shape (.., n), `c` and the result (..)."""
    out, fraction_bits, rounding = RESULTS[rule.result]
    form = FORMATS[out]
    (a_kind, a_significand, a_exponent) = fields(a_format, a)
    (b_kind, b_significand, b_exponent) = fields(b_format, b)
    (c_kind, c_significand, c_exponent) = fields(c_format, c)
    if not rule.zero_as_subnormal:
        a_exponent = np.where(a_significand == 0, ZERO_EXPONENT, a_exponent)
        b_exponent = np.where(b_significand == 0, ZERO_EXPONENT, b_exponent)
    product, exponent = a_significand * b_significand, a_exponent + b_exponent
    c_exponent = np.where(c_significand == 0, ZERO_EXPONENT, c_exponent)
    largest = np.maximum(exponent.max(axis=-1), c_exponent)
    product_bits = FORMATS[a_format].fraction_bits + FORMATS[b_format].fraction_bits
    left = rule.fraction_bits - product_bits + exponent - largest[..., None]
    total = shifted(product, left, rule.cut).sum(axis=-1)
    c_bits = FORMATS[c_format].fraction_bits
    total += shifted(c_significand, rule.fraction_bits - c_bits + c_exponent - largest, rule.cut)

    magnitude = np.abs(total)
    # frexp of an integer below 2^53 is exact.
    leading = largest - rule.fraction_bits + np.frexp(magnitude.astype(np.float64))[1] - 1
    place = np.where(magnitude == 0, form.least_exponent, np.maximum(leading, form.least_exponent))
    significand = shifted(magnitude, largest - rule.fraction_bits - place + fraction_bits, rounding)
    code = ((place - form.least_exponent) << fraction_bits) + significand
    code = np.minimum(code << (form.fraction_bits - fraction_bits), form.infinity)
    negative = (total < 0) & ((code > 0) | rule.negative_zero)
    code |= negative.astype(np.int64) << (form.bits - 1)

    if a_kind.any() or b_kind.any() or c_kind.any():
        infinite = (a_kind == INFINITE) | (b_kind == INFINITE)
        nan = (a_kind == NAN) | (b_kind == NAN) | (infinite & (product == 0))
        # A NaN's significand is meaningless; only infinities that are not NaN count.
        infinite &= ~nan
        up = (infinite & (product > 0)).any(axis=-1) | ((c_kind == INFINITE) & (c_significand > 0))
        down = (infinite & (product < 0)).any(axis=-1) | ((c_kind == INFINITE) & (c_significand < 0))
        nan = nan.any(axis=-1) | (c_kind == NAN) | (up & down)
        code = np.where(up, form.infinity, np.where(down, form.infinity | 1 << (form.bits - 1), code))
        code = np.where(nan, NAN_CODES[out], code)
    return code.astype(np.uint32 if form.bits == 32 else np.uint16)


def dot_many(rule, a_format, b_format, terms, a, b, promotion):
    """Returns the float32 codes of dot products of `a` and `b`, shape (.., k), added `terms` products at a time.

    After every `promotion` additions, the accumulator is added to a float32 sum and starts again at zero; 0: never.
    """
    c = np.zeros(np.broadcast_shapes(a.shape, b.shape)[:-1], np.uint32)
    total = np.zeros(c.shape, np.float32)
    with np.errstate(all="ignore"):
        for i, at in enumerate(range(0, a.shape[-1], terms)):
            c = add_many(rule, a_format, b_format, "f32", a[..., at : at + terms], b[..., at : at + terms], c)
            if promotion and (i + 1) % promotion == 0:
                total, c = total + c.view(np.float32), np.zeros_like(c)
        return (total + c.view(np.float32)).view(np.uint32) if promotion else c


def pairwise_many(a_format, group, flush, a, b, c):
    """Returns float32 codes of dot products of CDNA1 and CDNA2, shape (.., k), by the machine's float32.

    The products of each group are added pairwise, and the sums of groups to c. `flush` makes subnormals zero.
    """

    def flushed(number, least, keep_sign=True):
        small = np.abs(number) < least
        return np.where(flush & small, np.copysign(np.float32(0), number) if keep_sign else np.float32(0), number)

    def operand(codes):
        kind, significand, exponent = fields(a_format, codes)
        scale = exponent - FORMATS[a_format].fraction_bits
        number = np.ldexp(significand.astype(np.float64), scale).astype(np.float32)
        # Both signs of zero are one integer, and the sign of a zero product does not outlast the + 0 below.
        number = np.where(kind == INFINITE, np.copysign(np.float32(np.inf), number), number)
        number = np.where(kind == NAN, np.float32(np.nan), number)
        return flushed(number, np.float32(2.0 ** FORMATS[a_format].least_exponent), keep_sign=False)

    tiny = np.float32(2.0**-126)
    with np.errstate(all="ignore"):
        products = flushed(operand(a) * operand(b) + np.float32(0), tiny)
        total = flushed(c.astype(np.uint32).view(np.float32), tiny, keep_sign=False)
        for at in range(0, a.shape[-1], group):
            terms = np.moveaxis(products[..., at : at + group], -1, 0)
            while len(terms) > 1:
                terms = flushed(terms[::2] + terms[1::2], tiny)
            total = flushed(total + terms[0], tiny)
    return total.astype(np.float32).view(np.uint32)
