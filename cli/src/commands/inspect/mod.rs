//! `guardbit inspect`.

mod audit;
mod nodes;
mod residents;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use guardbit_files::{Existing, SingleFile, Target};
use guardbit_graph::{CodeType, Graph, NodeForm, NodeId, Note, NoteKind, PatchError, TensorId, passes};
use guardbit_hwmodels::{Accelerator, MacLayer, Program, Step, check_program, load, lower, partition};
use guardbit_reports::{CoverageRecord, TileRecord, quantized_weights_in_float, text_table, tiles_text};
use guardbit_study::{Command, StudyError};
use serde::Serialize;

use super::warn_of_float;
use crate::args::{Given, Global, Inspect};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn inspect(args: &Given<Inspect>, global: &Global) -> Result<ExitCode, Failure> {
    args.check(Command::Inspect).map_err(StudyError::from)?;
    let bar = Bar::new(global.quiet);
    let model = args.model.first().map_or(Path::new(""), PathBuf::as_path);
    let graph = Arc::new(guardbit_frontends::load_part(model, args.profile, &args.cut()?)?);
    let accelerator = args.hw.first().map(|hw| load(hw, &args.set)).transpose()?;
    let before = View::new(Arc::clone(&graph), accelerator.as_ref(), global)?;
    let after = match after(&graph, &args.pass)? {
        Some(changed) => Some(View::new(Arc::new(changed), accelerator.as_ref(), global)?),
        None => None,
    };
    if let Some(path) = &args.export {
        export(&after.as_ref().unwrap_or(&before).graph, path)?;
    }
    drop(bar);
    let in_float = |view: &View| match &view.program {
        Some(program) => CoverageRecord::new(program).quantized_weights_in_float(),
        None => quantized_weights_in_float(&view.graph),
    };
    let warned = |view: &View| warn_of_float(in_float(view), args.strict, global);
    if args.audit {
        let changed = after.as_ref().unwrap_or(&before);
        let decisions =
            audit::decisions(&before.graph, &changed.graph, &args.pass, changed.program.as_ref())?;
        match global.json {
            true => print_json(&Audited { network: before.graph.name(), decisions: &decisions })?,
            false => print(&audit::text(&decisions))?,
        }
        return Ok(warned(&before));
    }
    match (global.json, args.pass.is_empty()) {
        (true, true) => print_json(&before.json())?,
        (true, false) => {
            let after = after.as_ref().unwrap_or(&before).json();
            print_json(&Passed { passes: &args.pass, before: before.json(), after })?;
        }
        (false, true) if args.nodes => print(&nodes::text(&before.graph))?,
        (false, false) if args.nodes => print(&nodes::text(&after.as_ref().unwrap_or(&before).graph))?,
        (false, true) => print(&before.text())?,
        (false, false) => print(&passed(&args.pass, &before, after.as_ref()))?,
    }
    Ok(warned(&before))
}

/// Writes a network as a new file: ONNX or graph YAML, according to its extension.
fn export(graph: &Graph, path: &Path) -> Result<(), Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("onnx") => {
            let file = SingleFile::new(path, Existing::Refuse, |_| false)?;
            Ok(file.write(&guardbit_frontends::write_onnx(graph)?)?)
        }
        Some("yaml" | "yml") => export_yaml(graph, path),
        _ => {
            let problem = format!("--export {}: unknown format of networks", path.display());
            Err(Failure::usage(problem, "name a file that ends in .onnx or .yaml"))
        }
    }
}

/// Writes graph YAML, and next to it a folder with the arrays that it names. The YAML file is created last.
fn export_yaml(graph: &Graph, path: &Path) -> Result<(), Failure> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = format!("{stem}_arrays");
    let files = guardbit_frontends::write_yaml(graph, &folder)?;
    let text = SingleFile::new(path, Existing::Refuse, |_| false)?;
    if files.arrays.is_empty() {
        return Ok(text.write(files.text.as_bytes())?);
    }
    let target = Target::claim_for(&path.with_file_name(&folder), Existing::Refuse)?;
    let mut staging = target.stage()?;
    staging.write_all(&files.arrays)?;
    staging.publish_unlisted(Existing::Refuse)?;
    Ok(text.write(files.text.as_bytes())?)
}

