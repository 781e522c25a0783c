//! Quantization to floating-point codes: operands of convolutions and matrix products become codes times scales, and
//! everything else stays in float.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use guardbit_graph::ops::{FloatBinary, FloatBlockScale, FloatCast, RealPair};
use guardbit_graph::{
    CodeRange, DType, Graph, GraphPatch, Node, NodeId, Op, OutputSpec, TensorId, TensorType, real_of, word_of,
};
use rayon::prelude::*;

use crate::calibrate::{check_memory, distribution};
use crate::simulated::{Reading, Sample, State};
use crate::statistics::Likeness;
use crate::{
    Config, FloatTarget, LayerClass, LayerSetting, Observed, Plan, QuantizeError, Quantized, ShortFloats,
    TensorCodes, TensorFigures, Unit, UnitFigures,
};

/// Quantizes a planned float network to floating-point codes with calibration samples.
pub(crate) fn quantized(
    plan: &Plan,
    samples: &[Sample],
    config: &Config,
    formats: ShortFloats,
) -> Result<Quantized, QuantizeError> {
    if samples.is_empty() {
        return Err(QuantizeError::NoSamples);
    }
    check_memory(plan, config, samples.len())?;
    let graph = plan.graph();
    let mut own = Floats {
        plan,
        config,
        formats,
        patch: GraphPatch::new(graph),
        states: State::of_samples(graph, samples, 0)?,
        activations: HashMap::new(),
        units: Vec::new(),
        tensors: Vec::new(),
    };
    for unit in 0..plan.units().len() {
        if config.cancelled.load(Ordering::Relaxed) {
            return Err(QuantizeError::Cancelled);
        }
        own.unit(unit)?;
    }
    if own.activations.is_empty() {
        return Err(QuantizeError::NothingToQuantize);
    }
    Ok(Quantized { graph: own.patch.apply()?, units: own.units, tensors: own.tensors })
}

struct Floats<'p, 'c> {
    plan: &'p Plan,
    config: &'c Config,
    formats: ShortFloats,
    patch: GraphPatch<'p>,
    states: Vec<State>,
    /// Activations that are codes, by the axis of their products.
    activations: HashMap<(TensorId, usize), Coded>,
    units: Vec<UnitFigures>,
    tensors: Vec<TensorFigures>,
}

/// Operand of a product.
#[derive(Clone)]
struct Coded {
    /// Real values of the codes in the quantized network.
    real: TensorId,
    values: Values,
}

#[derive(Clone)]
enum Values {
    /// Activations have one scale.
    Activation(FloatTarget, f32),
    /// Activations have scales of blocks, after one scale.
    Blocks(Blocked),
    /// Words of the real values of constant codes.
    Constant(Arc<[i32]>),
}

/// Returns the axis of an operand along which the products of a sum lie: that of input channels.
fn axis(node: &Node, place: usize, rank: usize) -> usize {
    let second = place == 1 && matches!(node.op, Op::FloatMatMul(_)) && rank > 1;
    rank.saturating_sub(if second { 2 } else { 1 })
}

/// Activations with scales of blocks.
#[derive(Clone)]
struct Blocked {
    target: FloatTarget,
    op: FloatBlockScale,
    shape: Vec<usize>,
    scale: Option<f32>,
}

impl Blocked {
    /// Returns the code of each value, and the scale of its block.
    fn codes(&self, values: &[f32]) -> (Vec<i32>, Vec<f32>) {
        let scaled: Vec<f32> =
            values.iter().map(|value| self.scale.map_or(*value, |scale| value / scale)).collect();
        let scales = self.op.scales(&self.shape, &scaled);
        let codes =
            scaled.iter().zip(&scales).map(|(&value, &scale)| self.target.code(value, scale)).collect();
        (codes, scales)
    }

    /// Returns the words of the real values of codes.
    fn words(&self, values: &[f32]) -> Vec<i32> {
        let (codes, scales) = self.codes(values);
        let real = |(&code, &scale): (&i32, &f32)| {
            let real = self.target.real(code, scale);
            word_of(self.scale.map_or(real, |scale| real * scale))
        };
        codes.iter().zip(&scales).map(real).collect()
    }
}

