//! Code shared by convolutions and products with constant matrices.

use std::rc::Rc;

use guardbit_graph::ops::{FloatBinary, RealPair};
use guardbit_graph::{
    Activation, DType, FloatReason, MultiplierRule, Op, OutputSpec, Quantization, Requantize, TensorType,
    plain_name,
};
use guardbit_num::Scheme;

use super::codes::check_codes;
use super::computed;
use super::follow::Follow;
use super::moves::without_rows;
use super::network::{Network, in_node};
use super::value::{Coding, Dequantized, Located, Source, Value};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::quant::{Quant, dtype};
use crate::onnx::normalise::scales::zero_points;
use crate::onnx::parse::constant::{Constant, Data};
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;

/// The requantization of ONNX Runtime: multipliers in float32, products rounded half to even, then the zero point.
pub(in crate::onnx) const EVEN: Requantize =
    Requantize { scheme: Scheme::Even, rule: MultiplierRule::Float32 };

/// The operands of a layer with constant weights, as codes.
pub(in crate::onnx) struct Layer {
    pub x: Located,
    pub x_quant: Quant,
    /// Weights in the layout of the operation.
    pub weights: Constant,
    pub weight_quant: Quant,
    /// Axis of the output channels in the weights.
    pub axis: usize,
    pub channels: usize,
    pub bias: Bias,
    /// Whether `x` is a one-dimensional signal that was reshaped to an image of one row. The output is not reshaped.
    pub line: bool,
}

/// Activations of a layer: codes in the graph with one scale.
pub(in crate::onnx) struct Activations {
    pub at: Located,
    pub quant: Quant,
}

/// Weights of a layer: constant codes with one scale, or one per output channel.
pub(in crate::onnx) struct Weights {
    pub codes: Rc<Constant>,
    pub quant: Quant,
}

