//! What a sizing works on.

use guardbit_hwmodels::{MacLayer, Program};
use guardbit_sim::{LayerStats, Options, StatsLevel};

use crate::execute::{Executed, execute};
use crate::settings::SizeRequest;
use crate::subject::Subject;
use crate::{Progress, StudyError, registers};

/// Inputs of a sizing.
pub(super) struct Sizing<'a> {
    pub request: &'a SizeRequest,
    pub subject: &'a Subject,
    /// Network on the unchanged accelerator.
    pub program: &'a Program,
    pub progress: &'a dyn Progress,
}

impl Sizing<'_> {
    /// Returns the statistics of accumulators that are wide enough for everything.
    pub fn measure(&self) -> Result<Executed, StudyError> {
        let program = registers::unlimited(self.subject, self.program)?;
        let options = Options {
            mode: self.request.settings.mode,
            stats: StatsLevel::Full,
            events_per_layer: 0,
            ..Options::default()
        };
        self.run("samples", &program, options)
    }

    /// Returns the number of compared output codes per sample.
    pub fn codes_per_sample(&self) -> u64 {
        let graph = &self.subject.graph;
        self.subject.outputs.compared.iter().map(|&id| graph.tensor(id).ty.len() as u64).sum()
    }

    pub fn start(&self, what: &str, programs: usize) {
        let title = format!("{} on {}: {what}", self.subject.model.file, self.program.accelerator.name);
        self.progress.start(&title, (self.subject.samples.count() * programs) as u64);
    }

    pub fn run(&self, what: &str, program: &Program, options: Options) -> Result<Executed, StudyError> {
        self.start(what, 1);
        execute(self.subject, program, options, self.progress, &mut |_| Ok(()))
    }
}

/// Returns the statistics of accelerated layers, in order of execution.
pub(super) fn of_layers<'a>(
    program: &'a Program,
    stats: &'a [Option<LayerStats>],
) -> impl Iterator<Item = (&'a MacLayer, &'a LayerStats)> {
    program.mac_layers().filter_map(|layer| Some((layer, stats[layer.node.index()].as_ref()?)))
}
