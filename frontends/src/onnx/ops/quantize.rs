//! QuantizeLinear and DequantizeLinear, and what an operator with a quantizer behind it makes.

use std::rc::Rc;

use guardbit_graph::ops::{FloatBinary, QuantizeFloat, RealPair, Table};
use guardbit_graph::{Activation, DType, TensorId, TensorType};
use guardbit_num::Rounding;

use super::{is_qonnx, qonnx};
use crate::onnx::constant::Constant;
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::{Node, normalized};
use crate::onnx::proto::element;
use crate::onnx::value::{Dequantized, Located, Quant, Source, Value, graph_axis};

/// A node that makes codes of real values.
#[derive(Clone)]
pub(crate) struct Quantizer<'a> {
    pub node: Node<'a>,
    pub quant: Quant,
    pub rounding: Rounding,
    /// Whether it makes real values of the codes again (QONNX).
    pub dequantizes: bool,
    /// The scale of codes of one bit, whose values are that and its negative.
    pub bipolar: Option<f32>,
}

impl Quantizer<'_> {
    /// Whether it rounds half to even, as ONNX does.
    pub fn is_plain(&self) -> bool {
        self.rounding == Rounding::HalfEven && self.bipolar.is_none()
    }
}

/// The dtype of an element type that holds codes.
pub(crate) fn dtype(number: i32) -> Option<DType> {
    Some(match number {
        element::UINT8 => DType::UInt8,
        element::INT8 => DType::Int8,
        element::UINT16 => DType::UInt16,
        element::INT16 => DType::Int16,
        element::INT32 => DType::Int32,
        element::UINT4 | element::UINT2 => DType::UInt4,
        element::INT4 | element::INT2 => DType::Int4,
        _ => return None,
    })
}

/// The codes of an element type that are fewer than those of its dtype.
fn range(number: i32) -> Option<[i32; 2]> {
    match number {
        element::UINT2 => Some([0, 3]),
        element::INT2 => Some([-2, 1]),
        _ => None,
    }
}

/// Scales and zero points in the inputs `first` and `first + 1` of a node, for codes of type `number` of some rank.
pub(crate) fn quant_at(
    network: &Network<'_>,
    node: Node<'_>,
    first: usize,
    number: Option<i32>,
    rank: usize,
    axis: i64,
) -> Result<Quant, OnnxError> {
    let scale = network.constant(node, first)?;
    let zero_point = network.optional_constant(node, first + 1)?;
    let number = zero_point.as_ref().map(|z| z.element).or(number).unwrap_or(element::UINT8);
    quant_of(node, &scale, zero_point.as_deref(), number, rank, axis)
}

/// The quantization that a scale and a zero point say.
pub(crate) fn quant_of(
    node: Node<'_>,
    scale: &Constant,
    zero_point: Option<&Constant>,
    number: i32,
    rank: usize,
    axis: i64,
) -> Result<Quant, OnnxError> {
    let dtype = dtype(number).ok_or_else(|| {
        node.error(format!("has codes of type {}, which cannot be read", element::name(number)))
    })?;
    let scales = scale.as_reals().ok_or_else(|| node.error("has a scale that is no real number"))?.to_vec();
    let count = scales.len();
    let zero_points: Vec<i32> = match zero_point {
        None => vec![0; count],
        Some(zero) => {
            let values =
                zero.as_integers().ok_or_else(|| node.error("has a zero point that is no integer"))?;
            let narrow: Option<Vec<i32>> = values.iter().map(|&value| i32::try_from(value).ok()).collect();
            narrow.ok_or_else(|| node.error("has a zero point beyond 32 bits"))?
        }
    };
    if count == 0 || zero_points.len() != count || scale.shape.len() > 1 {
        let problem = format!("has scales of shape {:?} and {} zero points", scale.shape, zero_points.len());
        return Err(node.error(problem));
    }
    let axis = if count > 1 { Some(node.axis(axis, rank)?) } else { None };
    Ok(Quant { dtype, scales, zero_points, axis, range: range(number) })
}