/// The bias that is added to the sums.
#[derive(Clone)]
pub(in crate::onnx) enum Bias {
    None,
    /// Integers in steps of input scale times weight scale.
    Steps(Vec<i64>),
    /// Real values, one per channel. ONNX Runtime rounds them to steps if a QuantizeLinear follows.
    Real(Vec<f32>),
    /// Real values of codes that are not in steps of input scale times weight scale, and the reason. No runtime
    /// rounds them to steps.
    OwnScale(Vec<f32>, &'static str),
}

/// Returns the activations of a layer if they are codes in the graph.
pub(in crate::onnx) fn activations(
    network: &Network<'_>,
    node: Node<'_>,
    value: &Value,
) -> Option<Activations> {
    let Value::Dequantized(Dequantized { source: Source::Tensor(at), quant, functions }) = value else {
        return None;
    };
    let plain = functions.is_empty() && quant.single().is_some() && quant.dtype.bits() <= 16;
    (plain && check_codes(network, node, *at, quant).is_ok())
        .then(|| Activations { at: *at, quant: quant.clone() })
}

/// Returns the weights of a layer as constant codes, with one scale or one per output channel, along axis `channels`.
pub(in crate::onnx) fn weights(value: &Value, channels: usize) -> Option<Weights> {
    let Value::Dequantized(Dequantized { source: Source::Constant(codes), quant, functions }) = value else {
        return None;
    };
    let per_channel = quant.axis.is_none_or(|axis| axis == channels);
    (functions.is_empty() && per_channel && quant.dtype.bits() <= 16)
        .then(|| Weights { codes: Rc::clone(codes), quant: quant.clone() })
}

/// Records that a layer stays in float if the scales of its weights are not along the output channels, axis
/// `channels`.
pub(in crate::onnx) fn note_scales(
    network: &mut Network<'_>,
    node: Node<'_>,
    weights: &Value,
    channels: usize,
) -> Result<(), OnnxError> {
    if let Value::Dequantized(Dequantized { source: Source::Constant(_), quant, .. }) = weights
        && quant.axis.is_some_and(|axis| axis != channels)
    {
        let name = plain_name(node.first_output()?).into_owned();
        network.builder.note(
            name,
            "weights have scales along an axis other than the output channels: the layer stays in float",
        );
    }
    Ok(())
}

/// Checks that weights have one scale, or one per channel.
pub(in crate::onnx) fn check_scales(node: Node<'_>, quant: &Quant, channels: usize) -> Result<(), OnnxError> {
    match quant.scales.len() {
        1 => Ok(()),
        count if count == channels => Ok(()),
        count => Err(node.error(format!("has {count} weight scales for {channels} channels"))),
    }
}

/// Returns the bias of a layer with `channels` output channels and these quantizations of input and weights.
pub(in crate::onnx) fn bias(
    node: Node<'_>,
    value: Option<&Value>,
    channels: usize,
    x: &Quant,
    weights: &Quant,
) -> Result<Bias, OnnxError> {
    let problem = "has a bias that is not one number per channel";
    let computed = || node.error("has a bias that is not constant; only a constant bias can be read");
    let spread = |constant: &Constant| {
        let (count, last) = (constant.data.len(), constant.shape.last().copied().unwrap_or(1));
        let fits = count == 1 || count == channels && last == channels || constant.shape == [channels, 1, 1];
        let at = move |channel: usize| if count == 1 { 0 } else { channel };
        fits.then_some(at).ok_or_else(|| node.error(problem))
    };
    match value {
        None => Ok(Bias::None),
        Some(Value::Constant(constant)) => {
            let at = spread(constant)?;
            Ok(match &constant.data {
                Data::Reals(values) => Bias::Real((0..channels).map(|c| values[at(c)]).collect()),
                Data::Integers(values) => Bias::Steps((0..channels).map(|c| values.at(at(c))).collect()),
            })
        }
        Some(Value::Dequantized(dequantized)) => {
            let Dequantized { source: Source::Constant(codes), quant, functions } = dequantized else {
                return Err(computed());
            };
            let at = spread(codes)?;
            let scale = |channel: usize| match quant.scales.as_slice() {
                [only] => *only,
                scales => scales.get(channel).copied().unwrap_or(f32::NAN),
            };
            let plain = functions.is_empty() && quant.zero_points.iter().all(|&z| z == 0);
            // Exporters multiply in float64 or in another order, so the scales may differ slightly.
            let same = |channel| {
                let step = step(x, weights, channel);
                (scale(channel) - step).abs() <= 4.0 * f32::EPSILON * step
            };
            if let (true, Some(values)) = (plain && (0..channels).all(same), codes.as_integers()) {
                return Ok(Bias::Steps((0..channels).map(|c| values.at(at(c))).collect()));
            }
            let reals = dequantized.constant(node, codes)?;
            let values = reals.as_reals().ok_or_else(|| node.error(problem))?;
            let why = match quant.zero_points.iter().all(|&zero| zero == 0) {
                true => "the bias has its own scale and is added in float",
                false => {
                    "the DequantizeLinear of the bias has a zero point other than 0, so the bias is added in float"
                }
            };
            Ok(Bias::OwnScale((0..channels).map(|c| values[at(c)]).collect(), why))
        }
        Some(_) => Err(computed()),
    }
}

/// Returns the real value of one step of the sums: input scale times weight scale.
fn step(x: &Quant, weights: &Quant, channel: usize) -> f32 {
    x.scales[0] * weights.scales[if weights.scales.len() == 1 { 0 } else { channel }]
}

impl Layer {
    /// Returns whether the quantizer after the layer becomes its output.
    ///
    /// QONNX does not round a bias to steps of the sums. A bias that is not a multiple of them is added in float.
    fn takes(&self, follow: &Follow<'_>) -> bool {
        let rounds =
            !follow.dequantizes() && !matches!(self.bias, Bias::OwnScale(..)) && !self.bias_is_all_of_a_sum();
        follow.quant.dtype.bits() <= 16 && (rounds || self.bias_is_exact())
    }

