//! Means over whole images.

use guardbit_graph::ops::{self, FloatMean};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Op, TensorId};

use super::clipped::maybe_clipped;
use super::on_reals::OnReals;
use super::{Operation, Parts, UnitPattern, activation, one_input};
use crate::emit::{EVEN, Emit};
use crate::{QuantizeError, TensorCodes};

/// Pattern of `float_mean` over rows and columns of `[n, h, w, c]`, for which the runtime has a kernel on
/// codes. Other means stay in float.
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

impl OnReals for OverImage {
    fn op(&self) -> Op {
        self.0.clone().into()
    }

    fn on_codes(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<Option<TensorId>, QuantizeError> {
        if !to.bytes_alike(parts.inputs, codes) {
            return Ok(None);
        }
        let op = ops::Mean { axes: vec![1, 2], keep_dims: true, requantize: EVEN };
        let made = match *to.shape(parts.inputs[0]) {
            [batch, _, _, channels] if !self.0.keep_dims => {
                let name = to.fresh(parts.name, "image");
                let id = to.codes(op, parts.inputs, &name, codes)?;
                to.reshaped(id, &[batch, channels], parts.name)
            }
            _ => to.codes(op, parts.inputs, parts.name, codes),
        };
        made.map(Some)
    }
}
