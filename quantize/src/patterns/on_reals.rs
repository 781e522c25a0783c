//! Operations that compute on the real values of codes.

use std::fmt::Debug;

use guardbit_graph::{Op, Tensor, TensorId};

use super::{Forms, Output, Parts};
use crate::emit::Emit;
use crate::{QuantizeError, TensorCodes};

/// Operation on activations, and possibly a constant that is not quantized. The simulated form computes on
/// their real values. So does the integer form, followed by a quantizer, unless there is an operation on
/// codes.
pub(super) trait OnReals: Debug + Send + Sync {
    /// Returns the operation on real values.
    fn op(&self) -> Op;

    /// Returns the constant that it reads, and the index of that input.
    fn constant(&self) -> Option<(&Tensor, usize)> {
        None
    }

    /// Returns the source of its output's scale and zero point.
    fn output(&self) -> Output {
        Output::Chosen
    }

    /// Adds the operation on codes; `None` if there is none.
    fn on_codes(
        &self,
        _to: &mut Emit,
        _parts: &Parts<'_>,
        _codes: &TensorCodes,
    ) -> Result<Option<TensorId>, QuantizeError> {
        Ok(None)
    }

    /// Returns whether the quantizer adds the zero point before it rounds, like kernels on codes of 8 bits.
    fn zero_point_first(&self) -> bool {
        false
    }
}

impl<T: OnReals> Forms for T {
    fn output(&self) -> Output {
        OnReals::output(self)
    }

    fn simulated(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError> {
        real(self, to, parts, parts.name.into())
    }

    fn integer(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        if let Some(made) = self.on_codes(to, parts, codes)? {
            return Ok(made);
        }
        let first = self.zero_point_first() && to.bytes_alike(parts.inputs, codes);
        let name = to.fresh(parts.name, "real");
        let real = real(self, to, parts, name)?;
        to.quantized(real, parts.name, codes, first)
    }
}

fn real(
    of: &impl OnReals,
    to: &mut Emit,
    parts: &Parts<'_>,
    name: String,
) -> Result<TensorId, QuantizeError> {
    let reals: Result<Vec<_>, _> = parts.inputs.iter().map(|&input| to.dequantized(input)).collect();
    let inputs = with_constant(of, to, reals?, parts.name)?;
    to.real(of.op(), &inputs, name)
}

/// Returns the inputs of an operation: activations, and its constant.
pub(super) fn with_constant(
    of: &impl OnReals,
    to: &mut Emit,
    activations: Vec<TensorId>,
    name: &str,
) -> Result<Vec<TensorId>, QuantizeError> {
    let mut inputs = activations;
    if let Some((constant, at)) = of.constant() {
        let name = to.fresh(name, "constant");
        let codes = constant.codes().map_or_else(Vec::new, |codes| codes.to_vec());
        inputs.insert(at, to.constant(name, constant.ty.clone(), codes)?);
    }
    Ok(inputs)
}
