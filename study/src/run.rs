//! One network on one accelerator.

use std::ops::ControlFlow;
use std::path::Path;

use guardbit_files::{Existing, Staging, Target};
use guardbit_frontends::Profile;
use guardbit_hwmodels::{Accelerator, Program};
use guardbit_reports::{
    About, NetworkTiming, NpzWriter, RunRecord, ScoreFigures, batch_shape, run_documents,
};
use guardbit_sim::{BatchTensors, Keep, Options, Settled};
use serde::Serialize;

use crate::execute::{ExecutedTogether, execute_together};
use crate::result_json::ResultJson;
use crate::settings::RunRequest;
use crate::spool::Spool;
use crate::subject::{CommonSettings, InputOrigin, Subject};
use crate::{Progress, StudyError};

/// Runs `request` and writes its results to `out`, which appears only when it is complete.
///
/// # Errors
/// [`StudyError`]; nothing is left behind in that case.
pub fn run(
    request: &RunRequest,
    out: &Path,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<RunRecord, StudyError> {
    run_observed(request, out, existing, progress, None)
}

/// Looks at what the layers made of every sample, in order: the program, and all tensors of the sample. The run ends with
/// [`StudyError::Interrupted`] where it breaks.
pub type Observer<'a> = dyn FnMut(&Program, &BatchTensors) -> ControlFlow<()> + 'a;

/// As [`run`](run()), with somebody who looks at every tensor on the way.
///
/// # Errors
/// Those of [`run`](run()).
pub fn run_observed(
    request: &RunRequest,
    out: &Path,
    existing: Existing,
    progress: &dyn Progress,
    mut observer: Option<&mut Observer<'_>>,
) -> Result<RunRecord, StudyError> {
    let target = Target::claim_for(out, existing)?;
    let settings = &request.settings;
    let accelerator = guardbit_hwmodels::load(&request.hw, &settings.sets)?;
    let (subject, accelerator) = match &request.layer {
        None => (Subject::load(&request.model, settings)?, accelerator),
        Some(layer) => Subject::load_layer(&request.model, settings, &accelerator, layer)?,
    };
    subject.input.note_clipped(progress);
    let program = subject.lower(&accelerator)?;
    let options = Options {
        mode: settings.mode,
        stats: settings.stats,
        events_per_layer: settings.events,
        keep: if request.dump_tensors || observer.is_some() { Keep::All } else { Keep::Outputs },
        ..Options::default()
    };
    progress
        .start(&format!("{} on {}", subject.model.file, accelerator.name), subject.samples.count() as u64);
    let spooled = if request.dump_tensors { Keep::All } else { Keep::Outputs };
    let mut spool = Spool::new(&subject.graph, spooled, target.parent())?;
    let mut store = |sample: &BatchTensors| {
        if observer.as_mut().is_some_and(|observer| observer(&program, sample).is_break()) {
            return Err(StudyError::Interrupted);
        }
        spool.add(&sample.exact, &sample.simulated[0])
    };
    let ExecutedTogether { mut each, unlimited } =
        execute_together(&subject, &[&program], options, None, progress, &mut store)?;
    let executed = each.swap_remove(0)?;
    progress.note(&settled(&executed.settled));
    let record = RunRecord::new(
        &subject.model.file,
        &accelerator.name,
        &program,
        &executed.layers,
        unlimited.as_deref().unwrap_or(&executed.layers),
        &options,
        &executed.score,
    );

    let mut staging = target.stage()?;
    write(&mut staging, request, &subject, &program, &mut spool, &record)?;
    staging.publish(existing)?;
    Ok(record)
}

/// The settings that decide what a run writes.
#[derive(Serialize)]
struct Deciding {
    #[serde(flatten)]
    common: CommonSettings,
    events: usize,
    dump_tensors: bool,
}

/// What of the results stands in `run.json`.
#[derive(Serialize)]
struct Figures<'a> {
    outcome: &'a ScoreFigures,
    timing: &'a NetworkTiming,
}

#[derive(Serialize)]
struct SettingsJson<'a> {
    mode: &'static str,
    stats: &'static str,
    output: &'a Option<String>,
    set: &'a [String],
    events: usize,
    dump_tensors: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'static str>,
}

fn write(
    staging: &mut Staging<'_>,
    request: &RunRequest,
    subject: &Subject,
    program: &Program,
    spool: &mut Spool,
    record: &RunRecord,
) -> Result<(), StudyError> {
    let settings = &request.settings;
    staging.write_all(&run_documents(&about(request, subject, &program.accelerator), record)?)?;
    spool.pack(staging, "outputs.npz", |id| subject.graph.outputs().contains(&id))?;
    if request.dump_tensors {
        spool.pack(staging, "tensors.npz", |_| true)?;
    }
    if matches!(subject.input.origin, InputOrigin::Random { .. }) {
        write_inputs(staging, subject)?;
    }

    let own = Deciding {
        common: subject.settings(settings),
        events: settings.events,
        dump_tensors: request.dump_tensors,
    };
    let all = SettingsJson {
        mode: settings.mode.name(),
        stats: settings.stats.name(),
        output: &settings.output,
        set: &settings.sets,
        events: settings.events,
        dump_tensors: request.dump_tensors,
        layer: &request.layer,
        profile: settings.profile.map(Profile::name),
    };
    let result = Figures { outcome: &record.outcome, timing: &record.timing };
    let json = ResultJson::new("run", (subject, &program.accelerator), own, all, result, staging.entries());
    Ok(staging.write("run.json", &crate::sealed(&json))?)
}

/// What the fast engine could do without stepping, in words.
fn settled(settled: &Settled) -> String {
    let Settled { by_weights, by_sums, stepped } = settled;
    format!(
        "dot products settled by their weights: {by_weights}, by their sums: {by_sums}, stepped: {stepped}"
    )
}

/// What was run, in words for the report.
fn about(request: &RunRequest, subject: &Subject, accelerator: &Accelerator) -> About {
    let settings = &request.settings;
    let mut pairs = vec![
        ("Model", subject.model.file.clone()),
        ("Accelerator", in_words(accelerator)),
        ("Input", subject.input.describe()),
        ("Mode", settings.mode.name().into()),
        ("Statistics", settings.stats.name().into()),
    ];
    pairs.extend(subject.labels_file.as_ref().map(|file| ("Labels", file.file.clone())));
    pairs.extend(settings.output.clone().map(|output| ("Output", output)));
    pairs.extend(request.layer.clone().map(|layer| ("Layer", layer)));
    pairs.extend(settings.sets.iter().map(|set| ("Set", set.clone())));
    crate::about(pairs, [accelerator])
}

/// Name and description.
pub(crate) fn in_words(accelerator: &Accelerator) -> String {
    match accelerator.description.as_str() {
        "" => accelerator.name.clone(),
        description => format!("{}: {description}", accelerator.name),
    }
}

/// Writes the samples of every input under its name, to `inputs.npz`.
pub(crate) fn write_inputs(staging: &mut Staging<'_>, subject: &Subject) -> Result<(), StudyError> {
    staging.write_with("inputs.npz", |out| {
        let mut npz = NpzWriter::new(out);
        for (id, pieces) in subject.samples.inputs() {
            let tensor = subject.graph.tensor(id);
            let shape = batch_shape(&tensor.ty.shape, subject.samples.count());
            let mut array = npz.begin(&tensor.name, tensor.ty.dtype, &shape)?;
            for piece in pieces {
                array.write(&piece?)?;
            }
            array.end()?;
        }
        npz.finish()?;
        Ok(())
    })
}