/// What a node says of the quantization of its input `name`, which holds codes.
pub(crate) fn said_of_input(
    network: &Network<'_>,
    node: Node<'_>,
    name: &str,
    dtype: DType,
) -> Option<Quant> {
    let at = (0..node.proto.inputs.len()).find(|&index| node.input(index) == Some(name))?;
    let first = match (node.proto.op.as_str(), at) {
        ("DequantizeLinear", 0) => {
            let scale = network.constant(node, 1).ok()?;
            let rank = scale.shape.len().max(node.int("axis", 1).unsigned_abs() as usize + 1);
            let quant = quant_at(network, node, 1, None, rank, node.int("axis", 1)).ok()?;
            return Some(Quant { dtype, ..quant });
        }
        ("ConvInteger" | "MatMulInteger", 0) => {
            let zero = network.optional_constant(node, 2).ok()??;
            return Some(Quant::per_tensor(dtype, 1.0, i32::try_from(*zero.as_integers()?.first()?).ok()?));
        }
        ("QLinearConcat", at) => at + 1,
        ("QLinearMatMul" | "QLinearAdd" | "QLinearMul" | "QGemm", 0 | 3) => at + 1,
        (op, 0) if op.starts_with("QLinear") => 1,
        _ => return None,
    };
    let quant = quant_at(network, node, first, None, 1, 0).ok()?;
    Some(Quant { dtype, ..quant })
}

/// The quantizer that a node is, if it is one.
pub(crate) fn quantizer<'a>(
    network: &Network<'a>,
    node: Node<'a>,
) -> Result<Option<Quantizer<'a>>, OnnxError> {
    if is_qonnx(&node.proto.domain) {
        return qonnx::quantizer(network, node);
    }
    if node.proto.op != "QuantizeLinear" || node.int("block_size", 0) != 0 {
        return Ok(None);
    }
    let rank =
        node.input(0).and_then(|name| network.value(name)).map_or(8, |value| network.shape(value).len());
    let declared = i32::try_from(node.int("output_dtype", 0)).ok().filter(|&number| number != 0);
    let quant = quant_at(network, node, 1, declared, rank, node.int("axis", 1))?;
    Ok(Some(Quantizer { node, quant, rounding: Rounding::HalfEven, dequantizes: false, bipolar: None }))
}

/// What makes codes of an operator's output.
pub(crate) struct Follow<'a> {
    pub quantizer: Option<Quantizer<'a>>,
    pub quant: Quant,
    /// The type of the codes that the quantizer right behind the operator makes; `quant` may be narrower.
    pub kernel: DType,
    /// Nodes that are done with it.
    via: Vec<usize>,
    /// The name of the codes.
    pub name: String,
    /// The activation that a rectifier or clip in between is; any other clamp is a range of the codes.
    pub activation: Activation,
}

/// The quantizer behind the output of a node, perhaps after a rectifier or clip, if nothing else reads what is between.
pub(crate) fn follow<'a>(network: &Network<'a>, node: Node<'a>) -> Result<Option<Follow<'a>>, OnnxError> {
    let Some(mut behind) = Behind::find(network, node.output(0))? else { return Ok(None) };
    let kernel = behind.quantizer.quant.dtype;
    // Quantizers of the same scale behind it clamp what it makes.
    while let Some(next) = behind.narrowed(network)? {
        behind = next;
    }
    Ok(Some(Follow { kernel, ..behind.follow() }))
}

/// The quantizer behind a clip with these limits, if nothing else reads what is between.
pub(crate) fn clipped<'a>(
    network: &Network<'a>,
    clip: Node<'a>,
    limits: [f32; 2],
) -> Result<Option<Follow<'a>>, OnnxError> {
    let behind = Behind::find(network, clip.output(0))?.filter(|behind| !behind.quantizer.dequantizes);
    Ok(behind.map(|behind| Behind { clip: both(limits, behind.clip), ..behind }.follow()))
}

/// What narrows codes `name` of a quantization to fewer values, right behind them.
pub(crate) fn narrowed_codes<'a>(
    network: &Network<'a>,
    name: &str,
    quant: &Quant,
) -> Result<Option<Follow<'a>>, OnnxError> {
    Ok(Behind::narrowing(network, name, quant)?.map(|behind| behind.follow().without_activation()))
}

