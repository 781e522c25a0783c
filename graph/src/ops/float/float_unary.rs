//! Functions of one real value.

use super::elements::expect;
use crate::effort::{Effort, real};
use crate::ops::{Operands, Operator};
use crate::{GraphError, real_of, word_of};

/// Lists the functions: variant, name, the number of parameters, and the value in float64 or float32.
macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $parameters:literal, |$x:ident, $p:ident| $value:expr;)*) => {
        /// A function of one real value, applied to every element.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
        pub enum RealFunction { $($(#[$doc])* $variant,)* }

        impl RealFunction {
            /// Every function.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name used in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the number of parameters.
            pub fn parameters(self) -> usize {
                match self { $(Self::$variant => $parameters,)* }
            }

            /// Returns the value of the function.
            ///
            /// # Panics
            /// If there are fewer parameters than [`parameters`](Self::parameters) returns.
            pub fn apply(self, x: f32, parameters: &[f32]) -> f32 {
                let function: fn(f32, &[f32]) -> f32 =
                    match self { $(Self::$variant => |$x: f32, $p: &[f32]| $value,)* };
                function(x, parameters)
            }
        }
    };
}

/// Returns a function computed in float64 and rounded once.
fn wide(x: f32, f: impl Fn(f64) -> f64) -> f32 {
    f(f64::from(x)) as f32
}

functions! {
    /// `max(x, 0)`.
    Relu, "relu", 0, |x, _p| x.max(0.0);
    /// `x`, or `p0 * x` below 0.
    LeakyRelu, "leaky_relu", 1, |x, p| if x >= 0.0 { x } else { x * p[0] };
    /// `x` clamped to `[p0, p1]`.
    Clip, "clip", 2, |x, p| x.max(p[0]).min(p[1]);
    /// `1 / (1 + exp(-x))`.
    Sigmoid, "sigmoid", 0, |x, _p| wide(x, |x| 1.0 / (1.0 + libm::exp(-x)));
    /// The hyperbolic tangent.
    Tanh, "tanh", 0, |x, _p| wide(x, libm::tanh);
    /// `p0 * x + p1` clamped to `[0, 1]`.
    HardSigmoid, "hard_sigmoid", 2, |x, p| (x * p[0] + p[1]).clamp(0.0, 1.0);
    /// `x` times [`HardSigmoid`](Self::HardSigmoid) of 1/6 and 1/2.
    HardSwish, "hard_swish", 0, |x, _p| x * (x * (1.0 / 6.0) + 0.5).clamp(0.0, 1.0);
    /// `x`, or `p0 * (exp(x) - 1)` below 0.
    Elu, "elu", 1, |x, p| if x >= 0.0 { x } else { wide(x, |x| f64::from(p[0]) * libm::expm1(x)) };
    /// `log(1 + exp(x))`.
    Softplus, "softplus", 0, |x, _p| wide(x, |x| x.max(0.0) + libm::log1p(libm::exp(-x.abs())));
    /// The error function.
    Erf, "erf", 0, |x, _p| wide(x, libm::erf);
    /// `x * (1 + erf(x / sqrt 2)) / 2`.
    Gelu, "gelu", 0,
        |x, _p| wide(x, |x| 0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2)));
    /// `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2`.
    GeluTanh, "gelu_tanh", 0, |x, _p| wide(x, |x| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
        0.5 * x * (1.0 + libm::tanh(inner))
    });
    /// `x / (1 + exp(-x))`.
    Silu, "silu", 0, |x, _p| wide(x, |x| x / (1.0 + libm::exp(-x)));
    /// `x * tanh(log(1 + exp(x)))`.
    Mish, "mish", 0, |x, _p| wide(x, |x| x * libm::tanh(x.max(0.0) + libm::log1p(libm::exp(-x.abs()))));
    /// `x / (1 + |x|)`.
    Softsign, "softsign", 0, |x, _p| x / (1.0 + x.abs());
    /// `p1 * x`, or `p1 * p0 * (exp(x) - 1)` for `x` up to 0.
    Selu, "selu", 2, |x, p| {
        if x > 0.0 { p[1] * x } else { wide(x, |x| f64::from(p[1]) * f64::from(p[0]) * libm::expm1(x)) }
    };
    /// `x` above `p0`, 0 otherwise.
    ThresholdedRelu, "thresholded_relu", 1, |x, p| if x > p[0] { x } else { 0.0 };
    /// -1, 0 or 1.
    Sign, "sign", 0, |x, _p| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x };
    /// The sine.
    Sin, "sin", 0, |x, _p| wide(x, libm::sin);
    /// The cosine.
    Cos, "cos", 0, |x, _p| wide(x, libm::cos);
    /// `p0`, or `-p0` below 0.
    Bipolar, "bipolar", 1, |x, p| if x >= 0.0 { p[0] } else { -p[0] };
    /// The exponential function.
    Exp, "exp", 0, |x, _p| wide(x, libm::exp);
    /// The natural logarithm.
    Log, "log", 0, |x, _p| wide(x, libm::log);
    /// The square root.
    Sqrt, "sqrt", 0, |x, _p| x.sqrt();
    /// `1 / x`.
    Reciprocal, "reciprocal", 0, |x, _p| 1.0 / x;
    /// `-x`.
    Neg, "neg", 0, |x, _p| -x;
    /// The absolute value.
    Abs, "abs", 0, |x, _p| x.abs();
    /// The greatest integer that is not greater than `x`.
    Floor, "floor", 0, |x, _p| x.floor();
    /// The least integer that is not less than `x`.
    Ceil, "ceil", 0, |x, _p| x.ceil();
    /// The nearest integer, ties to even.
    Round, "round", 0, |x, _p| x.round_ties_even();
    /// The nearest IEEE 754 binary16 number, ties to even. Infinite from 65520 on.
    Float16, "float16", 0, |x, _p| float16(x);
}

