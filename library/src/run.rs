//! Results of a run, by name.

use std::sync::Arc;

use guardbit_graph::LookupError;
use guardbit_hwmodels::{self as hwmodels, MacLayer, Program};
use guardbit_sim::{ChannelErrors, ChannelLevel, Codes, Event, LayerStats, LevelStats, SampleTensors};

use crate::Error;

/// Results of samples on an accelerator.
#[derive(Debug, Clone)]
pub struct Run {
    program: Arc<Program>,
    /// Statistics per node of the graph.
    layers: Vec<Option<LayerStats>>,
    samples: Vec<SampleTensors>,
}

/// Results of one accelerated layer.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'r> {
    spec: &'r MacLayer,
    stats: &'r LayerStats,
    total: ChannelErrors,
}

/// Results of one accumulation level of a layer.
#[derive(Debug, Clone, Copy)]
pub struct Level<'r> {
    spec: &'r hwmodels::Level,
    stats: &'r LevelStats,
    total: ChannelLevel,
}

/// Codes of one tensor, sample by sample.
#[derive(Debug, Clone, Copy)]
pub struct Tensor<'r> {
    samples: &'r [SampleTensors],
    index: usize,
    name: &'r str,
}

impl Run {
    pub(crate) fn new(
        program: Arc<Program>,
        layers: Vec<Option<LayerStats>>,
        samples: Vec<SampleTensors>,
    ) -> Self {
        Self { program, layers, samples }
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Returns the accelerated layers in order of execution.
    pub fn layers(&self) -> impl Iterator<Item = Layer<'_>> {
        self.program.mac_layers().filter_map(|spec| self.of_spec(spec))
    }

    /// Returns the accelerated layer with this full name, short name or index of all nodes.
    ///
    /// # Errors
    /// [`Error::UnknownLayer`] if there is none, or if the host runs it, and [`Error::AmbiguousLayer`] if a number is the name
    /// of one layer and the index of another.
    pub fn layer(&self, name: &str) -> Result<Layer<'_>, Error> {
        let graph = &self.program.graph;
        let short = |node| graph.short_name(node).to_owned();
        match graph.find_node(name) {
            Ok(node) => self.program.mac_layer(node).and_then(|spec| self.of_spec(spec)).ok_or(()),
            Err(LookupError::Unknown) => Err(()),
            Err(LookupError::Ambiguous { by_name, by_index }) => {
                let (by_name, by_index) = (short(by_name), short(by_index));
                return Err(Error::AmbiguousLayer { name: name.into(), by_name, by_index });
            }
        }
        .map_err(|()| {
            let near = graph.near_nodes(name, |node| self.program.mac_layer(node).is_some());
            Error::UnknownLayer { name: name.into(), near: near.into_iter().map(short).collect() }
        })
    }

    fn of_spec<'r>(&'r self, spec: &'r MacLayer) -> Option<Layer<'r>> {
        let stats = self.layers[spec.node.index()].as_ref()?;
        Some(Layer { spec, stats, total: stats.total() })
    }

    /// Returns the outputs of the network.
    pub fn outputs(&self) -> impl Iterator<Item = Tensor<'_>> {
        let graph = &self.program.graph;
        graph.outputs().iter().map(|&id| self.of_index(id.index()))
    }

    /// Returns a tensor by name: an output of the network, or any tensor that is not constant with
    /// [`Keep::All`](guardbit_sim::Keep::All).
    ///
    /// # Errors
    /// [`Error::UnknownTensor`] if the run kept no such tensor.
    pub fn tensor(&self, name: &str) -> Result<Tensor<'_>, Error> {
        let graph = &self.program.graph;
        let is_kept = |index: usize| {
            self.samples.first().is_some_and(|s| s.exact[index].is_some() && s.simulated[index].is_some())
        };
        match graph.find_tensor(name).map(|id| id.index()) {
            Some(index) if is_kept(index) => Ok(self.of_index(index)),
            _ => {
                let kept = (0..graph.tensors().len()).filter(|&index| is_kept(index));
                let kept = kept.map(|index| graph.tensors()[index].name.clone()).collect();
                Err(Error::UnknownTensor { name: name.into(), kept })
            }
        }
    }

    fn of_index(&self, index: usize) -> Tensor<'_> {
        Tensor { samples: &self.samples, index, name: &self.program.graph.tensors()[index].name }
    }
}

impl<'r> Layer<'r> {
    /// Returns the short name.
    pub fn short_name(&self) -> &'r str {
        &self.spec.short_name
    }

    /// Returns the layer as it was lowered: datapath, order of addition, timing.
    pub fn spec(&self) -> &'r MacLayer {
        self.spec
    }

    /// Returns all statistics, per channel too.
    pub fn stats(&self) -> &'r LayerStats {
        self.stats
    }

    /// Returns the counts of dot products over all channels.
    pub fn total(&self) -> &ChannelErrors {
        &self.total
    }

    /// Returns the first overflow events, in order of time.
    pub fn events(&self) -> &'r [Event] {
        &self.stats.events
    }

    /// Returns the accumulation levels, innermost first.
    pub fn levels(&self) -> impl Iterator<Item = Level<'r>> + use<'r> {
        let levels = self.spec.datapath.levels.iter().zip(&self.stats.levels);
        levels.map(|(spec, stats)| Level { spec, stats, total: stats.total() })
    }

    /// Returns the accumulation level with this name.
    ///
    /// # Errors
    /// [`Error::UnknownLevel`] if there is none.
    pub fn level(&self, name: &str) -> Result<Level<'r>, Error> {
        self.levels().find(|level| level.name() == name).ok_or_else(|| Error::UnknownLevel {
            layer: self.short_name().into(),
            name: name.into(),
            levels: self.levels().map(|level| level.name().to_owned()).collect(),
        })
    }
}

impl<'r> Level<'r> {
    /// Returns the name.
    pub fn name(&self) -> &'r str {
        &self.spec.name
    }

    /// Returns the level of the datapath: register, overflow mode, runs.
    pub fn spec(&self) -> &'r hwmodels::Level {
        self.spec
    }

    /// Returns all statistics, per channel too.
    pub fn stats(&self) -> &'r LevelStats {
        self.stats
    }

    /// Returns the counts over all channels.
    pub fn total(&self) -> &ChannelLevel {
        &self.total
    }

    /// Returns the number of additions.
    pub fn additions(&self) -> u64 {
        self.total.adds
    }

    /// Returns the number of overflow events.
    pub fn events(&self) -> u64 {
        self.total.events()
    }
}

impl<'r> Tensor<'r> {
    /// Returns the name.
    pub fn name(&self) -> &'r str {
        self.name
    }

    /// Returns the codes of a sample in the exact network; `None` if there is no such sample.
    pub fn exact(&self, sample: usize) -> Option<&'r Codes> {
        self.samples.get(sample)?.exact[self.index].as_ref()
    }

    /// Returns the codes of a sample on the narrow hardware; `None` if there is no such sample.
    pub fn simulated(&self, sample: usize) -> Option<&'r Codes> {
        self.samples.get(sample)?.simulated[self.index].as_ref()
    }

    /// Returns the samples in which at least one code differs from the exact network.
    pub fn differing(&self) -> impl Iterator<Item = usize> + use<'r> {
        let tensor = *self;
        (0..self.samples.len()).filter(move |&sample| tensor.exact(sample) != tensor.simulated(sample))
    }
}
