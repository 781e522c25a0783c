//! Small network with names as converters write them, run on a datapath of two levels.
#![allow(dead_code)]

use std::sync::Arc;

use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, MultiplierRule, OutputSpec, Padding, Quantization, Requantize,
    TensorType,
    ops::{Conv2d, FullyConnected},
};
use guardbit_hwmodels::{Program, from_yaml, lower};
use guardbit_num::Scheme;
use guardbit_reports::{
    Compared, ComparedPoint, ComparedRow, Comparison, CoverageRecord, Decibel, DesignLevel, Discordant,
    Fraction, OutputError, PerSample, PointRecord, Predictions, RunRecord, Score, SizeBitsRow,
    SizeChannelRow, SizeFloatRow, SizeGridRow, SizeLevelRow, SizeRateRow, SizeRecord, SizeRow, SweepPoint,
    Task, Verdict, Width, WitnessRecord,
};
use guardbit_sim::{LayerStats, Mode, Options, Simulation, SquaredError, StatsLevel};

pub const CONV: &str = "model/activation/Relu;model/conv2d_1/BiasAdd;model/conv2d_1/Conv2D";
pub const DENSE: &str = "StatefulPartitionedCall:0";

/// Result of a simulation.
pub struct Ran {
    pub program: Program,
    pub layers: Vec<Option<LayerStats>>,
    pub options: Options,
}

/// Returns a network: a 2x2 convolution to two channels (K = 8), then a dense layer to three classes (K = 2).
pub fn network() -> Graph {
    let requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };
    let quantization = |scale| Some(Quantization::per_tensor(scale, 0).unwrap());
    let ty = |shape: &[usize], scale| TensorType {
        shape: shape.to_vec(),
        dtype: DType::Int8,
        quantization: quantization(scale),
    };
    let output = |name: &str, scale| OutputSpec {
        name: name.into(),
        dtype: DType::Int8,
        quantization: quantization(scale),
    };
    let mut builder = GraphBuilder::new("tiny");
    let x = builder.input("image", ty(&[1, 2, 2, 2], 1.0)).unwrap();
    let codes = vec![100, 100, 100, 100, -100, -100, -100, -100, 1, 2, 3, 4, 5, 6, 7, 8];
    let w = builder.constant("conv/w", ty(&[2, 2, 2, 2], 1.0), codes).unwrap();
    let conv = Conv2d {
        stride: [1; 2],
        dilation: [1; 2],
        padding: Padding::Valid,
        activation: Activation::None,
        requantize,
    };
    let y = builder.node(conv, &[Some(x), Some(w)], output(CONV, 64.0)).unwrap();
    let w = builder.constant("dense/w", ty(&[3, 2], 1.0), vec![3, 1, -2, 5, 1, 1]).unwrap();
    let dense = FullyConnected { keep_num_dims: false, activation: Activation::None, requantize };
    let z = builder.node(dense, &[Some(y), Some(w)], output(DENSE, 512.0)).unwrap();
    builder.finish(vec![z]).unwrap()
}

/// Runs two samples: one that overflows, and one of zeros. The column has 14 bits, the outer level is `acc`.
pub fn run(stats: StatsLevel, acc: &str) -> Ran {
    let accelerator = format!(
        "schema: 1\nname: two-levels\narray: {{rows: 4, cols: 4}}\naccumulation:\n  \
         - {{name: column, reduce: serial, terms: 4, bits: 14, overflow: wrap}}\n  - {{name: acc, terms: all, {acc}}}\n"
    );
    let accelerator = from_yaml(&accelerator, "two-levels.yaml", &[]).unwrap();
    let program = lower(Arc::new(network()), &accelerator).unwrap();
    let options = Options { stats, ..Options::default() };
    let mut simulation = Simulation::new(&program, options);
    simulation.run_batch(&[vec![vec![30; 8]], vec![vec![0; 8]]]).unwrap();
    let layers = simulation.finish();
    Ran { program, layers, options }
}

pub fn score() -> Score {
    let error = SquaredError { signal: 9, noise: 0 };
    Score {
        samples: 2,
        task: Some(Task::Classify),
        agreeing: Some(1),
        right_exact: Some(2),
        right: Some(1),
        discordant: Some(Discordant { first: 1, second: 0 }),
        output_mismatch: 3,
        output_errors: Some(vec![OutputError { scale: 0.5, error, values: 6 }]),
        ..Score::default()
    }
}

/// Returns the results of the two samples, with their predictions.
pub fn verdict() -> Verdict {
    let classes = PerSample { exact: vec![1, 2], simulated: Some(vec![1, 0]) };
    let predictions =
        Predictions { labels: Some(vec![1, 2]), classes: Some(classes), ..Predictions::default() };
    Verdict { score: score(), predictions, classes: 3 }
}

pub fn run_record(stats: StatsLevel) -> RunRecord {
    let ran = run(stats, "bits: 13, overflow: saturate");
    RunRecord::new(
        "tiny.tflite",
        "two-levels",
        &ran.program,
        &ran.layers,
        &ran.layers,
        &ran.options,
        &verdict(),
    )
}

