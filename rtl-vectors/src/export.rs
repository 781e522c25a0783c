//! A layer as a bundle: files by name, in memory.

use guardbit_files::{UNSEALED, seal_of, seal_text};
use guardbit_graph::NodeId;
use guardbit_hwmodels::{Dataflow, MacLayer, Program};
use ndarray_npy::WriteNpyExt;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

use crate::array::ArrayPart;
use crate::axis::{self, Stream};
use crate::beats::{self, Beats, Dot, FLAG_BITS, RUN_LAST};
use crate::coverage::Counter;
use crate::manifest::{
    Arithmetic, Case, Field, FileInfo, Interface, LayerInfo, MANIFEST, MANIFEST_SCHEMA, Manifest, Packing,
    SCHEMA, Source, Timing, Tool, manifest_schema,
};
use crate::sizes::MAX_LANES;
use crate::waves::{WaveFormat, waves};
use crate::words::{Words, digits, slot};
use crate::{VectorError, array, bench, contract, corners, describe, lockstep, real};

/// Clock cycles from a beat to the accumulators: one register behind the multipliers, then the accumulators.
pub(crate) const ACC_LATENCY: u32 = 2;
/// One more for the output register.
pub(crate) const OUT_LATENCY: u32 = 3;

/// What to export.
#[derive(Debug, Clone)]
pub struct Request {
    /// From what: written to the manifest as it is.
    pub source: Source,
    /// How lanes lie in a word.
    pub packing: Packing,
    /// Formats beside `.mem`.
    pub formats: Vec<Format>,
    /// Formats of waveforms.
    pub waves: Vec<WaveFormat>,
}

/// A format that data files are written in, beside `.mem`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Signed decimal, a word a line.
    Dec,
    /// NumPy arrays of int64, `[words]` or `[words, lanes]`.
    Npy,
    /// Binary: whole bytes per value, least significant byte first, sign-extended.
    Bin,
    /// Intel (Quartus) memory initialization.
    Mif,
    /// AMD (Vivado) coefficients.
    Coe,
    /// AXI4-Stream transfers.
    Axis,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [Self::Dec, Self::Npy, Self::Bin, Self::Mif, Self::Coe, Self::Axis];

    /// The file extension and name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dec => "dec",
            Self::Npy => "npy",
            Self::Bin => "bin",
            Self::Mif => "mif",
            Self::Coe => "coe",
            Self::Axis => "axis",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|f| f.name() == name);
        found.ok_or_else(|| format!("unknown format `{name}`; there are dec, npy, bin, mif, coe and axis"))
    }
}

/// A bundle in memory.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// The manifest.
    pub manifest: Manifest,
    /// Every file by path, the manifest too.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Exports the layer of `node`. `inputs` holds the codes that it reads, one vector per sample.
