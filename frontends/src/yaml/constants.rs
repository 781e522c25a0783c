//! Codes of constants.

use std::path;

use guardbit_graph::{Brief, CodeRange, CodeType, DType, GraphError, RealCodes, TensorType};

use super::error::Kind;
use super::file::{ConstantFile, RandomFile};
use super::npy;
use guardbit_documents::Path;

use super::problem::Problem;
use super::values::Integers;
use crate::random_codes;

/// Maximum number of random codes of all constants of a file together.
const MAX_RANDOM: usize = 1 << 24;

/// Fails if the constants up to the one at `path` have too many random codes together.
pub(super) fn check_random(codes: usize, path: &Path) -> Result<(), Problem> {
    if codes <= MAX_RANDOM {
        return Ok(());
    }
    let message =
        format!("brings the random elements of all constants to {codes}; expected at most {MAX_RANDOM}");
    let help = "put larger constants into `.npy` files next to the network, and refer to them with `file`";
    Err(Problem::new(Kind::Value, path.join("random"), message).help(help))
}

/// The values of a constant.
pub(super) enum Values {
    /// Codes.
    Codes(Vec<i32>),
    /// Biases of 64 bits.
    Wide(Vec<i64>),
}

/// Returns the values of the constant at `path`, which fits the limits of the graph. Files are relative to `dir`.
pub(super) fn values(
    constant: &ConstantFile,
    ty: &TensorType,
    dir: &path::Path,
    path: &Path,
) -> Result<Values, Problem> {
    let count = ty.len();
    if let Some(reals) = &constant.reals {
        return from_reals(constant, reals, ty, path);
    }
    match (&constant.values, &constant.file, &constant.random) {
        (Some(values), None, None) => from_values(values, ty, count, &path.join("values")),
        (None, Some(file), None) => {
            let problem = |message| Problem::new(Kind::File, path.join("file"), message);
            npy::values(&dir.join(file), ty).map_err(problem)
        }
        (None, None, Some(random)) => {
            let range = range(random, ty.code_type(), &path.join("random"))?;
            let codes = random_codes(random.seed, range, count);
            Ok(match ty.dtype {
                DType::Int64 => Values::Wide(codes.into_iter().map(i64::from).collect()),
                _ => Values::Codes(codes),
            })
        }
        (None, None, None) => Err(Problem::new(Kind::MissingKey, path.clone(), "has no codes")
            .help("give `values`, `file` or `random: {seed: 1}`; real values are `reals` or a `file`")),
        _ => Err(Problem::new(Kind::Value, path.clone(), "has codes of more than one kind")
            .help("keep one of `values`, `file` and `random`")),
    }
}

/// Returns an error about the constant at `path`, located at the key that it is about.
pub(super) fn error(constant: &ConstantFile, error: &GraphError, path: &Path) -> Problem {
    let source = if constant.file.is_some() { "file" } else { "values" };
    let path = match error {
        GraphError::DuplicateTensor { .. } | GraphError::Name { .. } => path.join("name"),
        GraphError::TensorShape { .. } | GraphError::TooLarge { .. } | GraphError::TooManyElements { .. } => {
            path.join("shape")
        }
        GraphError::TensorType { .. } => path.join("scale"),
        GraphError::CodeRange { index, .. } => match &constant.values {
            Some(values) if values.shape.len() == 1 => path.join(source).item(*index),
            _ => path.join(source),
        },
        _ => path.clone(),
    };
    Problem::new(Kind::Graph, path, format!("is wrong: {error}"))
}

fn from_reals(
    constant: &ConstantFile,
    reals: &[f32],
    ty: &TensorType,
    path: &Path,
) -> Result<Values, Problem> {
    let wrong = |message: String| Err(Problem::new(Kind::Value, path.join("reals"), message));
    if constant.values.is_some() || constant.file.is_some() || constant.random.is_some() {
        return wrong("conflicts with codes of another kind; keep one of them".into());
    }
    let Some(codes) = RealCodes::of(ty.dtype) else {
        return wrong(format!("are only for floating-point dtypes, not for {}", ty.dtype));
    };
    if reals.len() != ty.len() {
        let message = format!("has {} values; shape {:?} needs {}", reals.len(), ty.shape, ty.len());
        return Err(Problem::new(Kind::Count, path.join("reals"), message));
    }
    // Equality of values, so that -0 is 0 in a format without it, and infinity is exact where it exists.
    let inexact = reals.iter().position(|&real| codes.real(codes.code(real, false)) != real);
    if let Some(index) = inexact {
        return wrong(format!("has {} at index {index}, which is not a value of {}", reals[index], ty.dtype));
    }
    Ok(Values::Codes(reals.iter().map(|&real| codes.code(real, false)).collect()))
}

fn from_values(values: &Integers, ty: &TensorType, count: usize, path: &Path) -> Result<Values, Problem> {
    let Integers { values, shape } = values;
    if values.len() != count {
        let message = format!("has {} values; shape {:?} needs {count}", values.len(), ty.shape);
        return Err(Problem::new(Kind::Count, path.clone(), message));
    }
    if shape.len() > 1 && *shape != ty.shape {
        let message = format!("is nested as {}; it must be {:?} or a flat list", Brief(shape), ty.shape);
        return Err(Problem::new(Kind::Count, path.clone(), message));
    }
    if ty.dtype == DType::Float32 {
        let message = "are integers; use `reals` for float32";
        return Err(Problem::new(Kind::Value, path.clone(), message));
    }
    if ty.dtype == DType::Int64 {
        return Ok(Values::Wide(values.clone()));
    }
    let code = |(index, &value): (usize, &i64)| {
        let outside = || {
            let path = if shape.len() == 1 { path.item(index) } else { path.clone() };
            let (min, max) = ty.code_range().ends();
            let message = format!("is {value} at index {index}; {} codes are {min} to {max}", ty.code_type());
            Problem::new(Kind::Value, path, message)
        };
        let code = i32::try_from(value).ok().filter(|&code| ty.code_range().contains(code));
        code.ok_or_else(outside)
    };
    values.iter().enumerate().map(code).collect::<Result<_, _>>().map(Values::Codes)
}

fn range(random: &RandomFile, ty: CodeType, path: &Path) -> Result<CodeRange, Problem> {
    let (least, greatest) = ty.range.ends();
    let bounds = [("min", random.min, least), ("max", random.max, greatest)];
    let mut range = [0; 2];
    for (place, (key, given, default)) in range.iter_mut().zip(bounds) {
        *place = given.unwrap_or(default);
        if !ty.range.contains(*place) {
            let message = format!("is {place}; {ty} codes are {least} to {greatest}");
            return Err(Problem::new(Kind::Value, path.join(key), message));
        }
    }
    let [min, max] = range;
    let range = CodeRange::new(min, max)
        .ok_or_else(|| Problem::new(Kind::Value, path.clone(), format!("has min {min} above max {max}")))?;
    // Both bounds are codes of the type.
    Ok(range.with_step(ty.range.step()).unwrap_or(range))
}
