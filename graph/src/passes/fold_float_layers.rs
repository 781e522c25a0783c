//! Folds float layers between dequantize and quantize.

use guardbit_num::{Requantizer, Scheme};

use crate::ops::{
    Conv2d, DepthwiseConv2d, FloatConv2d, FullyConnected, QuantizeFloat, RealFunction, RealPair,
};
use crate::pattern::{Match, Pattern, Rewrite};
use crate::{
    Activation, CodeRange, DType, Graph, GraphPatch, Integers, Links, MultiplierRule, NodeId, Op, PatchError,
    Quantization, Requantize, TensorId, TensorType, word_of,
};

/// A pass that turns a float convolution or product with a constant matrix, between dequantize and quantize, into one
/// layer of codes. It includes an optional bias and an optional rectifier.
///
/// It changes a layer only if every code is proved equal. The scales of input and weights must be powers of 2, and
/// sums must fit 24 bits, so that float32 holds them exactly. The codes of both forms are compared over all sums.
/// Layers that round in float stay in float.
#[derive(Debug)]
pub struct FoldFloatLayers;

const EVEN: Requantize = Requantize { scheme: Scheme::Even, rule: MultiplierRule::Float32 };

/// Bound of the sums that float32 holds exactly.
const EXACT: i64 = 1 << 24;

impl Rewrite for FoldFloatLayers {
    fn name(&self) -> &'static str {
        "fold_float_layers"
    }

    fn description(&self) -> &'static str {
        "turns a float layer between dequantize and quantize into one of codes if all codes are proved equal"
    }

    fn pattern(&self) -> Pattern {
        Pattern::op::<QuantizeFloat>()
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let graph = found.graph();
        let layer = Wrapped::find(graph, found.root()).and_then(|wrapped| wrapped.layer());
        let Some(Layer { wrapped, weights, bias, activation }) = layer else { return Ok(false) };
        let name = &found.output().name;
        let weights = match weights {
            Weights::AsTheyAre(id) => id,
            Weights::Moved(ty, codes) => {
                let name = super::free_name(graph, &format!("{name}_weights"));
                let Ok(id) = patch.constant(name, ty, codes) else { return Ok(false) };
                id
            }
        };
        let mut inputs = vec![Some(wrapped.x), Some(weights)];
        if let Some(bias) = bias {
            let ty = TensorType { shape: vec![bias.len()], dtype: DType::Int32, quantization: None };
            let name = super::free_name(graph, &format!("{name}_bias"));
            let Ok(id) = patch.constant(name, ty, bias) else { return Ok(false) };
            inputs.push(Some(id));
        }
        found.replace_by(patch, wrapped.op(activation), &inputs)
    }
}

/// A float layer between codes.
struct Wrapped<'g> {
    graph: &'g Graph,
    /// The nodes from the layer's result to the codes: first rectifiers, then the quantizer.
    chain: Vec<NodeId>,
    layer: NodeId,
    bias: Option<TensorId>,
    /// The codes of activations and weights.
    x: TensorId,
    w: TensorId,
}

/// The weights of a layer of codes: unchanged, or with moved axes.
enum Weights {
    AsTheyAre(TensorId),
    Moved(TensorType, Vec<i32>),
}

/// A layer of codes with equal results.
struct Layer<'g> {
    wrapped: Wrapped<'g>,
    weights: Weights,
    bias: Option<Vec<i32>>,
    activation: Activation,
}

impl<'g> Wrapped<'g> {
    /// Returns the layer whose results a quantizer turns into codes, if nothing else reads the tensors in between.
    fn find(graph: &'g Graph, root: NodeId) -> Option<Self> {
        let links = Links::new(graph);
        let alone = |id: TensorId| !links.is_output(id) && links.readers(id).len() == 1;
        let mut chain = vec![root];
        let mut added = None;
        let mut at = graph.node(root).inputs.first().copied()??;
        loop {
            let node = links.producer(at).filter(|_| alone(at))?;
            let inputs = &graph.node(node).inputs;
            match &graph.node(node).op {
                Op::FloatUnary(unary)
                    if matches!(unary.function, RealFunction::Relu | RealFunction::Clip)
                        && added.is_none() =>
                {
                    chain.push(node);
                    at = inputs[0]?;
                }
                Op::FloatBinary(pair) if pair.function == RealPair::Add && added.is_none() => {
                    let constant =
                        |id: &Option<TensorId>| id.filter(|&id| graph.tensor(id).constant.is_some());
                    let (value, bias) = match (constant(&inputs[0]), constant(&inputs[1])) {
                        (None, Some(bias)) => (inputs[0]?, bias),
                        (Some(bias), None) => (inputs[1]?, bias),
                        _ => return None,
                    };
                    (added, at) = (Some(bias), value);
                }
                Op::FloatConv2d(_) | Op::FloatMatMul(_) => {
                    let codes = |index: usize| {
                        let id = inputs.get(index).copied().flatten()?;
                        let node = graph.node(links.producer(id)?);
                        matches!(node.op, Op::Dequantize(_)).then(|| node.inputs[0])?
                    };
                    let own = inputs.get(2).copied().flatten();
                    if own.is_some() && added.is_some() {
                        return None;
                    }
                    let (x, w) = (codes(0)?, codes(1)?);
                    chain.reverse();
                    return Some(Self { graph, chain, layer: node, bias: own.or(added), x, w });
                }
                _ => return None,
            }
        }
    }