/// The quantizer that alone reads an input of the network, perhaps after a rectifier or clip, if more follows.
pub(crate) fn of_input<'a>(network: &Network<'a>, name: &'a str) -> Result<Option<Follow<'a>>, OnnxError> {
    let behind = Behind::find(network, Some(name))?.filter(|behind| !network.is_output(behind.output));
    Ok(behind.map(Behind::follow))
}

/// A quantizer, and what stands before it.
struct Behind<'a> {
    quantizer: Quantizer<'a>,
    clip: [f32; 2],
    via: Vec<usize>,
    output: &'a str,
}

impl<'a> Behind<'a> {
    /// The quantizer that alone reads a name, perhaps through rectifiers and clips.
    fn find(network: &Network<'a>, name: Option<&'a str>) -> Result<Option<Self>, OnnxError> {
        let Some(mut name) = name else { return Ok(None) };
        let mut via = Vec::new();
        let mut clip = [f32::NEG_INFINITY, f32::INFINITY];
        loop {
            let &[reader] = network.inner_readers(name) else { return Ok(None) };
            let next = network.nodes[reader];
            let Some(output) = next.output(0) else { return Ok(None) };
            via.push(reader);
            if let Some(quantizer) = quantizer(network, next)? {
                let plain = quantizer.is_plain() && quantizer.quant.single().is_some();
                return Ok(plain.then_some(Self { quantizer, clip, via, output }));
            }
            let limits = match next.proto.op.as_str() {
                _ if !normalized(&next.proto.domain).is_empty() => return Ok(None),
                "Relu" => [0.0, f32::INFINITY],
                "Clip" => match super::elementwise::limits(network, next)? {
                    Some(limits) => limits,
                    None => return Ok(None),
                },
                _ => return Ok(None),
            };
            clip = both(clip, limits);
            name = output;
        }
    }

    /// The same with a dequantizer and a quantizer of the same scale and zero point behind it: codes of fewer values.
    fn narrowed(&self, network: &Network<'a>) -> Result<Option<Self>, OnnxError> {
        if self.quantizer.dequantizes {
            return Ok(None);
        }
        let Some(mut next) = Self::narrowing(network, self.output, &self.quantizer.quant)? else {
            return Ok(None);
        };
        next.clip = both(self.clip, next.clip);
        next.via = [&self.via[..], &next.via].concat();
        Ok(Some(next))
    }

    /// A dequantizer of codes `name` and a quantizer of the same scale and zero point.
    fn narrowing(network: &Network<'a>, name: &str, quant: &Quant) -> Result<Option<Self>, OnnxError> {
        let &[reader] = network.inner_readers(name) else { return Ok(None) };
        let node = network.nodes[reader];
        if node.proto.op != "DequantizeLinear" || node.int("block_size", 0) != 0 {
            return Ok(None);
        }
        let read = quant_at(network, node, 1, None, 1, 0).ok().and_then(|read| read.single());
        if read != quant.single() {
            return Ok(None);
        }
        let Some(mut next) = Self::find(network, node.output(0))? else { return Ok(None) };
        let to = &mut next.quantizer.quant;
        if next.quantizer.dequantizes || to.single() != quant.single() || to.dtype.bits() > quant.dtype.bits()
        {
            return Ok(None);
        }
        let [(low, high), (least, greatest)] = [&*to, quant].map(|quant| quant.limits().into());
        let limits: [i32; 2] = [i32::max(low, least), i32::min(high, greatest)];
        if limits[0] > limits[1] {
            return Ok(None);
        }
        to.range = (limits != [to.dtype.min(), to.dtype.max()]).then_some(limits);
        next.via.insert(0, reader);
        Ok(Some(next))
    }

    fn follow(self) -> Follow<'a> {
        let Self { quantizer, clip, via, output } = self;
        let follow = Follow::to(quantizer.quant.clone(), output, clip);
        Follow { via, quantizer: Some(quantizer), ..follow }
    }
}

/// Limits after others.
fn both(first: [f32; 2], then: [f32; 2]) -> [f32; 2] {
    first.map(|limit| limit.max(then[0]).min(then[1]))
}

