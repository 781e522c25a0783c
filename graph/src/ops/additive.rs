//! Arithmetic shared by addition and subtraction.

use guardbit_num::{Multiplier, Requantizer, Scale32, Scheme};

use super::{Operands, elementwise};
use crate::{Activation, DType, GraphError};

pub(super) struct Parts {
    left_shift: u32,
    /// Zero point, requantizer and sign of each input.
    terms: [(i32, Requantizer, i128); 2],
    output: Requantizer,
    output_zero_point: i32,
    clamp: (i32, i32),
}

impl Parts {
    /// Returns the requantizers of `a + sign * b`.
    pub fn new(
        operands: &Operands<'_>,
        scheme: Scheme,
        activation: Activation,
        sign: i128,
    ) -> Result<Self, GraphError> {
        let (a, b, y) = (operands.activation(0)?, operands.activation(1)?, operands.output_activation()?);
        let left_shift = if operands.output_dtype.bits() > 8 { 15 } else { 20 };
        let [scale_a, scale_b, scale_y] = [a, b, y].map(|q| f64::from(q.scale(0)));
        let twice_max = 2.0 * scale_a.max(scale_b);
        let requantizer = |real| match Multiplier::new(real) {
            Ok(multiplier) => Ok(Requantizer::new(scheme, multiplier)),
            Err(error) => Err(operands.multiplier_error(error)),
        };
        Ok(Self {
            left_shift,
            terms: [
                (a.zero_point(0), requantizer(scale_a / twice_max)?, 1),
                (b.zero_point(0), requantizer(scale_b / twice_max)?, sign),
            ],
            output: requantizer(twice_max / (f64::from(1 << left_shift) * scale_y))?,
            output_zero_point: y.zero_point(0),
            clamp: activation.clamp(operands.output_dtype, y),
        })
    }

    /// Returns the output codes.
    pub fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        match self.tables(operands.output_dtype) {
            // Naming the scheme in each branch lets the compiler specialize the loop.
            Some(tables) => match tables.scale {
                Scale32::Double { significand, left, right } => {
                    elementwise::zip(operands, inputs, move |a, b| {
                        tables.code(Scale32::Double { significand, left, right }, a, b)
                    })
                }
                Scale32::Single { significand, right } => elementwise::zip(operands, inputs, move |a, b| {
                    tables.code(Scale32::Single { significand, right }, a, b)
                }),
                scale => elementwise::zip(operands, inputs, |a, b| tables.code(scale, a, b)),
            },
            None => elementwise::zip(operands, inputs, |a, b| self.code(a, b)),
        }
    }

    /// Returns the requantizers of both inputs and of the output.
    pub fn requantizers(&self) -> Vec<Requantizer> {
        vec![self.terms[0].1, self.terms[1].1, self.output]
    }

    fn term(&self, input: usize, code: i32) -> i128 {
        let (zero_point, requantizer, sign) = self.terms[input];
        sign * requantizer.scale((i128::from(code) - i128::from(zero_point)) << self.left_shift)
    }

    fn code(&self, a: i32, b: i32) -> i32 {
        let sum = self.term(0, a) + self.term(1, b);
        let code = self.output.requantize(sum, self.output_zero_point.into());
        code.clamp(self.clamp.0.into(), self.clamp.1.into()) as i32
    }

    /// Returns tables of the scaled terms for codes of at most 8 bits, or `None` if 32 bits do not hold the terms.
    fn tables(&self, dtype: DType) -> Option<Tables> {
        if dtype.bits() > 8 {
            return None;
        }
        // A sum of two terms fits with a bit to spare.
        let short = |term: i128| i32::try_from(term).ok().filter(|term| term.unsigned_abs() < 1 << 30);
        let table = |input| {
            let mut terms = [0; 256];
            for code in dtype.min()..=dtype.max() {
                terms[usize::from(code as u8)] = short(self.term(input, code))?;
            }
            Some(terms)
        };
        let (a, b) = (table(0)?, table(1)?);
        let offset = i64::from(self.output_zero_point);
        let clamp = (i64::from(self.clamp.0), i64::from(self.clamp.1));
        Some(Tables { terms: [a, b], scale: Scale32::new(self.output)?, offset, clamp })
    }
}

/// The scaled terms of all codes, indexed by the low 8 bits of a code.
struct Tables {
    terms: [[i32; 256]; 2],
    scale: Scale32,
    offset: i64,
    clamp: (i64, i64),
}

impl Tables {
    #[inline(always)]
    fn code(&self, scale: Scale32, a: i32, b: i32) -> i32 {
        let [terms_a, terms_b] = &self.terms;
        let sum = terms_a[usize::from(a as u8)] + terms_b[usize::from(b as u8)];
        (scale.scale(sum) + self.offset).clamp(self.clamp.0, self.clamp.1) as i32
    }
}