fn passed(passes: &[String], before: &View, after: Option<&View>) -> String {
    let (passes, first) = (passes.join(", "), before.text());
    match after {
        None => format!("{first}\n{passes}: nothing to do\n"),
        Some(after) => {
            let [from, to] = [before, after].map(|view| view.ops.len());
            format!("{first}\nafter {passes}, with {to} operations instead of {from}:\n\n{}", after.text())
        }
    }
}

/// Returns the network after these passes; `None` if they do not change it.
fn after(graph: &Graph, passes: &[String]) -> Result<Option<Graph>, PatchError> {
    let mut changed = None;
    for pass in passes.iter().filter_map(|name| passes::find(name)) {
        changed = pass.run(changed.as_ref().unwrap_or(graph))?.or(changed);
    }
    Ok(changed)
}

/// Network before and after passes.
#[derive(Serialize)]
struct Passed<'a> {
    passes: &'a [String],
    before: ViewJson<'a>,
    after: ViewJson<'a>,
}

/// Network in JSON output.
#[derive(Serialize)]
struct ViewJson<'a> {
    network: &'a str,
    /// Name of the accelerator, if one is given.
    hw: Option<&'a str>,
    operations: Vec<Line<'a>>,
}

/// Output of `--audit` in JSON.
#[derive(Serialize)]
struct Audited<'a> {
    network: &'a str,
    decisions: &'a [audit::Line],
}

/// Network, with its accelerator if one is given.
struct View {
    graph: Arc<Graph>,
    program: Option<Program>,
    ops: Vec<OpLine>,
}

impl View {
    fn new(graph: Arc<Graph>, accelerator: Option<&Accelerator>, global: &Global) -> Result<Self, Failure> {
        let program = accelerator.map(|hw| lower(Arc::clone(&graph), hw)).transpose()?;
        let places = program.as_ref().map(|program| partition(&graph, &program.accelerator)).transpose()?;
        for warning in program.iter().filter(|_| !global.quiet).flat_map(check_program) {
            Failure::warning(&warning).report();
        }
        let line = |(id, _): (NodeId, _)| {
            let lowered = program.as_ref().and_then(|program| program.mac_layer(id));
            let place = places.as_ref().map(|places| places[id.index()].to_string());
            let staying = program.as_ref().filter(|program| !program.residents.is_empty());
            let resident_bytes = staying.map(|program| residents::bytes(program.resident_bits(id)));
            let on_host = program.as_ref().and_then(|program| program.host_time(id)).map(|time| time.cycles);
            let float = program.as_ref().and_then(|program| match &program.steps[id.index()] {
                Step::Float(layer) => Some(layer),
                Step::Host(_) | Step::Mac(_) => None,
            });
            let op = OpLine::new(&graph, id, lowered, place);
            let cycles = op.cycles.or(float.map(|layer| layer.timing.cycles)).or(on_host);
            let datapath = op.datapath.or_else(|| float.map(|layer| layer.accumulation.to_string()));
            OpLine { resident_bytes, cycles, datapath, ..op }
        };
        let ops = graph.nodes_with_ids().map(line).collect();
        Ok(Self { graph, program, ops })
    }

    /// Returns the network with everything that determines the codes of its operations.
    fn json(&self) -> ViewJson<'_> {
        let ids = self.graph.nodes_with_ids();
        let line = |(op, (id, _))| Line { op, node: self.graph.form(id) };
        ViewJson {
            network: self.graph.name(),
            hw: self.program.as_ref().map(|program| program.accelerator.name.as_str()),
            operations: self.ops.iter().zip(ids).map(line).collect(),
        }
    }

    fn text(&self) -> String {
        text(&self.graph, &self.ops, self.program.as_ref())
    }
}

