//! Code shared by operations that are functions of one code, defined on real values.

use super::Operands;
use crate::{DType, GraphError};

/// The arithmetic with which a runtime computes a curve on codes of 8 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[non_exhaustive]
pub enum Arithmetic {
    /// A float32 table of all codes (LiteRT).
    Table,
    /// gemmlowp's fixed point (TensorFlow Lite Micro).
    FixedPoint,
}

impl Arithmetic {
    /// Every arithmetic.
    pub const ALL: [Self; 2] = [Self::Table, Self::FixedPoint];

    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::FixedPoint => "fixed_point",
        }
    }
}

/// The output code of every input code, or 513 codes for interpolation.
pub(super) struct Table {
    codes: Vec<i32>,
    /// The least input code if every code has its own entry, otherwise `None`.
    first: Option<i32>,
}

const STEPS: usize = 512;

impl Table {
    /// Returns the table of a real function for the scales and zero points of the only input and the output.
    ///
    /// It is computed in float32 like LiteRT's `LUTPopulate`.
    pub fn of(operands: &Operands<'_>, f: impl Fn(f32) -> f32) -> Result<Self, GraphError> {
        operands.expect_inputs(1, 1)?;
        let (input, output) = (operands.activation(0)?, operands.output_activation()?);
        let dtype = operands.input(0).ty.dtype;
        operands.expect_output_dtype(&[dtype])?;
        let (scales, zeros) =
            ((input.scale(0), output.scale(0)), (input.zero_point(0), output.zero_point(0)));
        match dtype {
            DType::Int16 if zeros == (0, 0) => {
                let [low, high] = [dtype.min(), dtype.max()].map(|code| scales.0 * code as f32);
                Ok(Self::interpolated(low, high, scales.1, f))
            }
            DType::Int8 | DType::UInt8 => {
                let codes = (dtype.min()..=dtype.max()).map(|code| {
                    let real = f(scales.0 * (code - zeros.0) as f32);
                    let steps = (real * (1.0 / scales.1)).round() + zeros.1 as f32;
                    // Numbers beyond 32 bits saturate.
                    let steps = steps as i32;
                    steps.clamp(dtype.min(), dtype.max())
                });
                Ok(Self { codes: codes.collect(), first: Some(dtype.min()) })
            }
            _ => {
                let problem = format!("must be int8, uint8, or int16 with zero points 0, not {dtype}");
                Err(operands.operand_error(&operands.input(0).name, problem))
            }
        }
    }

    /// Returns the table of a function on codes of 8 bits.
    pub fn each(dtype: DType, f: impl Fn(i32) -> i32) -> Self {
        Self { codes: (dtype.min()..=dtype.max()).map(f).collect(), first: Some(dtype.min()) }
    }

    /// Returns 513 codes of 16 bits at equal distances over `low..=high`.
    ///
    /// Each code is adjusted by half of the interpolation error in the middle of the interval after it.
    pub fn interpolated<T: Real>(low: T, high: T, output_scale: T, f: impl Fn(T) -> T) -> Self {
        let number = <T as Real>::of;
        let (least, greatest) = (number(-32768), number(32767));
        let step = (high - low) / number(STEPS as i32);
        let inverse = number(65536) / (output_scale * greatest - output_scale * least);
        let code = |value: T| value.clamp(least, greatest).truncate();
        let entry = |i: usize| {
            let at = low + number(i as i32) * step;
            let (here, middle) = (f(at), f(at + step / number(2)));
            let next = f(low + number(i as i32 + 1) * step);
            let sample = (here * inverse).round();
            let between = ((next * inverse + sample) / number(2)).round();
            let error = between - (middle * inverse).round();
            code(sample - (error / number(2)).round())
        };
        let mut codes: Vec<_> = (0..STEPS).map(entry).collect();
        codes.push(code((f(high) * inverse).round()));
        Self { codes, first: None }
    }

    /// Returns the output code of an input code.
    pub fn code(&self, code: i32) -> i32 {
        let Some(first) = self.first else { return self.between(code) };
        self.codes[(code - first) as usize]
    }

    /// Interpolates between two entries with the low seven bits.
    fn between(&self, code: i32) -> i32 {
        let at = (256 + (code >> 7)) as usize;
        let base = self.codes[at];
        // The runtime keeps 16 bits of each value.
        let slope = i32::from((self.codes[at + 1] - base) as i16);
        let delta = (slope * (code & 127) + 64) >> 7;
        i32::from((base + delta) as i16)
    }

