//! Functions of two integers without quantization.

use super::{Operands, Operator, elementwise};
use crate::effort::{Effort, real};
use crate::{DType, GraphError};

/// Lists the functions: variant, name and value.
macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, |$a:ident, $b:ident| $value:expr;)*) => {
        /// A function of two integers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
        pub enum IntegerPair { $($(#[$doc])* $variant,)* }

        impl IntegerPair {
            /// Every function.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name used in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            fn value(self, a: i32, b: i32) -> i32 {
                match self { $(Self::$variant => { let ($a, $b) = (a, b); $value })* }
            }
        }
    };
}

functions! {
    /// `a + b`, modulo 2^32.
    Add, "add", |a, b| a.wrapping_add(b);
    /// `a - b`, modulo 2^32.
    Sub, "sub", |a, b| a.wrapping_sub(b);
    /// `a * b`, modulo 2^32.
    Mul, "mul", |a, b| a.wrapping_mul(b);
    /// `a / b`, rounded down. The divisor is a constant without 0.
    FloorDiv, "floor_div", |a, b| floor_div(a, b);
}

fn floor_div(a: i32, b: i32) -> i32 {
    let quotient = i64::from(a).div_euclid(b.into());
    // `div_euclid` leaves a remainder of at least 0; a floor division leaves one with the sign of the divisor.
    (quotient - i64::from(b < 0 && i64::from(a).rem_euclid(b.into()) != 0)) as i32
}

/// A function of the elements of two int32 tensors, with NumPy's broadcasting.
///
/// The values are indices, counts and similar integers without scales. They can also be codes with one scale and zero
/// point 0, e.g. when a bias is added to the sums of a layer. A constant may omit its scale.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct IntegerBinary {
    /// The function.
    pub function: IntegerPair,
}

impl Operator for IntegerBinary {
    const NAME: &'static str = "integer_binary";
    /// Counts a quotient and its correction.
    const EFFORT: Effort = Effort::per_output(real::DIVIDE + 3);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(2, 2)?;
        operands.expect_dtype(0, &[DType::Int32])?;
        let adds = matches!(self.function, IntegerPair::Add | IntegerPair::Sub);
        let scaled = operands.output_quantization.filter(|_| adds);
        if scaled.is_none() && operands.output_quantization.is_some() {
            return Err(operands.operand_error(operands.output_name, "must have no scale".into()));
        }
        for input in [0, 1].map(|index| operands.input(index)) {
            let own = input.ty.quantization.as_ref();
            let left_out = own.is_none() && input.constant.is_some();
            if own == scaled || left_out {
                continue;
            }
            let problem =
                if scaled.is_some() { "must have the scale of the output" } else { "must have no scale" };
            return Err(operands.operand_error(&input.name, problem.into()));
        }
        if scaled.is_some_and(|scaled| scaled.zero_points().iter().any(|&zero| zero != 0)) {
            return Err(operands.operand_error(operands.output_name, "must have zero point 0".into()));
        }
        if self.function == IntegerPair::FloorDiv && operands.constant(1)?.iter().any(|divisor| divisor == 0)
        {
            return Err(operands.operand_error(&operands.input(1).name, "divides by 0".into()));
        }
        elementwise::output_shape(operands)
    }

    fn effort(&self, _operands: &Operands<'_>) -> Effort {
        match self.function {
            IntegerPair::FloorDiv => Self::EFFORT,
            _ => Effort::per_output(1),
        }
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        elementwise::zip(operands, inputs, |a, b| self.function.value(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::floor_div;

    #[test]
    fn quotients_are_rounded_down() {
        for a in [i32::MIN, -7, -6, -1, 0, 1, 6, 7, i32::MAX] {
            for b in [-7, -3, -2, 2, 3, 7] {
                assert_eq!(floor_div(a, b), (f64::from(a) / f64::from(b)).floor() as i32, "{a} / {b}");
            }
        }
    }
}