/// Operation in JSON output.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    op: &'a OpLine,
    node: NodeForm<'a>,
}

/// Operation in text output.
#[derive(Serialize)]
struct OpLine {
    index: usize,
    /// Short name, and full name: the name of the output tensor.
    name: String,
    layer: String,
    op: &'static str,
    inputs: Vec<Option<String>>,
    shape: Vec<usize>,
    dtype: &'static str,
    /// Minimum and maximum code, if the dtype has more.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[i32; 2]>,
    /// Distance between neighbouring codes, if it is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    #[serde(skip)]
    code_type: CodeType,
    scale: Option<f32>,
    zero_point: Option<i32>,
    /// Products per dot product, and number of dot products.
    terms: Option<usize>,
    dots: Option<usize>,
    /// Multiply-accumulates of one inference, if the operation multiplies, on accelerator or host.
    macs: Option<u64>,
    /// Differences between the file and what the reader made of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    datapath: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stall_sram_cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stall_dram_cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tile: Option<TileRecord>,
    /// Bytes of activations that stay on the chip while the operation runs, including its own; absent if no
    /// activations ever do.
    #[serde(skip_serializing_if = "Option::is_none")]
    resident_bytes: Option<u64>,
}

impl OpLine {
    fn new(graph: &Graph, id: NodeId, lowered: Option<&MacLayer>, runs_on: Option<String>) -> Self {
        let node = graph.node(id);
        let output = graph.tensor(node.output);
        let quantization = output.ty.quantization.as_ref();
        let window = graph.dot_products(id).map(|dots| dots.window);
        let products = graph.products(id);
        let name = |id: TensorId| graph.tensor(id).name.clone();
        let read = |tensor: &str| node.inputs.iter().flatten().any(|&id| graph.tensor(id).name == tensor);
        let notes = graph.notes().iter().filter(|note| read(&note.tensor));
        Self {
            index: id.index(),
            name: graph.short_name(id).to_owned(),
            layer: output.name.clone(),
            op: node.op.name(),
            inputs: node.inputs.iter().map(|input| input.map(name)).collect(),
            shape: output.ty.shape.clone(),
            dtype: output.ty.dtype.name(),
            range: quantization.and_then(|q| q.range()).map(|range| range.ends().into()),
            step: Some(output.ty.code_range().step()).filter(|&step| step != 1),
            code_type: output.ty.code_type(),
            scale: quantization.map(|q| q.scale(0)),
            zero_point: quantization.map(|q| q.zero_point(0)),
            terms: window.map(|window| window.terms()).or(products.map(|products| products.terms)),
            dots: window.map(|window| window.dots()).or(products.map(|products| products.dots)),
            macs: products.map(|products| products.macs()),
            notes: notes.map(|note| format!("{}: {}", note.tensor, note.text)).collect(),
            runs_on,
            datapath: lowered.map(|layer| layer.datapath.describe()),
            cycles: lowered.map(|layer| layer.timing.cycles),
            stall_sram_cycles: lowered.map(|layer| layer.timing.cost.stall_sram_cycles),
            stall_dram_cycles: lowered.map(|layer| layer.timing.cost.stall_dram_cycles),
            tile: lowered.map(TileRecord::new),
            resident_bytes: None,
        }
    }

    fn cells(&self) -> Vec<String> {
        let or_empty = |value: Option<String>| value.unwrap_or_default();
        let mut cells = vec![
            self.index.to_string(),
            self.name.clone(),
            self.op.into(),
            sizes(&self.shape),
            self.code_type.to_string(),
            or_empty(self.scale.map(|v| v.to_string())),
            or_empty(self.zero_point.map(|v| v.to_string())),
            or_empty(self.terms.map(|v| v.to_string())),
            or_empty(self.dots.map(|v| v.to_string())),
        ];
        if let Some(place) = &self.runs_on {
            cells.push(or_empty(self.macs.map(|v| v.to_string())));
            cells.push(or_empty(self.cycles.map(|v| v.to_string())));
            cells.push(place.clone());
        }
        cells.push(printable(&self.layer));
        cells
    }
}

