//! Quantization as axes of a sweep, e.g. `quantize:method=min-max,mse`, over a float network.

use std::path::Path;

use guardbit_frontends::{read_onnx, write_onnx};
use guardbit_graph::Graph;
use guardbit_hwmodels::load;
use guardbit_quantize::search::quantize_watched;

use super::calibration_samples;
use super::searched::Searched;
use crate::arguments::Arguments;
use crate::{InputSource, Pick, Silent, StudyError};

/// Returns the settings on which the quantized network of a point depends, in addition to the float network.
/// With a method for layers they include the accelerator and its overrides.
pub(crate) fn key(arguments: &Arguments, hw: &str, sets: &[String]) -> Result<String, StudyError> {
    Ok(match arguments.choices().config()?.layer_method {
        Some(_) => format!("{arguments:?} {hw} {sets:?}"),
        None => format!("{arguments:?}"),
    })
}

/// Returns the quantized network of a float network from `model`, equal to one read from its file. Finished
/// layers are taken from `cache` and added to it.
pub(crate) fn network(
    arguments: &Arguments,
    float: &Graph,
    model: &Path,
    hw: &str,
    sets: &[String],
    cache: Option<&Path>,
) -> Result<Graph, StudyError> {
    let Some(path) = arguments.calibration.clone() else {
        return Err(StudyError::QuantizeSetting {
            setting: "quantize".into(),
            problem: "a sweep over quantizations needs calibration samples: add the axis \
                          `quantize:calibration=X.npy`"
                .into(),
        });
    };
    let pick = Pick::new(arguments.samples, None).unwrap_or_default();
    let (samples, _) = calibration_samples(float, model, &InputSource::File { path, pick }, true, &Silent)?;
    let config = arguments.choices().config()?;
    let graph = if config.layer_method.is_some() {
        let (accelerator, searched) = (load(hw, sets)?, Searched::new(cache, &Silent)?);
        quantize_watched(float, &samples, &config, Some(&accelerator), &searched)?.quantized.graph
    } else {
        guardbit_quantize::quantize(float, &samples, &config, None)?.graph
    };
    let bytes = write_onnx(&graph).map_err(|source| StudyError::Export { path: model.into(), source })?;
    Ok(read_onnx(&bytes, float.name())?)
}
