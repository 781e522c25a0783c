//! Calibration methods and layer statistics written in Python.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use guardbit_hwmodels::MacLayer;
use guardbit_quantize::method::{Method, MinMax};
use guardbit_quantize::{Observed, Range, Symmetry, Target};
use guardbit_sim::{Codes, DotSum};
use guardbit_study::Seen;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::arrays::{array, of_codes};

/// First exception that a function raised.
#[derive(Debug, Clone, Default)]
pub struct Raised {
    error: Arc<Mutex<Option<PyErr>>>,
    /// Whether the work should end.
    pub cancelled: Arc<AtomicBool>,
}

impl Raised {
    /// Takes the exception out.
    pub fn take(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: PyErr) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.cancelled.store(true, Ordering::Relaxed);
    }

    fn is_some(&self) -> bool {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// Calibration method from a Python function of the observed values, in the order of [`OwnMethod::call`]. The
/// function returns the least and the greatest value.
#[derive(Debug)]
pub struct OwnMethod {
    function: Py<PyAny>,
    name: String,
    raised: Raised,
}

impl OwnMethod {
    /// Creates a method with this name. An exception is stored in `raised` until the work ends.
    pub fn new(function: Py<PyAny>, name: String, raised: Raised) -> Self {
        Self { function, name, raised }
    }

    fn call(&self, py: Python<'_>, observed: &Observed, target: &Target) -> PyResult<Range> {
        let (low, high) = observed.extremes();
        let samples = observed.samples();
        let samples = array(py, &[samples.len(), 2], samples.iter().flat_map(|&(low, high)| [low, high]))?;
        let (values, counts): (Vec<f64>, Vec<u64>) = observed.histogram().middles().unzip();
        let zeros = observed.histogram().zeros();
        let bins = values.len();
        let values = array(py, &[bins], values.into_iter())?;
        let counts = array(py, &[bins], counts.into_iter())?;
        let codes = (target.codes.min(), target.codes.max());
        let symmetric = target.symmetry == Symmetry::Symmetric;
        let range =
            self.function.bind(py).call1((low, high, samples, values, counts, zeros, codes, symmetric))?;
        let (low, high) = range.extract()?;
        Ok(Range { low, high })
    }
}

impl Method for OwnMethod {
    fn name(&self) -> &str {
        &self.name
    }

    fn range(&self, observed: &Observed, target: &Target) -> Range {
        // After an exception no result is used.
        if self.raised.is_some() {
            return MinMax.range(observed, target);
        }
        Python::attach(|py| self.call(py, observed, target)).unwrap_or_else(|error| {
            self.raised.keep(error);
            MinMax.range(observed, target)
        })
    }
}

/// Returns an observer that calls `function` with every accelerated layer of every sample. Arguments are the
/// point, short name, index of the sample, exact codes and codes of the hardware. With `sums`, they also
/// include the exact and delivered sums and the number of events of every output; otherwise these are `None`.
pub fn observer<'a>(
    function: &'a Py<PyAny>,
    sums: bool,
    raised: &'a Raised,
) -> impl FnMut(&Seen<'_>) -> ControlFlow<()> + 'a {
    move |seen| {
        for layer in seen.program.mac_layers() {
            // Computed without the interpreter's lock, because it takes most of the time.
            let sums = if sums { seen.sums(layer) } else { None };
            let called = Python::attach(|py| observe(py, function.bind(py), seen, layer, sums.as_deref()));
            if let Err(error) = called {
                raised.keep(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

fn observe(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    seen: &Seen<'_>,
    layer: &MacLayer,
    sums: Option<&[DotSum]>,
) -> PyResult<()> {
    let output = seen.program.graph.node(layer.node).output;
    let tensor = seen.program.graph.tensor(output);
    let (dtype, shape) = (tensor.ty.dtype, &tensor.ty.shape);
    let codes = |run: &[Option<Codes>]| {
        run[output.index()].as_ref().map(|codes| of_codes(py, dtype, shape, &codes.to_vec())).transpose()
    };
    // A trap ended the point earlier.
    let (Some(exact), Some(simulated)) = (codes(seen.exact)?, codes(seen.simulated)?) else { return Ok(()) };
    let sums = sums.map(|sums| -> PyResult<_> {
        let wide = |sum: fn(&DotSum) -> i128| {
            let narrow = |dot| {
                i64::try_from(sum(dot)).map_err(|_| {
                    PyOverflowError::new_err(format!("int64 cannot hold a sum of layer {}", layer.short_name))
                })
            };
            let values: Vec<i64> = sums.iter().map(narrow).collect::<PyResult<_>>()?;
            array(py, shape, values.into_iter())
        };
        let events = array(py, shape, sums.iter().map(|dot| dot.events))?;
        Ok((wide(|dot| dot.exact)?, wide(|dot| dot.delivered)?, events))
    });
    let sums = sums.transpose()?;
    function.call1((seen.point, &layer.short_name, seen.sample, exact, simulated, sums))?;
    Ok(())
}
