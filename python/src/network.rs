//! Network in memory.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use guardbit_files::SingleFile;
use guardbit_frontends::{Cut, Profile};
use guardbit_graph::{Constant, Graph, TensorId};
use guardbit_reports::batch_shape;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{array, of_codes};
use crate::commands::existing;
use crate::error::Failure;

/// Quantized network as guardbit understands it.
#[pyclass(frozen, module = "guardbit._guardbit")]
pub struct Network(Arc<Graph>);

#[pymethods]
impl Network {
    /// Reads a network file.
    #[new]
    #[pyo3(signature = (path, profile=None, start=Vec::new(), end=Vec::new(), dim=BTreeMap::new()))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        profile: Option<String>,
        start: Vec<String>,
        end: Vec<String>,
        dim: BTreeMap<String, NonZeroUsize>,
    ) -> PyResult<Self> {
        let profile: Option<Profile> = match &profile {
            Some(name) => {
                Some(name.parse::<Profile>().map_err(|error| Failure::usage(format!("profile: {error}")))?)
            }
            None => None,
        };
        let cut = Cut { from: start, to: end, dims: dim.into_iter().collect() };
        let graph = py.detach(|| guardbit_frontends::load_part(&path, profile, &cut));
        Ok(Self(Arc::new(graph.map_err(Failure::from)?)))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the inputs: name, dtype, shape, scales, zero points.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.0.inputs().iter().map(|&id| self.described(py, id)).collect()
    }

    /// Returns the outputs.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.0.outputs().iter().map(|&id| self.described(py, id)).collect()
    }

    /// Returns all tensors.
    #[getter]
    fn tensors<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let ids = self.0.tensors().iter().filter_map(|tensor| self.0.find_tensor(&tensor.name));
        ids.map(|id| self.described(py, id)).collect()
    }

    /// Returns every operation with everything that determines its codes, as JSON.
    fn nodes(&self) -> PyResult<Vec<String>> {
        let forms = self.0.nodes_with_ids().map(|(id, _)| serde_json::to_string(&self.0.form(id)));
        let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
        forms.map(|form| form.map_err(wrong)).collect()
    }

    /// Returns the codes of a constant.
    fn constant<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = self.0.find_tensor(name).map(|id| self.0.tensor(id));
        let found = found.and_then(|tensor| Some((tensor, tensor.constant.as_ref()?)));
        let Some((tensor, constant)) = found else {
            return Err(PyKeyError::new_err(format!("no constant has the name `{name}`")));
        };
        match constant {
            Constant::Codes(codes) => of_codes(py, tensor.ty.dtype, &tensor.ty.shape, &codes.to_words()),
            Constant::Wide(values) => array(py, &tensor.ty.shape, values.iter().copied()),
        }
    }

    /// Writes the network as ONNX. With `force`, an ONNX file that guardbit wrote is replaced.
    #[pyo3(signature = (path, force=false))]
    fn export(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        let work = || -> Result<(), Failure> {
            if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("onnx")) {
                let problem =
                    format!("{}: export writes ONNX; name a file that ends in .onnx", path.display());
                return Err(Failure::usage(problem));
            }
            let bytes = guardbit_frontends::write_onnx(&self.0)?;
            let file = SingleFile::new(&path, existing(force), is_own_onnx)?;
            Ok(file.write(&bytes)?)
        };
        Ok(py.detach(work)?)
    }

    /// Returns whether samples are steps of one stream.
    #[getter]
    fn has_states(&self) -> bool {
        self.0.has_states()
    }

    /// Returns the inputs of the layer with that name or index; empty if there is none.
    fn layer_inputs<'py>(&self, py: Python<'py>, layer: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let Ok(node) = self.0.find_node(layer) else { return Ok(Vec::new()) };
        let read = self.0.node(node).inputs.iter().flatten();
        let made = read.filter(|&&id| self.0.tensor(id).constant.is_none());
        made.map(|&id| self.described(py, id)).collect()
    }

    /// Returns the codes of every tensor that samples produce, computed exactly. Each sample is a list of
    /// flat codes per input. Samples are the steps of one stream if the network has states. Tensors have the
    /// samples along their first axis, except for a single sample without a stream.
    fn interpret<'py>(&self, py: Python<'py>, samples: Vec<Vec<Vec<i32>>>) -> PyResult<Bound<'py, PyDict>> {
        let graph = &self.0;
        let stacked = samples.len() != 1 || graph.has_states();
        let made = py.detach(|| {
            let mut states = graph.initial_states();
            let step = |inputs: &Vec<Vec<i32>>| {
                let inputs: Vec<&[i32]> = inputs.iter().map(Vec::as_slice).collect();
                if !graph.has_states() {
                    return graph.interpret(&inputs);
                }
                graph.interpret_step(&inputs, &mut states)
            };
            samples.iter().map(step).collect::<Result<Vec<_>, _>>()
        });
        let made = made.map_err(|error| Failure::usage(format!("x: {error}")))?;
        let tensors = PyDict::new(py);
        for (index, tensor) in graph.tensors().iter().enumerate() {
            let each: Vec<&[i32]> = made.iter().map(|codes| codes[index].as_slice()).collect();
            let (dtype, shape) = (tensor.ty.dtype, &tensor.ty.shape);
            let codes = match each.first() {
                // 64-bit biases have no codes.
                None | Some([]) => continue,
                Some(first) if !stacked || tensor.constant.is_some() => of_codes(py, dtype, shape, first)?,
                Some(_) => of_codes(py, dtype, &batch_shape(shape, each.len()), &each.concat())?,
            };
            tensors.set_item(&tensor.name, codes)?;
        }
        Ok(tensors)
    }
}

/// Returns whether a file is a network that guardbit wrote.
fn is_own_onnx(path: &Path) -> bool {
    const MOST: u64 = 1 << 30;
    guardbit_files::read(path, MOST).is_ok_and(|bytes| guardbit_frontends::is_own_onnx(&bytes))
}

impl Network {
    fn described<'py>(&self, py: Python<'py>, id: TensorId) -> PyResult<Bound<'py, PyDict>> {
        let tensor = self.0.tensor(id);
        let described = PyDict::new(py);
        described.set_item("name", &tensor.name)?;
        described.set_item("dtype", tensor.ty.dtype.name())?;
        described.set_item("shape", PyList::new(py, &tensor.ty.shape)?)?;
        let quantization = tensor.ty.quantization.as_ref();
        described.set_item("scales", quantization.map(|quantization| quantization.scales().to_vec()))?;
        described
            .set_item("zero_points", quantization.map(|quantization| quantization.zero_points().to_vec()))?;
        described.set_item("constant", tensor.constant.is_some())?;
        Ok(described)
    }
}
