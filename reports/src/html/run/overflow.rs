//! Plots of where a run overflows, what it costs and how wide accumulators must be.

use guardbit_num::MAX_BITS;
use maud::Markup;

use super::super::plot::{Axis, Kind, Row, Spec};
use crate::plots::Extremes;
use crate::{LayerActivity, LevelHistogram, RunRecord, layer_label};

/// Greatest number of rows of a plot.
const ROWS: usize = 200;

/// Returns the events of every processing element of one layer, which the reader chooses.
pub(super) fn places(run: &RunRecord, instead: Option<&str>) -> Markup {
    if run.activity.iter().all(|activity| activity.heat_map.iter().all(|&events| events == 0)) {
        return Markup::default();
    }
    Spec { kind: Kind::Places, x: Axis::new("column"), y: Axis::new("row"), ..Spec::default() }.figure(
        "Overflow events per processing element",
        "Events of all samples at each element of the array, for one layer.",
        instead,
    )
}

/// Returns the events over the cycles of every layer with events.
pub(super) fn timeline(run: &RunRecord, instead: Option<&str>) -> Markup {
    let with_events: Vec<&LayerActivity> = run.activity.iter().filter(|layer| layer.events() > 0).collect();
    let layers = Extremes::of(with_events, ROWS, |layer| layer.events() as f64);
    let note = layers.left_out("layers", "events");
    let parts = layers.shown.iter().map(|layer| layer.timeline.len()).max().unwrap_or(0);
    let row = |layer: &&LayerActivity| Row {
        name: layer_label(layer.index, &layer.name),
        layer: Some(layer.index),
        values: layer.timeline.iter().map(|&events| (events > 0).then_some(events as f64)).collect(),
        ..Row::default()
    };
    let spec = Spec {
        kind: Kind::Heat,
        x: Axis::new("events").log(true),
        y: Axis::new("part of the layer's cycles (%)"),
        names: (0..parts).map(|part| (100 * part / parts).to_string()).collect(),
        rows: layers.shown.iter().map(row).collect(),
        note,
        ..Spec::default()
    };
    spec.figure(
        "Overflow events over time",
        "Each row divides the cycles of one layer into equal parts, from its start to its end.",
        instead,
    )
}

/// Returns the noise of every layer.
pub(super) fn sqnr(run: &RunRecord, instead: Option<&str>) -> Markup {
    let finite = run.output_sqnr().into_iter().filter(|(.., sqnr)| sqnr.is_finite()).collect();
    let rows = Extremes::of(finite, ROWS, |(.., sqnr)| -sqnr);
    let note = rows.left_out("layers", "SQNR");
    let row = |(index, name, sqnr): &(usize, &str, f64)| Row {
        name: layer_label(*index, name),
        layer: Some(*index),
        values: vec![Some(*sqnr)],
        ..Row::default()
    };
    let spec = Spec {
        kind: Kind::Bars,
        x: Axis::new("SQNR (dB)"),
        names: vec!["SQNR".into()],
        rows: rows.shown.iter().map(row).collect(),
        note,
        ..Spec::default()
    };
    spec.figure(
        "Output SQNR of the layers",
        "Signal to quantization noise ratio of each layer's real output against the exact network. Layers \
         without any difference are left out.",
        instead,
    )
}

/// Returns the distribution of the bits that the sums of every level require.
pub(super) fn required_bits(run: &RunRecord, instead: Option<&str>) -> Markup {
    let several = run.histograms.windows(2).any(|pair| pair[0].index == pair[1].index);
    let greatest =
        |one: &LevelHistogram| one.required_prefix.len().max(one.required_final.len()).saturating_sub(1);
    // Positive where sums do not fit: those levels are shown first if there are too many.
    let badness =
        |one: &&LevelHistogram| greatest(one) as f64 - f64::from(one.bits.bits().unwrap_or(MAX_BITS));
    let levels = Extremes::of(run.histograms.iter().collect(), ROWS, badness);
    let note = levels.left_out("levels", "required bits beyond the width");
    let levels = levels.shown;
    let high = levels.iter().map(|one| greatest(one)).max().unwrap_or(0).min(MAX_BITS as usize + 1);
    let low = levels
        .iter()
        .filter_map(|one| one.required_final.iter().position(|&count| count > 0))
        .min()
        .unwrap_or(0)
        .min(high);
    let row = |one: &LevelHistogram, view: usize, counts: &[u64]| {
        let all = counts.iter().sum::<u64>().max(1) as f64;
        let share =
            |bits: usize| counts.get(bits).filter(|&&count| count > 0).map(|&count| count as f64 / all);
        let layer = layer_label(one.index, &one.name);
        let fence = one
            .bits
            .bits()
            .map(|bits| f64::from(bits).clamp(low as f64 - 1.0, high as f64) + 1.0 - low as f64);
        Row {
            name: if several { format!("{layer} · {}", one.level) } else { layer },
            layer: Some(one.index),
            values: (low..=high).map(share).collect(),
            view,
            fence,
            text: String::new(),
        }
    };
    let finals = levels.iter().map(|one| row(one, 0, &one.required_final));
    let prefixes = levels.iter().map(|one| row(one, 1, &one.required_prefix));
    let spec = Spec {
        kind: Kind::Heat,
        x: Axis::new("dot products").percent().log(true),
        y: Axis::new("required bits"),
        names: (low..=high).map(|bits| bits.to_string()).collect(),
        rows: finals.chain(prefixes).collect(),
        views: ["final sums (wrapping)", "prefixes (saturating)"].map(String::from).into(),
        note,
        ..Spec::default()
    };
    spec.figure(
        "Required bits of the sums against the available width",
        "Share of the dot products whose sums require a number of bits. Sums to the right of the bar do not \
         fit the available width. In propagated mode the activations are those of this run, which earlier \
         overflow may have changed.",
        instead,
    )
}
