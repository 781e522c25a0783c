//! Draws dot products that show what random ones seldom do: sums whose last bit lies just below the result's, terms that
//! only move a tie, operands that only a large accumulator cuts, promotions that a single far bit rounds.

use guardbit_num::{Decoded, Dyadic, Incoming, Term};

use super::draw::{Draw, flipped, signed};
use super::formats::top;
use super::unit::Unit;

/// Number of dot products that are drawn.
pub(super) const AIMED: usize = 4000;

type Products = Vec<[u32; 2]>;

/// Returns a dot product.
pub(super) fn products(draw: &mut Draw<'_>, number: usize) -> Products {
    let promotes = draw.unit.promotion().is_some();
    match number % 8 {
        0 | 1 => odd_sum(draw),
        2 => tie_and_tail(draw),
        3 => tie_of_one(draw),
        4 => beside_large(draw),
        5 => far_accumulator(draw),
        6 if promotes => far_tie(draw),
        7 if (number / 8).is_multiple_of(8) => infinite(draw),
        7 if promotes => far_tie(draw),
        _ => odd_sum(draw),
    }
}

/// Returns the bits that an addition keeps: of products, and of their sum.
fn kept(unit: &Unit) -> [i32; 2] {
    let bits = unit.dot.rule.fraction_bits as i32;
    match unit.dot.rule.incoming {
        Incoming::Term => [bits; 2],
        Incoming::Apart { sum_bits, .. } => [bits, bits.min(sum_bits as i32)],
    }
}

/// Returns a finite number that is not zero.
fn number(term: Term) -> Option<Dyadic> {
    match term.value {
        Decoded::Finite(number) if number.significand != 0 => Some(number),
        _ => None,
    }
}

/// Returns the accumulator after the last addition.
fn accumulator(unit: &Unit, products: &[[u32; 2]]) -> Option<Dyadic> {
    let code = unit.states(products, &unit.blocks_of_one(products), true).last()?.acc;
    number(Term::of(unit.dot.rule.result, code))
}

/// Returns a product of normal numbers, as far as the formats have them: none has a larger exponent than its leading bit.
fn normal_product(draw: &mut Draw<'_>, expo: i32, negative: bool) -> [u32; 2] {
    let formats = [draw.unit.activation, draw.unit.weight];
    let is_normal = |codes: &[u32; 2]| {
        (0..2).all(|side| {
            let magnitude = codes[side] & ((1 << (formats[side].bits() - 1)) - 1);
            magnitude >= 1 << formats[side].fraction_bits()
        })
    };
    let found = (0..8).map(|_| draw.product(expo, negative)).find(is_normal);
    found.unwrap_or_else(|| draw.product(expo, negative))
}

/// Returns full products in every lane but one, which holds the last bits that are kept, after an accumulator of their size.
fn odd_sum(draw: &mut Draw<'_>) -> Products {
    let lanes = draw.unit.lanes();
    let bits = kept(draw.unit);
    let bits = draw.pick(&bits);
    let (top, negative) = (draw.high(bits + 3), draw.one_in(2));
    let mut before = Vec::new();
    if draw.one_in(2) {
        for _ in 0..1 + draw.below(lanes.min(4)) {
            let below = draw.pick(&[-1, 0, 1, 1, 2, 3, bits - 2, bits - 1, bits]);
            let flip = draw.one_in(6);
            let codes = draw.product(top - below, negative != flip);
            before.push(codes);
        }
    }
    let (is_before, is_full) = (lanes == 1 || draw.one_in(3), draw.one_in(2));
    let mut last: Products = (usize::from(!is_before)..lanes)
        .map(|_| {
            let below = if is_full { 0 } else { draw.pick(&[0, 0, 0, 1]) };
            let codes = draw.product(top - below, negative);
            (0..if is_full { 4 } else { 1 }).fold(codes, |codes, _| draw.dense(codes))
        })
        .collect();
    let (above, flip) = (draw.below(4) as i32, draw.one_in(3));
    let small = match draw.one_in(2) {
        true => draw.normal_power(top - bits + above, negative != flip),
        false => draw.product(top - bits + above, negative != flip),
    };
    if is_before { &mut before } else { &mut last }.push(small);
    draw.laid(&[before, last])
}

