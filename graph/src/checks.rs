//! The checks that every tensor and node of a graph passes.

use crate::limits::Budget;
use crate::model::{Constant, Tensor, TensorType};
use crate::ops::Operands;
use crate::{CodeRange, DType, GraphError, Integers, Op, OutputSpec, tensor_name};

/// Checks and returns a constant of codes.
pub(crate) fn constant(name: String, ty: TensorType, codes: Integers) -> Result<Tensor, GraphError> {
    let ty = ty.canonical();
    count(&name, &ty, codes.len())?;
    constant_in_range(&name, &ty, &codes)?;
    not_wide(&name, &ty)?;
    let codes = if ty.dtype == DType::Float32 { codes.widened() } else { codes };
    Ok(Tensor { name, ty, constant: Some(Constant::Codes(codes)) })
}

/// Checks and returns a constant of 64-bit biases.
pub(crate) fn wide_constant(name: String, ty: TensorType, values: Vec<i64>) -> Result<Tensor, GraphError> {
    count(&name, &ty, values.len())?;
    if ty.dtype != DType::Int64 {
        let problem = format!("64-bit biases are int64, not {}", ty.dtype);
        return Err(GraphError::TensorType { tensor: name, problem });
    }
    Ok(Tensor { name, ty, constant: Some(Constant::Wide(values.into())) })
}

/// Checks and returns the output tensor of a node. `operands` already hold its name.
pub(crate) fn output(op: &Op, operands: &Operands<'_>, output: &OutputSpec) -> Result<Tensor, GraphError> {
    let shape = op.output_shape(operands)?;
    Budget::new().with(&output.name, &shape)?;
    let ty = TensorType { shape, dtype: output.dtype, quantization: output.quantization.clone() };
    not_wide(&output.name, &ty)?;
    let reads = operands.inputs.iter().flatten();
    if !reads.filter_map(|read| read.ty.quantization.as_ref()).any(|read| read.has_pruned_channels()) {
        no_pruned_channels(&output.name, &ty)?;
    }
    Ok(Tensor { name: output.name.clone(), ty, constant: None })
}

/// Checks the name of a tensor, and that scales, zero points and ranges match shape and dtype.
pub(crate) fn tensor(tensor: &Tensor) -> Result<(), GraphError> {
    tensor_name::check(&tensor.name)?;
    quantization(tensor)
}

/// Checks that a tensor of type `ty` has `found` codes.
pub(crate) fn count(name: &str, ty: &TensorType, found: usize) -> Result<(), GraphError> {
    Budget::new().with(name, &ty.shape)?;
    if found == ty.len() {
        return Ok(());
    }
    let (expected, shape) = (ty.len(), ty.shape.clone());
    Err(GraphError::CodeCount { tensor: name.into(), expected, shape, found })
}

/// Checks that all codes lie in their type.
pub(crate) fn in_range(name: &str, ty: &TensorType, codes: &[i32]) -> Result<(), GraphError> {
    let allowed = ty.code_range();
    match codes.iter().position(|&code| !allowed.contains(code)) {
        Some(index) => {
            let code = codes[index].into();
            Err(GraphError::CodeRange { tensor: name.into(), code, index, ty: ty.code_type() })
        }
        None => Ok(()),
    }
}

/// Checks that all codes of a constant lie in their type.
fn constant_in_range(name: &str, ty: &TensorType, codes: &Integers) -> Result<(), GraphError> {
    let allowed = ty.code_range();
    let within =
        |(least, greatest)| allowed.step() == 1 && allowed.contains(least) && allowed.contains(greatest);
    if within(codes.limits()) || codes.range().is_none_or(within) {
        Ok(())
    } else {
        in_range(name, ty, &codes.to_words())
    }
}

/// Rejects a scale of 0, which cannot turn a real value into a code.
pub(crate) fn no_pruned_channels(name: &str, ty: &TensorType) -> Result<(), GraphError> {
    match ty.quantization.as_ref().and_then(|q| q.scales().iter().position(|&scale| scale == 0.0)) {
        Some(index) => {
            let problem = format!("scale 0 at index {index}; only weights have channels of scale 0");
            Err(GraphError::TensorType { tensor: name.into(), problem })
        }
        None => Ok(()),
    }
}

/// Rejects a dtype that only constant biases may have.
pub(crate) fn not_wide(name: &str, ty: &TensorType) -> Result<(), GraphError> {
    if ty.dtype != DType::Int64 {
        return Ok(());
    }
    let problem = "int64 is only valid for constant biases".into();
    Err(GraphError::TensorType { tensor: name.into(), problem })
}

fn quantization(tensor: &Tensor) -> Result<(), GraphError> {
    let fail = |problem: String| Err(GraphError::TensorType { tensor: tensor.name.clone(), problem });
    let Some(quantization) = &tensor.ty.quantization else { return Ok(()) };
    if tensor.ty.dtype.is_float() {
        return fail("real values have neither scale nor zero point".into());
    }
    if let Some(axis) = quantization.axis() {
        let size = tensor.ty.shape.get(axis).copied();
        let scales = quantization.scales().len();
        if size != Some(scales) {
            return fail(format!("{scales} scales along axis {axis} of shape {:?}", tensor.ty.shape));
        }
    }
    let all = CodeRange::of(tensor.ty.dtype);
    if let Some(range) = quantization.range().filter(|&range| !all.includes(range)) {
        return fail(format!("range {range} is not within {all}, the codes of {}", tensor.ty.dtype));
    }
    match quantization.zero_points().iter().find(|&&z| !all.contains(z)) {
        Some(z) => fail(format!("zero point {z} is outside {}", tensor.ty.dtype)),
        None => Ok(()),
    }
}
