//! Compares the accuracy on narrow accumulators of networks quantized in several ways.
//!
//! `cargo run --release -p guardbit --example quantize_ways -- NETWORK LOW HIGH DIR
//! [OVERFLOW|WAY]...` quantizes the float network of `examples/NETWORK` in several ways for accumulators of
//! LOW to HIGH bits. It runs each result with the test images, and writes `NETWORK.csv`, `NETWORK.svg` and
//! `NETWORK.png` to DIR, row by row; existing rows are kept. Without arguments it uses `digits 10 20
//! out/quantize`.
//!
//! `activations` is the minimum and maximum width of the activations that layers read. `proved_bits` is the
//! width that no input of any layer exceeds. `witness_events` counts overflows if every output channel of
//! every layer reads the input with the most extreme sum.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use guardbit::frontends::Frontend;
use guardbit::frontends::npy::{Header, Values};
use guardbit::frontends::onnx::Onnx;
use guardbit::graph::{DType, Graph, NodeId, real_of, word_of};
use guardbit::hwmodels::bounds::{LayerBounds, Witness};
use guardbit::hwmodels::{Accelerator, MacLayer, Program};
use guardbit::quantize::search::mixed::{NetworkChoices, explore};
use guardbit::quantize::search::{Judge, quantize_aimed};
use guardbit::quantize::{Config, LAYER_METHODS, Quantized, Sample};
use guardbit::reports::plots::{Drawing, PlotStyle, QUANTIZER_PLOTS};
use guardbit::reports::{QuantizerRow, QuantizersRecord};
use guardbit::sim::{Codes, Options, Simulation, StatsLevel};
use guardbit::{frontends, hwmodels};

type Failure = Box<dyn Error>;

/// Ways of quantizing, with the method that chooses parameters of whole layers on their accelerator.
const WAYS: [(&str, Option<&str>); 4] = [
    ("plain", None),
    ("mixed", None),
    ("overflow-aware", Some("overflow-aware")),
    ("guaranteed", Some("guaranteed")),
];

const OVERFLOWS: [&str; 2] = ["saturate", "wrap"];

/// Maximum number of calibration samples in the search of mixed widths.
const MIXED_SAMPLES: usize = 16;

/// Float network with its samples.
struct Subject {
    name: String,
    graph: Graph,
    calibration: Vec<Sample>,
    images: Vec<Vec<f32>>,
    labels: Vec<i64>,
    /// Number of images that the float network classifies correctly.
    float_right: u64,
}

/// Row of the table.
struct Row {
    overflow: String,
    way: String,
    bits: u32,
    activations: String,
    right: u64,
    events: u64,
    proved_bits: u32,
    witness_events: u64,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let (network, low, high, dir) = (next("digits"), next("10"), next("20"), next("out/quantize"));
    let only: Vec<String> = arguments.collect();
    let wanted = |name: &str, among: &[&str]| {
        !only.iter().any(|only| among.contains(&only.as_str())) || only.iter().any(|only| only == name)
    };
    let subject = Subject::load(&network)?;
    let table = Path::new(&dir).join(format!("{network}.csv"));
    let mut rows: Vec<Row> =
        fs::read_to_string(&table).unwrap_or_default().lines().filter_map(Row::read).collect();
    for bits in low.parse::<u32>()?..=high.parse()? {
        for overflow in OVERFLOWS.iter().filter(|overflow| wanted(overflow, &OVERFLOWS)) {
            for way in WAYS.iter().copied().filter(|(way, _)| wanted(way, &WAYS.map(|(way, _)| way))) {
                if !rows.iter().any(|row| row.is(overflow, way.0, bits)) {
                    rows.push(subject.row(overflow, way, bits)?);
                    subject.write(&mut rows, Path::new(&dir))?;
                }
            }
        }
    }
    subject.write(&mut rows, Path::new(&dir))
}