impl<'a> Follow<'a> {
    /// Codes of a quantization that an operator makes itself, of real values within `clip`.
    pub fn to(quant: Quant, name: &str, clip: [f32; 2]) -> Self {
        let [low, high] = quant.limits();
        let code = |real: f32| {
            if real.is_finite() {
                quant.code(real, 0)
            } else if real < 0.0 {
                low
            } else {
                high
            }
        };
        let clamp = (code(clip[0]), code(clip[1]));
        let activation = activation(&quant, clip, clamp);
        let mut quant = quant;
        if activation.is_none() {
            quant.range = Some([clamp.0, clamp.1]);
        }
        let activation = activation.unwrap_or(Activation::None);
        Self { quantizer: None, kernel: quant.dtype, quant, via: Vec::new(), name: name.into(), activation }
    }

    /// The same for an operation that has no activation: its clamp is a range of the codes.
    pub fn without_activation(mut self) -> Self {
        if let Ok(quantization) = self.quant.quantization(None) {
            let (low, high) = self.activation.clamp(self.quant.dtype, &quantization);
            self.quant.range =
                ([low, high] != [self.quant.dtype.min(), self.quant.dtype.max()]).then_some([low, high]);
        }
        Self { activation: Activation::None, ..self }
    }

    /// Whether real values are made of the codes again at once.
    pub fn dequantizes(&self) -> bool {
        self.quantizer.as_ref().is_some_and(|quantizer| quantizer.dequantizes)
    }

    /// Lets the name of the codes stand for the tensor that was made.
    pub fn finish(self, network: &mut Network<'a>, node: Node<'a>, at: Located) -> Result<(), OnnxError> {
        self.via.iter().for_each(|&index| network.done(index));
        let value = match self.dequantizes() {
            true => Value::Dequantized(Dequantized::new(Source::Tensor(at), self.quant)),
            false => Value::Codes(at),
        };
        let owner = self.quantizer.map_or(node, |quantizer| quantizer.node);
        network.bind(owner, 0, value)
    }
}

/// The activation that real limits are, where it clamps codes as they do.
fn activation(quant: &Quant, clip: [f32; 2], clamp: (i32, i32)) -> Option<Activation> {
    let quantization = quant.quantization(None).ok()?;
    let fits = |activation: &Activation| {
        let limits = match activation {
            Activation::None => clip,
            Activation::Relu => [0.0, f32::INFINITY],
            Activation::Relu6 => [0.0, 6.0],
            Activation::ReluN1To1 => [-1.0, 1.0],
            Activation::Relu0To1 => [0.0, 1.0],
        };
        limits == clip && activation.clamp(quant.dtype, &quantization) == clamp
    };
    Activation::ALL.into_iter().find(fits)
}

/// A table of the codes that a function makes of codes.
pub(crate) fn table<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    codes: TensorId,
    quant: &Quant,
    name: &str,
    function: impl Fn(i32) -> i32,
) -> Result<TensorId, OnnxError> {
    let from = network.builder.tensor(codes).ty.dtype;
    let made: Vec<i32> = (from.min()..=from.max()).map(function).collect();
    let (dtype, quantization) = network.code_type(node, quant, 1, false)?;
    let ty = TensorType { shape: vec![made.len()], dtype, quantization: quantization.clone() };
    let table = network.codes(node, &format!("{name}_table"), ty, made)?;
    network.emit(node, Table {}, &[codes, table], name, (dtype, quantization))
}

pub(super) fn quantize_linear<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.int("block_size", 0) != 0 {
        return quantize_blocks(network, node);
    }
    let quantizer = quantizer(network, node)?.ok_or_else(|| node.error("cannot be read"))?;
    let value = network.input(node, 0)?;
    quantized(network, quantizer, value)
}

