//! Runs one network on one accelerator.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use guardbit_files::{Existing, Manifest, SingleFile, Staging, Target};
use guardbit_hwmodels::cost::CostModel;
use guardbit_hwmodels::{Accelerator, MacLayer, Program};
use guardbit_reports::{
    About, CostRecord, CoverageRecord, NetworkTiming, NpzWriter, Row, RunRecord, SampleRow, ScoreFigures,
    TRACE_START, batch_shape, run_documents, run_parquet, sample_parquet, trace, write_csv_pieces,
};
use guardbit_sim::{BatchTensors, Codes, DotSum, Keep, Mode, Options, Reads, delivered_sums};
use serde::Serialize;

use crate::Pick;
use crate::costs::{self, CostId};
use crate::execute::{ExecutedTogether, execute_together};
use crate::result_json::write_single;
use crate::sample_events::SampleEvents;
use crate::settings::RunRequest;
use crate::spool::Spool;
use crate::subject::{CommonSettings, InputOrigin, Subject};
use crate::sums::Sums;
use crate::{InputSource, Progress, StudyError, TableFormat};

/// Runs `request` and writes its results to `out`, which is created only when it is complete. Without `out`,
/// nothing is written.
///
/// # Errors
/// [`StudyError`]; nothing is left behind in that case.
pub fn run(
    request: &RunRequest,
    out: Option<&Path>,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<RunRecord, StudyError> {
    run_observed(request, out, existing, progress, None)
}

/// Observer of the layers' tensors for every sample, in order. The run ends with [`StudyError::Interrupted`]
/// if it returns `Break`.
pub type Observer<'a> = dyn FnMut(&Seen<'_>) -> ControlFlow<()> + 'a;

/// Tensors of one sample that went through a program.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Index of the sweep's point among all points; 0 for a run.
    pub point: usize,
    /// Index of the sample, from 0.
    pub sample: usize,
    /// Source of each layer's inputs.
    pub mode: Mode,
    /// Program that ran.
    pub program: &'a Program,
    /// All tensors of the exact network.
    pub exact: &'a [Option<Codes>],
    /// All tensors of the narrow hardware that were computed.
    pub simulated: &'a [Option<Codes>],
}

impl Seen<'_> {
    /// Returns the sums of every dot product of a layer on the activations that it read, in the order of its
    /// output tensor; `None` if these were not computed.
    pub fn sums(&self, layer: &MacLayer) -> Option<Vec<DotSum>> {
        let run = match self.mode {
            Mode::Propagated => self.simulated,
            Mode::Isolated => self.exact,
        };
        let codes = Reads::of(self.program, layer, run)?;
        Some(delivered_sums(layer, codes, self.sample))
    }
}

