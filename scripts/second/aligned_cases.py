"""Random and adversarial operands for aligned sums: tiles of A (rows x k), B (columns x k) and C (rows x columns)."""

import numpy as np

from aligned import FORMATS, ZERO_EXPONENT, fields

# What a row of A or a column of B holds.
PROFILES = (
    "any",  # any code, also NaN and infinity
    "finite",  # any finite code
    "near",  # exponents within a window of 4
    "ones",  # 1 and -1
    "powers",  # powers of two
    "spread",  # one large element, the others smaller by a fixed factor
    "small",  # subnormals and zeros
    "sparse",  # one to four elements, the others zeros of both signs
    "pairs",  # elements that cancel their neighbor, some off by one code
    "large",  # largest magnitudes
    "special",  # finite, with one NaN or infinity
)
WEIGHTS = (1, 4, 4, 2, 3, 5, 2, 3, 4, 1, 1)


def codes(form, negative, field, fraction):
    return negative.astype(np.int64) << (form.bits - 1) | field << form.fraction_bits | fraction


def operands(random, name, rows, k, anchor):
    """Returns codes, shape (rows, k), each row by a profile of its own; `anchor` is the place of a large element."""
    form, shape = FORMATS[name], (rows, k)
    top = 2**form.exponent_bits - 1
    # Largest exponent field whose codes are all finite, except perhaps the last one.
    most = top if form.specials in ("fn", "none", "fnuz") else top - 1
    last_fraction = 2**form.fraction_bits - 1
    profile = random.choice(len(PROFILES), rows, p=np.array(WEIGHTS) / sum(WEIGHTS))[:, None]

    def chosen(kind):
        return profile == PROFILES.index(kind)

    negative = random.integers(0, 2, shape, dtype=np.int64)
    field = random.integers(0, most + 1, shape, dtype=np.int64)
    fraction = random.integers(0, last_fraction + 1, shape, dtype=np.int64)
    # A few bits of fraction are enough, and make ties and cancellation frequent, in every fourth row.
    few = random.integers(0, 4, (rows, 1)) == 0
    fraction = np.where(few, fraction & random.integers(0, last_fraction + 1, (rows, 1)), fraction)

    start = random.integers(0, most, (rows, 1))
    field = np.where(chosen("near"), np.minimum(start + random.integers(0, 4, shape), most), field)
    field = np.where(chosen("ones"), form.bias, field)
    fraction = np.where(chosen("ones") | chosen("powers"), 0, fraction)
    distance = random.integers(0, min(most, 40), (rows, 1))
    high = random.integers(np.minimum(distance, most), most + 1)
    rest = np.maximum(high - distance - random.integers(0, 2, shape), 0)
    at = np.arange(k)[None, :] == anchor
    field = np.where(chosen("spread"), np.where(at, high, rest), field)
    field = np.where(chosen("small"), 0, field)
    fraction = np.where(chosen("small") & (random.integers(0, 3, shape) == 0), 0, fraction)
    field = np.where(chosen("large"), most, field)
    fraction = np.where(chosen("large"), last_fraction - random.integers(0, 2, shape), fraction)
    keep = random.random(shape) < random.integers(1, 5, (rows, 1)) / k
    dropped = chosen("sparse") & ~keep
    field, fraction = np.where(dropped, 0, field), np.where(dropped, 0, fraction)
    # The NaN of fn and fnuz formats: step to the neighbor.
    if form.specials == "fn":
        fraction = np.where((field == top) & (fraction == last_fraction), last_fraction - 1, fraction)
    if form.specials == "fnuz":
        negative = np.where((field == 0) & (fraction == 0), 0, negative)
    result = codes(form, negative, field, fraction)

    # Pairs share their magnitude, except in every eighth pair; signs alternate.
    order = np.arange(k)
    partner = result[:, order - order % 2] & ~(1 << (form.bits - 1)) | (order % 2) << (form.bits - 1)
    partner = partner - ((order % 2 == 1) & (random.integers(0, 8, shape) == 0) & (partner & 3 != 0))
    result = np.where(chosen("pairs"), partner, result)
    result = np.where(chosen("any"), random.integers(0, 2**form.bits, shape), result)
    if form.specials == "ieee":
        odd = [form.infinity, form.infinity | 1 << (form.bits - 1), 2 ** (form.bits - 1) - 1]
    elif form.specials == "fn":
        odd = [2 ** (form.bits - 1) - 1, 2**form.bits - 1]
    elif form.specials == "fnuz":
        odd = [1 << (form.bits - 1)]
    else:
        odd = []
    if odd:
        place = random.integers(0, k, (rows, 1)) == order
        result = np.where(chosen("special") & place, random.choice(odd, shape), result)
    return result


def values(name, codes_):
    """Returns the finite values in float64, which holds every one of them, and 0 for NaN and infinity."""
    kind, significand, exponent = fields(name, codes_)
    return np.where(kind == 0, np.ldexp(significand.astype(np.float64), exponent - FORMATS[name].fraction_bits), 0.0)


def accumulators(random, rule, a_format, b_format, c_format, a, b):
    """Returns C for tiles `a` (.., rows, k) and `b` (.., columns, k), one code per dot product, by kinds of its own."""
    dot = np.matmul(values(a_format, a), np.swapaxes(values(b_format, b), -1, -2))
    a_exponent, b_exponent = fields(a_format, a)[2], fields(b_format, b)[2]
    largest = np.full(dot.shape, ZERO_EXPONENT)
    for i in range(a.shape[-1]):
        np.maximum(largest, a_exponent[..., :, None, i] + b_exponent[..., None, :, i], out=largest)
    shape, dtype, view = dot.shape, *{"f32": (np.float32, np.uint32), "f16": (np.float16, np.uint16)}[c_format]
    kind = random.integers(0, 8, shape)
    significand = 1 + random.random(shape)
    # Every second one has 14 significant bits: what an accumulator of an aligned sum holds.
    significand = np.where(random.integers(0, 2, shape) == 0, np.floor(significand * 2**13) / 2**13, significand)
    significand = np.where(random.integers(0, 2, shape) == 0, -significand, significand)
    bits = rule.fraction_bits
    distance = np.where(kind == 2, random.integers(-4, 5, shape), random.integers(-bits - 8, bits + 9, shape))
    edge = random.integers(-2, 4, shape) + np.where(random.integers(0, 2, shape) == 0, bits, -bits)
    distance = np.where(kind == 4, edge, distance)
    target = np.ldexp(significand, np.clip(largest + distance, -160, 140))
    target = np.where(kind == 0, np.copysign(0.0, significand), target)
    with np.errstate(over="ignore", under="ignore"):
        off = 1 + random.integers(-3, 4, shape) * 2.0 ** -random.integers(2, 24, shape)
        target = np.where(kind == 5, -dot, np.where(kind == 6, -dot * off, target))
        result = target.astype(dtype).view(view).astype(np.int64)
    return np.where(kind == 7, random.integers(0, 2 ** FORMATS[c_format].bits, shape), result)


def tiles(random, rule, a_format, b_format, c_format, k, count, rows=64, columns=8):
    """Returns codes of `count` tiles: A (count, rows, k), B (count, columns, k), C (count, rows, columns)."""
    anchors = random.integers(0, k, count)
    a = np.stack([operands(random, a_format, rows, k, anchor) for anchor in anchors])
    b = np.stack([operands(random, b_format, columns, k, anchor) for anchor in anchors])
    return a, b, accumulators(random, rule, a_format, b_format, c_format, a, b)