fn text(graph: &Graph, ops: &[OpLine], program: Option<&Program>) -> String {
    let mut out = format!("{}\n", graph.name());
    for (what, ids) in [("input", graph.inputs()), ("output", graph.outputs())] {
        for &id in ids {
            let tensor = graph.tensor(id);
            let name = printable(&tensor.name);
            out += &format!("{what} {name} {} {}\n", tensor.ty.code_type(), sizes(&tensor.ty.shape));
        }
    }
    for state in graph.states() {
        let [tensor, next] = [state.tensor, state.next].map(|id| graph.tensor(id));
        let (name, next) = (printable(&tensor.name), printable(&next.name));
        out += &format!("state {name} {} {}, then {next}\n", tensor.ty.code_type(), sizes(&tensor.ty.shape));
    }
    out += &notes(graph.notes());
    out.push('\n');
    let mut columns = vec!["index", "name", "op", "shape", "dtype", "scale", "zero_point", "terms", "dots"];
    if program.is_some() {
        columns.extend(["MACs", "cycles", "runs on"]);
    }
    columns.push("layer");
    out += &text_table(&columns, &ops.iter().map(OpLine::cells).collect::<Vec<_>>());
    if let Some(program) = program {
        out += &format!("\n{}\n", program.accelerator.name);
        out += &datapaths(program);
        let coverage = CoverageRecord::new(program);
        out += &coverage.sentences().iter().map(|sentence| format!("{sentence}.\n")).collect::<String>();
        let tiles: Vec<TileRecord> = program.mac_layers().map(TileRecord::new).collect();
        out += &format!(
            "\ncontents of the SRAMs at a time:\n{}",
            tiles_text(&tiles, &crate::terminal::view(false))
        );
        out += &residents::text(program);
    }
    out
}

/// Describes the datapath of the accelerator, and of single layers if theirs differs.
fn datapaths(program: &Program) -> String {
    let (common, float) = (&program.accelerator.datapath, &program.accelerator.float);
    let has_integers = program.mac_layers().next().is_some();
    let mut out = String::new();
    if let Some(float) = float.filter(|_| program.float_layers().next().is_some()) {
        out += &format!("layers of floating-point codes: {}\n", float.stages().join(" > "));
    }
    if has_integers || out.is_empty() {
        let which = if out.is_empty() { "all layers" } else { "layers of integer codes" };
        out += &format!("{which}: {}\n", common.describe());
    }
    for layer in program.mac_layers().filter(|layer| layer.datapath != *common) {
        out +=
            &format!("layer {} `{}`: {}\n", layer.node.index(), layer.short_name, layer.datapath.describe());
    }
    out
}

/// Lists the differences between file and network; equal ones of several tensors are listed once.
fn notes(notes: &[Note]) -> String {
    const NAMED: usize = 3;
    let mut out = String::new();
    let mut said: Vec<&str> = Vec::new();
    for note in notes.iter().filter(|note| note.kind != NoteKind::RealOfCodes) {
        if said.contains(&note.text.as_str()) {
            continue;
        }
        said.push(&note.text);
        let about: Vec<_> = notes.iter().filter(|other| other.text == note.text).collect();
        let mut names: Vec<_> = about.iter().take(NAMED).map(|note| printable(&note.tensor)).collect();
        names.extend(about.len().checked_sub(NAMED + 1).map(|more| format!("{} more", more + 1)));
        out += &format!("note: {}: {}\n", note.text, names.join(", "));
    }
    out
}

/// Returns a name that is safe for a terminal: bounded, and without control characters.
fn printable(name: &str) -> String {
    const LONGEST: usize = 100;
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut text: String = name.chars().take(LONGEST).map(shown).collect();
    if name.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    text
}

fn sizes(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}