/// Returns the class of a unit, also of a depthwise convolution without a form in integers.
fn class(unit: &Unit) -> Option<LayerClass> {
    unit.class().or((unit.pattern() == "depthwise_conv2d").then_some(LayerClass::Depthwise))
}

/// Returns whether a node multiplies operands that become codes.
fn is_product(graph: &Graph, id: NodeId) -> bool {
    matches!(graph.node(id).op, Op::FloatConv2d(_) | Op::FloatMatMul(_))
}

impl Floats<'_, '_> {
    fn graph(&self) -> &Graph {
        self.plan.graph()
    }

    fn unit(&mut self, index: usize) -> Result<(), QuantizeError> {
        let plan = self.plan;
        let unit = &plan.units()[index];
        let setting = self.config.setting(plan.names(index), class(unit));
        for &id in &unit.nodes {
            let operands = match is_product(plan.graph(), id) && !setting.float {
                true => self.operands(id, setting)?,
                false => Vec::new(),
            };
            self.run(id, &operands);
        }
        if unit.nodes.iter().any(|&id| is_product(plan.graph(), id)) {
            self.unit_figures(index, setting);
        }
        let inner = unit.nodes.iter().map(|&id| plan.graph().node(id).output);
        let is_read_later =
            |id: &TensorId| plan.units()[index + 1..].iter().any(|later| later.inputs.contains(id));
        for id in unit.inputs.iter().copied().chain(inner).filter(|id| !is_read_later(id)) {
            self.states.iter_mut().for_each(|state| state.forget(id));
        }
        Ok(())
    }

    /// Makes codes of the two operands of a product.
    fn operands(&mut self, id: NodeId, setting: LayerSetting) -> Result<Vec<Coded>, QuantizeError> {
        let node = self.plan.graph().node(id);
        let (mut inputs, mut operands) = (node.inputs.clone(), Vec::new());
        for (place, input) in inputs.iter_mut().enumerate().take(2) {
            let Some(tensor) = *input else { continue };
            let coded = match self.plan.graph().tensor(tensor).constant {
                Some(_) => self.weights(id, tensor, place, setting)?,
                None => self
                    .activation(tensor, axis(node, place, self.plan.graph().tensor(tensor).ty.shape.len()))?,
            };
            *input = Some(coded.real);
            operands.push(coded);
        }
        let output =
            self.patch.node(node.op.clone(), &inputs, OutputSpec::of(self.graph().tensor(node.output)))?;
        self.patch.replace(node.output, output)?;
        Ok(operands)
    }

    /// Computes a node for every sample, in the float network and with these operands.
    fn run(&mut self, id: NodeId, operands: &[Coded]) {
        let graph = self.plan.graph();
        let node = graph.node(id);
        self.states.par_iter_mut().for_each(|state| {
            let words = |input: &Option<TensorId>, reading| match input {
                None => Arc::from([]),
                Some(id) => match graph.tensor(*id).codes() {
                    Some(words) => words.to_vec().into(),
                    None => state.words(*id, reading, None),
                },
            };
            let of = |reading| node.inputs.iter().map(|input| words(input, reading)).collect::<Vec<_>>();
            let evaluate = |inputs: &[Arc<[i32]>]| -> Arc<[i32]> {
                graph.evaluate(id, &inputs.iter().map(|words| &words[..]).collect::<Vec<_>>()).into()
            };
            let (float, mut real) = (of(Reading::Float), of(Reading::Simulated));
            for (words, operand) in real.iter_mut().zip(operands) {
                *words = match &operand.values {
                    Values::Constant(words) => Arc::clone(words),
                    Values::Activation(target, scale) => {
                        let value = |&word: &i32| target.real(target.code(real_of(word), *scale), *scale);
                        words.iter().map(|word| word_of(value(word))).collect()
                    }
                    Values::Blocks(blocked) => {
                        blocked.words(&words.iter().map(|&word| real_of(word)).collect::<Vec<_>>()).into()
                    }
                };
            }
            let at = node.output.index();
            (state.float[at], state.real[at]) = (Some(evaluate(&float)), Some(evaluate(&real)));
        });
    }

