//! Products with a constant matrix, an optional bias and an activation.

use guardbit_graph::Activation;
use guardbit_graph::ops::{FloatBinary, FloatMatMul, FullyConnected, RealPair};
use guardbit_graph::pattern::{Match, Pattern};

use super::clipped::maybe_clipped;
use super::layer::{Layer, Layout, layer_forms};
use super::{Operation, UnitPattern, activation, one_input};
use crate::LayerClass;
use crate::emit::EVEN;
use crate::prepare::{per_channel, reals};

/// `float_matmul` with a matrix of two axes, and one number per column that is added.
pub(super) struct Dense;

#[derive(Debug)]
struct Forms(Layer);

layer_forms!(Forms);

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