    /// Returns the layer of codes if its results are equal.
    fn layer(self) -> Option<Layer<'g>> {
        let (x, w) = (&self.graph.tensor(self.x).ty, self.graph.tensor(self.w));
        let scale = x.quantization.as_ref().filter(|q| q.axis().is_none())?.scale(0);
        let (codes, quantization) = (w.codes()?, w.ty.quantization.as_ref()?);
        let axis = self.channel_axis(&w.ty.shape)?;
        let channels = w.ty.shape[axis];
        let weight_scales: Vec<f32> = match quantization.axis() {
            Some(own) if own != axis => return None,
            _ => (0..channels).map(|channel| quantization.scale(channel)).collect(),
        };
        let exact = |scale: &f32| {
            scale.is_normal() && scale.to_bits() & 0x7f_ffff == 0 && (1e-15..1e15).contains(scale)
        };
        weight_scales.iter().chain([&scale]).all(exact).then_some(())?;
        let bias = self.bias_steps(scale, &weight_scales)?;
        let most = self.greatest_sums(codes, quantization, axis, channels)?;
        let steps = |channel: usize| bias.as_ref().map_or(0, |bias| bias[channel]);
        let greatest =
            |channel: usize| Some(most[channel] + i64::from(steps(channel)).abs()).filter(|&s| s <= EXACT);
        let greatest: Vec<i64> = (0..channels).map(greatest).collect::<Option<_>>()?;
        let equal = |activation: &Activation| {
            (0..channels)
                .all(|channel| self.same_codes(scale, weight_scales[channel], greatest[channel], *activation))
        };
        let activation = Activation::ALL.into_iter().find(equal)?;
        let weights = self.weights(codes, &w.ty, axis)?;
        Some(Layer { weights, bias, activation, wrapped: self })
    }

    /// Returns the axis of the output channels in the weights.
    fn channel_axis(&self, shape: &[usize]) -> Option<usize> {
        match (&self.graph.node(self.layer).op, shape.len()) {
            (Op::FloatConv2d(_), 4) => Some(0),
            (Op::FloatMatMul(_), 2) => Some(1),
            _ => None,
        }
    }

    /// Returns the bias in steps of the sums, if it consists of whole steps.
    fn bias_steps(&self, scale: f32, weight_scales: &[f32]) -> Option<Option<Vec<i32>>> {
        let Some(bias) = self.bias else { return Some(None) };
        let (ty, words) = (&self.graph.tensor(bias).ty, self.graph.tensor(bias).codes()?);
        let channels = weight_scales.len();
        let per_channel = ty.len() == channels && ty.shape.last() == Some(&channels);
        (ty.len() == 1 || per_channel).then_some(())?;
        let step = |channel: usize| {
            let real = f64::from(crate::real_of(words.at(channel % words.len())));
            let steps = real / (f64::from(scale) * f64::from(weight_scales[channel]));
            (steps.fract() == 0.0 && steps.abs() <= EXACT as f64).then_some(steps as i32)
        };
        (0..channels).map(step).collect::<Option<_>>().map(Some)
    }

    /// Returns the greatest magnitude of the sums of each channel.
    fn greatest_sums(
        &self,
        codes: &Integers,
        w: &Quantization,
        axis: usize,
        channels: usize,
    ) -> Option<Vec<i64>> {
        let ty = &self.graph.tensor(self.x).ty;
        let (range, zero) = (ty.code_range(), i64::from(ty.quantization.as_ref()?.zero_point(0)));
        let x = (i64::from(range.min()) - zero).abs().max((i64::from(range.max()) - zero).abs());
        let inner: usize = self.graph.tensor(self.w).ty.shape[axis + 1..].iter().product();
        let mut most = vec![0i64; channels];
        for (index, code) in codes.iter().enumerate() {
            let channel = index / inner % channels;
            most[channel] += x * (i64::from(code) - i64::from(w.zero_point(channel))).abs();
        }
        Some(most)
    }

    /// Returns whether both forms give equal codes for every sum of a channel.
    ///
    /// Both are monotonic. If they give one and the same code at two sums, they are equal between these sums.
    fn same_codes(&self, scale: f32, weight: f32, greatest: i64, activation: Activation) -> bool {
        let output = &self.graph.tensor(self.graph.node(self.chain[self.chain.len() - 1]).output).ty;
        let Some(quantization) = output.quantization.as_ref().filter(|q| q.axis().is_none()) else {
            return false;
        };
        let Ok(requantizer) = EVEN.requantizer(scale, weight, quantization.scale(0)) else { return false };
        let clamp = activation.clamp(output.dtype, quantization);
        let way =
            Way { requantizer, clamp, range: output.code_range(), zero: quantization.zero_point(0).into() };
        let step = scale * weight;
        let both = |sum: i64| {
            let word = word_of(sum as f32 * step);
            let real =
                self.chain.iter().fold(vec![word], |words, node| self.graph.evaluate(*node, &[&words]));
            (real[0] == way.code(sum)).then_some(real[0])
        };
        let mut pending = vec![(-greatest, greatest)];
        while let Some((low, high)) = pending.pop() {
            let (Some(a), Some(b)) = (both(low), both(high)) else { return false };
            if a != b && high - low > 1 {
                let middle = low + (high - low) / 2;
                pending.extend([(low, middle), (middle, high)]);
            }
        }
        true
    }

    /// Returns the weights in the layout of the layer of codes.
    fn weights(&self, codes: &Integers, ty: &TensorType, axis: usize) -> Option<Weights> {
        let moved = |permutation: &[usize]| {
            let shape: Vec<usize> = permutation.iter().map(|&axis| ty.shape[axis]).collect();
            let strides = crate::ops::row_major(&ty.shape);
            let strides: Vec<usize> = permutation.iter().map(|&axis| strides[axis]).collect();
            let codes = crate::ops::offsets(&shape, &strides).map(|at| codes.at(at)).collect();
            let own = ty.quantization.as_ref()?;
            let to = permutation.iter().position(|&from| from == axis)?;
            let quantization = match own.axis() {
                Some(_) => {
                    Quantization::per_axis(own.scales().to_vec(), own.zero_points().to_vec(), to).ok()?
                }
                None => own.clone(),
            };
            let quantization = match own.range() {
                Some(range) => quantization.with_range(range),
                None => quantization,
            };
            Some(Weights::Moved(
                TensorType { shape, dtype: ty.dtype, quantization: Some(quantization) },
                codes,
            ))
        };
        match &self.graph.node(self.layer).op {
            Op::FloatMatMul(_) => moved(&[1, 0]),
            _ if self.is_depthwise() => moved(&[3, 1, 2, 0]),
            _ => Some(Weights::AsTheyAre(self.w)),
        }
    }

    /// Returns whether there are several channels and each is convolved by itself.
    fn is_depthwise(&self) -> bool {
        let channels = self.graph.tensor(self.x).ty.shape.last().copied().unwrap_or(1);
        channels > 1 && self.graph.tensor(self.w).ty.shape.last() == Some(&1)
    }

    fn op(&self, activation: Activation) -> Op {
        let requantize = EVEN;
        match self.graph.node(self.layer).op.clone() {
            Op::FloatConv2d(FloatConv2d { stride, dilation, padding }) => match self.is_depthwise() {
                true => DepthwiseConv2d { stride, dilation, padding, activation, requantize }.into(),
                false => Conv2d { stride, dilation, padding, activation, requantize }.into(),
            },
            _ => FullyConnected { keep_num_dims: true, activation, requantize }.into(),
        }
    }
}

/// The conversion from sums to codes in the layer of codes.
struct Way {
    requantizer: Requantizer,
    clamp: (i32, i32),
    range: CodeRange,
    zero: i128,
}

impl Way {
    fn code(&self, sum: i64) -> i32 {
        let code = self.requantizer.requantize(sum.into(), self.zero);
        self.range.clamp(code.clamp(self.clamp.0.into(), self.clamp.1.into()))
    }
}