/// Returns the nearest IEEE 754 binary16 number, ties to even.
fn float16(x: f32) -> f32 {
    if x.abs() >= 65520.0 || !x.is_finite() {
        return if x.is_nan() { x } else { f32::INFINITY.copysign(x) };
    }
    // Numbers have 11 significant bits. Below 2^-14 the step is constant.
    let exponent = (x.to_bits() >> 23 & 255) as i32 - 127;
    let step = 2f32.powi(exponent.max(-14) - 10);
    (x / step).round_ties_even() * step
}

impl RealFunction {
    /// Returns the function with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|function| function.name() == name)
    }

    /// Returns the operations of a host per element.
    const fn operations(self) -> u32 {
        use real::{DIVIDE, EXP, ROOT, SINE, TANH};
        match self {
            Self::Relu | Self::Neg | Self::Abs | Self::Floor | Self::Ceil | Self::Round | Self::Float16 => 1,
            Self::Clip | Self::ThresholdedRelu | Self::Sign | Self::Bipolar => 2,
            Self::LeakyRelu | Self::HardSigmoid => 3,
            Self::HardSwish => 4,
            Self::Reciprocal => DIVIDE,
            Self::Softsign => 2 + DIVIDE,
            Self::Sqrt => ROOT,
            Self::Sin | Self::Cos => SINE,
            Self::Exp | Self::Log | Self::Erf => EXP,
            Self::Elu | Self::Selu => EXP + 3,
            Self::Sigmoid | Self::Silu => EXP + 2 + DIVIDE,
            Self::Tanh => TANH,
            Self::Gelu => EXP + 4,
            Self::GeluTanh => TANH + 7,
            Self::Softplus => 2 * EXP + 3,
            Self::Mish => 2 * EXP + 3 + TANH + 1,
        }
    }
}

/// A function applied to every element.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatUnary {
    /// The function.
    pub function: RealFunction,
    /// Its parameters `p0`, `p1` and so on.
    pub parameters: Vec<f32>,
}

impl Operator for FloatUnary {
    const NAME: &'static str = "float_unary";
    /// The effort of `x * tanh(log(1 + exp(x)))`, the largest of all functions.
    const EFFORT: Effort = Effort::per_output(RealFunction::Mish.operations());

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 1, 1)?;
        let expected = self.function.parameters();
        if self.parameters.len() != expected {
            let problem = format!("of {} must be {expected} numbers", self.function.name());
            return Err(operands.attribute_error("parameters", problem));
        }
        Ok(operands.input(0).ty.shape.clone())
    }

    fn effort(&self, _operands: &Operands<'_>) -> Effort {
        Effort::per_output(self.function.operations())
    }

    fn evaluate(&self, _operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        inputs[0].iter().map(|&word| word_of(self.function.apply(real_of(word), &self.parameters))).collect()
    }
}
