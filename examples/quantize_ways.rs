//! Which way of quantizing leaves what of a network's accuracy behind narrow accumulators.
//!
//! `cargo run --release -p guardbit-library --example quantize_ways -- NETWORK LOW HIGH DIR` quantizes the float network of
//! `examples/NETWORK` in several ways for accumulators of LOW to HIGH bits, runs each on them with the test images, and writes
//! `NETWORK.csv`, `NETWORK.svg` and `NETWORK.png` to DIR; without arguments it does `digits 10 20 out/quantize`.
//!
//! `witness_events` counts overflows where every output channel of every layer reads the input that takes its sum
//! furthest; `proved_bits` is the width that no input of any layer exceeds.

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
use guardbit::hwmodels::{Accelerator, Program};
use guardbit::quantize::{CodeSetting, Config, LAYER_METHODS, LayerSetting, quantize};
use guardbit::reports::plots::{Drawing, QUANTIZER_PLOTS};
use guardbit::reports::{QuantizerRow, QuantizersRecord};
use guardbit::sim::{Codes, Options, Simulation, StatsLevel};
use guardbit::{frontends, hwmodels};

type Failure = Box<dyn Error>;

/// A way of quantizing.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    /// Chooses for whole layers on their accelerator.
    method: Option<&'static str>,
    /// Width of activations and weights.
    codes: u32,
}

const WAYS: [Way; 6] = [
    Way { name: "plain", method: None, codes: 8 },
    Way { name: "overflow-aware", method: Some("overflow-aware"), codes: 8 },
    Way { name: "guaranteed", method: Some("guaranteed"), codes: 8 },
    Way { name: "guaranteed, 6-bit codes", method: Some("guaranteed"), codes: 6 },
    Way { name: "guaranteed, 5-bit codes", method: Some("guaranteed"), codes: 5 },
    Way { name: "guaranteed, 4-bit codes", method: Some("guaranteed"), codes: 4 },
];

const OVERFLOWS: [&str; 2] = ["saturate", "wrap"];

/// A float network with its samples.
struct Subject {
    name: String,
    graph: Graph,
    calibration: Vec<Vec<Vec<f32>>>,
    images: Vec<Vec<f32>>,
    labels: Vec<i64>,
    /// Images that the float network classifies right.
    float_right: u64,
}

/// One row of the table.
struct Row {
    overflow: &'static str,
    way: Way,
    bits: u32,
    right: u64,
    events: u64,
    proved_bits: u32,
    witness_events: u64,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let subject = Subject::load(&next("digits"))?;
    let (low, high): (u32, u32) = (next("10").parse()?, next("20").parse()?);
    let dir = PathBuf::from(next("out/quantize"));
    let mut rows = Vec::new();
    for overflow in OVERFLOWS {
        for way in WAYS {
            for bits in low..=high {
                let row = subject.row(overflow, way, bits)?;
                println!("{}", row.csv(&subject));
                rows.push(row);
            }
        }
    }
    subject.write(&rows, &dir)
}

impl Subject {
    fn load(name: &str) -> Result<Self, Failure> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
        let images = ["test_images_float.npy", "test_images.npy"].map(|file| folder.join(file));
        let images = images.into_iter().find(|path| path.exists()).ok_or("no test images")?;
        let Values::Integers(labels) = array(&folder.join("test_labels.npy"))?.1 else {
            return Err("labels have to be integers".into());
        };
        let calibration = reals(&folder.join("calibration.npy"))?;
        let mut own = Self {
            name: name.to_owned(),
            graph: frontends::load(&folder.join(format!("{name}_float.onnx")))?,
            calibration: calibration.into_iter().map(|sample| vec![sample]).collect(),
            images: reals(&images)?,
            labels,
            float_right: 0,
        };
        let accelerator = hwmodels::load("exact-int32-os", &[])?;
        (own.float_right, _) = own.run(&hwmodels::lower(own.graph.clone().into(), &accelerator)?)?;
        Ok(own)
    }

    fn row(&self, overflow: &'static str, way: Way, bits: u32) -> Result<Row, Failure> {
        let sets = [format!("accumulation.acc.bits={bits}"), format!("accumulation.acc.overflow={overflow}")];
        let accelerator = hwmodels::load("fpga-int14-os", &sets)?;
        let quantized = quantize(&self.graph, &self.calibration, &way.config()?, Some(&accelerator))?;
        let program = hwmodels::lower(Arc::new(quantized.graph), &accelerator)?;
        let (right, events) = self.run(&program)?;
        let (proved_bits, witness_events) = witnesses(&program, &accelerator)?;
        Ok(Row { overflow, way, bits, right, events, proved_bits, witness_events })
    }

    /// How many test images are right, and how many additions overflowed.
    fn run(&self, program: &Program) -> Result<(u64, u64), Failure> {
        let input = program.graph.tensor(program.graph.inputs()[0]);
        let output = program.graph.outputs()[0];
        let real = |code| if program.graph.tensor(output).ty.dtype.is_float() { real_of(code) } else { code as f32 };
        let code = |&value: &f32| match &input.ty.quantization {
            Some(quantization) => input.ty.code_range().clamp(Onnx.quantize_input(value, quantization)),
            None => word_of(value),
        };
        let mut simulation =
            Simulation::new(program, Options { stats: StatsLevel::Events, ..Options::default() });
        let mut right = 0;
        for (images, labels) in self.images.chunks(64).zip(self.labels.chunks(64)) {
            let sample = |image: &Vec<f32>| codes(input.ty.dtype, image.iter().map(code).collect());
            let batch = images.iter().map(sample).collect::<Result<Vec<_>, _>>()?;
            for (tensors, &label) in simulation.run_batch(&batch)?.iter().zip(labels) {
                let codes = tensors.simulated[output.index()].as_ref().map(Codes::to_vec).unwrap_or_default();
                right += u64::from(class(codes.into_iter().map(real)) == Some(label));
            }
        }
        Ok((right, events(simulation)))
    }

    fn write(&self, rows: &[Row], dir: &Path) -> Result<(), Failure> {
        fs::create_dir_all(dir)?;
        let head = "network,overflow,way,bits,right,images,events,proved_bits,witness_events";
        let lines = rows.iter().map(|row| row.csv(self));
        let csv: String = [head.to_owned()].into_iter().chain(lines).map(|line| line + "\n").collect();
        fs::write(dir.join(format!("{}.csv", self.name)), csv)?;
        let record = self.record(rows);
        for plot in QUANTIZER_PLOTS {
            let Drawing::Figure(svg) = plot.draw(&record)? else { continue };
            fs::write(dir.join(format!("{}.png", self.name)), plot.png(&svg)?)?;
            fs::write(dir.join(format!("{}.svg", self.name)), svg)?;
        }
        Ok(())
    }
}

