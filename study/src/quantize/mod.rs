//! Quantizes a float network with samples and writes the result to a file.

mod choices;
mod mixed;
mod record;
mod searched;
mod setting;
pub(crate) mod swept;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use guardbit_files::{Digest, Existing, Manifest, SingleFile, Staging, Target};
use guardbit_frontends::{BATCH, Cut, read_onnx, write_dynamic_onnx, write_onnx};
use guardbit_graph::{DType, Graph, NodeId, real_of};
use guardbit_hwmodels::{Accelerator, lower};
use guardbit_quantize::search::quantize_watched;
use guardbit_quantize::{Config, Quantized, Sample};
use guardbit_reports::{PlotStyle, ProofRow, QuantizeRecord, RunRecord, quantize_documents};
use guardbit_sim::{Codes, Options, StatsLevel};

pub use choices::QuantizeChoices;
pub use mixed::{MixedBudget, MixedBudgetError};
pub use setting::{
    MOST_ACTIVATION_BITS, MOST_WEIGHT_BITS, activation_codes, parse_codes, parse_rule, weight_codes,
};
pub(crate) use setting::{codes_texts, float_words, rule_text};

use crate::execute::{ExecutedTogether, execute_together};
use crate::result_json::write_single;
use crate::samples::Samples;
use crate::subject::Subject;
use crate::{InputSource, Progress, Settings, StudyError};

/// Request to quantize a float network.
#[derive(Debug, Clone)]
pub struct QuantizeRequest {
    /// File of the float network.
    pub model: PathBuf,
    /// Part of the network to quantize; all of it by default.
    pub cut: Cut,
    /// Calibration samples.
    pub calibration: InputSource,
    /// Samples on which the quantized network is run; by default the calibration samples.
    pub test: Option<PathBuf>,
    /// Labels: one class per sample of that run.
    pub labels: Option<PathBuf>,
    /// Output that is scored; all outputs if no name is given.
    pub output: Option<String>,
    /// Target accelerator: the name of a preset or the path of a file.
    pub hw: Option<String>,
    /// Overrides of the accelerator: `KEY=VALUE`.
    pub sets: Vec<String>,
    /// Settings of the quantization.
    pub config: Config,
    /// Budget under which each layer gets its own widths, if any.
    pub mixed: Option<MixedBudget>,
    /// Whether the network is quantized dynamically: only weights get codes, and activations get scale and
    /// zero point from each input at run time. The samples are then only used to run the network.
    pub dynamic: bool,
    /// Folder for finished layers and networks of searches, read and extended: an interrupted search resumes
    /// there.
    pub cache: Option<PathBuf>,
    /// Folder for tables, plots and a page.
    pub report: Option<PathBuf>,
    /// Style of its plots.
    pub style: PlotStyle,
    /// Custom figures: a name, and a function of the quantized network.
    pub statistics: Vec<OwnStatistic>,
}

/// Custom figure.
pub type OwnStatistic = (String, fn(&Quantized) -> String);

/// Accelerator on which a network runs if none is given.
const WIDE: &str = "exact-int32-os";