/// Codes of a value.
pub(crate) fn quantized<'a>(
    network: &mut Network<'a>,
    quantizer: Quantizer<'a>,
    value: Value,
) -> Result<(), OnnxError> {
    let node = quantizer.node;
    let name = node.first_output()?.to_owned();
    if let Some(same) = widened(network, &quantizer, &value) {
        return network.bind(node, 0, same);
    }
    if let (Value::Dequantized(Dequantized { source: Source::Tensor(at), quant, functions }), true) =
        (&value, quantizer.is_plain())
    {
        let given = network.inputs.contains(&at.id) && network.is_output(&name);
        if functions.is_empty() && *quant == quantizer.quant && !given {
            return bind_codes(network, &quantizer, *at);
        }
        let single = quant.single().is_some() && quantizer.quant.single().is_some();
        if single && quant.dtype.bits() <= 8 {
            let dequantized = Dequantized {
                source: Source::Tensor(*at),
                quant: quant.clone(),
                functions: functions.clone(),
            };
            let code = |code: i32| quantizer.quant.code(dequantized.value(code), 0);
            let id = table(network, node, at.id, &quantizer.quant, &name, code)?;
            return bind_codes(network, &quantizer, Located { id, ..*at });
        }
    }
    let at = match network.materialize(node, value)? {
        Value::Real(at) => at,
        Value::Constant(constant) => {
            let codes = constant_codes(node, &constant, &quantizer)?;
            let dequantized = Dequantized::new(Source::Constant(Rc::new(codes)), quantizer.quant.clone());
            let value = match (quantizer.dequantizes, dequantized.source.clone()) {
                (false, Source::Constant(codes)) => Value::Constant(codes),
                _ => Value::Dequantized(dequantized),
            };
            return network.bind(node, 0, value);
        }
        _ => return Err(node.error("quantizes what is no real value")),
    };
    let at = emit_quantizer(network, &quantizer, at, &name)?;
    bind_codes(network, &quantizer, at)
}

/// Codes that a quantizer of the same scale and zero point, and of at least all of them, leaves as they are.
fn widened<'a>(network: &Network<'a>, quantizer: &Quantizer<'a>, value: &Value) -> Option<Value> {
    let Value::Dequantized(Dequantized { source, quant, functions }) = value else { return None };
    let to = &quantizer.quant;
    let same = quant.scales == to.scales && quant.zero_points == to.zero_points && quant.axis == to.axis;
    if !same || !functions.is_empty() || !quantizer.is_plain() || quantizer.dequantizes {
        return None;
    }
    let limits = match source {
        Source::Constant(_) => quant.limits(),
        Source::Tensor(at) => {
            let range = network.builder.tensor(at.id).ty.code_range();
            [range.min(), range.max()]
        }
    };
    let [low, high] = to.limits();
    let (narrower, fits) = (quant.dtype != to.dtype, low <= limits[0] && limits[1] <= high);
    match source {
        _ if !narrower || !fits => None,
        Source::Constant(codes) => Some(Value::Constant(Rc::clone(codes))),
        Source::Tensor(at) => Some(Value::Codes(*at)),
    }
}

fn bind_codes<'a>(
    network: &mut Network<'a>,
    quantizer: &Quantizer<'a>,
    at: Located,
) -> Result<(), OnnxError> {
    let value = match quantizer.dequantizes {
        true => Value::Dequantized(Dequantized::new(Source::Tensor(at), quantizer.quant.clone())),
        false => Value::Codes(at),
    };
    network.bind(quantizer.node, 0, value)
}

/// Codes of real values in the graph.
fn emit_quantizer<'a>(
    network: &mut Network<'a>,
    quantizer: &Quantizer<'a>,
    at: Located,
    name: &str,
) -> Result<Located, OnnxError> {
    let (node, quant) = (quantizer.node, &quantizer.quant);
    let mut at = at;
    let mut rounding = quantizer.rounding;
    if let Some(scale) = quantizer.bipolar {
        at = super::elementwise::apply(
            network,
            node,
            at,
            guardbit_graph::ops::RealFunction::Bipolar,
            vec![scale],
            &format!("{name}_sign"),
        )?;
        rounding = Rounding::HalfEven;
    }
    let rank = network.shape_of(at).len();
    let ty = network.code_type(node, quant, rank, at.channels_last)?;
    let op = QuantizeFloat { rounding, zero_point_first: false };
    let id = network.emit(node, op, &[at.id], name, ty)?;
    Ok(Located { id, ..at })
}

