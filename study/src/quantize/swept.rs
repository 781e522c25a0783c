//! Quantization as axes of a sweep: `quantize:method=min-max,mse` and the like, over a float network.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use guardbit_frontends::{read_onnx, write_onnx};
use guardbit_graph::Graph;
use guardbit_hwmodels::load;
use guardbit_quantize::search::quantize_watched;

use super::searched::Searched;
use super::{QuantizeChoices, calibration_samples};
use crate::{InputSource, Pick, Silent, StudyError};

/// How the float network of a point is quantized: what the keys `quantize:NAME` say.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Quantizing {
    calibration: Option<PathBuf>,
    samples: Option<usize>,
    choices: QuantizeChoices,
}

/// Declares the settings behind `quantize:`: each is a place, and what a value makes of it.
macro_rules! settings {
    ($all:ident, $value:ident: $($name:literal => $place:expr, $new:expr;)*) => {
        /// Their names.
        const NAMES: &[&str] = &[$($name),*];

        impl Quantizing {
            /// Gives the setting `quantize:NAME` a value.
            pub fn set(&mut self, name: &str, $value: &str) -> Result<(), String> {
                let $all = self;
                match name {
                    $($name => $place = $new,)*
                    _ => return Err(format!(
                        "`{name}` is not a setting of the quantizer: expected one of {}", NAMES.join(", ")
                    )),
                }
                Ok(())
            }
        }
    };
}

// As the options of `guardbit quantize`.
settings! { all, value:
    "calibration" => all.calibration, Some(value.into());
    "samples" => all.samples, Some(parsed(value)?);
    "method" => all.choices.method, value.into();
    "weight-method" => all.choices.weight_method, value.into();
    "weights" => all.choices.weights, value.into();
    "activations" => all.choices.activations, value.into();
    "per-tensor" => all.choices.per_tensor, parsed(value)?;
    "symmetric" => all.choices.symmetric, parsed(value)?;
    "asymmetric-weights" => all.choices.asymmetric_weights, parsed(value)?;
    "full-range" => all.choices.full_range, parsed(value)?;
    "power-of-two" => all.choices.power_of_two, parsed(value)?;
    "mode" => all.choices.mode, parsed(value)?;
    "equalize" => all.choices.equalize, parsed(value)?;
    "inline-functions" => all.choices.inline_functions, parsed(value)?;
    "correct-bias" => all.choices.correct_bias, parsed(value)?;
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(value: &str) -> Result<T, String> {
    value.parse().map_err(|error| format!("{value}: {error}"))
}

impl Quantizing {
    /// What the quantized network depends on, in addition to the float one; with a method for layers also the accelerator and its overrides.
    pub fn key(&self, hw: &str, sets: &[String]) -> Result<String, StudyError> {
        Ok(match self.choices.config()?.layer_method {
            Some(_) => format!("{self:?} {hw} {sets:?}"),
            None => format!("{self:?}"),
        })
    }

    /// The quantized network of a float one from `model`, as it would be read from its file. Finished layers are taken from `cache`
    /// and added to it.
    pub fn network(
        &self,
        float: &Graph,
        model: &Path,
        (hw, sets): (&str, &[String]),
        cache: Option<&Path>,
    ) -> Result<Graph, StudyError> {
        let Some(path) = self.calibration.clone() else {
            return Err(StudyError::QuantizeSetting {
                setting: "quantize".into(),
                problem: "a sweep over quantizations needs calibration samples: add the axis \
                          `quantize:calibration=X.npy`"
                    .into(),
            });
        };
        let pick = Pick::new(self.samples, None).unwrap_or_default();
        let samples = calibration_samples(float, model, &InputSource::File { path, pick }, true, &Silent)?;
        let config = self.choices.config()?;
        let graph = if config.layer_method.is_some() {
            let (accelerator, searched) = (load(hw, sets)?, Searched::new(cache, &Silent)?);
            quantize_watched(float, &samples, &config, Some(&accelerator), &searched)?.quantized.graph
        } else {
            guardbit_quantize::quantize(float, &samples, &config, None)?.graph
        };
        let bytes = write_onnx(&graph).map_err(|source| StudyError::Export { path: model.into(), source })?;
        Ok(read_onnx(&bytes, float.name())?)
    }
}
