//! Factors after layers, such as batch normalization as readers represent it.

use guardbit_graph::ops::{FloatBinary, FloatConv2d, FloatMatMul, FloatUnary, RealFunction, RealPair};
use guardbit_graph::pattern::{Match, Pattern, Rewrite};
use guardbit_graph::{GraphPatch, Op, OutputSpec, PatchError, Tensor, TensorType, word_of};

use super::{PerChannel, per_channel, reals};

/// Merges a product or quotient of a layer and a constant per output channel into the layer's weights and
/// bias.
#[derive(Debug)]
pub(super) struct FactorsIntoLayers;

impl Rewrite for FactorsIntoLayers {
    fn name(&self) -> &'static str {
        "factors_into_layers"
    }

    fn description(&self) -> &'static str {
        "multiplies the weights and the bias of a layer by the constants after it"
    }

    fn pattern(&self) -> Pattern {
        with_factor(layer().named("layer"))
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let graph = found.graph();
        let (Some(layer), Some(x), Some(w)) = (found.node("layer"), found.id("x"), found.tensor("w")) else {
            return Ok(false);
        };
        let shape = &graph.tensor(graph.node(layer).output).ty.shape;
        let channels = shape.last().copied().unwrap_or(1);
        let factor = found.tensor("factor").and_then(|c| per_channel(c, channels, shape.len()));
        let (Some(factor), Some(weights)) = (factor, reals(w)) else { return Ok(false) };
        let divides = divides(&graph.node(found.root()).op);
        let scaled = |value: f32, channel: usize| scaled(value, factor.of(channel), divides);
        // Output channels are the first axis of a convolution's weights, and the last axis of a matrix.
        let channel_of = |index: usize| match &graph.node(layer).op {
            Op::FloatConv2d(_) => index / (weights.len() / channels),
            _ => index % channels,
        };
        let values: Vec<f32> = weights.iter().enumerate().map(|(i, &v)| scaled(v, channel_of(i))).collect();
        if !values.iter().all(|value| value.is_finite()) {
            return Ok(false);
        }
        let weights = constant(patch, &fresh(found, "weights"), &w.ty.shape, &values)?;
        let mut inputs = vec![Some(x), Some(weights)];
        if let Some(bias) = found.tensor("b").and_then(reals) {
            let values: Vec<f32> = bias.iter().enumerate().map(|(c, &value)| scaled(value, c)).collect();
            inputs.push(Some(constant(patch, &fresh(found, "bias"), &[channels], &values)?));
        }
        found.replace_by(patch, graph.node(layer).op.clone(), &inputs)
    }
}

/// Returns the pattern of a layer with constant weights.
fn layer() -> Pattern {
    let constant = || Pattern::constant();
    let conv = Pattern::op::<FloatConv2d>().reads([
        Pattern::any().named("x"),
        constant().named("w"),
        constant().named("b").or_absent(),
    ]);
    let matrix = constant().where_type(|ty| ty.shape.len() == 2).named("w");
    conv.or(Pattern::op::<FloatMatMul>().reads([Pattern::any().named("x"), matrix]))
}

/// Returns the pattern of a product or quotient with a constant.
fn with_factor(of: Pattern) -> Pattern {
    let constant = || Pattern::constant().named("factor");
    let times = Pattern::op_where::<FloatBinary>(|op| op.function == RealPair::Mul)
        .reads_in_any_order([of.clone(), constant()]);
    times.or(Pattern::op_where::<FloatBinary>(|op| op.function == RealPair::Div).reads([of, constant()]))
}

/// Moves a positive factor of a rectified layer before the rectifier, so that it can become part of the
/// weights.
#[derive(Debug)]
pub(super) struct FactorsBeforeRectifiers;

