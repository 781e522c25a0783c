//! Tables, written as the function that they represent or as an array.

use guardbit_graph::ops::RealFunction;
use guardbit_graph::{DType, NodeId, TensorId};

use super::codes::Made;
use super::ops::{available, operand, refused};
use super::tensors::element_of;
use super::{ExportError, Order, Writer, float, int, text};
use crate::onnx::normalise::quant::Quant;
use crate::onnx::parse::proto;
use crate::onnx::scalar::operator_of;

/// A function that a table represents.
struct Found {
    function: RealFunction,
    parameters: Vec<f32>,
}

/// Writes a table of codes.
///
/// If a function of real values gives the table, it becomes this function between a dequantizer and a quantizer. Any
/// other table becomes an array of codes that is indexed by codes (Gather). This includes a table with a value so
/// close to the middle between two codes that the runtime's function could round it differently. It also includes a
/// mere change of scale, because ONNX Runtime removes one of two consecutive quantizers.
pub(super) fn table(writer: &mut Writer<'_>, id: NodeId) -> Result<(), ExportError> {
    let (input, entries) = (operand(writer, id, 0)?, operand(writer, id, 1)?);
    let output = writer.graph.node(id).output;
    let codes = writer.graph.tensor(entries).codes().map(|codes| codes.to_vec()).unwrap_or_default();
    let quants = [quant(writer, input)?, quant(writer, output)?];
    let single = quants.iter().all(|quant| quant.single().is_some());
    if let Some(limits) = clip_of(&quants, &codes) {
        return clip(writer, id, input, limits);
    }
    let whole = quants.iter().all(|quant| quant.codes().step() == 1);
    match (single && whole).then(|| recognized(&quants, &codes)).flatten() {
        Some(found) => function(writer, id, input, &found),
        None => array(writer, id, input, &codes),
    }
}

fn quant(writer: &Writer<'_>, id: TensorId) -> Result<Quant, ExportError> {
    let (quantization, dtype) = (writer.quantization(id)?, writer.graph.tensor(id).ty.dtype);
    Ok(Quant {
        dtype,
        scales: quantization.scales().to_vec(),
        zero_points: quantization.zero_points().to_vec(),
        axis: quantization.axis(),
        range: quantization.range(),
    })
}

/// Returns the limits if a table of 8 bits only clips codes of one quantization.
fn clip_of(quants: &[Quant; 2], codes: &[i32]) -> Option<[i32; 2]> {
    let [input, output] = quants;
    let range = output.range.filter(|range| range.step() == 1)?;
    let all = input.dtype.min()..=input.dtype.max();
    let same = input.dtype == output.dtype && input.single()? == output.single()? && input.dtype.bits() == 8;
    (same && all.map(|code| range.clamp(code.into())).eq(codes.iter().copied()))
        .then_some(range.ends().into())
}

/// Writes a clip of codes.
fn clip(writer: &mut Writer<'_>, id: NodeId, input: TensorId, limits: [i32; 2]) -> Result<(), ExportError> {
    let order = available(writer, input);
    let from = writer.codes_in(input, order)?;
    clipped(writer, writer.graph.node(id).output, from, limits, order);
    Ok(())
}

/// Writes the codes of a tensor as the codes `from`, clipped to limits.
fn clipped(writer: &mut Writer<'_>, output: TensorId, from: String, limits: [i32; 2], order: Order) {
    let (name, dtype) = (writer.graph.tensor(output).name.clone(), writer.graph.tensor(output).ty.dtype);
    let [low, high] = limits.map(|limit| writer.integers_constant(&name, &[], dtype, &[limit.into()]));
    writer.node("Clip", vec![from, low, high], &name, Vec::new());
    writer.codes.insert((output, order), name);
}

/// Returns the function that a table represents.
fn recognized(quants: &[Quant; 2], codes: &[i32]) -> Option<Found> {
    let [input, output] = quants;
    let reals: Vec<f32> = (input.dtype.min()..=input.dtype.max()).map(|code| input.real(code, 0)).collect();
    let makes = |f: &dyn Fn(f32) -> f32| {
        reals.len() == codes.len() && reals.iter().zip(codes).all(|(&x, &code)| output.code(f(x), 0) == code)
    };
    if makes(&|x| x) {
        return None;
    }
    candidates(output, &reals, codes).into_iter().find(|found| {
        let f = |x: f32| found.function.apply(x, &found.parameters);
        makes(&f) && (is_exact(found.function) || reals.iter().all(|&x| is_clear(f(x), output)))
    })
}

/// Returns whether every runtime computes a function identically, to the last bit.
fn is_exact(function: RealFunction) -> bool {
    use RealFunction as F;
    matches!(
        function,
        F::Relu | F::LeakyRelu | F::Clip | F::Neg | F::Abs | F::Floor | F::Ceil | F::Round | F::Sqrt
    )
}

/// Returns whether an error in the last bits of a value cannot change its code.
fn is_clear(value: f32, quant: &Quant) -> bool {
    const MARGIN: f64 = 1e-4;
    let steps = f64::from(value) / f64::from(quant.scales[0]);
    let [low, high] = quant.limits().map(|code| f64::from(code - quant.zero_points[0]));
    let inside = (low - 1.0..=high + 1.0).contains(&steps);
    !inside || (steps - steps.floor() - 0.5).abs() > MARGIN
}