impl Subject {
    fn load(name: &str) -> Result<Self, Failure> {
        let folder = examples().join(name);
        let images = ["test_images_float.npy", "test_images.npy"].map(|file| folder.join(file));
        let images = images.into_iter().find(|path| path.exists()).ok_or("no test images")?;
        let Values::Integers(labels) = array(&folder.join("test_labels.npy"))?.1 else {
            return Err("labels have to be integers".into());
        };
        let graph = frontends::load(&folder.join(format!("{name}_float.onnx")))?;
        let calibration = reals(&folder.join("calibration.npy"))?;
        let calibration = calibration.into_iter().map(|sample| vec![sample]).collect();
        let images = reals(&images)?;
        let program = hwmodels::lower(graph.clone().into(), &hwmodels::load("exact-int32-os", &[])?)?;
        let float_right = right(&run(&program, &images)?.0, &labels);
        Ok(Self { name: name.to_owned(), graph, calibration, images, labels, float_right })
    }

    fn row(&self, overflow: &str, (way, method): (&str, Option<&str>), bits: u32) -> Result<Row, Failure> {
        let sets = [format!("accumulation.acc.bits={bits}"), format!("accumulation.acc.overflow={overflow}")];
        let accelerator = hwmodels::load("fpga-int14-os", &sets)?;
        let mut config = Config::default();
        config.setting.activations.signed = false;
        if let Some(wanted) = method {
            let method = LAYER_METHODS.iter().find(|method| method.name() == wanted);
            config.layer_method = Some(Arc::new(*method.ok_or_else(|| format!("there is no {wanted}"))?));
        }
        let quantized = match way {
            "mixed" => self.mixed(&config, &accelerator)?,
            _ => quantize_aimed(&self.graph, &self.calibration, &config, Some(&accelerator))?.quantized,
        };
        let program = hwmodels::lower(Arc::new(quantized.graph), &accelerator)?;
        let (outputs, events) = run(&program, &self.images)?;
        let (proved_bits, witness_events) = witnesses(&program, &accelerator)?;
        Ok(Row {
            overflow: overflow.to_owned(),
            way: way.to_owned(),
            bits,
            activations: activations(&program),
            right: right(&outputs, &self.labels),
            events,
            proved_bits,
            witness_events,
        })
    }

    /// Returns the network with widths of 4 to 8 bits per layer that has the least error on the accelerator,
    /// on some of the samples.
    fn mixed(&self, config: &Config, accelerator: &Accelerator) -> Result<Quantized, Failure> {
        let step = self.calibration.len().div_ceil(MIXED_SAMPLES).max(1);
        let samples: Vec<Sample> = self.calibration.iter().step_by(step).cloned().collect();
        let judge = Judge::new(&self.graph, &samples, samples.len(), Some(accelerator))?;
        let choices = NetworkChoices::new(
            &self.graph,
            &samples,
            config,
            accelerator,
            judge,
            &NetworkChoices::USUAL[1..],
        )?;
        let explored = explore(&choices, 0)?;
        let least = explored.points().iter().min_by(|a, b| a.error.total_cmp(&b.error));
        let steps = &least.ok_or("the search met no network")?.steps;
        Ok(choices.quantized(steps)?)
    }

    fn write(&self, rows: &mut [Row], dir: &Path) -> Result<(), Failure> {
        fs::create_dir_all(dir)?;
        rows.sort_by_key(|row| {
            let way = WAYS.iter().position(|(way, _)| *way == row.way);
            (OVERFLOWS.iter().position(|overflow| *overflow == row.overflow), way, row.bits)
        });
        let lines = rows.iter().map(|row| row.csv(self));
        let csv: String = [HEAD.to_owned()].into_iter().chain(lines).map(|line| line + "\n").collect();
        fs::write(dir.join(format!("{}.csv", self.name)), csv)?;
        let record = self.record(rows)?;
        for plot in QUANTIZER_PLOTS {
            let Drawing::Figure(svg) = plot.draw(&record)? else { continue };
            fs::write(dir.join(format!("{}.png", self.name)), plot.png(&svg, &PlotStyle::default())?)?;
            fs::write(dir.join(format!("{}.svg", self.name)), svg)?;
        }
        Ok(())
    }