/// Returns a product whose leading bit and last bit lie a bit further apart than the result's.
fn tie_product(draw: &mut Draw<'_>, expo: i32, negative: bool) -> Option<[u32; 2]> {
    let bits = draw.unit.dot.rule.result.fraction_bits() + 1;
    (0..64).find_map(|_| {
        let codes = draw.product(expo, negative);
        let significand = number(draw.unit.product(codes))?.significand;
        (significand.ilog2() - significand.trailing_zeros() == bits).then_some(codes)
    })
}

/// Returns a product that is a tie, with a small one before or beside it.
fn tie_of_one(draw: &mut Draw<'_>) -> Products {
    let (negative, flip) = (draw.one_in(2), draw.one_in(2));
    let distance = draw.distance();
    let top = draw.high(distance + 1);
    let Some(tie) = tie_product(draw, top, negative) else { return tie_and_tail(draw) };
    let above = draw.pick(&[0, 0, 1, 2]);
    let small = draw.product(top - distance + above, negative != flip);
    match draw.one_in(2) {
        true => draw.laid(&[vec![small], vec![tie]]),
        false => draw.laid(&[vec![tie, small]]),
    }
}

/// Returns a tie of two products, and a third one about where bits are lost.
fn tie_and_tail(draw: &mut Draw<'_>) -> Products {
    let half = draw.unit.dot.rule.result.fraction_bits() as i32 + 1;
    let [bits, sum] = kept(draw.unit);
    let below = draw.pick(&[bits, bits, sum]) + draw.below(4) as i32 - 1;
    let (top, negative) = (draw.high(below.max(half) + 2), draw.one_in(2));
    let flips = [draw.one_in(2), draw.one_in(2)];
    let mut tie = vec![draw.power(top, negative)];
    if draw.one_in(2) {
        // An odd number before.
        tie.push(draw.power(top - half + 1, negative));
    }
    tie.push(draw.power(top - half, negative != flips[0]));
    let tail = draw.product(top - below, negative != flips[1]);
    match draw.below(4) {
        0 => draw.laid(&[vec![tail], tie]),
        1 => draw.laid(&[tie, vec![tail]]),
        _ => draw.laid(&[[tie, vec![tail]].concat()]),
    }
}

/// Returns a large accumulator, and then small products: half of its last bit, and the least ones.
fn beside_large(draw: &mut Draw<'_>) -> Products {
    let unit = draw.unit;
    let (lanes, negative) = (unit.lanes(), draw.one_in(2));
    let largest = [signed(unit.activation, unit.activation.largest(), negative), unit.weight.largest()];
    let power = draw.power(draw.held[1], negative);
    let one = draw.pick(&[largest, power]);
    let longest = draw.most / lanes - 2;
    let additions = draw.pick(&[1, 16, 128, 256, longest]).min(longest);
    let mut all = vec![one; additions * lanes];
    let Some(acc) = accumulator(unit, &all) else { return odd_sum(draw) };
    let top = acc.exponent + acc.significand.ilog2() as i32;
    let half = unit.dot.rule.result.fraction_bits() as i32 + 1;
    let flip = draw.one_in(2);
    let least = unit.activation.least_exponent() + unit.weight.least_exponent();
    let above = draw.below(3) as i32;
    let expo = draw.pick(&[least, least, draw.range[0], draw.range[0], draw.range[0] - above]) + above;
    let tail = match draw.one_in(2) {
        true => draw.normal_power(expo, flip),
        false => draw.product(expo, flip),
    };
    // Just below a power of two, numbers lie half as far apart.
    let place = top - half + draw.pick(&[0, -1, -1, 1]);
    let tie = draw.power(place, flip);
    let last = if lanes > 1 && !draw.one_in(4) { vec![tie, tail] } else { vec![tail] };
    all.extend(last);
    all
}

/// Returns an accumulator whose last bit is 1, and a product that is just so much larger that this bit is lost.
fn far_accumulator(draw: &mut Draw<'_>) -> Products {
    let rule = draw.unit.dot.rule;
    let result = rule.result.fraction_bits() as i32;
    let (bits, reach) = match rule.incoming {
        Incoming::Apart { bits, reach, .. } => (bits as i32, reach.map_or(40, |reach| reach as i32)),
        Incoming::Term => (rule.fraction_bits as i32, 40),
    };
    let above = 1 + draw.below((bits + 4).min(reach + 1) as usize) as i32;
    let above = draw.pick(&[above, above, reach, reach + 1]);
    let least = draw.unit.activation.least_exponent() + draw.unit.weight.least_exponent();
    let (low, least) = (draw.range[0] + result, least.max(draw.held[0]));
    let [near, far] = [draw.below(4) as i32, draw.below(40) as i32];
    let top = draw.pick(&[low + near, low + far, draw.held[1] - above - near, least + near]);
    let (negative, flip) = (draw.one_in(2), draw.one_in(4));
    let first = match draw.below(3) {
        0 => vec![draw.power(top, negative), draw.power(top - result, negative)],
        1 => {
            let codes = draw.product(top, negative);
            vec![draw.dense(codes)]
        }
        _ => vec![draw.product(top, negative), draw.product(top - 2, negative)],
    };
    let last = draw.power(top + above, negative == flip);
    draw.laid(&[first, vec![last]])
}