/// Quantizes `request` and writes the network to `out`, which is created only when it is complete.
///
/// # Errors
/// [`StudyError`]; nothing is left behind in that case.
pub fn quantize(
    request: &QuantizeRequest,
    out: &Path,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<QuantizeRecord, StudyError> {
    check_settings(request)?;
    if let (Some(method), None, None) = (&request.config.layer_method, &request.hw, request.mixed) {
        return Err(StudyError::MethodWithoutHw { method: method.name().into() });
    }
    let file = SingleFile::new(out, existing, is_ours)?;
    check_places(out, request.report.as_deref())?;
    let report = request.report.as_ref().map(|dir| Target::claim_for(dir, existing)).transpose()?;
    let accelerator = guardbit_hwmodels::load(request.hw.as_deref().unwrap_or(WIDE), &request.sets)?;
    setting::without_unit(&request.config).into_iter().for_each(|note| progress.note(&note));
    let float = guardbit_frontends::load_part(&request.model, None, &request.cut)?;
    let (samples, calibration) =
        calibration_samples(&float, &request.model, &request.calibration, !request.dynamic, progress)?;
    let aimed = request.hw.as_ref().map(|_| &accelerator);
    let searched = searched::Searched::new(request.cache.as_deref(), progress)?;
    let (quantized, tradeoffs) = match (request.mixed, &request.config.layer_method) {
        _ if request.dynamic => {
            let graph = guardbit_quantize::code_weights(&float, &request.config)?;
            (Quantized { graph, units: Vec::new(), tensors: Vec::new() }, Vec::new())
        }
        (Some(budget), _) => {
            mixed::mixed(&float, &samples, &request.config, &accelerator, budget, &searched)?
        }
        (None, Some(_)) => {
            let aimed = quantize_watched(&float, &samples, &request.config, aimed, &searched)?;
            (aimed.quantized, Vec::new())
        }
        (None, None) => (guardbit_quantize::quantize(&float, &samples, &request.config, aimed)?, Vec::new()),
    };
    searched.end();
    let graph =
        quantized.graph.clone().with_metadata(metadata(request, &float, &accelerator, aimed.is_some()));
    let export = |source| StudyError::Export { path: out.into(), source };
    let write = if request.dynamic { write_dynamic_onnx } else { write_onnx };
    let bytes = write(&graph).map_err(export)?;
    // Measure the network as others will read it.
    let network = read_onnx(&bytes, float.name())?;
    let measured = measure(request, float, network, &accelerator, progress)?;
    let record = record::record(request, &quantized, samples.len(), &accelerator, tradeoffs, &measured);
    let deciding = record::Deciding { calibration, settings: request.listed() };
    let subject = &measured.subject;
    let report = report
        .as_ref()
        .map(|target| stage_report(target, request, subject, &accelerator, deciding, &record))
        .transpose()?;
    // The report is staged before the network is in place, and renamed after it, so no report exists without
    // its network.
    file.write(&bytes)?;
    if let Some(mut report) = report {
        report.publish(existing)?;
    }
    Ok(record)
}

/// Fails for settings that exclude each other.
fn check_settings(request: &QuantizeRequest) -> Result<(), StudyError> {
    let activations = request.config.setting.activations;
    let refused = |setting: &str, problem: &str| {
        Err(StudyError::QuantizeSetting { setting: setting.into(), problem: problem.into() })
    };
    if request.config.short_floats.is_some() && request.mixed.is_some() {
        return refused(
            "mixed",
            "chooses widths of integer codes; leave out the budget, or --weights and --activations",
        );
    }
    let problem = match request {
        QuantizeRequest { dynamic: false, .. } => return Ok(()),
        _ if request.config.short_floats.is_some() => {
            "supports only integer codes; leave out --dynamic, or --weights and --activations"
        }
        QuantizeRequest { mixed: Some(_), .. } => "does not choose widths per layer; leave out the budget",
        _ if request.config.layer_method.is_some() => {
            "has no activation ranges to choose, which a method for layers needs; use a method for tensors"
        }
        _ if activations.signed || activations.bits != 8 => {
            "supports only activations of uint8, as produced by ONNX's DynamicQuantizeLinear"
        }
        _ => return Ok(()),
    };
    refused("dynamic", problem)
}

/// Fails unless the network can be read again under its name, and the report has another path.
fn check_places(out: &Path, report: Option<&Path>) -> Result<(), StudyError> {
    let refused = |problem| Err(StudyError::QuantizeOutput { path: out.into(), problem });
    if out.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("onnx")) {
        return refused("quantized networks are written as ONNX");
    }
    let place = |path: &Path| {
        let path = std::path::absolute(path).ok()?;
        Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?))
    };
    match report.and_then(place) {
        Some(report) if Some(&report) == place(out).as_ref() => {
            refused("the network and the report need different paths")
        }
        _ => Ok(()),
    }
}

/// Stages the report next to its final path.
fn stage_report<'t>(
    target: &'t Target,
    request: &QuantizeRequest,
    subject: &Subject,
    hw: &Accelerator,
    deciding: record::Deciding,
    record: &QuantizeRecord,
) -> Result<Staging<'t>, StudyError> {
    let mut staging = target.stage()?;
    staging.write_all(&quantize_documents(&record::about(request, hw), record)?)?;
    let result = record::Figures { result: record };
    write_single(&mut staging, Manifest::Quantize, subject, hw, deciding, request.listed(), result)?;
    Ok(staging)
}

/// Returns whether a file is a network that guardbit wrote.
fn is_ours(path: &Path) -> bool {
    const MOST: u64 = 1 << 30;
    guardbit_files::read(path, MOST).is_ok_and(|bytes| guardbit_frontends::is_own_onnx(&bytes))
}