impl Way {
    fn config(self) -> Result<Config, Failure> {
        let activations = CodeSetting { bits: self.codes, signed: false, ..CodeSetting::ACTIVATIONS };
        let weights = CodeSetting { bits: self.codes, ..CodeSetting::WEIGHTS };
        let mut config = Config::default();
        config.setting = LayerSetting { activations, weights, ..config.setting };
        if let Some(wanted) = self.method {
            let method = LAYER_METHODS.iter().find(|method| method.name() == wanted);
            config.layer_method = Some(Arc::new(*method.ok_or("no such method")?));
        }
        Ok(config)
    }
}

impl Subject {
    fn record(&self, rows: &[Row]) -> QuantizersRecord {
        let row = |row: &Row| QuantizerRow {
            panel: row.overflow.into(),
            quantizer: row.way.name.into(),
            bits: row.bits,
            right: row.right,
        };
        QuantizersRecord {
            model: format!("{}_float.onnx", self.name),
            float_right: self.float_right,
            samples: self.labels.len() as u64,
            rows: rows.iter().map(row).collect(),
        }
    }
}

impl Row {
    fn csv(&self, subject: &Subject) -> String {
        let Self { overflow, way, bits, right, events, proved_bits, witness_events } = self;
        let (network, images, way) = (&subject.name, subject.labels.len(), way.name);
        format!("{network},{overflow},{way},{bits},{right},{images},{events},{proved_bits},{witness_events}")
    }
}

/// The greatest width that a layer's sums need for any input, and the overflows on inputs that take the sum of an output
/// channel furthest, layer by layer and channel by channel.
fn witnesses(program: &Program, accelerator: &Accelerator) -> Result<(u32, u64), Failure> {
    let nodes: Vec<NodeId> = program.mac_layers().map(|layer| layer.node).collect();
    let (mut proved, mut overflows) = (0, 0);
    for node in nodes {
        let alone = hwmodels::lower(Arc::new(program.graph.single_node(node)), accelerator)?;
        let layer = alone.mac_layers().next().ok_or("the layer alone is on the accelerator too")?;
        let bounds = LayerBounds::new(&alone.graph, layer);
        proved = proved.max(bounds.weight_bits(0));
        let dtype = alone.graph.tensor(alone.graph.inputs()[0]).ty.dtype;
        let channels = 0..bounds.channels.len();
        let of_channel = |channel| Witness::of_channel(&alone.graph, layer, &bounds, 0, channel);
        let inputs = channels.filter_map(of_channel).map(|witness| codes(dtype, witness.input));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let mut simulation =
            Simulation::new(&alone, Options { stats: StatsLevel::Events, ..Options::default() });
        simulation.run_batch(&inputs)?;
        overflows += events(simulation);
    }
    Ok((proved, overflows))
}

/// One input of a network.
fn codes(dtype: DType, codes: Vec<i32>) -> Result<Vec<Codes>, Failure> {
    let codes = Codes::new(dtype, &codes).map_err(|code| format!("{code} is no code of {dtype}"))?;
    Ok(vec![codes])
}

/// Additions of all layers whose result did not fit.
fn events(simulation: Simulation<'_>) -> u64 {
    let layers = simulation.finish();
    layers.iter().flatten().flat_map(|layer| &layer.levels).map(|level| level.total().events()).sum()
}

/// The class with the greatest score, the first of several.
fn class(scores: impl Iterator<Item = f32>) -> Option<i64> {
    let greater = |best: (usize, f32), next: (usize, f32)| if next.1 > best.1 { next } else { best };
    i64::try_from(scores.enumerate().reduce(greater)?.0).ok()
}

/// Real samples, along the first axis.
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