/// Codes of constant real values.
fn constant_codes(
    node: Node<'_>,
    constant: &Constant,
    quantizer: &Quantizer<'_>,
) -> Result<Constant, OnnxError> {
    let values = constant.as_reals().ok_or_else(|| node.error("quantizes what is no real value"))?;
    let quant = &quantizer.quant;
    let (inner, size) = match quant.axis {
        Some(axis) if axis < constant.shape.len() => {
            (constant.shape[axis + 1..].iter().product(), constant.shape[axis])
        }
        Some(axis) => {
            return Err(node.error(format!("has axis {axis}, but {} axes to quantize", constant.shape.len())));
        }
        None => (usize::MAX, 1),
    };
    if size != quant.scales.len() && quant.scales.len() > 1 {
        return Err(node.error(format!("has {} scales along an axis of {size}", quant.scales.len())));
    }
    let code = |(index, &value): (usize, &f32)| match quantizer.bipolar {
        Some(_) => {
            if value >= 0.0 {
                1
            } else {
                -1
            }
        }
        None => i64::from(qonnx::code(quant, quantizer.rounding, value, index / inner % size)),
    };
    let codes = values.iter().enumerate().map(code).collect();
    Ok(Constant::integers(element::INT32, constant.shape.clone(), codes))
}

pub(super) fn dequantize_linear<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.int("block_size", 0) != 0 {
        return dequantize_blocks(network, node);
    }
    let value = network.input(node, 0)?;
    let rank = network.shape(&value).len();
    let number = match &value {
        Value::Constant(constant) => Some(constant.element),
        _ => None,
    };
    let mut quant = quant_at(network, node, 1, number, rank, node.int("axis", 1))?;
    let source = match value {
        Value::Constant(constant) => {
            quant.dtype = dtype(constant.element).ok_or_else(|| {
                node.error(format!("reads codes of type {}", element::name(constant.element)))
            })?;
            quant.range = constant.range.or_else(|| range(constant.element));
            Source::Constant(constant)
        }
        Value::Codes(at) => {
            // Codes of fewer values may be read as codes of 8 bits.
            if network.optional_constant(node, 2)?.is_none() {
                quant.dtype = network.builder.tensor(at.id).ty.dtype;
            }
            check_codes(network, node, at, &quant)?;
            Source::Tensor(at)
        }
        _ => return Err(node.error("reads real values; it works on codes")),
    };
    network.bind(node, 0, Value::Dequantized(Dequantized::new(source, quant)))
}

/// Fails where codes are read with another quantization than they were made with.
pub(crate) fn check_codes(
    network: &Network<'_>,
    node: Node<'_>,
    at: Located,
    quant: &Quant,
) -> Result<(), OnnxError> {
    let tensor = network.builder.tensor(at.id);
    let rank = tensor.ty.shape.len();
    let (_, wanted) = network.code_type(node, quant, rank, at.channels_last)?;
    let same = |a: &guardbit_graph::Quantization, b: &guardbit_graph::Quantization| {
        a.scales() == b.scales() && a.zero_points() == b.zero_points() && a.axis() == b.axis()
    };
    match (&tensor.ty.quantization, &wanted) {
        (Some(own), Some(wanted)) if !same(own, wanted) => Err(node.error(format!(
            "reads the codes of `{}` with scale {} and zero point {}; they were made with {} and {}: what is needed is \
             a node that quantizes them anew",
            tensor.name, wanted.scale(0), wanted.zero_point(0), own.scale(0), own.zero_point(0)
        ))),
        _ => Ok(()),
    }
}

/// Scales and zero points of blocks, one per element, as real numbers.
fn blocks(
    network: &Network<'_>,
    node: Node<'_>,
    shape: &[usize],
) -> Result<(Constant, Option<Constant>), OnnxError> {
    let axis = node.axis(node.int("axis", 1), shape.len())?;
    let size = usize::try_from(node.int("block_size", 0)).unwrap_or(0).max(1);
    let (scale, zero) = (network.constant(node, 1)?, network.optional_constant(node, 2)?);
    let wanted: Vec<usize> =
        shape.iter().enumerate().map(|(i, &n)| if i == axis { n.div_ceil(size) } else { n }).collect();
    if scale.shape != wanted || zero.as_ref().is_some_and(|zero| zero.shape != wanted) {
        return Err(
            node.error(format!("has scales of shape {:?}; blocks of {size} need {wanted:?}", scale.shape))
        );
    }
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * wanted[i];
    }
    let count: usize = shape.iter().product();
    let place = |index: usize| {
        let (mut rest, mut at) = (index, 0);
        for i in (0..shape.len()).rev() {
            let step = rest % shape[i];
            at += strides[i] * if i == axis { step / size } else { step };
            rest /= shape[i];
        }
        at
    };
    let scales = scale.as_reals().ok_or_else(|| node.error("has a scale that is no real number"))?;
    let scales = Constant::reals(shape.to_vec(), (0..count).map(|i| scales[place(i)]).collect());
    let zeros = zero.map(|zero| {
        let values = zero.as_integers().unwrap_or_default().to_vec();
        let at = |i: usize| values.get(place(i)).copied().unwrap_or(0) as f32;
        Constant::reals(shape.to_vec(), (0..count).map(at).collect())
    });
    Ok((scales, zeros))
}

