//! Functions of two real values.

use super::elements::expect;
use crate::effort::{Effort, real};
use crate::ops::{Operands, Operator, elementwise};
use crate::{GraphError, real_of, word_of};

/// Lists the functions: variant, name and value.
macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, |$a:ident, $b:ident| $value:expr;)*) => {
        /// A function of two real values.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
        pub enum RealPair { $($(#[$doc])* $variant,)* }

        impl RealPair {
            /// Every function.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name used in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the function of two values.
            pub fn value(self, a: f32, b: f32) -> f32 {
                match self { $(Self::$variant => { let ($a, $b) = (a, b); $value })* }
            }
        }
    };
}

functions! {
    /// `a + b`.
    Add, "add", |a, b| a + b;
    /// `a - b`.
    Sub, "sub", |a, b| a - b;
    /// `a * b`.
    Mul, "mul", |a, b| a * b;
    /// `a / b`.
    Div, "div", |a, b| a / b;
    /// `a` to the power of `b`.
    Pow, "pow", |a, b| libm::pow(a.into(), b.into()) as f32;
    /// The greater one.
    Maximum, "maximum", |a, b| a.max(b);
    /// The lesser one.
    Minimum, "minimum", |a, b| a.min(b);
}

impl RealPair {
    /// Returns the function with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|function| function.name() == name)
    }
}

/// A function of the elements of two tensors, with NumPy's broadcasting.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatBinary {
    /// The function.
    pub function: RealPair,
}

impl FloatBinary {
    /// Returns whether this is a multiplication.
    pub(crate) fn multiplies(&self) -> bool {
        self.function == RealPair::Mul
    }
}

impl Operator for FloatBinary {
    const NAME: &'static str = "float_binary";
    /// The effort of a power, the largest of all functions.
    const EFFORT: Effort = Effort::per_output(real::POWER);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 2, 2)?;
        elementwise::output_shape(operands)
    }

    fn effort(&self, _operands: &Operands<'_>) -> Effort {
        match self.function {
            RealPair::Pow => Self::EFFORT,
            RealPair::Div => Effort::per_output(real::DIVIDE),
            _ => Effort::per_output(1),
        }
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        elementwise::zip(operands, inputs, |a, b| word_of(self.function.value(real_of(a), real_of(b))))
    }
}