/// Runs `request` as [`run`](run()) does, and passes every tensor to an observer.
///
/// # Errors
/// [`StudyError`] under the conditions of [`run`](run()).
pub fn run_observed(
    request: &RunRequest,
    out: Option<&Path>,
    existing: Existing,
    progress: &dyn Progress,
    mut observer: Option<&mut Observer<'_>>,
) -> Result<RunRecord, StudyError> {
    if let Some(out) = out {
        request.settings.format.require_writable(out)?;
        if let Some(path) = request.trace.as_deref().filter(|path| lies_in(path, out)) {
            return Err(StudyError::TraceInside { path: path.into() });
        }
    }
    let target = out.map(|out| Target::claim_for(out, existing)).transpose()?;
    let trace_file = |path| SingleFile::new(path, existing, is_trace);
    let timeline = request.trace.as_deref().map(trace_file).transpose()?;
    let settings = &request.settings;
    let costs = costs::load(&request.costs)?;
    let accelerator = guardbit_hwmodels::load(&request.hw, &settings.sets)?;
    let (subject, accelerator) = match &request.layer {
        None => (Subject::load(&request.model, settings)?, accelerator),
        Some(layer) => Subject::load_layer(&request.model, settings, &accelerator, layer)?,
    };
    subject.input.note_doubts(progress);
    let program = subject.lower_any(&accelerator)?;
    if program.timed_layers().next().is_none() {
        let (hw, model) = (&accelerator.name, &subject.model.file);
        progress.note(&format!("`{hw}` runs no operation of {model}: the host runs all operations exactly"));
    }
    // Without a folder, nothing that only a file holds is collected.
    let kept = target.as_ref().map(Target::parent);
    let keeps_all = kept.is_some() && (request.dump_tensors || request.sums.is_any()) || observer.is_some();
    let options = Options {
        mode: settings.mode,
        stats: settings.stats,
        events_per_layer: settings.events,
        events_per_sample: kept.is_some() && settings.stats.counts_events(),
        keep: if keeps_all { Keep::All } else { Keep::Outputs },
        ..Options::default()
    };
    progress
        .start(&format!("{} on {}", subject.model.file, accelerator.name), subject.samples.count() as u64);
    let spooled = if request.dump_tensors { Keep::All } else { Keep::Outputs };
    let mut spool = kept.map(|folder| Spool::new(&subject.graph, spooled, folder)).transpose()?;
    let mut sums = kept.map(|folder| Sums::new(&request.sums, &program, options.mode, folder)).transpose()?;
    let events_in = kept.filter(|_| options.events_per_sample);
    let mut events = events_in.map(|folder| SampleEvents::new(&program, folder)).transpose()?;
    let mut samples = 0;
    let mut store = |sample: &BatchTensors| {
        if let Some(observer) = &mut observer {
            let (exact, simulated) = (&sample.exact, &sample.simulated[0]);
            let (point, mode, program) = (0, options.mode, &program);
            if observer(&Seen { point, sample: samples, mode, program, exact, simulated }).is_break() {
                return Err(StudyError::Interrupted);
            }
            samples += 1;
        }
        if let Some(events) = &mut events {
            events.add(&sample.events[0])?;
        }
        if let Some(sums) = &mut sums {
            sums.add(sample)?;
        }
        spool.as_mut().map_or(Ok(()), |spool| spool.add(&sample.exact, &sample.simulated[0]))
    };
    let ExecutedTogether { mut each, unlimited } =
        execute_together(&subject, &[&program], options, None, progress, &mut store)?;
    let executed = each.swap_remove(0)?;
    let mut record = RunRecord::new(
        &subject.model.file,
        &accelerator.name,
        &program,
        &executed.layers,
        unlimited.as_deref().unwrap_or(&executed.layers),
        &options,
        &executed.verdict,
    )
    .with_costs(&program, &costs)
    .with_floats(&program, &executed.floats, options.stats);
    record.settled = executed.settled;

    let Some(((target, mut spool), mut sums)) = target.as_ref().zip(spool).zip(sums) else {
        write_timeline(timeline.as_ref(), &program, &record)?;
        return Ok(record);
    };
    let mut staging = target.stage()?;
    staging.write("predictions.npz", &executed.verdict.predictions.npz()?)?;
    if let Some(events) = &mut events {
        events.finish()?;
    }
    write_samples(&mut staging, events.as_ref(), settings.format)?;
    sums.write(&mut staging)?;
    record.sums = std::mem::take(&mut sums.histograms);
    let made = Made { subject: &subject, program: &program, costs: &costs, record: &record };
    write(&mut staging, request, &made, &mut spool)?;
    write_timeline(timeline.as_ref(), &program, &record)?;
    staging.publish(existing)?;
    Ok(record)
}

fn write_timeline(
    timeline: Option<&SingleFile>,
    program: &Program,
    record: &RunRecord,
) -> Result<(), StudyError> {
    match timeline {
        Some(timeline) => Ok(timeline.write(&trace(program, record))?),
        None => Ok(()),
    }
}

/// Returns whether a path is that of a folder or of something in it, by their texts.
fn lies_in(path: &Path, folder: &Path) -> bool {
    let [path, folder] = [path, folder].map(std::path::absolute);
    path.ok().zip(folder.ok()).is_some_and(|(path, folder)| path.starts_with(folder))
}

/// Returns whether guardbit wrote a timeline.
fn is_trace(path: &Path) -> bool {
    let mut start = [0; TRACE_START.len()];
    let read = guardbit_files::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *TRACE_START.as_bytes()
}

/// Inputs and results of a run.
struct Made<'a> {
    subject: &'a Subject,
    program: &'a Program,
    costs: &'a [CostModel],
    record: &'a RunRecord,
}

/// Settings that decide the output of a run.
#[derive(Serialize)]
struct Deciding {
    #[serde(flatten)]
    common: CommonSettings,
    events: usize,
    dump_tensors: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    costs: Vec<CostId>,
    #[serde(skip_serializing_if = "is_no")]
    histograms: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    dump_sums: Vec<String>,
}

fn is_no(asked: &bool) -> bool {
    !asked
}

/// Part of the results that `run.json` contains.
#[derive(Serialize)]
struct Figures<'a> {
    outcome: &'a ScoreFigures,
    timing: &'a NetworkTiming,
    coverage: &'a CoverageRecord,
    #[serde(skip_serializing_if = "<[CostRecord]>::is_empty")]
    costs: &'a [CostRecord],
}

