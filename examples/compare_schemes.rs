//! Effect of another runtime's rounding on a network: compares every code of every operation under other
//! requantization schemes with the network's own.
//!
//! `cargo run --release -p guardbit --example compare_schemes -- MODEL INPUT.npy DIR [SCHEME]...`
//! writes `schemes.csv`, `schemes.svg` and `schemes.png` to DIR; without arguments it runs the digits
//! network.

use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use guardbit::frontends::npy::{Header, Values};
use guardbit::graph::{Graph, MultiplierRule, NodeId, Requantize};
use guardbit::num::Scheme;
use guardbit::reports::plots::{PlotStyle, SCHEME_PLOTS};
use guardbit::reports::{SchemeRow, SchemesRecord};
use guardbit::sim::{Keep, Options, Simulation};
use guardbit::{frontends, hwmodels};

const SCHEMES: &[Scheme] = &[Scheme::Double, Scheme::Single, Scheme::Away, Scheme::Even, Scheme::TosaScale16];

/// Maximum number of samples to run.
const SAMPLES: usize = 100;

/// Codes of every tensor, per sample.
type Codes = Vec<Vec<Option<Vec<i32>>>>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let digits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits");
    let mut next = |default: PathBuf| arguments.next().map_or(default, PathBuf::from);
    let model = next(digits.join("digits_int8.tflite"));
    let input = next(digits.join("test_images.npy"));
    let dir = next("out/schemes".into());
    let schemes: Vec<Scheme> = arguments.map(|name| name.parse()).collect::<Result<_, _>>()?;
    let schemes = if schemes.is_empty() { SCHEMES.to_vec() } else { schemes };

    let graph = frontends::load(&model)?;
    let samples = samples(&graph, &input)?;
    let own = run(&graph, &samples)?;
    let mut record = SchemesRecord {
        model: graph.name().into(),
        samples: samples.len(),
        schemes: schemes.iter().map(|scheme| scheme.name().into()).collect(),
        rows: Vec::new(),
    };
    for scheme in schemes {
        let other = graph.requantized(|own| under(own, scheme))?;
        let ran = run(&other, &samples)?;
        for (id, node) in other.nodes_with_ids() {
            record.rows.push(row(&other, id, scheme, &own, &ran));
            debug_assert_eq!(graph.node(id).output, node.output);
        }
    }
    write(&record, &dir)
}

/// Returns the first samples of a file of codes for a network with one input.
fn samples(graph: &Graph, path: &Path) -> Result<Vec<Vec<Vec<i32>>>, Box<dyn Error>> {
    let mut file = File::open(path)?;
    let header = Header::read(&mut file)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let Values::Integers(codes) = header.element.values(&bytes)? else {
        return Err("not an array of codes".into());
    };
    let codes: Vec<i32> = codes.into_iter().map(i32::try_from).collect::<Result<_, _>>()?;
    let of_sample = graph.tensor(graph.inputs()[0]).ty.len();
    Ok(codes.chunks_exact(of_sample).take(SAMPLES).map(|codes| vec![codes.to_vec()]).collect())
}

/// Returns the requantization of a scheme's runtimes: those of `even` compute multipliers in float32.
fn under(own: Requantize, scheme: Scheme) -> Requantize {
    let rule = if scheme.forms_multiplier_in_float32() { MultiplierRule::Float32 } else { own.rule };
    Requantize { scheme, rule }
}

/// Runs the exact network.
fn run(graph: &Graph, samples: &[Vec<Vec<i32>>]) -> Result<Codes, Box<dyn Error>> {
    let accelerator = hwmodels::load("exact-int32-os", &[])?;
    let program = hwmodels::lower(graph.clone().into(), &accelerator)?;
    let mut simulation = Simulation::new(&program, Options { keep: Keep::All, ..Options::default() });
    let ran = simulation.run_batch(samples)?;
    Ok(ran
        .into_iter()
        .map(|one| one.exact.into_iter().map(|codes| Some(codes?.to_vec())).collect())
        .collect())
}

/// Returns the results of one operation of the network under another scheme.
fn row(other: &Graph, id: NodeId, scheme: Scheme, own: &Codes, ran: &Codes) -> SchemeRow {
    let node = other.node(id);
    let mut row = SchemeRow {
        scheme: scheme.name().into(),
        index: id.index(),
        name: other.short_name(id).into(),
        op: node.op.name().into(),
        codes: 0,
        differ_alone: 0,
        greatest_alone: 0,
        differ: 0,
        greatest: 0,
    };
    for (own, ran) in own.iter().zip(ran) {
        let read = |input: &Option<guardbit::graph::TensorId>| -> Vec<i32> {
            let Some(input) = input else { return Vec::new() };
            let constant = other.tensor(*input).codes().map(|codes| codes.to_vec());
            constant.or_else(|| own[input.index()].clone()).unwrap_or_default()
        };
        let inputs: Vec<Vec<i32>> = node.inputs.iter().map(read).collect();
        let alone = other.evaluate(id, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let (Some(expected), Some(found)) = (&own[node.output.index()], &ran[node.output.index()]) else {
            continue;
        };
        row.codes += expected.len() as u64;
        (row.differ_alone, row.greatest_alone) =
            counted(expected, &alone, (row.differ_alone, row.greatest_alone));
        (row.differ, row.greatest) = counted(expected, found, (row.differ, row.greatest));
    }
    row
}

/// Counts the codes that differ, and returns the largest difference.
fn counted(expected: &[i32], found: &[i32], (mut count, mut greatest): (u64, u32)) -> (u64, u32) {
    for (a, b) in expected.iter().zip(found).filter(|(a, b)| a != b) {
        count += 1;
        greatest = greatest.max(a.abs_diff(*b));
    }
    (count, greatest)
}

fn write(record: &SchemesRecord, dir: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(dir)?;
    fs::write(dir.join("schemes.csv"), csv(record))?;
    let style = PlotStyle::default();
    for plot in SCHEME_PLOTS {
        let svg = plot.svg(&plot.draw(record)?, &style)?;
        fs::write(dir.join(format!("{}.png", plot.name)), plot.png(&svg, &style)?)?;
        fs::write(dir.join(format!("{}.svg", plot.name)), svg)?;
    }
    for scheme in &record.schemes {
        let of_scheme: Vec<_> = record.rows.iter().filter(|row| row.scheme == *scheme).collect();
        let alone: u64 = of_scheme.iter().map(|row| row.differ_alone).sum();
        let Some(last) = of_scheme.last() else { continue };
        println!(
            "{scheme:<16} {alone:>8} codes differ alone; at the end {:>6} of {}, by up to {}",
            last.differ, last.codes, last.greatest
        );
    }
    Ok(())
}

fn csv(record: &SchemesRecord) -> String {
    let mut text = "scheme,index,name,op,codes,differ_alone,greatest_alone,differ,greatest\n".to_owned();
    for row in &record.rows {
        let SchemeRow { scheme, index, name, op, codes, differ_alone, greatest_alone, differ, greatest } =
            row;
        text += &format!(
            "{scheme},{index},{name},{op},{codes},{differ_alone},{greatest_alone},{differ},{greatest}\n"
        );
    }
    text
}
