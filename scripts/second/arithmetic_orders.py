"""Orders of addition and random roundings by the rules of docs/reference/orders.md, used by check_arithmetic.py."""

import numpy as np

MASK = 2**64 - 1
DATA_WALKS = ["sorted", "sign_paired", "greedy"]


class Pcg64Mcg:
    """O'Neill's PCG: a 128-bit multiplicative congruential generator with output XSL RR, seeded by a PCG32."""

    def __init__(self, seed):
        words, state = [], seed
        for _ in range(4):
            state = (state * 6364136223846793005 + 11634580027462260723) & MASK
            shifted = (((state >> 18) ^ state) >> 27) & 0xFFFFFFFF
            turn = state >> 59
            words.append(((shifted >> turn) | (shifted << (-turn & 31))) & 0xFFFFFFFF)
        self.state = sum(word << 32 * i for i, word in enumerate(words)) | 1

    def draw(self):
        self.state = self.state * 0x2360ED051FC65DA44385DF649FCCF645 % 2**128
        turn, folded = self.state >> 122, (self.state >> 64 ^ self.state) & MASK
        return ((folded >> turn) | (folded << (-turn & 63))) & MASK


def random_permutation(seed, count):
    random, order = Pcg64Mcg(seed), list(range(count))
    for i in range(count - 1, 0, -1):
        j = random.draw() * (i + 1) >> 64
        order[i], order[j] = order[j], order[i]
    return order


def static_order(walk, count, given=None):
    """Returns an order. `walk` is a name and its number; `given` is the permutation of a file."""
    kind, number = walk
    if kind == "reverse":
        return list(range(count))[::-1]
    if kind == "stride":
        return [k for first in range(number) for k in range(first, count, number)]
    if kind == "random":
        return random_permutation(number, count)
    return list(given) if kind == "file" else list(range(count))


def arranged(walk, products, start):
    """Returns the indices of `products` in the order of a walk that depends on them; `start` is the initial sum."""
    products = np.array(products, dtype=object)
    places = np.arange(len(products))
    if walk == "sorted":
        return sorted(places, key=lambda k: (products[k], k))
    if walk == "sign_paired":
        up = sorted((k for k in places if products[k] > 0), key=lambda k: (-products[k], k))
        down = sorted((k for k in places if products[k] < 0), key=lambda k: (products[k], k))
        both = min(len(up), len(down))
        paired = [k for pair in zip(up, down) for k in pair]
        return paired + up[both:] + down[both:] + [k for k in places if products[k] == 0]
    assert walk == "greedy"
    lists = {True: [k for k in places if products[k] < 0], False: [k for k in places if products[k] >= 0]}
    order, total = [], start
    while lists[True] or lists[False]:
        chosen = lists[total >= 0] or lists[total < 0]
        order.append(chosen.pop(0))
        total += products[order[-1]]
    return order


def random_bits(seed, layer, sample, output, stage, shift, number):
    """Returns `shift` bits of Philox4x32-10 (Salmon et al., 2011), written from the paper's definition."""
    bits = 8 if shift <= 8 else 16 if shift <= 16 else 32
    block, place = divmod(number, 128 // bits)
    words, key = [block, stage, output, sample], [seed, layer]
    for turn in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        left = (key[0] + turn * 0x9E3779B9) & 0xFFFFFFFF
        right = (key[1] + turn * 0xBB67AE85) & 0xFFFFFFFF
        words = [
            (second >> 32) ^ words[1] ^ left,
            second & 0xFFFFFFFF,
            (first >> 32) ^ words[3] ^ right,
            first & 0xFFFFFFFF,
        ]
    return sum(word << 32 * i for i, word in enumerate(words)) >> bits * place & (2**shift - 1)
