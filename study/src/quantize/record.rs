//! Record of a quantization for tables and reports.

use std::collections::HashMap;

use guardbit_files::{Digest, ListedSettings};
use guardbit_hwmodels::bounds::LayerBounds;
use guardbit_hwmodels::{Accelerator, Level, MacLayer, Program, Register};
use guardbit_quantize::{Quantized, TensorFigures, UnitFigures};
use guardbit_reports::{
    About, Decibel, HistogramRow, Pages, PartRow, ProofRow, QuantizeRecord, TensorRow, TradeOffRow, counted,
};
use serde::Serialize;

use super::{Measured, QuantizeRequest, codes_texts, float_words};
use crate::InputSource;

pub(super) fn record(
    request: &QuantizeRequest,
    quantized: &Quantized,
    samples: usize,
    accelerator: &Accelerator,
    tradeoffs: Vec<TradeOffRow>,
    Measured { run, proofs, float, indices, .. }: &Measured,
) -> QuantizeRecord {
    let own = |(name, of): &super::OwnStatistic| (name.clone(), of(quantized));
    QuantizeRecord {
        model: run.model.clone(),
        hw: accelerator.name.clone(),
        method: method(request),
        samples: samples as u64,
        evaluated: run.outcome.samples,
        accuracy_float: float.accuracy_exact,
        accuracy: run.outcome.accuracy_exact,
        accuracy_hw: run.outcome.accuracy.filter(|_| request.hw.is_some()),
        parts: quantized
            .units
            .iter()
            .enumerate()
            .map(|(index, unit)| part(index, unit, request, indices))
            .collect(),
        tensors: quantized.tensors.iter().map(tensor).collect(),
        histograms: quantized.tensors.iter().flat_map(histogram).collect(),
        layers: run.layers.clone(),
        proofs: proofs.clone(),
        tradeoffs,
        own: request.statistics.iter().map(own).collect(),
    }
}

/// Returns the proved width for every level of a program's layers, next to the width of its register.
pub(super) fn proofs(program: &Program) -> Vec<ProofRow> {
    let layer = |mac: &MacLayer| {
        let bounds = LayerBounds::new(&program.graph, mac);
        let level = |(index, level): (usize, &Level)| ProofRow {
            index: mac.node.index(),
            layer: mac.name.clone(),
            name: mac.short_name.clone(),
            level: level.name.clone(),
            register_bits: level.register.fixed().map(|(format, _)| format.bits()),
            proved_bits: bounds.proved_bits(index),
            safe: bounds.channels.iter().all(|channel| level.register.keeps(channel.proved()[index])),
        };
        mac.datapath.levels.iter().enumerate().map(level).collect::<Vec<_>>()
    };
    program.mac_layers().flat_map(layer).collect()
}

fn part(
    index: usize,
    unit: &UnitFigures,
    request: &QuantizeRequest,
    indices: &HashMap<String, usize>,
) -> PartRow {
    let [weights, activations] = match unit.float.is_none() && unit.layer.is_some() {
        true => float_words(&request.config).map_or([None, None], |words| words.map(Some)),
        false => [None, None],
    };
    PartRow {
        index,
        part: unit.name.clone(),
        pattern: unit.pattern.to_owned(),
        class: unit.class.map(|class| class.name().to_owned()),
        weight_bits: unit.weight_bits,
        float: unit.float.clone(),
        sqnr_db: Some(Decibel::new(unit.likeness.sqnr_db())),
        cosine: Some(rounded(unit.likeness.cosine())),
        max_error: rounded(unit.likeness.greatest_error()),
        rounded_sums: unit.rounded_sums,
        layer: unit.layer.clone(),
        layer_index: unit.layer.as_ref().and_then(|name| indices.get(name)).copied(),
        weights,
        activations,
    }
}

fn tensor(figures: &TensorFigures) -> TensorRow {
    let codes = figures.codes;
    TensorRow {
        tensor: figures.name.clone(),
        dtype: codes.dtype.name().to_owned(),
        code_min: codes.range.min().into(),
        code_max: codes.range.max().into(),
        scale: codes.parameters.scale.into(),
        zero_point: codes.parameters.zero_point.into(),
        float_min: figures.float_range[0].into(),
        float_max: figures.float_range[1].into(),
        real_min: figures.covered[0].into(),
        real_max: figures.covered[1].into(),
        values: figures.values,
        at_min: figures.at_ends[0],
        at_max: figures.at_ends[1],
    }
}

fn histogram(figures: &TensorFigures) -> Vec<HistogramRow> {
    let [low, high] = figures.float_range.map(f64::from);
    let width = (high - low) / figures.histogram.len().max(1) as f64;
    let bin = |(index, &count): (usize, &u64)| HistogramRow {
        tensor: figures.name.clone(),
        low: low + index as f64 * width,
        high: low + (index + 1) as f64 * width,
        count,
    };
    figures.histogram.iter().enumerate().map(bin).collect()
}

/// Rounds to nine decimals, so that figures are equal on all machines.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// Returns the names of the methods.
pub(super) fn method(request: &QuantizeRequest) -> String {
    match &request.config.layer_method {
        _ if request.dynamic => "dynamic".into(),
        Some(method) => method.name().to_owned(),
        None => request.config.method.name().to_owned(),
    }
}

/// Describes the accumulator's levels in words: `acc int14 saturate`.
pub(super) fn accumulator(accelerator: &Accelerator) -> String {
    let level = |level: &guardbit_hwmodels::Level| match level.register {
        Register::Auto => format!("{} auto", level.name),
        Register::Fixed { format, overflow } => {
            let sign = if format.is_signed() { "int" } else { "uint" };
            format!("{} {sign}{} {}", level.name, format.bits(), overflow.name())
        }
    };
    accelerator.datapath.levels.iter().map(level).collect::<Vec<_>>().join(", ")
}

/// Describes the run in words for the report.
pub(super) fn about(request: &QuantizeRequest, accelerator: &Accelerator) -> About {
    let file = |path: &std::path::Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let calibration = match &request.calibration {
        InputSource::File { path, .. } => file(path),
        InputSource::Random { count, seed } => {
            format!("{}, seed {seed}", counted(*count as u64, "random sample"))
        }
    };
    let config = &request.config;
    let in_words = match &request.hw {
        Some(_) => crate::run::in_words(accelerator, &request.sets),
        None => format!("none was named; figures of layers are those on {}", accelerator.name),
    };
    let scales = if config.setting.per_channel { "per channel" } else { "per tensor" };
    let [weights, activations] = codes_texts(config);
    let mut pairs = vec![
        ("Model", file(&request.model)),
        ("Calibration", calibration),
        ("Method", method(request)),
        ("Activations", activations),
        ("Weights", format!("{weights}, {scales}")),
        ("Accelerator", in_words),
    ];
    pairs.extend(request.test.as_deref().map(|path| ("Test", file(path))));
    pairs.extend(request.labels.as_deref().map(|path| ("Labels", file(path))));
    pairs.extend(request.sets.iter().map(|set| ("Set", set.clone())));
    let pages = Pages { style: request.style, ..Pages::default() };
    About { pages, ..crate::about(pairs, [accelerator]) }
}

/// Figures in `quantize.json`.
#[derive(Serialize)]
pub(super) struct Figures<'a> {
    pub result: &'a QuantizeRecord,
}

/// Settings that decide the figures, with the content of the calibration samples.
#[derive(Serialize)]
pub(super) struct Deciding {
    pub calibration: Digest,
    #[serde(flatten)]
    pub settings: ListedSettings,
}