    /// Returns the reason why the layer cannot be added, if there is one.
    ///
    /// If the quantizer does not become its output, its sums do, and they must fit 32 bits.
    pub fn stays_in_float(&self, network: &Network<'_>, follow: Option<&Follow<'_>>) -> Option<FloatReason> {
        let fits = follow.is_some_and(|follow| self.takes(follow)) || self.sums_fit(network);
        (!fits).then_some(FloatReason::WideSums)
    }

    /// Returns whether every possible sum fits 32 bits.
    pub fn sums_fit(&self, network: &Network<'_>) -> bool {
        let range = network.builder.tensor(self.x.id).ty.code_range();
        let zero = i64::from(self.x_quant.zero_points[0]);
        let most = [range.min(), range.max()].map(|code| (i64::from(code) - zero).unsigned_abs());
        let (most, Some(codes)) = (u128::from(most[0].max(most[1])), self.weights.as_integers()) else {
            return false;
        };
        let inner: usize = self.weights.shape[self.axis + 1..].iter().product();
        let size = self.weights.shape[self.axis];
        let zeros = &self.weight_quant.zero_points;
        let zero = |run: usize| i64::from(zeros[if zeros.len() == 1 { 0 } else { run % size }]);
        let mut sums = vec![0u128; size];
        codes.distances(inner, zero, |run, sum| sums[run % size] += sum * most);
        let bias = |channel: usize| match &self.bias {
            Bias::Steps(steps) => u128::from(steps.get(channel).map_or(0, |step| step.unsigned_abs())),
            _ => 0,
        };
        sums.iter().enumerate().all(|(channel, &sum)| sum + bias(channel) <= i32::MAX as u128)
    }

    /// Adds the layer with the quantizer after it, or, without one, with its sums as output.
    pub fn emit<'a>(
        self,
        network: &mut Network<'a>,
        node: Node<'a>,
        op: impl Fn(Requantize, Activation) -> Op,
        follow: Option<Follow<'a>>,
        channels_last: bool,
    ) -> Result<(), OnnxError> {
        let follow = follow.filter(|follow| self.takes(follow));
        let Some(follow) = follow else {
            let sums = self.sums(network, node, op, channels_last)?;
            return network.bind(node, 0, sums);
        };
        let steps = self.bias_steps(node)?;
        let ty = network.code_type(node, &follow.quant, 1, false)?;
        let op = op(EVEN, follow.activation);
        let id = self.add(network, node, op, steps, &follow.name.clone(), ty)?;
        let at = self.placed(network, node, Located { id, channels_last })?;
        follow.finish(network, node, at)
    }