impl Rewrite for FactorsBeforeRectifiers {
    fn name(&self) -> &'static str {
        "factors_before_rectifiers"
    }

    fn description(&self) -> &'static str {
        "moves a positive constant factor from behind the activation of a layer to before it"
    }

    fn pattern(&self) -> Pattern {
        let plus = Pattern::op_where::<FloatBinary>(|op| op.function == RealPair::Add);
        let sums = layer().then_maybe(|layer| plus.reads_in_any_order([layer, Pattern::constant()]));
        let keeps_factors = |op: &FloatUnary| {
            matches!(op.function, RealFunction::Relu | RealFunction::LeakyRelu | RealFunction::Clip)
        };
        with_factor(Pattern::op_where(keeps_factors).reads([sums.named("sums")]).named("rectifier"))
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let (Some(sums), Some(rectifier), Some(factor)) =
            (found.id("sums"), found.op::<FloatUnary>("rectifier"), found.id("factor"))
        else {
            return Ok(false);
        };
        let rank = found.graph().tensor(sums).ty.shape.len();
        let number = per_channel(found.graph().tensor(factor), 1, rank).map(|factor| factor.of(0));
        let Some(number) = number.filter(|number| *number > 0.0 && number.is_finite()) else {
            return Ok(false);
        };
        let divides = divides(&found.graph().node(found.root()).op);
        let mut rectifier = rectifier.clone();
        if rectifier.function == RealFunction::Clip {
            rectifier.parameters.iter_mut().for_each(|limit| *limit = scaled(*limit, number, divides));
        }
        let function = if divides { RealPair::Div } else { RealPair::Mul };
        let product = OutputSpec { name: fresh(found, "scaled"), ..OutputSpec::of(found.output()) };
        let product = patch.node(FloatBinary { function }, &[Some(sums), Some(factor)], product)?;
        found.replace_by(patch, rectifier, &[Some(product)])
    }
}

/// Moves a factor before the addition of a constant per channel.
#[derive(Debug)]
pub(super) struct FactorsOfSums;

impl Rewrite for FactorsOfSums {
    fn name(&self) -> &'static str {
        "factors_of_sums"
    }

    fn description(&self) -> &'static str {
        "applies a constant factor to a layer and its offsets separately"
    }

    fn pattern(&self) -> Pattern {
        let layer = Pattern::op_named(["float_conv2d", "float_matmul"]).named("layer");
        let sum = Pattern::op_where::<FloatBinary>(|op| op.function == RealPair::Add)
            .reads_in_any_order([layer, Pattern::constant().named("offset")]);
        with_factor(sum)
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let (Some(layer), Some(factor), Some(offset)) =
            (found.id("layer"), found.id("factor"), found.tensor("offset"))
        else {
            return Ok(false);
        };
        let shape = &found.graph().tensor(layer).ty.shape;
        let channels = shape.last().copied().unwrap_or(1);
        let of = |tensor: &Tensor| per_channel(tensor, channels, shape.len());
        let (Some(factors), Some(offsets)) = (of(found.graph().tensor(factor)), of(offset)) else {
            return Ok(false);
        };
        let function =
            if divides(&found.graph().node(found.root()).op) { RealPair::Div } else { RealPair::Mul };
        let output = found.output();
        let product = OutputSpec { name: fresh(found, "scaled"), ..OutputSpec::of(output) };
        let product = patch.node(FloatBinary { function }, &[Some(layer), Some(factor)], product)?;
        let offsets = moved(&offsets, &factors, channels, function == RealPair::Div);
        let offset = constant(patch, &fresh(found, "offset"), &[channels], &offsets)?;
        found.replace_by(patch, FloatBinary { function: RealPair::Add }, &[Some(product), Some(offset)])
    }
}

fn moved(offsets: &PerChannel, factors: &PerChannel, channels: usize, divides: bool) -> Vec<f32> {
    (0..channels).map(|c| scaled(offsets.of(c) as f32, factors.of(c), divides)).collect()
}

/// Returns the product or quotient, rounded once.
fn scaled(value: f32, factor: f64, divides: bool) -> f32 {
    (if divides { f64::from(value) / factor } else { f64::from(value) * factor }) as f32
}

fn divides(op: &Op) -> bool {
    matches!(op, Op::FloatBinary(FloatBinary { function: RealPair::Div }))
}

/// Adds a constant of real values.
pub(super) fn constant(
    patch: &mut GraphPatch<'_>,
    name: &str,
    shape: &[usize],
    values: &[f32],
) -> Result<guardbit_graph::TensorId, PatchError> {
    let ty = TensorType { shape: shape.to_vec(), dtype: guardbit_graph::DType::Float32, quantization: None };
    patch.constant(name, ty, values.iter().map(|&value| word_of(value)).collect())
}

/// Returns a name that no tensor of the graph has.
pub(super) fn fresh(found: &Match<'_>, what: &str) -> String {
    let mut name = format!("{}_{what}", found.output().name);
    while found.graph().find_tensor(&name).is_some() {
        name.push('_');
    }
    name
}