/// Returns infinities of both signs in one addition and in two, and a product beyond all numbers after a small one.
fn infinite(draw: &mut Draw<'_>) -> Products {
    let Unit { activation, weight, .. } = *draw.unit;
    let (negative, side) = (draw.one_in(2), draw.below(2));
    let largest = [signed(activation, activation.largest(), negative), weight.largest()];
    let infinity = [activation, weight][side].infinity(negative);
    let mut one = largest;
    if let Some(code) = infinity {
        one = [activation.largest(), weight.largest()];
        one[side] = code;
    }
    let back = [flipped(activation, one[0]), one[1]];
    let small = draw.plain(!negative);
    let parts = draw.pick(&[[one, back], [small, one], [small, largest]]);
    match draw.one_in(2) {
        true => draw.laid(&[parts.to_vec()]),
        false => draw.laid(&parts.map(|codes| vec![codes])),
    }
}

/// Returns two promotions: of a power of two, and of a number whose leading bit is half of the last bit of the float32 sum and
/// whose next bits are zero, so that only a far one breaks the tie.
fn far_tie(draw: &mut Draw<'_>) -> Products {
    let unit = draw.unit;
    let size = unit.promotion().unwrap_or(1).saturating_mul(unit.lanes());
    if size > draw.most / 2 {
        return odd_sum(draw);
    }
    let low = draw.lowest();
    let found = (0..40).find_map(|_| {
        let count = 1 + draw.below(unit.lanes().min(8) * unit.promotion().unwrap_or(1).min(2));
        let [near, far] = [draw.below(4) as i32, draw.below(30) as i32];
        let top = low + draw.pick(&[near, near + 3, far]);
        let (negative, mixed) = (draw.one_in(2), draw.pick(&[2, 8]));
        let small: Products = (0..count)
            .map(|_| {
                let below = draw.below(6) as i32;
                let (below, flip) = (draw.pick(&[0, 0, 1, below]), draw.one_in(mixed));
                normal_product(draw, top - below, negative != flip)
            })
            .collect();
        let acc = accumulator(unit, &small)?;
        let leading = acc.significand.ilog2();
        let below = (leading >= 3).then(|| acc.significand & ((1 << (leading - 2)) - 1))?;
        (acc.significand >> (leading - 2) == 4 && below != 0).then_some((small, acc, leading))
    });
    let Some((small, acc, leading)) = found else { return odd_sum(draw) };
    let large = acc.exponent + leading as i32 + 24;
    // As many equal products as one addition may have, and as many promotions as it takes.
    let one = draw.held[1].min(large);
    let missing = large - one;
    if missing > 0 && unit.scales.is_some() {
        // Scales make up for what is missing.
        let mut small = small;
        if small.len() <= unit.lanes() && draw.one_in(2) {
            // Few fraction bits keep the sum of the last addition only.
            small.splice(0..0, vec![[0; 2]; size - unit.lanes()]);
        }
        let mut parts = vec![vec![draw.power(one, acc.negative)], small];
        let down = (large - top(unit.dot.rule.result) + 1).max(0);
        let mut raised = vec![missing - down, -down];
        if draw.one_in(2) {
            parts.reverse();
            raised.reverse();
        }
        draw.raised = Some(raised);
        return draw.promotions(parts);
    }
    if missing > 12 {
        return odd_sum(draw);
    }
    let within = missing.min(unit.lanes().ilog2() as i32);
    let flip = draw.one_in(4);
    let product = draw.power(one, acc.negative != flip);
    let mut parts = vec![vec![product; 1 << within]; 1 << (missing - within)];
    if parts.len() == 1 && draw.one_in(2) {
        parts.insert(0, small);
    } else {
        parts.push(small);
    }
    match parts.len() * size > draw.most {
        true => odd_sum(draw),
        false => draw.promotions(parts),
    }
}