///
/// The same arguments give the same bytes.
///
/// # Errors
/// [`VectorError`] if the layer's datapath cannot be exported.
pub fn export(
    program: &Program,
    node: NodeId,
    inputs: &[Vec<i32>],
    request: &Request,
) -> Result<Bundle, VectorError> {
    let name = program.graph.node_name(node).to_owned();
    let Some(layer) = program.mac_layer(node) else {
        return Err(VectorError::Unsupported {
            layer: name,
            what: "an operation that runs on the host".into(),
        });
    };
    let arithmetic = contract::arithmetic(&program.graph, layer)?;
    let lanes = beats::lanes(&layer.datapath, layer.order.len());
    if lanes > MAX_LANES {
        let what = format!("a tree over {lanes} products (at most {MAX_LANES})");
        return Err(VectorError::Unsupported { layer: name, what });
    }
    let mut random = Pcg64Mcg::seed_from_u64(request.source.seed);
    let mut dots = real::real(layer, inputs, request.source.cases, &mut random);
    dots.extend(corners::corners(layer, &arithmetic));
    if dots.is_empty() {
        return Err(VectorError::Empty { layer: name });
    }

    let mut beats = Beats::new(lanes, &layer.datapath);
    let mut counter = Counter::default();
    let mut cases = Vec::with_capacity(dots.len());
    for dot in &dots {
        let sent = beats.send(dot, &arithmetic, &mut random);
        if dot.cut_after.is_none() {
            counter.add(&arithmetic, &sent.trace, dot, lanes);
        }
        cases.push(case(dot, sent));
    }
    let interface = interface(&arithmetic, lanes, request.packing);
    let mut files = data_files(&beats, &arithmetic, request);
    for &format in &request.waves {
        let bytes = waves(&beats, &arithmetic, &cases, format)?;
        let role = "waves: accumulators beside exact sums, flags";
        let info = plain_info(&format!("waves/vectors.{}", format.name()), role, &bytes);
        files.push(DataFile { info, bytes });
    }
    let part = array::array(program, node, layer, &arithmetic, inputs, request.source.seed);
    files.extend(part.iter().flat_map(|part| array_files(part, &arithmetic, &request.formats)));
    let (array, array_absent) = match part {
        Ok(part) => (Some(part.info), None),
        Err(reason) => (None, Some(reason)),
    };
    let mut infos: Vec<FileInfo> = files.iter().map(|f| f.info.clone()).collect();
    let [input, weight, output] = describe::tensors(&program.graph, layer);
    let manifest = Manifest {
        schema: SCHEMA,
        tool: Tool { name: "guardbit".into(), version: env!("CARGO_PKG_VERSION").into() },
        source: request.source.clone(),
        layer: LayerInfo {
            index: node.index(),
            name,
            op: layer.op.into(),
            terms: layer.order.len(),
            dots: layer.dots.window.dots(),
            channels: layer.dots.window.channels(),
            input,
            weight,
            output,
            window: describe::window(&layer.dots.window),
        },
        timing: timing(program, layer, lanes),
        coverage: counter.table(&arithmetic, layer.order.len(), lanes),
        arithmetic,
        interface,
        files: Vec::new(),
        cases,
        array,
        array_absent,
        sha256: UNSEALED.into(),
    };
    let sizes = beats.sizes();
    let benches = bench::files(&manifest, &sizes).into_iter().chain(lockstep::files(&manifest, &sizes));
    for (path, text) in benches {
        let info = plain_info(&path, "bench", text.as_bytes());
        files.push(DataFile { info: info.clone(), bytes: text.into_bytes() });
        infos.push(info);
    }
    let schema = manifest_schema().into_bytes();
    infos.push(plain_info(MANIFEST_SCHEMA, "schema", &schema));
    let mut manifest = Manifest { files: infos, ..manifest };
    // Nothing in a manifest is a map with keys that are no strings.
    let json = seal_text(&(serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n"));
    manifest.sha256 = seal_of(&json).map(|seal| seal.to_string()).unwrap_or_default();
    let mut all: Vec<(String, Vec<u8>)> = files.into_iter().map(|f| (f.info.path, f.bytes)).collect();
    all.push((MANIFEST_SCHEMA.into(), schema));
    all.push((MANIFEST.into(), json.into_bytes()));
    Ok(Bundle { manifest, files: all })
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Number of words of the bundle's data files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub beats: usize,
    pub dots: usize,
    pub outputs: usize,
}

impl Beats {
    fn sizes(&self) -> Sizes {
        Sizes { beats: self.len(), dots: self.bias.len(), outputs: self.sums.len() }
    }
}

struct DataFile {
    info: FileInfo,
    bytes: Vec<u8>,
}

fn case(dot: &Dot, sent: beats::Sent) -> Case {
    let layer = &dot.layer;
    Case {
        id: dot.id.clone(),
        group: dot.group.into(),
        class: dot.class.clone(),
        place: dot.place,
        bias: layer.bias.as_ref().map(|b| b[0] as i64),
        input_sum_factor: layer.input_sum_factor[0],
        multiplier: layer.exact_requantizers[0].multiplier().real(),
        first_beat: sent.first_beat,
        beats: sent.beats,
        terms: dot.operands.len(),
        out_word: sent.out_word,
        expected: sent.expected,
    }
}

fn timing(program: &Program, layer: &MacLayer, lanes: usize) -> Timing {
    let array = layer.timing.array;
    let dataflow = match program.accelerator.dataflow {
        Dataflow::OutputStationary => "output_stationary",
        Dataflow::WeightStationary => "weight_stationary",
        Dataflow::InputStationary => "input_stationary",
        Dataflow::Vector => "vector",
    };
    Timing {
        dataflow: dataflow.into(),
        rows: array.rows,
        cols: array.cols,
        cycles: layer.timing.cycles,
        beats_per_dot: layer.order.len().div_ceil(lanes),
    }
}

/// The ports of a unit of `lanes` lanes.
pub(crate) fn interface(arithmetic: &Arithmetic, lanes: usize, packing: Packing) -> Interface {
    let field = |name: &str, lsb: u32, bits: u32| Field { name: name.into(), lsb, bits };
    let levels = arithmetic.levels.len() as u32;
    let mut ctrl = vec![field("valid", beats::VALID, 1), field("clear", beats::CLEAR, 1)];
    let mut flags = Vec::new();
    for (index, level) in (0u32..).zip(&arithmetic.levels) {
        ctrl.push(field(&format!("run_last_{}", level.name), RUN_LAST + index, 1));
        for (bit, name) in (0u32..).zip(["overflow", "high", "low", "sticky"]) {
            flags.push(field(&format!("{}_{name}", level.name), index * FLAG_BITS + bit, 1));
        }
    }
    ctrl.push(field("keep", RUN_LAST + levels, lanes as u32));
    Interface {
        lanes,
        packing,
        activation_slot: slot(arithmetic.activation.bits, packing),
        weight_slot: slot(arithmetic.weight.bits, packing),
        lane_order: "lane 0 in the least significant bits; words zero-padded to whole digits".into(),
        ctrl,
        flags,
        handshake: "a beat is accepted in every cycle with valid; without it every register holds".into(),
        clear: "with the first beat of a dot product: every level starts its run anew with this beat; \
                sticky flags start anew with every run of their level"
            .into(),
        reset: "rst_n, active low, synchronous, at least 2 cycles".into(),
        acc_latency: ACC_LATENCY,
        out_latency: OUT_LATENCY,
    }
}

fn data_files(beats: &Beats, arithmetic: &Arithmetic, request: &Request) -> Vec<DataFile> {
    let levels = beats.levels as u32;
    let lanes = |bits, values: &[i64]| Words::lanes(beats.lanes, bits, request.packing, values.to_vec());
    let mut columns = vec![
        ("stim_a".to_owned(), "stimulus: activations", lanes(arithmetic.activation.bits, &beats.activations)),
        ("stim_w".into(), "stimulus: weights", lanes(arithmetic.weight.bits, &beats.weights)),
        (
            "ctrl".into(),
            "stimulus: control",
            Words::values(RUN_LAST + levels + beats.lanes as u32, false, beats.ctrl.clone()),
        ),
        (
            "stim_bias".into(),
            "stimulus per dot product: bias",
            Words::values(arithmetic.bias.input_bits, true, beats.bias.clone()),
        ),
        (
            "stim_mult".into(),
            "stimulus per dot product: multiplier",
            Words::values(arithmetic.requantize.mult_bits, true, beats.multiplier.clone()),
        ),
        (
            "stim_exp".into(),
            "stimulus per dot product: exponent",
            Words::values(8, true, beats.exponent.clone()),
        ),
    ];
    for (level, states) in arithmetic.levels.iter().zip(&beats.states) {
        let words = Words::values(level.acc_bits, level.acc_signed, states.iter().map(|s| s.acc).collect());
        columns.push((format!("exp_acc_{}", level.name), "expected: accumulator after each beat", words));
    }
    let per_beat = |f: &dyn Fn(usize, &beats::LevelState) -> i64| -> Vec<i64> {
        let beat = |beat: usize| (0..beats.levels).map(|level| f(level, &beats.states[level][beat])).sum();
        (0..beats.len()).map(beat).collect()
    };
    let flags = per_beat(&|level, s| (s.flags() as i64) << (level as u32 * FLAG_BITS));
    let mask = per_beat(&|level, s| i64::from(s.updated) << level);
    let last = arithmetic.levels.last().map_or(32, |l| l.stage.port_bits);
    columns.push((
        "exp_flags".into(),
        "expected: flags of every level",
        Words::values(levels * FLAG_BITS, false, flags),
    ));
    columns.push((
        "mask".into(),
        "1: the level adds in this beat, compare",
        Words::values(levels, false, mask),
    ));
    columns.push((
        "exp_sum".into(),
        "expected per finished dot product: delivered sum",
        Words::values(last, true, beats.sums.clone()),
    ));
    let out = &arithmetic.requantize;
    columns.push((
        "exp_out".into(),
        "expected per finished dot product: output code",
        Words::values(out.out_bits, true, beats.codes.clone()),
    ));
    columns.push((
        "exp_wide".into(),
        "exact sum after each beat, at unit 1",
        Words::values(64, true, beats.wide.clone()),
    ));

    let mut files = Vec::new();
    for (name, role, words) in &columns {
        // The exact sum is there as int64 in any case.
        let mut formats = request.formats.clone();
        if name == "exp_wide" && !formats.contains(&Format::Npy) {
            formats.push(Format::Npy);
        }
        files.extend(formatted(name, role, words, &formats));
    }
    if request.formats.contains(&Format::Axis) {
        files.extend(axis::streams(beats, arithmetic).into_iter().map(stream_file));
    }
    files
}

/// `.mem` and the other formats of one column.
fn formatted(name: &str, role: &str, words: &Words, formats: &[Format]) -> Vec<DataFile> {
    let others = formats.iter().filter_map(|&format| {
        let bytes = match format {
            Format::Dec => words.dec(),
            Format::Npy => npy(words),
            Format::Bin => words.bin(),
            Format::Mif => words.mif(),
            Format::Coe => words.coe(),
            // Streams are made of several columns.
            Format::Axis => return None,
        };
        Some(data_file(name, format.name(), role, words, bytes))
    });
    std::iter::once(data_file(name, "mem", role, words, words.mem())).chain(others).collect()
}

fn stream_file(stream: Stream) -> DataFile {
    let info = FileInfo {
        words: Some(stream.words),
        bits: Some(stream.bits()),
        digits: Some(digits(stream.bits())),
        fields: Some(stream.fields),
        ..plain_info(&format!("{}.axis", stream.name), stream.role, &stream.text)
    };
    DataFile { info, bytes: stream.text }
}

/// The files of `array/`.
fn array_files(part: &ArrayPart, arithmetic: &Arithmetic, formats: &[Format]) -> Vec<DataFile> {
    let info = &part.info;
    let lanes =
        |lanes: usize, bits: u32, values: &[i64]| Words::lanes(lanes, bits, Packing::Dense, values.to_vec());
    let columns = [
        (
            "stim_a",
            "array stimulus: activations",
            lanes(info.rows, arithmetic.activation.bits, &part.activations),
        ),
        ("stim_w", "array stimulus: weights", lanes(info.cols, arithmetic.weight.bits, &part.weights)),
        ("ctrl", "array stimulus: control", Words::values(array::ctrl_bits(), false, part.ctrl.clone())),
        (
            "exp_sum",
            "array expected: sums that leave the columns",
            lanes(info.cols, array::sum_bits(arithmetic), &part.sums),
        ),
        ("exp_mask", "1: the sum is that of an output, compare", lanes(info.cols, 1, &part.mask).unsigned()),
    ];
    columns
        .iter()
        .flat_map(|(name, role, words)| formatted(&format!("array/{name}"), role, words, formats))
        .collect()
}

fn data_file(name: &str, extension: &str, role: &str, words: &Words, bytes: Vec<u8>) -> DataFile {
    let slot_bits = match extension {
        "bin" => slot(words.lane_bits(), Packing::ByteSlot),
        _ => words.slot_bits(),
    };
    let info = FileInfo {
        words: Some(words.len()),
        bits: Some(words.bits),
        lanes: Some(words.per_word()),
        lane_bits: Some(words.lane_bits()),
        slot_bits: Some(slot_bits),
        digits: (extension == "mem").then(|| digits(words.bits)),
        signed: Some(words.signed),
        ..plain_info(&format!("{name}.{extension}"), role, &bytes)
    };
    DataFile { info, bytes }
}

fn plain_info(path: &str, role: &str, bytes: &[u8]) -> FileInfo {
    FileInfo {
        path: path.into(),
        role: role.into(),
        words: None,
        bits: None,
        lanes: None,
        lane_bits: None,
        slot_bits: None,
        digits: None,
        signed: None,
        fields: None,
        sha256: sha256(bytes),
    }
}

fn npy(words: &Words) -> Vec<u8> {
    let mut bytes = Vec::new();
    let values = words.all().to_vec();
    let per_word = words.per_word();
    // Writing to memory does not fail, and the shape is that of the values.
    let _ = if per_word == 1 {
        ndarray::Array1::from_vec(values).write_npy(&mut bytes)
    } else {
        ndarray::Array2::from_shape_vec((values.len() / per_word, per_word), values)
            .unwrap_or_default()
            .write_npy(&mut bytes)
    };
    bytes
}