/// Returns a run of a network with as many layers as a real one.
pub fn large_run() -> RunRecord {
    let mut run = run_record(StatsLevel::Full);
    for i in 1..30 {
        let loud = i % 3 == 0;
        for at in 0..4 {
            let Some(row) = run.layers.get(at).cloned() else { continue };
            let mut row = row;
            row.index += 2 * i;
            row.events = row.events.map(|events| if loud { events * i as u64 } else { 0 });
            row.outputs_touched = row.outputs_touched.filter(|_| loud).or(Some(0));
            row.wrong = row.wrong.filter(|_| loud).or(row.wrong.map(|_| 0));
            run.layers.push(row);
        }
        for at in 0..2 {
            let mut row = run.bottlenecks[at].clone();
            row.index += 2 * i;
            run.bottlenecks.push(row);
            let mut activity = run.activity[at].clone();
            activity.index += 2 * i;
            run.activity.push(activity);
            let mut design = run.design.layers[at].clone();
            design.index += 2 * i;
            run.design.layers.push(design);
        }
        for at in 0..4 {
            let mut histogram = run.histograms[at].clone();
            histogram.index += 2 * i;
            run.histograms.push(histogram);
        }
    }
    run.layers.sort_by_key(|row| row.index);
    run
}

pub fn point_record(bits: u32, overflow: &str, stats: StatsLevel) -> PointRecord {
    let ran = run(stats, &format!("bits: {bits}, overflow: {overflow}"));
    let point = SweepPoint {
        parameters: Vec::new(),
        samples: String::new(),
        model: "tiny.tflite".into(),
        hw: "two-levels".into(),
        bits: Some(bits),
        overflow: overflow.into(),
        level: "acc".into(),
    };
    PointRecord::new(&point, &ran.program, &ran.layers, &ran.layers, &ran.options, &verdict())
}

pub fn sweep(stats: StatsLevel) -> Vec<PointRecord> {
    let modes = ["wrap", "saturate"];
    modes.iter().flat_map(|mode| (11..=15).map(|bits| point_record(bits, mode, stats))).collect()
}

/// Returns a made-up comparison of two folders, the second of which is worse at some rows.
pub fn comparison(command: &str) -> Comparison {
    let text = |values: [f64; 2]| values.map(|value| value.to_string()).to_vec();
    let compared = |name: &str, values| Compared { name: name.into(), values: text(values) };
    let (axes, columns): (&[&str], &[&str]) = match command {
        "run" => (&["index", "name"], &["wrong", "sqnr_db", "cycles"]),
        _ => (&["accumulation.acc.bits", "accumulation.acc.overflow"], &["accuracy", "output_mismatch"]),
    };
    let point = |at: usize| {
        let size = at as f64;
        let key = match command {
            "run" => [at.to_string(), format!("conv_{at}")],
            _ => [(12 + at / 2).to_string(), ["wrap", "saturate"][at % 2].to_owned()],
        };
        let values = match command {
            "run" => vec![text([10.0 * size, 13.0 * size]), text([20.0, 20.0 - size]), text([100.0; 2])],
            _ => vec![text([0.5 + 0.04 * size, 0.5 + 0.03 * size]), text([9.0, 9.0 + size])],
        };
        ComparedPoint { name: key.join(" "), key: key.to_vec(), values }
    };
    let points: Vec<ComparedPoint> = (0..12).map(point).collect();
    let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
    let differ = |values: &Vec<String>| values[0] != values[1];
    let rows = points.iter().flat_map(|point| {
        let cells = columns.iter().zip(&point.values).filter(|(_, values)| differ(values));
        cells.map(|(column, values)| ComparedRow {
            row: point.name.clone(),
            column: column.clone(),
            values: values.clone(),
        })
    });
    let totals = match command {
        "run" => vec![compared("accuracy", [0.97, 0.25]), compared("latency_us", [10.0, 12.5])],
        _ => Vec::new(),
    };
    Comparison {
        command: command.into(),
        folders: vec!["runs/<first>".into(), "runs/second".into()],
        names: vec!["<first>".into(), "second".into()],
        settings: vec![Compared { name: "hw".into(), values: vec!["a".into(), "b".into()] }],
        axes: axes.iter().map(ToString::to_string).collect(),
        rows: rows.collect(),
        totals,
        equal_totals: vec![compared("accuracy_exact", [0.985_185; 2])],
        same: 20,
        unmatched: vec!["only here".into()],
        columns,
        points,
    }
}

pub fn isolated() -> Options {
    Options { mode: Mode::Isolated, ..Options::default() }
}