/// The sum under scheme E, equal to XNNPACK's on codes of 8 bits: `round((a - za)*A + (b - zb)*B) + zy`.
///
/// The multipliers have 21 bits, `A = rint(sa/sy * 2^n)`, and the sum is rounded once, half up.
pub(super) struct OneRounding {
    multipliers: [i64; 2],
    zero_points: [i32; 2],
    shift: i32,
    output_zero_point: i32,
    clamp: (i32, i32),
}

impl OneRounding {
    /// Returns the multipliers of `a + sign * b`.
    pub fn new(operands: &Operands<'_>, activation: Activation, sign: i128) -> Result<Self, GraphError> {
        operands.expect_output_dtype(&[DType::Int8, DType::UInt8])?;
        let (a, b, y) = (operands.activation(0)?, operands.activation(1)?, operands.output_activation()?);
        let ratios = [a, b].map(|q| q.scale(0) / y.scale(0));
        // XNNPACK accepts no other scales.
        if ratios.iter().any(|ratio| !(1.0 / 1024.0..256.0).contains(ratio)) {
            let problem = format!(
                "the ratios {ratios:?} of the input scales to its scale are not between \
                 2^-10 and 2^8"
            );
            return Err(operands.operand_error(operands.output_name, problem));
        }
        let greatest = f64::from(ratios[0].max(ratios[1]));
        let shift = 20 - libm::log2(greatest).floor() as i32;
        let [left, right] =
            ratios.map(|ratio| (f64::from(ratio) * 2f64.powi(shift)).round_ties_even() as i64);
        Ok(Self {
            multipliers: [left, right * sign as i64],
            zero_points: [a.zero_point(0), b.zero_point(0)],
            shift,
            output_zero_point: y.zero_point(0),
            clamp: activation.clamp(operands.output_dtype, y),
        })
    }

    /// Returns the output codes.
    pub fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let term =
            |index: usize, code: i32| i64::from(code - self.zero_points[index]) * self.multipliers[index];
        elementwise::zip(operands, inputs, |a, b| {
            let sum = term(0, a) + term(1, b) + (1 << (self.shift - 1));
            let code = (sum >> self.shift) + i64::from(self.output_zero_point);
            code.clamp(self.clamp.0.into(), self.clamp.1.into()) as i32
        })
    }
}

/// Defines an addition or subtraction: its attributes and [`Operator`](super::Operator).
macro_rules! additive {
    ($(#[$doc:meta])* $ty:ident, $name:literal, $sign:literal, $monotonicity:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub struct $ty {
            /// The fused activation.
            pub activation: $crate::Activation,
            /// Rounding scheme of each of the three products.
            #[serde(serialize_with = "crate::canonical::scheme")]
            pub scheme: guardbit_num::Scheme,
        }

        impl $crate::ops::Operator for $ty {
            const NAME: &'static str = $name;
            /// Both inputs are centred, shifted, and scaled by a product and a rounded shift.
            const EFFORT: $crate::effort::Effort = $crate::effort::Effort::per_output(2 * ($crate::effort::CENTRE + 3) + 1 + $crate::effort::REQUANTIZE + $crate::effort::CLAMP);
            const MONOTONICITY: $crate::ops::Monotonicity = $crate::ops::Monotonicity::$monotonicity;

            /// Always uses multipliers in float64, for any rule.
            fn requantize(&self) -> Option<$crate::Requantize> {
                Some($crate::Requantize { scheme: self.scheme, rule: $crate::MultiplierRule::Float64 })
            }

            fn set_requantize(&mut self, requantize: $crate::Requantize) {
                self.scheme = requantize.scheme;
            }

            fn requantizers(&self, operands: &Operands<'_>) -> Vec<guardbit_num::Requantizer> {
                let parts = Parts::new(operands, self.scheme, self.activation, $sign);
                parts.map_or_else(|_| Vec::new(), |parts| parts.requantizers())
            }

            $crate::ops::activated!();

            fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                let shape = $crate::ops::elementwise::output_shape(operands)?;
                if self.scheme == guardbit_num::Scheme::Even {
                    OneRounding::new(operands, self.activation, $sign)?;
                    return Ok(shape);
                }
                Parts::new(operands, self.scheme, self.activation, $sign)?;
                Ok(shape)
            }

            fn effort(&self, _operands: &Operands<'_>) -> $crate::effort::Effort {
                if self.scheme == guardbit_num::Scheme::Even {
                    // Counts two conversions, two products with additions, a rounding and the zero point.
                    return $crate::effort::Effort::per_output(2 + 2 + 2 + $crate::effort::CLAMP);
                }
                Self::EFFORT
            }

            fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
                if self.scheme == guardbit_num::Scheme::Even {
                    let sum = OneRounding::new(operands, self.activation, $sign);
                    return sum.map_or_else(|_| Vec::new(), |sum| sum.evaluate(operands, inputs));
                }
                let parts = Parts::new(operands, self.scheme, self.activation, $sign);
                parts.map_or_else(|_| Vec::new(), |parts| parts.evaluate(operands, inputs))
            }
        }
    };
}

pub(super) use additive;