/// Blocked DequantizeLinear: `(x - zero point) * scale` element by element.
fn dequantize_blocks<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let shape = network.shape(&value);
    let (scales, zeros) = blocks(network, node, &shape)?;
    if let Value::Constant(codes) = &value {
        let codes = codes.as_integers().ok_or_else(|| node.error("reads no codes"))?;
        let (scales, zeros) =
            (scales.as_reals().unwrap_or_default(), zeros.as_ref().and_then(Constant::as_reals));
        let real = |(i, &code): (usize, &i64)| (code as f32 - zeros.map_or(0.0, |z| z[i])) * scales[i];
        let reals = codes.iter().enumerate().map(real).collect();
        return network.bind(node, 0, Value::Constant(Rc::new(Constant::reals(shape, reals))));
    }
    let Value::Codes(at) = value else { return Err(node.error("reads real values; it works on codes")) };
    let dtype = network.builder.tensor(at.id).ty.dtype;
    let steps = Dequantized::new(Source::Tensor(at), Quant::per_tensor(dtype, 1.0, 0));
    check_codes(network, node, at, &steps.quant)?;
    let mut id = network.real_tensor(node, Value::Dequantized(steps), false)?;
    let name = node.first_output()?.to_owned();
    if let Some(zeros) = zeros {
        id = pair(network, node, RealPair::Sub, id, &zeros, &format!("{name}_steps"))?;
    }
    let id = pair(network, node, RealPair::Mul, id, &scales, &name)?;
    network.bind(node, 0, Value::Real(Located { id, channels_last: false }))
}

/// Blocked QuantizeLinear: `round(x / scale) + zero point` element by element.
fn quantize_blocks<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let shape = network.shape(&value);
    let (scales, zeros) = blocks(network, node, &shape)?;
    let zero = network.optional_constant(node, 2)?;
    let declared = i32::try_from(node.int("output_dtype", 0)).ok().filter(|&number| number != 0);
    let number = zero.as_ref().map(|zero| zero.element).or(declared).unwrap_or(element::UINT8);
    let one = Constant::reals(vec![], vec![1.0]);
    let quant = quant_of(node, &one, None, number, shape.len(), 0)?;
    let name = node.first_output()?.to_owned();
    let id = network.real_tensor(node, value, false)?;
    let mut id = pair(network, node, RealPair::Div, id, &scales, &format!("{name}_quotient"))?;
    if let Some(zeros) = zeros {
        let round = guardbit_graph::ops::RealFunction::Round;
        let at = Located { id, channels_last: false };
        id = super::elementwise::apply(network, node, at, round, vec![], &format!("{name}_rounded"))?.id;
        id = pair(network, node, RealPair::Add, id, &zeros, &format!("{name}_moved"))?;
    }
    let quantizer =
        Quantizer { node, quant, rounding: Rounding::HalfEven, dequantizes: false, bipolar: None };
    let at = emit_quantizer(network, &quantizer, Located { id, channels_last: false }, &name)?;
    bind_codes(network, &quantizer, at)
}

fn pair<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    function: RealPair,
    id: TensorId,
    constant: &Constant,
    name: &str,
) -> Result<TensorId, OnnxError> {
    let other = network.reals(node, &format!("{name}_by"), constant)?;
    network.emit(node, FloatBinary { function }, &[id, other], name, (DType::Float32, None))
}

/// Where axis `axis` of the file is in the graph.
pub(crate) fn axis_of(network: &Network<'_>, at: Located, axis: usize) -> usize {
    graph_axis(axis, network.builder.tensor(at.id).ty.shape.len(), at.channels_last)
}
