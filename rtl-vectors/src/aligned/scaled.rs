//! Scales for drawn dot products: 1, one pair for all terms, pairs that lie as far apart as bits are kept, ends of the
//! formats, NaN and zero.

use guardbit_num::{Decoded, FloatFormat};

use super::draw::{Draw, signed};
use super::formats::{has_zero, least_bit, top};
use super::unit::{Block, Scales};

/// Returns terms of products; none without scales. Groups may lose products that are zero at their end.
pub(super) fn blocks(draw: &mut Draw<'_>, products: &mut Vec<[u32; 2]>) -> Vec<Block> {
    let unit = draw.unit;
    let Some(scales) = unit.scales else { return Vec::new() };
    let raised = draw.raised.take();
    let kind = if raised.is_some() { 0 } else { draw.below(16) };
    let [low, high] = [least_bit, top].map(|of| scales.formats.map(of).iter().sum::<i32>());
    // Where the largest product has the exponent of the accumulator's end, or of its last bits.
    let result = unit.dot.rule.result;
    let exponents_of = |&codes: &[u32; 2]| match unit.product(codes).value {
        Decoded::Finite(number) => number.leading_exponent(),
        _ => None,
    };
    let largest = products.iter().filter_map(exponents_of).max().unwrap_or(0);
    let by = draw.below(8) as i32 - 4;
    let inside = low + draw.below((high - low + 1) as usize) as i32;
    let borders = [
        inside,
        0,
        top(result) - largest + by,
        least_bit(result) - largest + by,
        result.least_exponent() - largest + by,
        low + by,
        high + by,
    ];
    let base = draw.pick(&borders).clamp(low, high);
    let mut pair = match kind {
        0..6 => unit.ones(),
        _ => exponents(draw, scales, base),
    };
    if kind == 6 {
        // Fractions of ones make the largest significands. One product makes the sum of the largest ones odd.
        let [a, w] = scales.formats;
        pair = [pair[0] | ones(a), pair[1] | ones(w)];
        let (other, negative) = (draw.below(products.len()), draw.one_in(2));
        let largest = [signed(unit.activation, unit.activation.largest(), negative), unit.weight.largest()];
        let all = products.iter_mut().enumerate().filter(|(index, _)| *index != other);
        all.for_each(|(_, codes)| *codes = largest);
    }
    let mut all = Vec::new();
    let mut kept = Vec::new();
    let size = unit.promotion().unwrap_or(usize::MAX).saturating_mul(unit.terms());
    for (index, part) in products.chunks(unit.group()).enumerate() {
        let zeros = part.iter().rev().take_while(|&&codes| codes == [0; 2]).count();
        // Zeros fill promotions.
        let cut = if raised.is_none() && draw.one_in(2) { draw.below(zeros + 1) } else { 0 };
        let count = (part.len() - cut).max(1);
        kept.extend(&part[..count]);
        let far = draw.distance();
        let raise = raised.as_ref().and_then(|raised| raised.get(index / size));
        let scales = match kind {
            _ if raise.is_some() => exponents(draw, scales, raise.copied().unwrap_or(0)),
            10..14 if !draw.one_in(3) => exponents(draw, scales, base - far),
            9 if draw.one_in(3) => zero_beside_largest(draw, scales),
            14 => scales.formats.map(|format| draw.pick(&ends(format))),
            15 if draw.one_in(4) => scales.formats.map(|format| draw.bits(format)),
            _ => pair,
        };
        all.push(Block { count, scales });
    }
    *products = kept;
    all
}

/// Returns scales whose exponents add to one, as far as the formats have them.
fn exponents(draw: &mut Draw<'_>, scales: Scales, sum: i32) -> [u32; 2] {
    let [a, w] = scales.formats;
    let sum = sum.clamp(least_bit(a) + least_bit(w), top(a) + top(w));
    let (low, high) = ((sum - top(w)).max(least_bit(a)), (sum - least_bit(w)).min(top(a)));
    let middle = (sum / 2).clamp(low, high);
    let any = low + draw.below((high - low + 1) as usize) as i32;
    let own = draw.pick(&[low, high, middle, middle, any]);
    [code(draw, a, own), code(draw, w, sum - own)]
}

/// Returns the code of a scale with an exponent.
fn code(draw: &mut Draw<'_>, format: FloatFormat, expo: i32) -> u32 {
    match has_zero(format) {
        1 => draw.operand(format, expo),
        _ => (expo - format.least_exponent()) as u32,
    }
}

/// Returns the fraction bits of a format, all 1 but the last one, without which the largest exponent is not NaN.
fn ones(format: FloatFormat) -> u32 {
    ((1 << format.fraction_bits()) - 1) & !1
}

/// Returns a zero scale, if a format has one, and the other operand's largest one.
fn zero_beside_largest(draw: &mut Draw<'_>, scales: Scales) -> [u32; 2] {
    let mut codes = scales.formats.map(FloatFormat::largest);
    let zeros: Vec<usize> = (0..2).filter(|&side| has_zero(scales.formats[side]) == 1).collect();
    if let Some(&side) = zeros.get(draw.below(zeros.len())) {
        codes[side] = 0;
    }
    codes
}

/// Returns codes at the ends of a format: the least one, the largest one, zero if it has one, and NaN.
fn ends(format: FloatFormat) -> [u32; 4] {
    [0, has_zero(format), format.largest(), format.nan().unwrap_or(0)]
}

/// Returns every pair of scales of which one is at an end of its format.
pub(super) fn lone_ends(scales: Scales, ones: [u32; 2]) -> Vec<[u32; 2]> {
    let pair = |side: usize, code: u32| {
        let mut codes = ones;
        codes[side] = code;
        codes
    };
    (0..2).flat_map(|side| ends(scales.formats[side]).map(|code| pair(side, code))).collect()
}
