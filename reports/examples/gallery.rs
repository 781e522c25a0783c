//! Draws every plot and both reports from made-up figures. Run it after changing a plot and look at the
//! result.
//!
//! `cargo run --release -p guardbit-reports --example gallery -- out/gallery`

use std::error::Error;
use std::path::Path;

use guardbit_files::{Document, Existing, Target};
use guardbit_hwmodels::InferenceCycles;
use guardbit_reports::{
    About, CoverageRecord, Decibel, DesignRecord, EventRow, Fraction, LayerActivity, LayerRow,
    LevelHistogram, Medium, NetworkTiming, OutputError, Pages, PlotStyle, PointRecord, RunRecord, Score,
    SummaryRow, SweepPoint, Width, run_documents, sweep_documents,
};
use guardbit_sim::{Settled, SquaredError};

const SAMPLES: u64 = 540;

/// A made-up network.
struct Network {
    name: &'static str,
    layers: Vec<Layer>,
}

struct Layer {
    name: String,
    op: &'static str,
    dots: u64,
    terms: usize,
    /// Mean number of bits of the final sums.
    bits: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "out/gallery".to_owned());
    let folder = Path::new(&folder);
    let (small, large) = (digits(), mobilenet());
    let about = about();
    let saturate = |network: &Network, bits| record(network, "fpga-int14-os", bits, "saturate");
    for (name, record) in
        [("run_small", run(&small, 14)), ("run_large", run(&large, 16)), ("run_exact", run(&small, 32))]
    {
        write(&folder.join(name), &run_documents(&about, &record)?)?;
    }
    let sweep = |network: &Network, hw: &str, modes: &[&str], widths: std::ops::RangeInclusive<u32>| {
        let point = |mode: &str, bits| record(network, hw, bits, mode);
        modes.iter().flat_map(|mode| widths.clone().map(move |bits| point(mode, bits))).collect::<Vec<_>>()
    };
    let both = ["wrap", "saturate"];
    let mut grid = sweep(&small, "fpga-int14-os", &["wrap", "saturate", "sticky"], 10..=20);
    grid.extend(sweep(&small, "npu-int16-ws", &["wrap", "saturate", "sticky"], 10..=20));
    grid.extend(sweep(&large, "fpga-int14-os", &both, 10..=20));
    for (name, points) in [
        ("sweep_large_one", vec![saturate(&large, 16)]),
        ("sweep_small", sweep(&small, "fpga-int14-os", &both, 8..=24)),
        ("sweep_large", sweep(&large, "fpga-int14-os", &both, 8..=24)),
        ("sweep_grid", grid),
    ] {
        write(&folder.join(name), &sweep_documents(&about, &points)?)?;
    }
    for medium in [Medium::Paper, Medium::Slides] {
        let style = PlotStyle { medium, ..PlotStyle::default() };
        let about = About { pages: Pages { style, report: false, ..Pages::default() }, ..about.clone() };
        let named = |name: &str| folder.join(format!("{name}_{}", medium.name()));
        let points = sweep(&small, "fpga-int14-os", &both, 8..=24);
        write(&named("sweep_small"), &sweep_documents(&about, &points)?)?;
        for (name, network) in [("run_small", &small), ("run_large", &large)] {
            write(&named(name), &run_documents(&about, &run(network, 14))?)?;
        }
    }
    Ok(())
}

/// Writes `documents` to `folder`. A folder without a manifest is not recognized as guardbit's: remove an old
/// one first.
fn write(folder: &Path, documents: &[Document]) -> Result<(), Box<dyn Error>> {
    let target = Target::claim_for(folder, Existing::Refuse)?;
    let mut staging = target.stage()?;
    staging.write_all(documents)?;
    Ok(staging.publish_unlisted(Existing::Refuse)?)
}

