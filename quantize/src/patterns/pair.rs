//! Sums, differences, products, quotients and extremes of two tensors, one of which may be a constant.

use std::sync::Arc;

use guardbit_graph::ops::{FloatBinary, QLinearAdd, QLinearMul, RealPair};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Activation, Op, Tensor, TensorId};

use super::clipped::{Clip, maybe_clipped};
use super::on_reals::OnReals;
use super::{Operation, Parts, UnitPattern};
use crate::emit::Emit;
use crate::prepare::reals;
use crate::{QuantizeError, TensorCodes};

macro_rules! pairs {
    ($($(#[$doc:meta])* $ty:ident, $name:literal, $function:ident;)*) => {$(
        $(#[$doc])*
        pub(super) struct $ty;

        impl UnitPattern for $ty {
            fn name(&self) -> &'static str {
                $name
            }

            fn pattern(&self) -> Pattern {
                let pair = Pattern::op_where::<FloatBinary>(|op| op.function == RealPair::$function)
                    .reads([Pattern::any().named("a"), Pattern::any().named("b")]);
                maybe_clipped(pair.named("pair"))
            }

            fn operation(&self, found: &Match<'_>) -> Option<Operation> {
                operation(found, RealPair::$function)
            }
        }
    )*};
}

pairs! {
    /// Pattern of `a + b`, which joins branches. A convolution before it keeps its own codes, as in ONNX
    /// Runtime.
    Add, "add", Add;
    /// Pattern of `a - b`.
    Subtract, "subtract", Sub;
    /// Pattern of `a * b`.
    Multiply, "multiply", Mul;
    /// Pattern of `a / b` for constant `b`; other quotients may be unbounded.
    Divide, "divide", Div;
    /// Pattern of the element-wise maximum.
    Maximum, "maximum", Maximum;
    /// Pattern of the element-wise minimum.
    Minimum, "minimum", Minimum;
}

/// Function of two tensors.
#[derive(Debug)]
struct Pair {
    function: RealPair,
    /// Constant operand, which stays in float, and its index.
    constant: Option<(Tensor, usize)>,
}

fn operation(found: &Match<'_>, function: RealPair) -> Option<Operation> {
    let [a, b] = [found.tensor("a")?, found.tensor("b")?];
    let constant = match (&a.constant, &b.constant) {
        (Some(_), Some(_)) => return None,
        (Some(_), None) => Some((a.clone(), 0)),
        (None, Some(_)) => Some((b.clone(), 1)),
        (None, None) => None,
    };
    let divides = |(b, at): &(Tensor, usize)| {
        *at == 1 && reals(b).is_some_and(|b| b.iter().all(|divisor| divisor.is_normal()))
    };
    if function == RealPair::Div && !constant.as_ref().is_some_and(divides) {
        return None;
    }
    let activations = [("a", a), ("b", b)].into_iter().filter(|(_, tensor)| tensor.constant.is_none());
    let inputs = activations.map(|(name, _)| found.id(name)).collect::<Option<Vec<_>>>()?;
    Some(Operation { forms: Arc::new(Pair { function, constant }), inputs, clip: Clip::of(found) })
}

impl OnReals for Pair {
    fn op(&self) -> Op {
        FloatBinary { function: self.function }.into()
    }

    fn constant(&self) -> Option<(&Tensor, usize)> {
        self.constant.as_ref().map(|(tensor, at)| (tensor, *at))
    }

    fn on_codes(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<Option<TensorId>, QuantizeError> {
        let activation = Activation::None;
        let op: Op = match self.function {
            RealPair::Add => QLinearAdd { activation }.into(),
            RealPair::Mul => QLinearMul { activation }.into(),
            _ => return Ok(None),
        };
        let kernel = self.constant.is_none() && to.bytes_alike(parts.inputs, codes);
        kernel.then(|| to.codes(op, parts.inputs, parts.name, codes)).transpose()
    }
}