/// Reads calibration samples of a network from `model` as real values, and notes remarks on them. Also returns
/// the digest of their content. Values that are all 0 are refused if they decide ranges.
fn calibration_samples(
    graph: &Graph,
    model: &Path,
    source: &InputSource,
    ranges: bool,
    progress: &dyn Progress,
) -> Result<(Vec<Sample>, Digest), StudyError> {
    if graph.has_states() {
        return Err(StudyError::QuantizedStates { model: graph.name().into() });
    }
    if let Some(&id) = graph.inputs().iter().find(|&&id| graph.tensor(id).ty.dtype != DType::Float32) {
        let tensor = graph.tensor(id);
        let (tensor, dtype) = (tensor.name.clone(), tensor.ty.dtype);
        return Err(guardbit_quantize::QuantizeError::NotFloat { tensor, dtype }.into());
    }
    let frontend = guardbit_frontends::frontend(model)?;
    let samples = Samples::load(graph, frontend, source)?;
    if let InputSource::File { path, .. } = source {
        if let Some(input) = samples.blank().filter(|_| ranges) {
            let problem = format!("all values of input `{input}` are 0, so no range can be chosen");
            let help = "give real samples, e.g. some hundreds of the training data";
            return Err(StudyError::Array { path: path.clone(), problem, help });
        }
        samples.doubts().iter().for_each(|doubt| progress.note(&format!("{}: {doubt}", path.display())));
    }
    let values = samples.reader().read(samples.count())?.into_iter().map(reals).collect();
    Ok((values, samples.digest()))
}

/// Converts the inputs of a sample to real values.
fn reals(inputs: Vec<Codes>) -> Sample {
    inputs.iter().map(|codes| codes.to_vec().into_iter().map(real_of).collect()).collect()
}

/// Returns the file's metadata on how it was made.
fn metadata(
    request: &QuantizeRequest,
    float: &Graph,
    accelerator: &Accelerator,
    aimed: bool,
) -> BTreeMap<String, String> {
    let mut texts = vec![("guardbit.method".to_owned(), record::method(request))];
    texts.extend(float.metadata().get(BATCH).map(|name| (BATCH.to_owned(), name.clone())));
    if aimed {
        texts.push(("guardbit.accelerator".to_owned(), accelerator.name.clone()));
        texts.push(("guardbit.accumulator".to_owned(), record::accumulator(accelerator)));
    }
    texts.into_iter().collect()
}

/// The float network, and the quantized network on the accelerator.
struct Measured {
    run: RunRecord,
    proofs: Vec<ProofRow>,
    float: guardbit_reports::ScoreFigures,
    /// The float network with the samples of the run.
    subject: Subject,
    /// Indices of the operations of the quantized network, by their full names.
    indices: HashMap<String, usize>,
}

fn measure(
    request: &QuantizeRequest,
    float: Graph,
    network: Graph,
    accelerator: &Accelerator,
    progress: &dyn Progress,
) -> Result<Measured, StudyError> {
    let input = match &request.test {
        Some(path) => InputSource::File { path: path.clone(), pick: crate::Pick::All },
        None => request.calibration.clone(),
    };
    let settings = |stats| Settings {
        labels: request.labels.clone(),
        output: request.output.clone(),
        stats,
        sets: request.sets.clone(),
        ..Settings::new(input.clone())
    };
    let subject = |graph: Graph, stats| Subject::of_graph(graph, &request.model, &settings(stats));
    let run = |subject: &Subject, accelerator: &Accelerator, stats: StatsLevel| -> Result<_, StudyError> {
        let program = lower(subject.graph.clone(), accelerator)?;
        let options = Options { stats, events_per_layer: 0, ..Options::default() };
        progress.start(&subject.model.file, subject.samples.count() as u64);
        let ExecutedTogether { mut each, unlimited } =
            execute_together(subject, &[&program], options, None, progress, &mut |_| Ok(()))?;
        let executed = each.swap_remove(0)?;
        let record = RunRecord::new(
            &subject.model.file,
            &accelerator.name,
            &program,
            &executed.layers,
            unlimited.as_deref().unwrap_or(&executed.layers),
            &options,
            &executed.verdict,
        );
        Ok((record, record::proofs(&program)))
    };
    let named = |(id, _): (NodeId, _)| (network.node_name(id).to_owned(), id.index());
    let indices = network.nodes_with_ids().map(named).collect();
    let float = subject(float, StatsLevel::None)?;
    // Layers of the float network are not accelerated, so there are no per-layer registers.
    let no_layers = Accelerator { layers: Default::default(), ..accelerator.clone() };
    let outcome = run(&float, &no_layers, StatsLevel::None)?.0.outcome;
    let (run, proofs) = run(&subject(network, StatsLevel::Full)?, accelerator, StatsLevel::Full)?;
    Ok(Measured { run, proofs, float: outcome, subject: float, indices })
}
