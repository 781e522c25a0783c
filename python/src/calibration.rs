//! Calibration methods and layer statistics that are written in Python.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use guardbit_hwmodels::Program;
use guardbit_quantize::method::{Method, MinMax};
use guardbit_quantize::{Observed, Range, Symmetry, Target};
use guardbit_sim::{BatchTensors, Codes};
use pyo3::prelude::*;

use crate::arrays::{array, of_codes};

/// What a function raised, the first time.
#[derive(Debug, Clone, Default)]
pub struct Raised {
    error: Arc<Mutex<Option<PyErr>>>,
    /// Ends the work.
    pub cancelled: Arc<AtomicBool>,
}

impl Raised {
    /// Takes it out.
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

/// A function of what was observed, in the order of [`OwnMethod::call`]: it gives the least and the greatest value.
#[derive(Debug)]
pub struct OwnMethod {
    function: Py<PyAny>,
    name: String,
    raised: Raised,
}

impl OwnMethod {
    /// A method of this name. What it raises is in `raised` when all is done.
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
        // After an error nothing that comes out is used.
        if self.raised.is_some() {
            return MinMax.range(observed, target);
        }
        Python::attach(|py| self.call(py, observed, target)).unwrap_or_else(|error| {
            self.raised.keep(error);
            MinMax.range(observed, target)
        })
    }
}

/// Calls `function` with every accelerated layer of every sample: short name, index of the sample, exact codes, codes of the
/// hardware.
pub fn observer<'a>(
    function: &'a Py<PyAny>,
    raised: &'a Raised,
) -> impl FnMut(&Program, &BatchTensors) -> ControlFlow<()> + 'a {
    let mut sample = 0_usize;
    move |program, tensors| {
        let called = Python::attach(|py| observe(py, function.bind(py), sample, program, tensors));
        sample += 1;
        match called {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised.keep(error);
                ControlFlow::Break(())
            }
        }
    }
}

fn observe(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    sample: usize,
    program: &Program,
    tensors: &BatchTensors,
) -> PyResult<()> {
    for layer in program.mac_layers() {
        let output = program.graph.node(layer.node).output;
        let tensor = program.graph.tensor(output);
        let codes = |run: &[Option<Codes>]| {
            let codes = run[output.index()].as_ref().map_or_else(Vec::new, Codes::to_vec);
            of_codes(py, tensor.ty.dtype, &tensor.ty.shape, &codes)
        };
        let (exact, simulated) = (codes(&tensors.exact)?, codes(&tensors.simulated[0])?);
        function.call1((&layer.short_name, sample, exact, simulated))?;
    }
    Ok(())
}
