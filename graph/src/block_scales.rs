//! Scales of blocks as codes of a scale format times one scale.

use std::collections::BTreeSet;

use guardbit_num::{Decoded, FloatFormat, FloatOverflow, FloatRounding, Rounding};

use crate::{Integers, real_of};

/// Real scales as codes of a format, times one scale.
pub(crate) struct Factors {
    pub format: FloatFormat,
    pub codes: Integers,
    pub scale: f32,
}

/// Fraction bits of a float32.
const FRACTION: i32 = (1 << 23) - 1;
/// Word of `2^-127`, the least scale of ue8m0, which is subnormal in float32.
const LEAST: i32 = 1 << 22;

/// Returns the formats of scales of blocks: that of OCP microscaling, and that of NVFP4.
pub(crate) fn formats() -> Option<[FloatFormat; 2]> {
    Some(["ue8m0".parse().ok()?, "ue4m3".parse().ok()?])
}

/// Returns words of finite real values above 0 as codes of ue8m0 or ue4m3 times a scale, whose product in float32 is
/// each value again, or `None` if no scale does that.
pub(crate) fn factors(words: &[i32]) -> Option<Factors> {
    let [powers, small] = formats()?;
    let distinct: BTreeSet<i32> = words.iter().copied().collect();
    let first = *distinct.first()?;
    let exponent = |word: i32| if word == LEAST { 0 } else { word >> 23 };
    // The least power of two may stand beside powers of two alone.
    let fraction = if first == LEAST { 0 } else { first & FRACTION };
    let is_power =
        |&word: &i32| word == LEAST && fraction == 0 || word >> 23 > 0 && word & FRACTION == fraction;
    if distinct.iter().all(is_power) {
        let codes = words.iter().map(|&word| exponent(word)).collect();
        return Some(Factors { format: powers, codes, scale: real_of(127 << 23 | fraction) });
    }
    let largest = real_of(*distinct.last()?);
    let steps =
        |scale: f32| (-2..=2).map(move |step| f32::from_bits(scale.to_bits().wrapping_add_signed(step)));
    // By convention the largest scale has the largest code.
    let tops = (1..=small.largest()).rev().map(|code| largest / value(small, code));
    let scales = [1.0].into_iter().chain(tops.flat_map(steps)).filter(|scale| scale.is_normal());
    for scale in scales {
        let code = |word: i32| {
            let code = nearest(small, real_of(word) / scale)?;
            (code > 0 && value(small, code) * scale == real_of(word)).then_some(code as i32)
        };
        if distinct.iter().all(|&word| code(word).is_some()) {
            let codes = words.iter().map(|&word| code(word)).collect::<Option<_>>()?;
            return Some(Factors { format: small, codes, scale });
        }
    }
    None
}

/// Returns the code nearest to a real value, ties to even, saturated; `None` for NaN.
pub(crate) fn nearest(format: FloatFormat, real: f32) -> Option<u32> {
    format.code(f64::from(real).into(), FloatRounding::By(Rounding::HalfEven), FloatOverflow::Saturate)
}

/// Returns the value of a code, NaN as NaN.
pub(crate) fn value(format: FloatFormat, code: u32) -> f32 {
    match format.decode(code) {
        Decoded::Finite(number) => number.value() as f32,
        Decoded::Infinite { .. } | Decoded::Nan => f32::NAN,
    }
}