    fn target(&self, dtype: DType) -> Result<FloatTarget, QuantizeError> {
        let scales = self.config.setting.weights.scales;
        FloatTarget::new(dtype, scales).ok_or_else(|| QuantizeError::Impossible {
            layer: self.graph().name().into(),
            problem: format!("{dtype} is not a dtype of floating-point operands"),
        })
    }

    fn scale(
        &self,
        of: TensorId,
        method: &dyn crate::method::Method,
        observed: &Observed,
        target: &FloatTarget,
    ) -> Result<f32, QuantizeError> {
        Ok(target.scale(self.magnitude(of, method, observed, target)?))
    }

    fn magnitude(
        &self,
        of: TensorId,
        method: &dyn crate::method::Method,
        observed: &Observed,
        target: &FloatTarget,
    ) -> Result<f64, QuantizeError> {
        let problem = || QuantizeError::Impossible {
            layer: self.graph().tensor(of).name.clone(),
            problem: format!("method `{}` chooses no range of floating-point codes", method.name()),
        };
        method.magnitude(observed, target).ok_or_else(problem)
    }

    /// Returns an activation as codes, which all layers share that read it.
    fn activation(&mut self, id: TensorId, axis: usize) -> Result<Coded, QuantizeError> {
        let blocks = self.formats.activation_blocks;
        let key = (id, if blocks.is_some() { axis } else { 0 });
        if let Some(known) = self.activations.get(&key) {
            return Ok(known.clone());
        }
        let target = self.target(self.formats.activations)?;
        let reading = if self.config.propagate { Reading::Simulated } else { Reading::Float };
        let name = self.graph().tensor(id).name.clone();
        let mut observed = Observed::default();
        for (sample, state) in self.states.iter().enumerate() {
            let values = state.reals(id, reading, None);
            if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
                return Err(QuantizeError::NotFinite { tensor: name, value, sample });
            }
            observed.add(&values);
        }
        if let Some(blocks) = blocks {
            let magnitude = self.magnitude(id, &*self.config.method, &observed, &target)?;
            let shape = self.graph().tensor(id).ty.shape.clone();
            let (op, scale) = (blocks.op(axis, target.dtype()), blocks.scale(magnitude, &target));
            let coded = self.blocked(id, Blocked { target, op, shape, scale }, &name)?;
            self.activations.insert(key, coded.clone());
            return Ok(coded);
        }
        let scale = self.scale(id, &*self.config.method, &observed, &target)?;
        let scales = (target.dtype().bits() < 16).then(|| (vec![1], vec![scale]));
        let mut at = id;
        if let Some(scales) = &scales {
            at = self.scaled(RealPair::Div, at, scales, &format!("{name}_quotient"))?;
        }
        at = self.cast(at, target.dtype(), target.saturates(), &format!("{name}_{}", target.dtype()))?;
        let real = self.decoded(at, scales, &name)?;
        let coded = Coded { real, values: Values::Activation(target, scale) };
        self.activations.insert(key, coded.clone());
        self.tensors.extend(self.tensor_figures(id, &target, scale, reading));
        Ok(coded)
    }

    /// Returns an activation as codes with scales of blocks, which follow from each sample.
    fn blocked(&mut self, id: TensorId, blocked: Blocked, name: &str) -> Result<Coded, QuantizeError> {
        let (op, target) = (blocked.op.clone(), blocked.target);
        let one = blocked.scale.map(|scale| (vec![1], vec![scale]));
        let mut at = id;
        if let Some(one) = &one {
            at = self.scaled(RealPair::Div, at, one, &format!("{name}_scaled"))?;
        }
        let real = |own: &Self, name: String| OutputSpec {
            name: own.free(&name),
            dtype: DType::Float32,
            quantization: None,
        };
        let spec = real(self, format!("{name}_block_scales"));
        let scales = self.patch.node(op, &[Some(at)], spec)?;
        let spec = real(self, format!("{name}_quotient"));
        let quotient =
            self.patch.node(FloatBinary { function: RealPair::Div }, &[Some(at), Some(scales)], spec)?;
        let codes =
            self.cast(quotient, target.dtype(), target.saturates(), &format!("{name}_{}", target.dtype()))?;
        let values = self.cast(codes, DType::Float32, false, &format!("{name}_values"))?;
        let spec = real(self, format!("{name}_real"));
        let mut at =
            self.patch.node(FloatBinary { function: RealPair::Mul }, &[Some(values), Some(scales)], spec)?;
        if let Some(one) = &one {
            at = self.scaled(RealPair::Mul, at, one, &format!("{name}_rescaled"))?;
        }
        Ok(Coded { real: at, values: Values::Blocks(blocked) })
    }

    /// Returns constants as codes with scales of blocks.
    fn blocked_weights(
        &mut self,
        id: TensorId,
        values: &[f32],
        blocked: Blocked,
        name: &str,
    ) -> Result<Coded, QuantizeError> {
        let (codes, scales) = blocked.codes(values);
        // A file has one scale per block: that of the block times that of the tensor.
        let scales: Vec<f32> = scales.into_iter().map(|scale| scale * blocked.scale.unwrap_or(1.0)).collect();
        let real = |(&code, &scale): (&i32, &f32)| word_of(blocked.target.real(code, scale));
        let words = codes.iter().zip(&scales).map(real).collect();
        let (dtype, shape) = (blocked.target.dtype(), self.graph().tensor(id).ty.shape.clone());
        let ty = TensorType { shape: shape.clone(), dtype, quantization: None };
        let at = self.patch.constant(self.free(&format!("{name}_{dtype}")), ty, codes)?;
        let real = self.decoded(at, Some((shape, scales)), name)?;
        Ok(Coded { real, values: Values::Constant(words) })
    }

    /// Returns constants as codes, with a scale per output channel of the second operand, or with scales of blocks.
    fn weights(
        &mut self,
        node: NodeId,
        id: TensorId,
        place: usize,
        setting: LayerSetting,
    ) -> Result<Coded, QuantizeError> {
        let target = self.target(self.formats.weights)?;
        let tensor = self.plan.graph().tensor(id);
        let values: Vec<f32> =
            tensor.codes().into_iter().flat_map(|words| words.iter()).map(real_of).collect();
        let shape = tensor.ty.shape.clone();
        let name = format!("{}_weights", self.graph().tensor(self.graph().node(node).output).name);
        if let Some(blocks) = self.formats.weight_blocks {
            let mut observed = Observed::default();
            observed.add(&values);
            let magnitude = self.magnitude(id, &*self.config.weight_method, &observed, &target)?;
            let axis = axis(self.plan.graph().node(node), place, shape.len());
            let (op, scale) = (blocks.op(axis, target.dtype()), blocks.scale(magnitude, &target));
            return self.blocked_weights(id, &values, Blocked { target, op, shape, scale }, &name);
        }
        let is_conv = matches!(self.graph().node(node).op, Op::FloatConv2d(_));
        let axis = if is_conv { 0 } else { shape.len().saturating_sub(1) };
        let channels =
            if setting.per_channel && place == 1 { shape.get(axis).copied().unwrap_or(1) } else { 1 };
        let inner: usize = shape.iter().skip(axis + 1).product();
        let channel = |at: usize| if channels == 1 { 0 } else { at / inner.max(1) % channels };
        let mut observed = vec![Vec::new(); channels];
        values.iter().enumerate().for_each(|(at, &value)| observed[channel(at)].push(value));
        let mut scales = Vec::new();
        for values in observed {
            let mut observed = Observed::default();
            observed.add(&values);
            scales.push(self.scale(id, &*self.config.weight_method, &observed, &target)?);
        }
        let code = |(at, &value): (usize, &f32)| target.code(value, scales[channel(at)]);
        let codes: Vec<i32> = values.iter().enumerate().map(code).collect();
        let real = |(at, &code): (usize, &i32)| word_of(target.real(code, scales[channel(at)]));
        let words = codes.iter().enumerate().map(real).collect();
        let ty = TensorType { shape: shape.clone(), dtype: target.dtype(), quantization: None };
        let at = self.patch.constant(self.free(&format!("{name}_{}", target.dtype())), ty, codes)?;
        let along = |(at, _): (usize, &usize)| if at == axis { channels } else { 1 };
        let scale_shape = if channels == 1 { vec![1] } else { shape.iter().enumerate().map(along).collect() };
        let scales = (target.dtype().bits() < 16).then_some((scale_shape, scales));
        Ok(Coded { real: self.decoded(at, scales, &name)?, values: Values::Constant(words) })
    }

    /// Returns the real values of codes.
    fn decoded(
        &mut self,
        codes: TensorId,
        scales: Option<(Vec<usize>, Vec<f32>)>,
        name: &str,
    ) -> Result<TensorId, QuantizeError> {
        let values = self.cast(codes, DType::Float32, false, &format!("{name}_values"))?;
        scales
            .map_or(Ok(values), |scales| self.scaled(RealPair::Mul, values, &scales, &format!("{name}_real")))
    }

    fn cast(
        &mut self,
        of: TensorId,
        dtype: DType,
        saturate: bool,
        name: &str,
    ) -> Result<TensorId, QuantizeError> {
        let output = OutputSpec { name: self.free(name), dtype, quantization: None };
        Ok(self.patch.node(FloatCast { saturate }, &[Some(of)], output)?)
    }

    fn scaled(
        &mut self,
        function: RealPair,
        of: TensorId,
        (shape, scales): &(Vec<usize>, Vec<f32>),
        name: &str,
    ) -> Result<TensorId, QuantizeError> {
        let words = scales.iter().map(|&scale| word_of(scale)).collect();
        let ty = TensorType { shape: shape.clone(), dtype: DType::Float32, quantization: None };
        let by = self.patch.constant(self.free(&format!("{name}_by")), ty, words)?;
        let output = OutputSpec { name: self.free(name), dtype: DType::Float32, quantization: None };
        Ok(self.patch.node(FloatBinary { function }, &[Some(of), Some(by)], output)?)
    }

    /// Returns a name that the float network does not have.
    fn free(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.graph().find_tensor(&name).is_some() {
            name.push('_');
        }
        name
    }

    fn unit_figures(&mut self, index: usize, setting: LayerSetting) {
        let unit = &self.plan.units()[index];
        let mut likeness = Likeness::default();
        for state in &self.states {
            let of = |reading| state.reals(unit.output, reading, None);
            likeness.add(&of(Reading::Float), &of(Reading::Simulated));
        }
        self.units.push(UnitFigures {
            name: self.graph().tensor(unit.output).name.clone(),
            pattern: unit.pattern(),
            class: class(unit),
            float: setting.float.then(|| "the configuration requests float".into()),
            likeness,
            weight_bits: (!setting.float).then(|| self.formats.weights.bits()),
            rounded_sums: 0,
            layer: unit
                .nodes
                .iter()
                .find(|&&id| is_product(self.graph(), id))
                .map(|&id| self.graph().node_name(id).to_owned()),
        });
    }

    /// Returns the figures of an activation, whose codes are listed by their values. Codes of 16 bits have no scale.
    fn tensor_figures(
        &self,
        id: TensorId,
        target: &FloatTarget,
        scale: f32,
        reading: Reading,
    ) -> Option<TensorFigures> {
        let largest = target.largest() as i32;
        let range = CodeRange::new(-largest, largest).filter(|_| target.dtype().bits() < 16)?;
        let mut at_ends = [0; 2];
        let ends = [-target.largest(), target.largest()].map(|end| target.code(end as f32, 1.0));
        for value in self.states.iter().flat_map(|state| state.reals(id, reading, None)) {
            let code = target.code(value, scale);
            at_ends.iter_mut().zip(ends).for_each(|(count, end)| *count += u64::from(code == end));
        }
        let float = self.states.iter().flat_map(|state| state.reals(id, Reading::Float, None));
        let (float_range, values, histogram) = distribution(float);
        let parameters = FloatTarget::parameters(scale);
        Some(TensorFigures {
            name: self.graph().tensor(id).name.clone(),
            float_range,
            covered: [range.min(), range.max()].map(|value| value as f32 * scale),
            codes: TensorCodes { dtype: target.dtype(), range, parameters },
            values,
            at_ends,
            histogram,
        })
    }
}
