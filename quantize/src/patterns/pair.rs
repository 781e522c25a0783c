//! Sums, differences, products and extremes of two tensors, one of which may be a constant.

use std::sync::Arc;

use guardbit_graph::ops::{FloatBinary, QLinearAdd, QLinearMul, RealPair};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Activation, Tensor, TensorId};

use super::clipped::{Clip, maybe_clipped};
use super::{Forms, Operation, Parts, UnitPattern};
use crate::emit::Emit;
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
    /// `a + b`: what joins branches. A convolution before it keeps its own codes, as ONNX Runtime has it.
    Add, "add", Add;
    /// `a - b`.
    Subtract, "subtract", Sub;
    /// `a * b`.
    Multiply, "multiply", Mul;
    /// The greater one.
    Maximum, "maximum", Maximum;
    /// The lesser one.
    Minimum, "minimum", Minimum;
}

/// A function of two tensors.
#[derive(Debug)]
struct Pair {
    function: RealPair,
    /// The operand that is a constant, and whether it comes first. It stays in float.
    constant: Option<(Tensor, bool)>,
}

fn operation(found: &Match<'_>, function: RealPair) -> Option<Operation> {
    let [a, b] = [found.tensor("a")?, found.tensor("b")?];
    let constant = match (&a.constant, &b.constant) {
        (Some(_), Some(_)) => return None,
        (Some(_), None) => Some((a.clone(), true)),
        (None, Some(_)) => Some((b.clone(), false)),
        (None, None) => None,
    };
    let activations = [("a", a), ("b", b)].into_iter().filter(|(_, tensor)| tensor.constant.is_none());
    let inputs = activations.map(|(name, _)| found.id(name)).collect::<Option<Vec<_>>>()?;
    Some(Operation { forms: Arc::new(Pair { function, constant }), inputs, clip: Clip::of(found) })
}

impl Pair {
    fn real(&self, to: &mut Emit, parts: &Parts<'_>, name: String) -> Result<TensorId, QuantizeError> {
        let mut reals = Vec::new();
        for &input in parts.inputs {
            reals.push(to.dequantized(input)?);
        }
        if let Some((constant, first)) = &self.constant {
            let name = to.fresh(parts.name, "constant");
            let codes = constant.codes().map_or_else(Vec::new, |codes| codes.to_vec());
            let id = to.constant(name, constant.ty.clone(), codes)?;
            reals.insert(if *first { 0 } else { reals.len() }, id);
        }
        to.real(FloatBinary { function: self.function }, &reals, name)
    }
}

impl Forms for Pair {
    fn simulated(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError> {
        self.real(to, parts, parts.name.into())
    }

    fn integer(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        let kernel = self.constant.is_none() && to.bytes_alike(parts.inputs, codes);
        let activation = Activation::None;
        match self.function {
            RealPair::Add if kernel => to.codes(QLinearAdd { activation }, parts.inputs, parts.name, codes),
            RealPair::Mul if kernel => to.codes(QLinearMul { activation }, parts.inputs, parts.name, codes),
            _ => {
                let name = to.fresh(parts.name, "real");
                let real = self.real(to, parts, name)?;
                to.quantized(real, parts.name, codes, false)
            }
        }
    }
}
