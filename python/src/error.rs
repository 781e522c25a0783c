//! Errors as seen by Python: `guardbit.GuardbitError` with a code, a place and help.

use guardbit_files::FolderError;
use guardbit_frontends::{ExportError, FrontendError};
use guardbit_hwmodels::{HwError, LowerError, Origin};
use guardbit_quantize::QuantizeError;
use guardbit_rtl_vectors::{GoldenError, VectorError};
use guardbit_study::StudyError;
use pyo3::prelude::*;
use pyo3::types::PyModule;

/// Error that is to become an exception.
#[derive(Debug)]
pub struct Failure {
    code: &'static str,
    message: String,
    help: Option<String>,
    /// File, line and column, both from 1.
    place: Option<(String, usize, usize)>,
}

/// Reason why work ended without a result.
#[derive(Debug)]
pub enum Ended {
    /// The request failed.
    Failed(Failure),
    /// The work was cancelled; the cause is known to the part that cancelled it.
    Cancelled,
}

impl Failure {
    /// Creates an error for invalid arguments.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: "guardbit::usage", message: message.into(), help: None, place: None }
    }

    fn new(code: &'static str, error: &dyn std::fmt::Display, help: impl Into<String>) -> Self {
        Self { code, help: Some(help.into()), ..Self::usage(error.to_string()) }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let made = Python::attach(|py| {
            let class = PyModule::import(py, "guardbit._errors")?.getattr("GuardbitError")?;
            let Failure { code, message, help, place } = failure;
            PyResult::Ok(Self::from_value(class.call1((message, code, place, help))?))
        });
        made.unwrap_or_else(|error| error)
    }
}

impl<E: Into<Failure>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Ended {
    /// Returns the error of work that cannot be cancelled.
    pub fn failure(self) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            Self::Cancelled => Failure::usage("cancelled"),
        }
    }
}

impl From<StudyError> for Ended {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Interrupted | StudyError::Quantize(QuantizeError::Cancelled) => Self::Cancelled,
            error => Self::Failed(study(error)),
        }
    }
}

fn study(error: StudyError) -> Failure {
    match error {
        StudyError::Model(error) => error.into(),
        StudyError::Hw(error) => error.into(),
        error => {
            let place = match &error {
                StudyError::StudyFile { place, .. } => Some((place.file.clone(), place.line, place.column)),
                _ => None,
            };
            Failure { place, ..Failure::new(error.code(), &error, error.help()) }
        }
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        study(error.into())
    }
}

impl From<LowerError> for Failure {
    fn from(error: LowerError) -> Self {
        study(error.into())
    }
}

impl From<FrontendError> for Failure {
    fn from(error: FrontendError) -> Self {
        let place = error.location().map(|at| (error.file().display().to_string(), at.line, at.column));
        Self { place, ..Self::new(error.code(), &error, error.help()) }
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        Self::new(error.code(), &error, error.help())
    }
}

impl From<HwError> for Failure {
    fn from(error: HwError) -> Self {
        let place = match error.origin() {
            Origin::File(place) => Some((place.file.clone(), place.line, place.column)),
            Origin::Set(_) | Origin::Axis(_) | Origin::Preset(_) | Origin::Nowhere => None,
        };
        Self { place, ..Self::new(error.code(), &*error, error.help()) }
    }
}

impl From<VectorError> for Failure {
    fn from(error: VectorError) -> Self {
        Self::new(error.code(), &error, error.help())
    }
}

impl From<GoldenError> for Failure {
    fn from(error: GoldenError) -> Self {
        match error {
            GoldenError::Vectors(error) => error.into(),
            GoldenError::Accelerator(error) => (*error).into(),
            GoldenError::Lower(error) => error.into(),
            error => Self::usage(error.to_string()),
        }
    }
}
