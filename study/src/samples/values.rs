//! Checks a file's array for an input, and converts its elements to codes.

use std::path::Path;

use guardbit_frontends::Frontend;
use guardbit_frontends::npy::{Header, Values};
use guardbit_graph::{CodeType, DType, Graph, RealCodes, Tensor};
use guardbit_reports::member_name;

use crate::StudyError;
use crate::array::{Array, ArrayFile};

/// Returns the array for an input and the number of samples in it. The array is found by name in an archive;
/// a single array without a name given by the user is accepted too.
pub(super) fn take(
    file: &mut ArrayFile,
    graph: &Graph,
    tensor: &Tensor,
    path: &Path,
) -> Result<(Array, usize), StudyError> {
    let called = |wanted: &str| file.names().iter().position(|name| name == wanted);
    let by_name = called(&tensor.name).or_else(|| called(&member_name(&tensor.name)));
    // NumPy names an array without a name `arr_0`.
    let unnamed = matches!(file.names(), [name] if name.is_empty() || name == "arr_0");
    let only = (unnamed && graph.inputs().len() == 1).then_some(0);
    let check = |header: &Header| {
        check_dtype(tensor, header.element.name(), path)?;
        sample_count(tensor, &header.shape, path)
    };
    match by_name.or(only) {
        Some(index) => file.array(index, check),
        None => Err(StudyError::MissingInput {
            path: path.into(),
            input: tensor.name.clone(),
            inputs: graph.inputs().iter().map(|&id| graph.tensor(id).name.clone()).collect(),
        }),
    }
}

/// Fails unless elements of dtype `found` can be converted to codes of an input.
fn check_dtype(tensor: &Tensor, found: &'static str, path: &Path) -> Result<(), StudyError> {
    let expected = tensor.ty.dtype.file_name();
    if found == "float32" || holds_codes(tensor, found) {
        return Ok(());
    }
    Err(StudyError::InputDType { path: path.into(), input: tensor.name.clone(), found, expected })
}

/// Returns whether elements of dtype `found` can be codes of an input: the input's dtype, or the dtypes that
/// NumPy gives whole numbers by default. Bytes of the other signedness are more likely pictures.
fn holds_codes(tensor: &Tensor, found: &str) -> bool {
    let is_general =
        matches!(found, "int32" | "int64" | "uint32" | "uint64") && tensor.ty.dtype != DType::Float32;
    found == tensor.ty.dtype.file_name() || is_general
}

/// Returns the codes for elements of dtype `found`, and the number of clipped elements.
pub(super) fn codes_of(
    tensor: &Tensor,
    frontend: &dyn Frontend,
    found: &'static str,
    values: Values,
    path: &Path,
) -> Result<(Vec<i32>, u64), StudyError> {
    let CodeType { dtype, range } = tensor.ty.code_type();
    match values {
        Values::Integers(values) if holds_codes(tensor, found) => {
            let code = |value: i64| match i32::try_from(value) {
                Ok(code) if range.contains(code) => Ok(code),
                _ => Err(StudyError::CodeRange { path: path.into(), code: value, ty: tensor.ty.code_type() }),
            };
            Ok((values.into_iter().map(code).collect::<Result<_, _>>()?, 0))
        }
        Values::Float32(values) => {
            let mut clipped = 0;
            if let Some(codes) = RealCodes::of(dtype) {
                let code = |real: f32| {
                    let code = codes.code(real, true);
                    clipped += u64::from(code != codes.code(real, false));
                    code
                };
                return Ok((values.into_iter().map(code).collect(), clipped));
            }
            let code = |value| {
                let steps = quantize(tensor, frontend, value, path)?;
                let code = range.clamp(steps);
                clipped += u64::from(i128::from(code) != steps);
                Ok(code)
            };
            let codes = values.into_iter().map(code).collect::<Result<_, StudyError>>()?;
            Ok((codes, clipped))
        }
        _ => Err(StudyError::InputDType {
            path: path.into(),
            input: tensor.name.clone(),
            found,
            expected: dtype.file_name(),
        }),
    }
}

/// Returns the number of samples. Samples are along the first axis, which replaces a leading 1 of the input's
/// shape.
pub(super) fn sample_count(tensor: &Tensor, found: &[usize], path: &Path) -> Result<usize, StudyError> {
    let shape = &tensor.ty.shape;
    let rest = if shape.first() == Some(&1) { &shape[1..] } else { &shape[..] };
    match found.split_first() {
        Some((&samples, found)) if found == rest => Ok(samples),
        _ => Err(StudyError::InputShape {
            path: path.into(),
            input: tensor.name.clone(),
            found: found.to_vec(),
            expected: rest.to_vec(),
        }),
    }
}

/// Returns the code of a real value before clamping.
fn quantize(tensor: &Tensor, frontend: &dyn Frontend, value: f32, path: &Path) -> Result<i128, StudyError> {
    let Some(quantization) = &tensor.ty.quantization else {
        return Err(StudyError::InputDType {
            path: path.into(),
            input: tensor.name.clone(),
            found: "float32",
            expected: tensor.ty.dtype.file_name(),
        });
    };
    if !value.is_finite() {
        let problem = format!("`{}` contains {value}, which is not a real number", tensor.name);
        let help = "replace infinite values and NaN";
        return Err(StudyError::Array { path: path.into(), problem, help });
    }
    Ok(frontend.quantize_input(value, quantization))
}
