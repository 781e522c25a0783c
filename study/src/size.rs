//! The width that every accumulator needs: proved, measured, and within an error budget.

mod area;
mod budget;
mod cost;
mod grid;
mod grid_errors;
mod layers;
mod recommend;
mod registers;
mod rows;
mod witnesses;

use std::path::Path;

use guardbit_hwmodels::Program;
use guardbit_reports::{SizeRecord, size_files, write_atomic, write_size};
use guardbit_sim::{LayerStats, Options, StatsLevel};
use serde::Serialize;

pub use area::AreaTool;
pub use budget::{Budget, BudgetError};

use crate::execute::{Executed, execute};
use crate::folder::{self, Existing, Staging};
use crate::run::write_inputs;
use crate::settings::SizeRequest;
use crate::subject::{FileId, HwId, InputId, InputOrigin, Subject};
use crate::{Progress, StudyError};
use area::Synthesis;
use layers::SizedLayer;
use recommend::Recommendation;

/// The samples, where they were made here.
const INPUTS: &str = "inputs.npz";
/// Version of `size.json`.
const SCHEMA: u32 = 1;

/// The accelerator with the recommended widths.
const RECOMMENDED: &str = "recommended.yaml";
/// Inputs that attain the bounds.
const WITNESSES: &str = "witnesses.npz";

/// Sizes the accumulators of `request` and writes the results to `out`, which appears only when it is complete.
///
/// # Errors
/// [`StudyError`]; nothing is left behind in that case.
pub fn size(
    request: &SizeRequest,
    out: &Path,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<SizeRecord, StudyError> {
    folder::check(out, existing)?;
    let synthesis = request.area.map(|tool| Synthesis::new(tool, request.rtl)).transpose()?;
    let accelerator = guardbit_hwmodels::load(&request.hw, &request.settings.sets)?;
    let subject = Subject::load(&request.model, &request.settings)?;
    subject.input.note_clipped(progress);
    let program = subject.lower(&accelerator)?;
    if matches!(request.budget, Some(Budget::Accuracy(_))) && subject.labels.is_none() {
        return Err(StudyError::BudgetWithoutLabels);
    }

    let sizing = Sizing { request, subject: &subject, program: &program, progress };
    let measured = sizing.measure()?;
    let mut layers = SizedLayer::all(&program, &measured.layers);
    if let Some(budget) = request.budget {
        budget::search(&sizing, budget, &mut layers)?;
    }
    let recommendation = Recommendation::new(&sizing, &layers)?;
    let record = SizeRecord {
        model: subject.model.file.clone(),
        hw: accelerator.name.clone(),
        budget: request.budget.map(|budget| budget.to_string()),
        area: synthesis.as_ref().map(Synthesis::describe),
        layers: rows::layers(&program, &layers, &recommendation.program, synthesis.as_ref())?,
        channels: rows::channels(&layers),
        levels: rows::levels(&layers, &recommendation.program),
        grid: grid::rows(&sizing)?,
        rates: rows::rates(&program, &measured.layers),
        witnesses: witnesses::records(&layers),
        recommended: recommendation.outcome.clone(),
    };
    let staging = Staging::new(out)?;
    write(staging.path(), &sizing, &recommendation, &layers, &record)?;
    staging.publish(existing)?;
    Ok(record)
}

/// What a sizing works on.
struct Sizing<'a> {
    request: &'a SizeRequest,
    subject: &'a Subject,
    /// The network on the accelerator as it is.
    program: &'a Program,
    progress: &'a dyn Progress,
}

impl Sizing<'_> {
    /// The statistics of accumulators that are wide enough for everything.
    fn measure(&self) -> Result<Executed, StudyError> {
        let program = registers::with(self, |_, level| Some(registers::wide(level)))?;
        let options = Options {
            mode: self.request.settings.mode,
            stats: StatsLevel::Full,
            events_per_layer: 0,
            ..Options::default()
        };
        self.run("samples", &program, options)
    }

    fn run(&self, what: &str, program: &Program, options: Options) -> Result<Executed, StudyError> {
        let title = format!("{} on {}: {what}", self.subject.model.file, self.program.accelerator.name);
        self.progress.start(&title, self.subject.samples.count() as u64);
        execute(self.subject, program, options, self.progress, &mut |_| Ok(()))
    }
}

/// `size.json`.
#[derive(Serialize)]
struct SizeJson<'a> {
    schema: u32,
    tool: crate::Tool,
    command: &'static str,
    model: &'a FileId,
    hw: HwId,
    input: &'a InputId,
    labels: &'a Option<FileId>,
    settings: SettingsJson<'a>,
    result: &'a SizeRecord,
    files: Vec<String>,
}

#[derive(Serialize)]
struct SettingsJson<'a> {
    mode: &'static str,
    output: &'a Option<String>,
    set: &'a [String],
}

fn write(
    dir: &Path,
    sizing: &Sizing<'_>,
    recommendation: &Recommendation,
    layers: &[SizedLayer<'_>],
    record: &SizeRecord,
) -> Result<(), StudyError> {
    let (settings, subject) = (&sizing.request.settings, sizing.subject);
    let mut pairs = vec![
        ("Model", subject.model.file.clone()),
        ("Accelerator", record.hw.clone()),
        ("Input", subject.input.describe()),
        ("Mode", settings.mode.name().into()),
    ];
    pairs.extend(record.budget.clone().map(|budget| ("Budget", budget)));
    pairs.extend(record.area.clone().map(|area| ("Area", area)));
    pairs.extend(subject.labels_file.as_ref().map(|file| ("Labels", file.file.clone())));
    pairs.extend(settings.sets.iter().map(|set| ("Set", set.clone())));
    write_size(dir, &crate::about(pairs), record)?;
    write_atomic(&dir.join(RECOMMENDED), recommendation.yaml().as_bytes())?;
    witnesses::write(&dir.join(WITNESSES), sizing.program, layers)?;
    let mut files: Vec<String> =
        size_files().into_iter().chain([RECOMMENDED.into(), WITNESSES.into()]).collect();
    if matches!(subject.input.origin, InputOrigin::Random { .. }) {
        write_inputs(&dir.join(INPUTS), subject)?;
        files.push(INPUTS.into());
    }
    let json = SizeJson {
        schema: SCHEMA,
        tool: crate::TOOL,
        command: "size",
        model: &subject.model,
        hw: HwId::of(&sizing.program.accelerator),
        input: &subject.input,
        labels: &subject.labels_file,
        settings: SettingsJson { mode: settings.mode.name(), output: &settings.output, set: &settings.sets },
        result: record,
        files,
    };
    crate::write_json(&dir.join("size.json"), &json)
}

/// The accelerated layers' statistics, in order of execution.
fn of_layers<'a>(
    program: &'a Program,
    stats: &'a [Option<LayerStats>],
) -> impl Iterator<Item = (&'a guardbit_hwmodels::MacLayer, &'a LayerStats)> {
    program.mac_layers().filter_map(|layer| Some((layer, stats[layer.node.index()].as_ref()?)))
}