    /// Adds the layer with its sums as output: real values whose codes have 32 bits.
    pub fn sums<'a>(
        self,
        network: &mut Network<'a>,
        node: Node<'a>,
        op: impl Fn(Requantize, Activation) -> Op,
        channels_last: bool,
    ) -> Result<Value, OnnxError> {
        let name = node.first_output()?;
        let scale = self.x_quant.scales[0];
        let mut scales: Vec<f32> = self.weight_quant.scales.iter().map(|&weight| scale * weight).collect();
        // Weights may differ only in their zero points.
        if scales[0] != 0.0 && scales.iter().all(|&other| other == scales[0]) {
            scales.truncate(1);
        }
        let rank = network.builder.tensor(self.x.id).ty.shape.len();
        let count = scales.len();
        let wrong = |error: guardbit_graph::QuantizationError| node.error(error.to_string());
        let quantization = match count {
            1 => Quantization::per_tensor(scales[0], 0).map_err(wrong)?,
            _ => Quantization::per_axis(scales.clone(), vec![0; count], rank - 1).map_err(wrong)?,
        };
        let axis = (count > 1).then_some(if channels_last { 1 } else { rank - 1 });
        let quant = Quant { dtype: DType::Int32, scales, zero_points: vec![0; count], axis, range: None };
        let (steps, real) = match self.bias.clone() {
            Bias::Real(values) | Bias::OwnScale(values, _) => (None, Some(values)),
            _ => (self.bias_steps(node)?, None),
        };
        let ty = Coding { dtype: DType::Int32, quantization: Some(quantization) };
        let id = self.add(network, node, op(EVEN, Activation::None), steps, &format!("{name}_sums"), ty)?;
        let at = Located { id, channels_last };
        // Codes with several scales cannot be reordered, so a one-dimensional signal is reshaped after dequantizing.
        let as_reals = self.line && count > 1;
        let at = if as_reals { at } else { self.placed(network, node, at)? };
        let mut sums = Value::Dequantized(Dequantized::new(Source::Tensor(at), quant));
        if as_reals && let Value::Real(at) = network.materialize(node, sums.clone())? {
            sums = Value::Real(self.placed(network, node, at)?);
        }
        let Some(values) = real else { return Ok(sums) };
        let Value::Real(at) = network.materialize(node, sums)? else { return Err(node.error("has no sums")) };
        // Channels are the last axis in the graph, or the axis after that of the images.
        let mut shape = vec![values.len()];
        if !at.channels_last && channels_last {
            shape.push(1);
        }
        let constant = Constant::reals(shape, values);
        let other = network.reals(node, &format!("{name}_bias"), &constant)?;
        let op = FloatBinary { function: RealPair::Add };
        let id = network.emit(node, op, &[at.id, other], name, Coding::REAL)?;
        if let Bias::OwnScale(_, why) = self.bias {
            let name = network.builder.tensor(id).name.clone();
            network.builder.note(name, why);
        }
        Ok(Value::Real(Located { id, ..at }))
    }

    /// Returns the output in the form of the file.
    fn placed<'a>(
        &self,
        network: &mut Network<'a>,
        node: Node<'a>,
        at: Located,
    ) -> Result<Located, OnnxError> {
        match self.line {
            true => without_rows(network, node, at),
            false => Ok(at),
        }
    }

    /// Returns the bias in steps of input scale times weight scale, rounded half to even (ONNX Runtime).
    fn bias_steps(&self, node: Node<'_>) -> Result<Option<Vec<i64>>, OnnxError> {
        let values = match &self.bias {
            Bias::None => return Ok(None),
            Bias::Steps(steps) => return Ok(Some(steps.clone())),
            Bias::Real(values) | Bias::OwnScale(values, _) => values,
        };
        let steps = |(channel, &value): (usize, &f32)| {
            let steps = self.steps(channel, value).round_ties_even();
            let fits = steps.abs() <= i32::MAX as f32;
            let problem = "has a bias beyond 32 bits of its sums' scale";
            fits.then_some(steps as i64).ok_or_else(|| node.error(problem))
        };
        values.iter().enumerate().map(steps).collect::<Result<_, _>>().map(Some)
    }

    /// Returns whether every bias is a multiple of input scale times weight scale.
    fn bias_is_exact(&self) -> bool {
        let (Bias::Real(values) | Bias::OwnScale(values, _)) = &self.bias else { return true };
        values.iter().enumerate().all(|(channel, &value)| {
            let steps = self.steps(channel, value);
            steps.fract() == 0.0 && steps.abs() <= i32::MAX as f32
        })
    }

    /// Returns whether a channel whose weights have scale 0 has a bias, which is not a multiple of any step.
    fn bias_is_all_of_a_sum(&self) -> bool {
        let Bias::Real(values) = &self.bias else { return false };
        values.iter().enumerate().any(|(channel, &value)| self.steps(channel, value).is_infinite())
    }

    fn steps(&self, channel: usize, value: f32) -> f32 {
        if value == 0.0 { 0.0 } else { value / step(&self.x_quant, &self.weight_quant, channel) }
    }

    fn add<'a>(
        &self,
        network: &mut Network<'a>,
        node: Node<'a>,
        op: Op,
        bias: Option<Vec<i64>>,
        name: &str,
        Coding { dtype, quantization }: Coding,
    ) -> Result<guardbit_graph::TensorId, OnnxError> {
        let Data::Integers(codes) = &self.weights.data else {
            return Err(node.error("has weights that are not codes"));
        };
        let per_axis = self.weight_quant.scales.len() > 1;
        let mut quant = self.weight_quant.clone();
        quant.axis = per_axis.then_some(self.axis);
        let weight_type = TensorType {
            shape: self.weights.shape.clone(),
            dtype: quant.dtype,
            quantization: Some(
                quant.quantization(quant.axis).map_err(|error| node.error(error.to_string()))?,
            ),
        };
        let weights = network.codes(node, &format!("{name}_weights"), weight_type, codes.packed())?;
        let mut inputs = vec![Some(self.x.id), Some(weights)];
        if let Some(steps) = bias {
            let narrow: Option<Vec<i32>> = steps.iter().map(|&step| i32::try_from(step).ok()).collect();
            let steps = narrow.ok_or_else(|| node.error("has a bias beyond 32 bits"))?;
            let ty = TensorType { shape: vec![steps.len()], dtype: DType::Int32, quantization: None };
            inputs.push(Some(network.codes(node, &format!("{name}_bias"), ty, steps)?));
        }
        let output = OutputSpec { name: network.fresh(name), dtype, quantization };
        network.builder.node(op, &inputs, output).map_err(|error| in_node(node, error))
    }
}