/// Returns a made-up sizing of two layers, the second one too short to be split.
pub fn size_record() -> SizeRecord {
    let layer = |index, layer: &str, terms, bits| SizeRow {
        index,
        layer: layer.into(),
        name: layer.into(),
        op: "conv2d".into(),
        terms,
        channels: 1,
        bits_type: bits + 2,
        bits_weights: Some(bits),
        bits_a2q: Some(bits + 1),
        bits_a2q_plus: None,
        bits_data_final: bits - 3,
        bits_data_prefix: bits - 2,
        bits_budget: Some(bits - 4),
        bits_range: bits,
        bits_a2q_type: Some(bits + 2),
        bits_recommended: Width::Bits(bits),
        adder_bits: bits.into(),
        register_bits: bits.into(),
        psum_bytes: 3,
        lut: Some(40),
        ff: Some(20),
    };
    let layers = vec![layer(0, CONV, 36, 19), layer(1, DENSE, 2, 16)];
    let channel = |row: &SizeRow| SizeChannelRow {
        index: row.index,
        layer: row.layer.clone(),
        name: row.name.clone(),
        op: row.op.clone(),
        terms: row.terms,
        channel: 0,
        bits_type: row.bits_type,
        bits_weights: row.bits_weights,
        bits_a2q: row.bits_a2q,
        bits_a2q_plus: row.bits_a2q_plus,
        bits_data_final: row.bits_data_final,
        bits_data_prefix: row.bits_data_prefix,
        bits_budget: row.bits_budget,
        bits_range: row.bits_range,
        bits_a2q_type: row.bits_a2q_type,
        min_sum: Some(-1000),
        max_sum: Some(1000),
    };
    let level = |row: &SizeRow, level: &str| SizeLevelRow {
        index: row.index,
        layer: row.layer.clone(),
        name: row.name.clone(),
        level: level.into(),
        bits: Width::Auto,
        overflow: None,
        bits_type: row.bits_type,
        bits_weights: row.bits_weights,
        bits_range: row.bits_range,
        bits_data_final: row.bits_data_final,
        bits_data_prefix: row.bits_data_prefix,
        bits_recommended: row.bits_recommended,
        bits_budget: row.bits_budget,
    };
    let grid = |tile: usize, inner_bits, legal, pareto| SizeGridRow {
        index: 0,
        layer: CONV.into(),
        name: CONV.into(),
        terms: 36,
        tile,
        tiles: 36usize.div_ceil(tile),
        inner_bits,
        outer_bits: 19,
        legal,
        pareto,
        adder_bits: 37,
        register_bits: 37,
        psum_bytes: 9,
        dots: Some(200),
        wrong: Some(if legal { 0 } else { 3 }),
        error_rate: Fraction::of(if legal { 0 } else { 3 }, 200),
    };
    let rate = |level: &str, bits, out: u64| SizeRateRow {
        level: level.into(),
        transient: 1,
        rate_transient: Fraction::of(1, 100),
        bits,
        dots: 100,
        out_of_range_final: out,
        out_of_range_prefix: out + 1,
        rate_final: Fraction::of(out, 100),
        rate_prefix: Fraction::of(out + 1, 100),
    };
    let fraction_bits = |bits, recommended| SizeBitsRow {
        fraction_bits: bits,
        samples: 100,
        accuracy: Fraction::of(90 + u64::from(bits), 100),
        top1_agreement: None,
        output_mismatch: 7,
        output_sqnr_db: Some(Decibel::new(6.0 * f64::from(bits))),
        within_budget: Some(recommended),
        recommended,
        lut: recommended.then_some(1234),
        ff: recommended.then_some(567),
    };
    SizeRecord {
        coverage: CoverageRecord::default(),
        model: "tiny.tflite".into(),
        hw: "two-levels".into(),
        budget: Some("mismatch=1%".into()),
        area: Some("Yosys 0.0".into()),
        channels: layers.iter().map(channel).collect(),
        levels: layers.iter().flat_map(|row| ["inner", "outer"].map(|name| level(row, name))).collect(),
        grid: vec![
            grid(8, 17, true, true),
            grid(16, 17, false, false),
            grid(16, 18, true, true),
            grid(32, 18, true, false),
        ],
        rates: vec![
            rate("inner", 10, 80),
            rate("inner", 11, 0),
            rate("outer", 12, 90),
            rate("outer", 13, 10),
            rate("outer", 14, 0),
        ],
        fraction_bits: vec![fraction_bits(1, false), fraction_bits(2, true)],
        float_layers: vec![SizeFloatRow {
            index: 2,
            layer: "attention".into(),
            op: "conv2d".into(),
            activations: "e4m3".into(),
            weights: "e5m2".into(),
            products: 32,
            fraction_bits: 13,
            required_exact: None,
            required_result: Some(2),
            recommended: 2,
            name: "attention".into(),
        }],
        witnesses: vec![WitnessRecord {
            index: 0,
            layer: CONV.into(),
            name: CONV.into(),
            level: "outer".into(),
            run: 0,
            out: [0, 1, 2, 0],
            sum: -131_073,
            bits: 19,
            attained: true,
            file: "witnesses/0_outer.npz".into(),
        }],
        design: vec![DesignLevel { level: "outer".into(), bits: Width::Bits(19) }],
        remarks: vec!["something to know".into()],
        recommended: (&score()).into(),
        layers,
    }
}
