//! Scales, zero points and ranges of tensors.

use guardbit_graph::{CodeRange, DType, Quantization};

use super::error::Kind;
use guardbit_documents::Path;

use super::problem::Problem;
use super::values::{OneOrMany, ScaleFile};

/// The keys about codes in the map of a tensor.
pub(super) struct Said<'a> {
    pub scale: Option<&'a ScaleFile>,
    pub zero_point: Option<&'a OneOrMany<i32>>,
    pub axis: Option<usize>,
    pub range: Option<[i32; 2]>,
    pub step: Option<u32>,
}

/// Returns the quantization of an input or output at `path`.
///
/// Codes have a scale or `scale: none`. Real values have neither.
pub(super) fn of_activation(
    said: &Said<'_>,
    dtype: DType,
    path: &Path,
) -> Result<Option<Quantization>, Problem> {
    if said.scale.is_none() && !dtype.is_float() {
        let help = "use `scale: none` for plain integers such as indices and counts";
        return Err(Problem::missing(path, "scale", dtype).help(help));
    }
    of_tensor(said, dtype, path)
}

/// Returns the quantization of the tensor at `path`, if it has a scale.
pub(super) fn of_tensor(said: &Said<'_>, dtype: DType, path: &Path) -> Result<Option<Quantization>, Problem> {
    let wrong = |key, message: &str| Err(Problem::new(Kind::Value, path.join(key), message));
    let keys = [
        ("scale", matches!(said.scale, Some(ScaleFile::One(_) | ScaleFile::Many(_)))),
        ("zero_point", said.zero_point.is_some()),
        ("axis", said.axis.is_some()),
        ("range", said.range.is_some()),
        ("step", said.step.is_some()),
    ];
    if let (true, Some((key, _))) = (dtype.is_float(), keys.iter().find(|(_, given)| *given)) {
        return wrong(key, &format!("is not allowed: {dtype} holds real values"));
    }
    let quantization = match (said.scale, said.zero_point, said.axis) {
        (None | Some(ScaleFile::None), ..) => {
            return match keys.iter().find(|(_, given)| *given) {
                Some((key, _)) => wrong(key, "is only valid with a `scale`"),
                None => Ok(None),
            };
        }
        (Some(ScaleFile::One(scale)), None, None) => Quantization::per_tensor(*scale, 0),
        (Some(ScaleFile::One(scale)), Some(OneOrMany::One(z)), None) => Quantization::per_tensor(*scale, *z),
        (Some(ScaleFile::One(_)), Some(OneOrMany::Many(_)), None) => {
            return wrong("zero_point", "is a list, but `scale` is not");
        }
        (Some(ScaleFile::One(_)), _, Some(_)) => {
            return wrong("axis", "is only valid with a list of scales");
        }
        (Some(ScaleFile::Many(_)), _, None) => {
            return wrong("scale", "is a list; set `axis` to its axis");
        }
        (Some(ScaleFile::Many(scales)), zero_point, Some(axis)) => {
            let zero_points = match zero_point {
                None => vec![0; scales.len()],
                Some(OneOrMany::One(z)) => vec![*z; scales.len()],
                Some(OneOrMany::Many(zero_points)) => zero_points.clone(),
            };
            Quantization::per_axis(scales.clone(), zero_points, axis)
        }
    };
    let wrong = |error| Problem::new(Kind::Value, path.join("scale"), format!("is wrong: {error}"));
    with_range(quantization.map_err(wrong)?, dtype, said, path).map(Some)
}

/// Returns the quantization of the tensor at `path` with its `range` and `step`, if it has them.
fn with_range(
    quantization: Quantization,
    dtype: DType,
    said: &Said<'_>,
    path: &Path,
) -> Result<Quantization, Problem> {
    let wrong_at = |key, message| Problem::new(Kind::Value, path.join(key), message);
    let wrong = |message| wrong_at("range", message);
    let Some([min, max]) = said.range else {
        return match said.step {
            Some(_) => Err(wrong_at("step", "is only valid with a `range`".into())),
            None => Ok(quantization),
        };
    };
    let range = CodeRange::new(min, max).ok_or_else(|| wrong(format!("has min {min} above max {max}")))?;
    let all = CodeRange::of(dtype);
    if !all.includes(range) {
        let message = format!("is {range}; {dtype} codes are {} to {}", all.min(), all.max());
        return Err(wrong(message).help("a range must lie within the codes of the dtype"));
    }
    let step = said.step.unwrap_or(1);
    let range = range.with_step(step).ok_or_else(|| {
        wrong_at("step", format!("is {step}; expected a whole number of steps from {min} to {max}"))
    })?;
    Ok(quantization.with_range(range))
}