fn write(
    staging: &mut Staging<'_>,
    request: &RunRequest,
    made: &Made<'_>,
    spool: &mut Spool,
) -> Result<(), StudyError> {
    let settings = &request.settings;
    let Made { subject, program, costs, record } = *made;
    staging.write_all(&run_documents(&about(request, subject, &program.accelerator), record)?)?;
    if settings.format == TableFormat::Parquet {
        staging.write_all(&run_parquet(record)?)?;
    }
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
        costs: costs.iter().map(CostId::of).collect(),
        histograms: request.sums.histograms,
        dump_sums: request.sums.dump.clone(),
    };
    let result = Figures {
        outcome: &record.outcome,
        timing: &record.timing,
        coverage: &record.coverage,
        costs: &record.costs,
    };
    write_single(staging, Manifest::Run, subject, &program.accelerator, own, request.listed(), result)
}

/// Writes the events of every sample, if they are counted, and a table without rows otherwise.
fn write_samples(
    staging: &mut Staging<'_>,
    events: Option<&SampleEvents<'_>>,
    format: TableFormat,
) -> Result<(), StudyError> {
    if let Some(events) = events {
        events.pack(staging)?;
    }
    let rows = || events.into_iter().flat_map(SampleEvents::rows);
    staging.write_with(SampleRow::FILE, |out| write_csv_pieces(out, rows()))?;
    if format == TableFormat::Parquet {
        let rows: Vec<Vec<SampleRow>> = rows().collect::<Result<_, StudyError>>()?;
        staging.write_all(&[sample_parquet(&rows.concat())?])?;
    }
    Ok(())
}

/// Describes the run in words for the report.
fn about(request: &RunRequest, subject: &Subject, accelerator: &Accelerator) -> About {
    let settings = &request.settings;
    let mut pairs = vec![
        ("Model", subject.model.file.clone()),
        ("Accelerator", in_words(accelerator, &settings.sets)),
        ("Input", subject.input.describe()),
        ("Mode", settings.mode.name().into()),
        ("Statistics", settings.stats.name().into()),
    ];
    let parts = [("From", &subject.model.from), ("To", &subject.model.to)];
    pairs.extend(
        parts.into_iter().filter(|(_, names)| !names.is_empty()).map(|(key, names)| (key, names.join(", "))),
    );
    pairs.extend(subject.labels_file.as_ref().map(|file| ("Labels", file.file.clone())));
    pairs.extend(settings.output.clone().map(|output| ("Output", output)));
    pairs.extend(subject.outputs.task().map(|task| ("Task", task.name().into())));
    pairs.extend(request.layer.clone().map(|layer| ("Layer", layer)));
    pairs.extend(settings.sets.iter().map(|set| ("Set", set.clone())));
    let command = if request.layer.is_none() && subject.model.from.is_empty() && subject.model.to.is_empty() {
        command(request)
    } else {
        String::new()
    };
    About { command, pages: settings.pages, ..crate::about(pairs, [accelerator]) }
}

/// Returns the command that runs the network on the same samples, with paths as they were given. Of a temporary file, such
/// as an array of Python, only the name is shown, because the file does not outlive the run.
fn command(request: &RunRequest) -> String {
    let settings = &request.settings;
    let path = |path: &Path| {
        let is_temporary = path.starts_with(std::env::temp_dir());
        let shown = path.file_name().filter(|_| is_temporary).unwrap_or(path.as_os_str());
        shown.to_string_lossy().into_owned()
    };
    let mut words = vec!["guardbit run".to_owned(), quoted(&path(&request.model))];
    let mut add = |flag: &str, value: &str| words.extend([format!("--{flag}"), quoted(value)]);
    add("hw", &request.hw);
    settings.sets.iter().for_each(|set| add("set", set));
    settings.cut.dims.iter().for_each(|(axis, length)| add("dim", &format!("{axis}={length}")));
    match &settings.input {
        InputSource::File { path: file, pick } => {
            add("input", &path(file));
            pick.count().into_iter().for_each(|count| add("samples", &count.to_string()));
            if let Pick::Random { seed, .. } = pick {
                add("seed", &seed.to_string());
            }
        }
        InputSource::Random { count, seed } => {
            add("random", &count.to_string());
            add("seed", &seed.to_string());
        }
    }
    add("mode", settings.mode.name());
    settings.profile.into_iter().for_each(|profile| add("profile", profile.name()));
    words.join(" ")
}

/// Returns a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    match word.chars().all(is_plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Returns name and description of the accelerator; the description is that of the accelerator before `sets`.
pub(crate) fn in_words(accelerator: &Accelerator, sets: &[String]) -> String {
    let name = &accelerator.name;
    match (accelerator.description.as_str(), sets) {
        ("", []) => name.clone(),
        ("", sets) => format!("{name} with {}", sets.join(", ")),
        (description, []) => format!("{name}: {description}"),
        (description, sets) => {
            format!("{name} with {}; without that it is described as: {description}", sets.join(", "))
        }
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