/// Returns functions that may give a table, functions without parameters first.
fn candidates(output: &Quant, reals: &[f32], codes: &[i32]) -> Vec<Found> {
    let plain = RealFunction::ALL.iter().filter(|function| function.parameters() == 0);
    let mut found: Vec<Found> = plain.map(|&function| Found { function, parameters: Vec::new() }).collect();
    let mut add =
        |function, parameters: &[f32]| found.push(Found { function, parameters: parameters.to_vec() });
    // Limits are real values of codes.
    if let (Some(&low), Some(&high)) = (codes.iter().min(), codes.iter().max()) {
        add(RealFunction::Clip, &[output.real(low, 0), output.real(high, 0)]);
    }
    for parameters in [[0.2, 0.5], [1.0 / 6.0, 0.5]] {
        add(RealFunction::HardSigmoid, &parameters);
    }
    let below = |function: RealFunction| slope(function, output, reals, codes);
    for function in [RealFunction::LeakyRelu, RealFunction::Elu] {
        if let Some(slope) = below(function) {
            add(function, &[slope]);
        }
    }
    found
}

/// Returns the factor below 0 of a function that gives these codes. Of several, it is one with the fewest digits.
fn slope(function: RealFunction, output: &Quant, reals: &[f32], codes: &[i32]) -> Option<f32> {
    let [least, greatest] = output.limits();
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let inner = reals.iter().zip(codes).filter(|&(&x, &code)| x < 0.0 && least < code && code < greatest);
    for (&x, &code) in inner {
        // With a factor of 1 the function is negative here.
        let unit = f64::from(function.apply(x, &[1.0])) / f64::from(output.scales[0]);
        let steps = f64::from(code - output.zero_points[0]);
        low = low.max((steps + 0.5) / unit);
        high = high.min((steps - 0.5) / unit);
    }
    if !(low.is_finite() && high.is_finite() && low <= high) {
        return None;
    }
    let digits = (0..9).map(|digits| 10f64.powi(digits));
    let short = digits.map(|power| ((low + high) / 2.0 * power).round() / power);
    short.into_iter().find(|slope| (low..=high).contains(slope)).map(|slope| slope as f32)
}

/// Writes a function of real values between codes, and a clip of the codes if they have a restricted range.
fn function(writer: &mut Writer<'_>, id: NodeId, input: TensorId, found: &Found) -> Result<(), ExportError> {
    let order = available(writer, input);
    let (x, name) = (writer.real(input, order)?, writer.result_name(id));
    operator(writer, id, found.function, &found.parameters, x, &name)?;
    let output = writer.graph.node(id).output;
    let (quantization, dtype) = (writer.quantization(output)?, writer.graph.tensor(output).ty.dtype);
    match quantization.range().filter(|_| dtype.bits() == 8) {
        Some(range) => {
            let all = writer.fresh(&name, "all");
            writer.linear("QuantizeLinear", name, &all, (&quantization, dtype), None);
            clipped(writer, output, all, [range.min(), range.max()], order);
            Ok(())
        }
        None => writer.result(id, Made::Real(&name), order),
    }
}

/// Writes an array of codes that is indexed by codes. Negative indices count from its end.
fn array(writer: &mut Writer<'_>, id: NodeId, input: TensorId, codes: &[i32]) -> Result<(), ExportError> {
    let output = writer.graph.node(id).output;
    let tensor = writer.graph.tensor(output);
    let negative = writer.graph.tensor(input).ty.dtype.min().unsigned_abs() as usize;
    let rotated: Vec<i64> =
        codes[negative..].iter().chain(&codes[..negative]).map(|&code| code.into()).collect();
    let (name, dtype) = (tensor.name.clone(), tensor.ty.dtype);
    // Gather does not support codes of 4 bits.
    let stored = match dtype {
        DType::Int4 => DType::Int8,
        DType::UInt4 => DType::UInt8,
        other => other,
    };
    let order = available(writer, input);
    let from = writer.codes_in(input, order)?;
    let index = writer.fresh(&name, "index");
    writer.node("Cast", vec![from], &index, vec![int("to", proto::element::INT32.into())]);
    let entries = writer.codes_constant(tensor, stored, &[rotated.len()], &rotated);
    let made = if stored == dtype { name.clone() } else { writer.fresh(&name, "wide") };
    writer.shaped(&index, proto::element::INT32, writer.shape_in(output, order));
    writer.node("Gather", vec![entries, index], &made, Vec::new());
    writer.shaped(&made, element_of(stored).0, writer.shape_in(output, order));
    if stored != dtype {
        let (quantization, real) = (writer.quantization(output)?, writer.fresh(&name, "widened"));
        writer.linear("DequantizeLinear", made, &real, (&quantization, stored), None);
        writer.linear("QuantizeLinear", real, &name, (&quantization, dtype), None);
    }
    writer.codes.insert((output, order), name);
    Ok(())
}

/// Writes the ONNX operator of a function.
pub(super) fn operator(
    writer: &mut Writer<'_>,
    id: NodeId,
    function: RealFunction,
    p: &[f32],
    input: String,
    output: &str,
) -> Result<(), ExportError> {
    let mut inputs = vec![input];
    let mut attributes = Vec::new();
    let op = match function {
        RealFunction::Clip => {
            inputs.extend(p.iter().map(|&limit| writer.reals_constant("limit", &[], &[limit])));
            "Clip"
        }
        RealFunction::Gelu => "Gelu",
        RealFunction::GeluTanh => {
            attributes.push(text("approximate", "tanh"));
            "Gelu"
        }
        RealFunction::Silu => {
            // This opset has no operator for it.
            let sigmoid = writer.fresh(output, "sigmoid");
            writer.node("Sigmoid", inputs.clone(), &sigmoid, Vec::new());
            inputs.push(sigmoid);
            "Mul"
        }
        other => {
            let problem = format!("computes `{}`, which ONNX has no operator for", other.name());
            let (op, names) = operator_of(other).ok_or_else(|| refused(writer, id, problem))?;
            attributes.extend(names.iter().zip(p).map(|((name, _), &value)| float(name, value)));
            op
        }
    };
    writer.node(op, inputs, output, attributes);
    Ok(())
}