    /// Returns the record to draw: the rows, and in every panel the results of other tools, whose sums cannot
    /// overflow.
    fn record(&self, rows: &[Row]) -> Result<QuantizersRecord, Failure> {
        let widths: BTreeSet<u32> = rows.iter().map(|row| row.bits).collect();
        let drawn = |row: &Row| QuantizerRow {
            panel: row.overflow.clone(),
            quantizer: row.way.clone(),
            bits: row.bits,
            right: row.right,
        };
        let mut drawn: Vec<_> = rows.iter().map(drawn).collect();
        for panel in OVERFLOWS.iter().filter(|panel| rows.iter().any(|row| row.overflow == **panel)) {
            for &bits in &widths {
                let quantizer = "AXE (Brevitas), the best of 4- to 8-bit codes".to_owned();
                let row = |right| QuantizerRow { panel: (*panel).into(), quantizer, bits, right };
                drawn.extend(axe(&self.name, bits)?.map(row));
            }
        }
        Ok(QuantizersRecord {
            model: format!("{}_float.onnx", self.name),
            float_right: self.float_right,
            samples: self.labels.len() as u64,
            rows: drawn,
        })
    }
}

const HEAD: &str = "network,overflow,way,bits,activations,right,images,events,proved_bits,witness_events";

impl Row {
    /// Parses a row of the table; `None` for the header.
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let [_, overflow, way, bits, activations, right, _, events, proved_bits, witness_events] = fields[..]
        else {
            return None;
        };
        Some(Self {
            overflow: overflow.to_owned(),
            way: way.to_owned(),
            bits: bits.parse().ok()?,
            activations: activations.to_owned(),
            right: right.parse().ok()?,
            events: events.parse().ok()?,
            proved_bits: proved_bits.parse().ok()?,
            witness_events: witness_events.parse().ok()?,
        })
    }

    fn is(&self, overflow: &str, way: &str, bits: u32) -> bool {
        self.overflow == overflow && self.way == way && self.bits == bits
    }

    fn csv(&self, subject: &Subject) -> String {
        let Self { overflow, way, bits, activations, right, events, proved_bits, witness_events } = self;
        let (network, images) = (&subject.name, subject.labels.len());
        format!(
            "{network},{overflow},{way},{bits},{activations},{right},{images},{events},{proved_bits},{witness_events}"
        )
    }
}

/// Returns the maximum number of correct test images of Brevitas' AXE at a width, over both of its methods
/// and all code widths.
fn axe(network: &str, bits: u32) -> Result<Option<u64>, Failure> {
    let table = fs::read_to_string(examples().join("quantize/peers/axe.csv"))?;
    let fields = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let found = fields.filter_map(|fields| {
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        (fields.first() == Some(&network) && number(5) == Some(bits.into())).then(|| number(7))?
    });
    Ok(found.max())
}

/// Returns the real outputs of a network on its accelerator, per sample, and the number of additions that
/// overflowed.
fn run(program: &Program, samples: &[Vec<f32>]) -> Result<(Vec<Vec<f32>>, u64), Failure> {
    let [input, output] = [program.graph.inputs()[0], program.graph.outputs()[0]];
    let (from, to) = (&program.graph.tensor(input).ty, &program.graph.tensor(output).ty);
    let code = |&value: &f32| match &from.quantization {
        Some(quantization) => from.code_range().clamp(Onnx.quantize_input(value, quantization)),
        None => word_of(value),
    };
    let real = |code: i32| match &to.quantization {
        Some(quantization) => (code - quantization.zero_point(0)) as f32 * quantization.scale(0),
        None => real_of(code),
    };
    let mut simulation =
        Simulation::new(program, Options { stats: StatsLevel::Events, ..Options::default() });
    let mut outputs = Vec::new();
    for samples in samples.chunks(64) {
        let sample = |sample: &Vec<f32>| codes(from.dtype, &sample.iter().map(code).collect::<Vec<_>>());
        let batch = samples.iter().map(sample).collect::<Result<Vec<_>, _>>()?;
        for tensors in simulation.run_batch(&batch)? {
            let codes = tensors.simulated[output.index()].as_ref().ok_or("outputs are kept")?.to_vec();
            outputs.push(codes.into_iter().map(real).collect());
        }
    }
    Ok((outputs, events(simulation)))
}