/// Returns codes without scaling: with scale 1, and with the zero point of input `zero`.
///
/// If the zero point is computed, the result is codes minus the zero point.
pub(in crate::onnx) fn raw<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    index: usize,
    zero: usize,
) -> Result<Value, OnnxError> {
    if let Some(value) = computed::raw(network, node, index, zero)? {
        return Ok(value);
    }
    let zero_point = network.known.optional_constant(node, zero)?;
    let zeros = match &zero_point {
        Some(zero) => zero_points(node, zero)?,
        None => vec![0],
    };
    if zeros.is_empty() {
        let problem =
            format!("has an empty zero point in input {zero}; it needs one number, or one per channel");
        return Err(node.error(problem));
    }
    let value = network.input(node, index)?;
    let (dtype, source) = match value {
        Value::Constant(constant) => {
            let dtype = dtype(constant.element);
            let name = element::name(constant.element);
            (
                dtype.ok_or_else(|| node.error(format!("reads codes of type {name}")))?,
                Source::Constant(constant),
            )
        }
        Value::Codes(at) => (network.builder.tensor(at.id).ty.dtype, Source::Tensor(at)),
        _ => return Err(node.error("reads real values; it works on codes")),
    };
    let (mut scales, axis) = (vec![1.0; zeros.len()], (zeros.len() > 1).then_some(0));
    // Computed codes have the scale of their operation. Their sums are sums of codes, whatever the scale.
    if let Source::Tensor(at) = &source {
        let own = network.builder.tensor(at.id).ty.quantization.as_ref().filter(|q| q.scales().len() == 1);
        scales = own.map_or(scales, |q| vec![q.scale(0)]);
    }
    let quant = Quant { dtype, scales, zero_points: zeros, axis, range: None };
    if let Source::Tensor(at) = &source {
        check_codes(network, node, *at, &quant)?;
    }
    Ok(Value::Dequantized(Dequantized::new(source, quant)))
}

/// Binds the output of a layer to its sums as codes, as ConvInteger and MatMulInteger return them.
pub(in crate::onnx) fn bind_sums<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    sums: Value,
) -> Result<(), OnnxError> {
    match sums {
        Value::Dequantized(Dequantized { source: Source::Tensor(at), .. }) => {
            network.bind(node, 0, Value::Codes(at))
        }
        _ => Err(node.error("has no sums of codes")),
    }
}
