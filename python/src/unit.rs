//! Golden model of a MAC unit.

use std::path::PathBuf;

use guardbit_graph::DType;
use guardbit_rtl_vectors::{GoldenModel, LayerParameters, LevelState};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::error::Failure;

/// MAC unit that runs beat by beat, as the hardware does.
#[pyclass(module = "guardbit._guardbit")]
#[derive(Clone)]
pub struct MacUnit(GoldenModel);

/// What a level shows after a beat.
#[pyclass(frozen, get_all, module = "guardbit._guardbit")]
pub struct LevelOutputs {
    acc: i64,
    exact: i64,
    updated: bool,
    high: bool,
    low: bool,
    sticky: bool,
}

impl From<LevelState> for LevelOutputs {
    fn from(LevelState { acc, exact, updated, high, low, sticky }: LevelState) -> Self {
        Self { acc, exact, updated, high, low, sticky }
    }
}

#[pymethods]
impl LevelOutputs {
    fn __repr__(&self) -> String {
        let Self { acc, exact, updated, high, low, sticky } = self;
        let flag = |on: bool| if on { "True" } else { "False" };
        let [updated, high, low, sticky] = [updated, high, low, sticky].map(|&on| flag(on));
        format!(
            "LevelOutputs(acc={acc}, exact={exact}, updated={updated}, high={high}, low={low}, sticky={sticky})"
        )
    }
}

#[pymethods]
impl MacUnit {
    /// Opens the unit of an accelerator: a preset's name, the path of a YAML file, or its text.
    #[new]
    #[pyo3(signature = (hw, terms, activation="int8", weight="int8", activation_zero_point=0, weight_zero_point=0))]
    fn new(
        hw: PathBuf,
        terms: usize,
        activation: &str,
        weight: &str,
        activation_zero_point: i32,
        weight_zero_point: i32,
    ) -> PyResult<Self> {
        let dtype = |name: &str| {
            name.parse::<DType>().map_err(|error| Failure::usage(format!("{error}, e.g. int8 or uint8")))
        };
        let (activation, weight) = (dtype(activation)?, dtype(weight)?);
        let parameters =
            LayerParameters { terms, activation, activation_zero_point, weight, weight_zero_point };
        Ok(Self(GoldenModel::from_accelerator(&hw.to_string_lossy(), &parameters).map_err(Failure::from)?))
    }

    /// Opens the unit of a bundle.
    #[staticmethod]
    fn from_bundle(dir: PathBuf) -> PyResult<Self> {
        Ok(Self(GoldenModel::from_bundle(&dir).map_err(Failure::from)?))
    }

    /// Returns a copy with the current state.
    fn copy(&self) -> Self {
        self.clone()
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    /// Runs one beat: as many products as there are lanes, in the last beat of a dot product the remaining ones.
    fn step(&mut self, activations: Vec<i64>, weights: Vec<i64>) -> PyResult<()> {
        Ok(self.0.step(&activations, &weights).map_err(Failure::from)?)
    }

    /// Resets registers, and ends the dot product in progress.
    fn reset(&mut self) {
        self.0.reset();
    }

    /// Makes the next beat begin a dot product. Registers keep their values.
    fn clear(&mut self) {
        self.0.restart();
    }

    /// Sets the bias.
    fn set_bias(&mut self, bias: i64) -> PyResult<()> {
        Ok(self.0.set_bias(bias).map_err(Failure::from)?)
    }

    /// Sets the multiplier of the requantizer.
    fn set_multiplier(&mut self, multiplier: f64) -> PyResult<()> {
        Ok(self.0.set_multiplier(multiplier).map_err(Failure::from)?)
    }

    /// Sets zero point and clamp of the output.
    fn set_output(&mut self, zero_point: i32, least: i32, greatest: i32) -> PyResult<()> {
        Ok(self.0.set_output(zero_point, least, greatest).map_err(Failure::from)?)
    }

    /// Products per beat.
    #[getter]
    fn lanes(&self) -> usize {
        self.0.interface().lanes
    }

    /// Products per dot product.
    #[getter]
    fn terms(&self) -> usize {
        self.0.terms()
    }

    /// Names of the levels, innermost first.
    #[getter]
    fn levels(&self) -> Vec<&str> {
        self.0.arithmetic().levels.iter().map(|level| level.name.as_str()).collect()
    }

    /// Outputs of a level after the last beat.
    fn level(&self, index: usize) -> PyResult<LevelOutputs> {
        let found = self.0.level(index).map(LevelOutputs::from);
        found.ok_or_else(|| {
            let levels = self.0.arithmetic().levels.len();
            PyIndexError::new_err(format!("level {index}: the unit has {levels} levels"))
        })
    }

    /// Exact sum so far.
    #[getter]
    fn exact(&self) -> i128 {
        self.0.exact()
    }

    /// Sum of the dot product that the last beat ended.
    #[getter]
    fn sum(&self) -> Option<i64> {
        self.0.sum()
    }

    /// Output code of the dot product that the last beat ended.
    #[getter]
    fn code(&self) -> PyResult<Option<i32>> {
        Ok(self.0.code().map_err(Failure::from)?)
    }
}
