//! Means over whole images.

use guardbit_graph::TensorId;
use guardbit_graph::ops::{self, FloatMean};
use guardbit_graph::pattern::{Match, Pattern};

use super::clipped::maybe_clipped;
use super::{Forms, Operation, Parts, UnitPattern, activation, one_input};
use crate::emit::{EVEN, Emit};
use crate::{QuantizeError, TensorCodes};

/// `float_mean` over rows and columns of `[n, h, w, c]`: what the runtime has a kernel on codes for. Other means stay in
/// float.
pub(super) struct Mean;

#[derive(Debug)]
struct OverImage(FloatMean);

impl UnitPattern for Mean {
    fn name(&self) -> &'static str {
        "mean"
    }

    fn pattern(&self) -> Pattern {
        maybe_clipped(Pattern::op::<FloatMean>().reads([activation("x")]).named("mean"))
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        let mean = found.op::<FloatMean>("mean")?;
        let mut axes = mean.axes.clone();
        axes.sort_unstable();
        let over_image = found.ty("x")?.shape.len() == 4 && axes == [1, 2];
        over_image.then(|| one_input(found, OverImage(mean.clone()))).flatten()
    }
}

impl Forms for OverImage {
    fn simulated(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError> {
        let real = to.dequantized(parts.inputs[0])?;
        to.real(self.0.clone(), &[real], parts.name.into())
    }

    fn integer(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        if !to.bytes_alike(parts.inputs, codes) {
            let real = to.dequantized(parts.inputs[0])?;
            let name = to.fresh(parts.name, "real");
            let real = to.real(self.0.clone(), &[real], name)?;
            return to.quantized(real, parts.name, codes, false);
        }
        let op = ops::Mean { axes: vec![1, 2], keep_dims: true, requantize: EVEN };
        if self.0.keep_dims {
            return to.codes(op, parts.inputs, parts.name, codes);
        }
        let &[batch, _, _, channels] = to.shape(parts.inputs[0]) else {
            return to.codes(op, parts.inputs, parts.name, codes);
        };
        let name = to.fresh(parts.name, "image");
        let id = to.codes(op, parts.inputs, &name, codes)?;
        to.reshaped(id, &[batch, channels], parts.name)
    }
}
