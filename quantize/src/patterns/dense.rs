//! Products with a constant matrix, an optional bias and an activation.

use guardbit_graph::ops::{FloatBinary, FloatMatMul, FullyConnected, RealPair};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Activation, TensorId};

use super::clipped::maybe_clipped;
use super::layer::{Layer, Layout};
use super::{Operation, Parts, UnitPattern, activation, one_input};
use crate::emit::{EVEN, Emit};
use crate::prepare::{per_channel, reals};
use crate::{LayerClass, QuantizeError, TensorCodes};

/// Pattern of `float_matmul` with a matrix of two axes, and an added number per column.
pub(super) struct Dense;

#[derive(Debug)]
struct Forms(Layer);

impl super::Forms for Forms {
    fn layer(&self) -> Option<&Layer> {
        Some(&self.0)
    }

    fn simulated(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError> {
        self.0.sums(to, parts)
    }

    /// Adds reshapes around it if its input has more axes than a matrix, because the runtime's layer with a
    /// bias accepts only matrices.
    fn integer(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        let (input, terms) = (parts.inputs[0], self.0.terms());
        let mut shape = to.shape(input).to_vec();
        if shape.len() == 2 || self.0.bias.is_none() {
            return self.0.codes(to, parts, codes);
        }
        let rows = shape.iter().product::<usize>() / terms.max(1);
        let names = ["matrix", "product"].map(|what| to.fresh(parts.name, what));
        let matrix = to.reshaped(input, &[rows, terms], &names[0])?;
        let inner = Parts { inputs: &[matrix], name: &names[1], ..*parts };
        let product = self.0.codes(to, &inner, codes)?;
        shape.pop();
        shape.push(self.0.channels);
        to.reshaped(product, &shape, parts.name)
    }
}

impl UnitPattern for Dense {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn pattern(&self) -> Pattern {
        let matrix = Pattern::constant().where_type(|ty| ty.shape.len() == 2).named("w");
        let product = Pattern::op::<FloatMatMul>().reads([activation("x"), matrix]);
        let bias = || Pattern::constant().named("b");
        maybe_clipped(product.then_maybe(|product| {
            Pattern::op_where::<FloatBinary>(|op| op.function == RealPair::Add)
                .reads_in_any_order([product, bias()])
        }))
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        let w = found.tensor("w")?;
        let &[terms, channels] = &w.ty.shape[..] else { return None };
        let matrix = reals(w)?;
        let rank = found.output().ty.shape.len();
        let bias = match found.tensor("b") {
            Some(bias) => Some(per_channel(bias, channels, rank)?.spread(channels)),
            None => None,
        };
        let op = FullyConnected { keep_num_dims: true, activation: Activation::None, requantize: EVEN };
        let layer = Layer {
            op: op.into(),
            class: LayerClass::Dense,
            channels,
            weights: (0..matrix.len()).map(|at| matrix[at % terms * channels + at / terms]).collect(),
            bias,
            layout: Layout::ChannelsFirst(vec![channels, terms]),
        };
        one_input(found, Forms(layer))
    }
}