    /// Returns the output codes of input codes.
    pub fn evaluate(&self, codes: &[i32]) -> Vec<i32> {
        codes.iter().map(|&code| self.code(code)).collect()
    }
}

/// A float type in which tables are computed.
pub(super) trait Real:
    Copy
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
{
    fn of(integer: i32) -> Self;
    fn round(self) -> Self;
    fn clamp(self, low: Self, high: Self) -> Self;
    fn truncate(self) -> i32;
}

macro_rules! real {
    ($($ty:ident),*) => {
        $(impl Real for $ty {
            fn of(integer: i32) -> Self {
                integer as $ty
            }

            fn round(self) -> Self {
                $ty::round(self)
            }

            fn clamp(self, low: Self, high: Self) -> Self {
                $ty::clamp(self, low, high)
            }

            fn truncate(self) -> i32 {
                self as i32
            }
        })*
    };
}

real!(f32, f64);

/// Returns a function computed in float64 and rounded to float32, as an accurate float32 library would return it.
pub(super) fn in_float64(f: impl Fn(f64) -> f64) -> impl Fn(f32) -> f32 {
    move |value| f(value.into()) as f32
}

/// A curve between 0 and 1 on codes of 16 bits: `sigmoid(k/24)` for k = 0..=255, with 16 fraction bits.
///
/// Each entry is increased by half of the amount by which linear interpolation would be too low in the middle.
pub(super) struct Sigmoid {
    table: Vec<i32>,
    multiplier: i32,
    right: u32,
}

impl Sigmoid {
    /// Returns the curve for inputs of this scale, in steps of `1/(3*4096)`.
    ///
    /// A scale of `2^-12`, or `2^-11` if `doubled`, needs no rounding (LiteRT's `SigmoidPrepare` and `TanhPrepare`).
    pub fn new(operands: &Operands<'_>, doubled: bool) -> Result<Self, GraphError> {
        let (input, output) = (operands.activation(0)?, operands.output_activation()?);
        if input.zero_point(0) != 0 || output.zero_point(0) != 0 || output.scale(0) != 1.0 / 32768.0 {
            let problem = "must have scale 1/32768, and both zero points must be 0".into();
            return Err(operands.operand_error(operands.output_name, problem));
        }
        // Whether the scale is a power of two within 1/1000, the runtime's tolerance.
        let exponent = libm::log2(input.scale(0).into());
        let left = 12 + exponent.round() as i32;
        let power = (exponent - exponent.round()).abs() < 1e-3;
        if power && (left == 0 || doubled && left == 1) {
            return Ok(Self { table: Self::table(), multiplier: 3 << left, right: 0 });
        }
        let (mut multiplier, mut right) = (f64::from(input.scale(0)) * 4096.0 * 3.0, 0);
        while multiplier <= 32767.0 / 2.0 && right <= 30 {
            right += 1;
            multiplier *= 2.0;
        }
        if multiplier > 32767.0 {
            let problem = "has a scale that is too large for codes of 16 bits".into();
            return Err(operands.operand_error(&operands.input(0).name, problem));
        }
        Ok(Self { table: Self::table(), multiplier: multiplier as i32, right })
    }

    fn table() -> Vec<i32> {
        let sigmoid = |x: f64| 65536.0 / (1.0 + libm::exp(-x / 24.0));
        let entry = |k: i32| {
            let k = f64::from(k);
            let low = sigmoid(k + 0.5) - (sigmoid(k) + sigmoid(k + 1.0)) / 2.0;
            (sigmoid(k) + low / 2.0).round() as i32
        };
        (0..255).map(entry).chain([65535]).collect()
    }

    /// Returns the input in steps of `1/(3*4096)`.
    pub fn argument(&self, code: i32) -> i32 {
        let half = if self.right > 0 { 1i64 << (self.right - 1) } else { 0 };
        ((i64::from(code) * i64::from(self.multiplier) + half) >> self.right) as i32
    }

    /// Returns the curve at `argument`, with 16 more fraction bits, or `top` beyond the table.
    ///
    /// `fraction` is the number of bits of the argument that lie between two entries.
    pub fn at(&self, argument: i32, fraction: u32, top: i32) -> i32 {
        let argument = argument.unsigned_abs() as usize;
        let place = argument >> fraction;
        if place >= 255 {
            return top;
        }
        let (low, high) = (self.table[place], self.table[place + 1]);
        (low << fraction) + (argument & ((1 << fraction) - 1)) as i32 * (high - low)
    }
}