fn about() -> About {
    let settings = [
        ("model", "digits_int8.tflite"),
        ("model sha256", "6f0a5ce5b8c1c4f1f3f1cdb9b3a5a0a7f2b5c8f61e3d7a9408b7cf4e5d3a2b19"),
        ("accelerator", "fpga-int14-os: 16x16 output-stationary array, 14-bit saturating accumulators"),
        ("input", "test_images.npy"),
        ("samples", "540"),
        ("mode", "propagated"),
        ("overflow", "wrap, saturate"),
        ("statistics", "full"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    About { version: "0.1.0".into(), settings, ..About::default() }
}

fn digits() -> Network {
    let layer = |name: &str, op, dots, terms, bits| Layer { name: name.into(), op, dots, terms, bits };
    Network {
        name: "digits_int8.tflite",
        layers: vec![
            layer("digits_1/conv_1/Relu;digits_1/conv_1/BiasAdd", "conv2d", 1024, 9, 13.0),
            layer("digits_1/depthwise_1/Relu;digits_1/depthwise_1/BiasAdd", "depthwise_conv2d", 576, 9, 12.0),
            layer("digits_1/pointwise_1/Relu;digits_1/pointwise_1/BiasAdd", "conv2d", 1152, 16, 14.0),
            layer("StatefulPartitionedCall_1:0", "fully_connected", 10, 288, 16.0),
        ],
    }
}

fn mobilenet() -> Network {
    let layer = |i: usize| {
        let depthwise = i % 2 == 1;
        let name = if depthwise { "depthwise_conv2d" } else { "conv2d" };
        Layer {
            name: format!(
                "model/activation_{i}/Relu;model/batch_normalization_{i}/FusedBatchNormV3;model/{name}_{i}/BiasAdd"
            ),
            op: name,
            dots: 18_432 / (1 + i as u64 / 4),
            terms: if depthwise { 9 } else { 8 << (i / 6) },
            bits: if depthwise { 11.5 } else { 12.0 + i as f64 / 6.0 },
        }
    };
    Network { name: "vww_mobilenet_v1_025_int8.tflite", layers: (0..28).map(layer).collect() }
}

/// Returns a histogram of `dots` dot products by bits: a bell curve around `middle`.
fn bell(dots: u64, middle: f64) -> Vec<u64> {
    let weight = |bits: usize| {
        let away = bits as f64 - middle;
        (-away * away / if away > 0.0 { 2.2 } else { 12.0 }).exp()
    };
    let total: f64 = (1..40).map(weight).sum();
    let mut counts: Vec<u64> =
        (0..40).map(|b| if b == 0 { 0 } else { (weight(b) / total * dots as f64).round() as u64 }).collect();
    let end = counts.iter().rposition(|&c| c > 0).map_or(0, |last| last + 1);
    counts.truncate(end);
    counts
}

fn above(counts: &[u64], bits: u32) -> u64 {
    counts.iter().skip(bits as usize + 1).sum()
}

fn rows(network: &Network, bits: u32, mode: &str) -> (Vec<LayerRow>, Vec<LevelHistogram>) {
    let mut rows = Vec::new();
    let mut histograms = Vec::new();
    let mut damage: f64 = 0.0;
    for (i, layer) in network.layers.iter().enumerate() {
        let dots = layer.dots * SAMPLES;
        let (finals, prefixes) = (bell(dots, layer.bits), bell(dots, layer.bits + 0.8));
        let persistent = above(&finals, bits);
        let touched = above(&prefixes, bits).max(persistent);
        let wrong = if mode == "wrap" { persistent } else { touched };
        damage += wrong as f64 / dots as f64;
        let sqnr = if damage == 0.0 { f64::INFINITY } else { 10.0 - 9.0 * damage.log10() };
        rows.push(LayerRow {
            index: i,
            layer: layer.name.clone(),
            name: layer.name.clone(),
            op: layer.op.into(),
            level: "acc".into(),
            bits: Width::Bits(bits),
            overflow: Some(mode.into()),
            dots,
            terms: layer.terms,
            events: Some(touched * 3),
            events_high: Some(touched * 2),
            events_low: Some(touched),
            outputs_touched: Some(touched),
            persistent: Some(persistent),
            transient: Some(touched - persistent),
            wrong: Some(wrong),
            harmless: Some(wrong / 5),
            required_final: Some(finals.len() as u32 - 1),
            required_prefix: Some(prefixes.len() as u32 - 1),
            sum_abs_err: Some(u128::from(wrong) * 8192),
            max_abs_err: Some(if wrong > 0 { 32768 } else { 0 }),
            output_mismatch: Some((damage.min(1.0) * dots as f64 * 0.8) as u64),
            sqnr_db: Some(Decibel::new(sqnr)),
            cycles: Some(layer.dots * layer.terms as u64 / 200 + 40),
            first_event_cycle: (touched > 0).then_some(17 + i as u64),
            product_events: Some(0),
            bias_events: Some(0),
            compute_cycles: Some(layer.dots * layer.terms as u64 / 200),
            stall_cycles: Some(40),
            utilization: Some(Fraction::new(0.7)),
            sram_bytes: Some(layer.dots * layer.terms as u64 / 8),
            dram_bytes: Some(layer.dots * 2),
            time_us: Some((layer.dots * layer.terms as u64 / 200 + 40) as f64 / 500.0),
            stall_sram_cycles: Some(10),
            stall_dram_cycles: Some(30),
            exact_required_final: Some(finals.len() as u32 - 1),
            exact_required_prefix: Some(prefixes.len() as u32 - 1),
            ..LayerRow::default()
        });
        histograms.push(LevelHistogram {
            index: i,
            layer: layer.name.clone(),
            name: layer.name.clone(),
            op: layer.op.into(),
            level: "acc".into(),
            bits: Width::Bits(bits),
            overflow: Some(mode.into()),
            required_final: finals,
            required_prefix: prefixes,
        });
    }
    (rows, histograms)
}

fn score(rows: &[LayerRow]) -> Score {
    let wrong = |row: &LayerRow| row.wrong.unwrap_or(0) as f64 / row.dots as f64;
    let damage: f64 = rows.iter().map(wrong).sum::<f64>().min(1.0);
    let samples = |part: f64| Some((part * SAMPLES as f64).round() as u64);
    let last = rows.last().expect("a network has layers");
    let signal = 1 << 30;
    let ratio = 10f64.powf(last.sqnr_db.map_or(0.0, Decibel::value) / 10.0);
    Score {
        samples: SAMPLES,
        agreeing: samples(1.0 - 0.9 * damage.sqrt()),
        right_exact: samples(0.985),
        right: samples(0.985 - 0.885 * damage.powf(0.6)),
        output_mismatch: last.output_mismatch.unwrap_or(0),
        output_errors: Some(vec![OutputError {
            scale: 1.0,
            error: SquaredError { signal, noise: (signal as f64 / ratio) as u128 },
            values: 10 * SAMPLES,
        }]),
        ..Score::default()
    }
}

fn record(network: &Network, hw: &str, bits: u32, mode: &str) -> PointRecord {
    let (layers, histograms) = rows(network, bits, mode);
    let point = SweepPoint {
        parameters: Vec::new(),
        samples: String::new(),
        model: network.name.into(),
        hw: hw.into(),
        bits: Some(bits),
        overflow: mode.into(),
        level: "acc".into(),
    };
    let inference = InferenceCycles {
        accelerator: layers.iter().filter_map(|row| row.cycles).sum(),
        ..Default::default()
    };
    let summary =
        SummaryRow::new(&point, guardbit_sim::Mode::Propagated, &score(&layers), &layers, inference);
    PointRecord {
        aligned: Vec::new(),
        summary,
        parameters: Vec::new(),
        layers,
        histograms,
        classes: Vec::new(),
        outcomes: None,
        samples: String::new(),
        coverage: CoverageRecord::default(),
    }
}

fn run(network: &Network, bits: u32) -> RunRecord {
    let (layers, histograms) = rows(network, bits, "saturate");
    let activity = |row: &LayerRow| {
        let events = row.events.unwrap_or(0);
        let place =
            |i: u64, n: u64, seed: u64| events * ((i * 7919 + seed * 31) % 97 * (i + 5)) / (n * n * 30);
        let (rows, cols) = if network.layers.len() > 10 { (64, 48) } else { (16, 16) };
        LayerActivity {
            index: row.index,
            layer: row.layer.clone(),
            name: row.name.clone(),
            op: row.op.clone(),
            cycles: row.cycles.unwrap_or(0),
            timeline: (0..64).map(|i| place(i, 64, row.index as u64)).collect(),
            rows,
            cols,
            heat_map: (0..(rows * cols) as u64).map(|i| place(i % cols as u64 + i / 16, 64, 3)).collect(),
        }
    };
    let event = |row: &LayerRow| {
        row.first_event_cycle.map(|cycle| EventRow {
            sample: row.index % 3,
            index: row.index,
            layer: row.layer.clone(),
            name: row.name.clone(),
            level: "acc".into(),
            out_n: 0,
            out_h: 3,
            out_w: 1,
            out_c: 12,
            run: 0,
            k: 7,
            held: 8100,
            addend: if row.index == 1 { -16301 } else { 201 },
            exact: if row.index == 1 { -8201 } else { 8301 },
            direction: if row.index == 1 { "low".into() } else { "high".into() },
            cycle,
            pe_row: 1,
            pe_col: 12,
            stored: if row.index == 1 { -8192 } else { 8191 },
        })
    };
    let cycles = layers.iter().filter_map(|row| row.cycles).sum();
    let latency_us = layers.iter().filter_map(|row| row.time_us).sum::<f64>().round();
    let timing = NetworkTiming {
        convention: "overlapped".into(),
        cycles,
        stall_cycles: 40 * layers.len() as u64,
        stall_sram_cycles: 10 * layers.len() as u64,
        stall_dram_cycles: 30 * layers.len() as u64,
        host_cycles: 0,
        overlapped_cycles: cycles,
        accelerator_us: latency_us,
        host_us: 0.0,
        overlapped_us: latency_us,
        latency_us,
        throughput_per_s: Some((1e6 / latency_us).round()),
        pipelined_per_s: None,
        bound: Some("compute".into()),
        bound_ratio: Some(0.6),
        accelerator_bound: Some("compute".into()),
        accelerator_bound_ratio: Some(0.6),
        tiles: Vec::new(),
        macs: 0,
        peak_macs_per_cycle: 256,
        dram_bytes_per_cycle: 8.0,
        host: Vec::new(),
        gains: Vec::new(),
    };
    RunRecord {
        timing,
        coverage: CoverageRecord::default(),
        model: network.name.into(),
        hw: "fpga-int14-os".into(),
        mode: "propagated".into(),
        stats: "full".into(),
        outcome: (&score(&layers)).into(),
        activity: layers.iter().map(activity).collect(),
        events: layers.iter().filter_map(event).collect(),
        channels: Vec::new(),
        classes: Vec::new(),
        settled: Settled::default(),
        aligned: Vec::new(),
        aligned_bits: Vec::new(),
        sums: Vec::new(),
        design: DesignRecord::default(),
        histograms,
        layers,
        bottlenecks: Vec::new(),
        costs: Vec::new(),
        cost_rows: Vec::new(),
    }
}
