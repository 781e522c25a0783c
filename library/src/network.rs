//! Networks, their samples, and networks on accelerators.

use std::path::Path;
use std::sync::Arc;

use guardbit_frontends::yaml::GraphYaml;
use guardbit_frontends::{Frontend, RandomCodes, frontend};
use guardbit_graph::{Graph, TensorId};
use guardbit_hwmodels::{self as hwmodels, Program};
use guardbit_sim::{Codes, Keep, Mode, Options, SimError, Simulation, ToCodes};

use crate::{Error, Run};

/// Quantized network.
#[derive(Debug, Clone)]
pub struct Network {
    graph: Arc<Graph>,
    /// Format of its file, whose runtime rounds real inputs to codes.
    #[cfg_attr(not(feature = "study"), expect(dead_code, reason = "only samples from files are rounded"))]
    frontend: &'static dyn Frontend,
}

/// Samples of a network: for each sample, the codes of every input.
#[derive(Debug, Clone)]
pub struct Samples(Vec<Vec<Codes>>);

/// Network on an accelerator, with settings of its runs.
///
/// All statistics are counted. To count less, or to run samples piece by piece, use
/// [`sim::Simulation`](Simulation) with [`program`](Self::program).
#[derive(Debug, Clone)]
pub struct Lowered {
    program: Arc<Program>,
    options: Options,
}

impl Network {
    /// Loads a network from a file: `.tflite`, `.onnx`, or `.yaml`.
    ///
    /// # Errors
    /// [`Error::Network`] if the file cannot be read, or is not a quantized network that guardbit can represent.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let graph = guardbit_frontends::load(path)?;
        Ok(Self { graph: graph.into(), frontend: frontend(path)? })
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Lowers the network onto an accelerator.
    ///
    /// # Errors
    /// [`Error::Lower`] if the accelerator cannot run the network, e.g. if it overrides an unknown layer.
    pub fn on(&self, accelerator: impl Into<hwmodels::Accelerator>) -> Result<Lowered, Error> {
        let program = hwmodels::lower(Arc::clone(&self.graph), &accelerator.into())?;
        Ok(Lowered { program: program.into(), options: Options::default() })
    }

    /// Checks samples: for each sample, the codes of every input in the order of [`Graph::inputs`], each in row-major
    /// order.
    ///
    /// # Errors
    /// [`Error::Simulation`] if a sample does not match the inputs.
    pub fn samples<C: ToCodes>(&self, samples: &[Vec<C>]) -> Result<Samples, Error> {
        let inputs = self.graph.inputs();
        let of_sample = |sample: &Vec<C>| -> Result<Vec<Codes>, Error> {
            if sample.len() != inputs.len() {
                return Err(SimError::InputCount { expected: inputs.len(), found: sample.len() }.into());
            }
            inputs.iter().zip(sample).map(|(&input, codes)| self.codes(input, codes)).collect()
        };
        Ok(Samples(samples.iter().map(of_sample).collect::<Result<_, _>>()?))
    }

    fn codes(&self, input: TensorId, codes: &impl ToCodes) -> Result<Codes, Error> {
        let tensor = self.graph.tensor(input);
        let (ty, name) = (&tensor.ty, &tensor.name);
        if codes.count() != ty.len() {
            let (expected, found) = (ty.len(), codes.count());
            return Err(SimError::InputSize { tensor: name.clone(), expected, found }.into());
        }
        let outside = |code| SimError::InputCode { tensor: name.clone(), code, ty: ty.code_type() };
        Ok(codes.to_codes(ty.dtype).map_err(outside)?)
    }

    /// Returns the samples that the command runs with `--random COUNT --seed SEED`.
    ///
    /// Codes are uniform over the range of each input. Real values are uniform over `[-1, 1]`.
    pub fn random_samples(&self, count: usize, seed: u64) -> Samples {
        let inputs = self.graph.inputs().iter().zip(0..).map(|(&input, index)| {
            let ty = &self.graph.tensor(input).ty;
            (ty, RandomCodes::of_tensor(seed.wrapping_add(index), ty))
        });
        let mut inputs: Vec<_> = inputs.collect();
        let mut sample = || -> Vec<Codes> {
            let drawn = inputs.iter_mut().map(|(ty, codes)| {
                let codes: Vec<i32> = codes.take(ty.len()).collect();
                // Draws are codes of the type.
                Codes::new(ty.dtype, &codes).expect("drawn codes are in range")
            });
            drawn.collect()
        };
        Samples((0..count).map(|_| sample()).collect())
    }

    /// Reads samples into memory, as the command does with `--input`: from a `.npy` file, a `.npz` file with one array per
    /// input, or a folder of pictures. Real values become codes as the runtime of the network's format rounds them.
    ///
    /// # Errors
    /// [`Error::Study`] with what is wrong in which file.
    #[cfg(feature = "study")]
    pub fn read_samples(&self, path: impl AsRef<Path>) -> Result<Samples, Error> {
        let source =
            guardbit_study::InputSource::File { path: path.as_ref().into(), pick: Default::default() };
        Ok(Samples(guardbit_study::read_samples(&self.graph, self.frontend, &source)?))
    }
}

impl From<Graph> for Network {
    /// Returns the network of a graph. Real inputs are rounded to codes like those of graph YAML.
    fn from(graph: Graph) -> Self {
        Self { graph: graph.into(), frontend: &GraphYaml }
    }
}

impl Samples {
    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the codes of every input of each sample.
    pub fn codes(&self) -> &[Vec<Codes>] {
        &self.0
    }
}

impl Lowered {
    /// Sets what each layer reads [default: what the narrow hardware produced before it].
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.options.mode = mode;
        self
    }

    /// Sets how many first events are listed per layer [default: 1000].
    #[must_use]
    pub fn listed_events(mut self, count: usize) -> Self {
        self.options.events_per_layer = count;
        self
    }

    /// Sets which tensors a run keeps [default: the outputs].
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.options.keep = keep;
        self
    }

    /// Returns the lowered program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Runs samples, on the narrow hardware and exactly.
    ///
    /// # Errors
    /// [`Error::Simulation`] if the samples are of another network, or an overflow is trapped.
    pub fn run(&self, samples: &Samples) -> Result<Run, Error> {
        let mut simulation = Simulation::new(&self.program, self.options);
        let samples = simulation.run_batch(samples.codes())?;
        let layers = simulation.finish();
        Ok(Run::new(Arc::clone(&self.program), layers, samples))
    }
}