/// Returns the widths of the activations that layers read.
fn activations(program: &Program) -> String {
    let graph = &program.graph;
    let input = |layer: &MacLayer| graph.node(layer.node).inputs.first().copied().flatten();
    let bits = program.mac_layers().filter_map(input).map(|id| graph.tensor(id).ty.code_range().bits());
    let bits: BTreeSet<u32> = bits.collect();
    match (bits.first(), bits.last()) {
        (Some(least), Some(most)) if least < most => format!("{least}-{most}"),
        (_, most) => most.copied().unwrap_or_default().to_string(),
    }
}

/// Returns the maximum width that a layer's sums need for any input. Also returns the number of overflows on
/// inputs with the most extreme sum of an output channel, over all layers and channels.
fn witnesses(program: &Program, accelerator: &Accelerator) -> Result<(u32, u64), Failure> {
    let nodes: Vec<NodeId> = program.mac_layers().map(|layer| layer.node).collect();
    let (mut proved, mut overflows) = (0, 0);
    for node in nodes {
        let alone = hwmodels::lower(Arc::new(program.graph.single_node(node)), accelerator)?;
        let layer = alone.mac_layers().next().ok_or("the layer alone is on the accelerator too")?;
        let bounds = LayerBounds::new(&alone.graph, layer);
        proved = proved.max(bounds.proved_bits(0));
        let dtype = alone.graph.tensor(alone.graph.inputs()[0]).ty.dtype;
        let of_channel = |channel| Witness::of_channel(&alone.graph, layer, &bounds, 0, channel);
        let witnesses = (0..bounds.channels.len()).filter_map(of_channel);
        let inputs = witnesses.map(|witness| codes(dtype, &witness.input)).collect::<Result<Vec<_>, _>>()?;
        let mut simulation =
            Simulation::new(&alone, Options { stats: StatsLevel::Events, ..Options::default() });
        simulation.run_batch(&inputs)?;
        overflows += events(simulation);
    }
    Ok((proved, overflows))
}

/// Returns the number of additions of all layers whose result did not fit.
fn events(simulation: Simulation<'_>) -> u64 {
    let layers = simulation.finish();
    layers.iter().flatten().flat_map(|layer| &layer.levels).map(|level| level.total().events()).sum()
}

/// Returns the input of a network with one input.
fn codes(dtype: DType, codes: &[i32]) -> Result<Vec<Codes>, Failure> {
    let codes = Codes::new(dtype, codes).map_err(|code| format!("{code} is no code of {dtype}"))?;
    Ok(vec![codes])
}

/// Returns how many outputs have their greatest score (the first of equal ones) at the label.
fn right(outputs: &[Vec<f32>], labels: &[i64]) -> u64 {
    let greater = |best: (usize, f32), next: (usize, f32)| if next.1 > best.1 { next } else { best };
    let class = |scores: &Vec<f32>| Some(scores.iter().copied().enumerate().reduce(greater)?.0 as i64);
    outputs.iter().zip(labels).filter(|(scores, label)| class(scores) == Some(**label)).count() as u64
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

/// Reads real samples along the first axis.
fn reals(path: &Path) -> Result<Vec<Vec<f32>>, Failure> {
    let (shape, Values::Float32(values)) = array(path)? else {
        return Err(format!("{} has to be float32", path.display()).into());
    };
    let of_sample = shape[1..].iter().product::<usize>().max(1);
    Ok(values.chunks_exact(of_sample).map(<[f32]>::to_vec).collect())
}

fn array(path: &Path) -> Result<(Vec<usize>, Values), Failure> {
    let mut file = File::open(path)?;
    let header = Header::read(&mut file)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((header.shape, header.element.values(&bytes)?))
}
