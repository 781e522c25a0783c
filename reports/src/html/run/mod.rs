//! HTML report of a run.

mod aligned;
mod machine;
mod overflow;
mod panels;
mod speed;
mod tables;
mod worst;

pub(crate) use machine::picture as accelerator_picture;

use super::page::{Front, Page, Section, sentences};
use super::plot::{picture, svg_of};
use super::{accelerators, settings, words};
use crate::about::About;
use crate::findings::{RunFindings, run_answer};
use crate::numbers::{counted, figure, grouped, percentage};
use crate::plots::Drawn;
use crate::tables::{AlignedRow, sum};
use crate::{Fraction, RunRecord, layer_label};

/// Returns the page.
pub(crate) fn run(about: &About, run: &RunRecord, drawn: &[Drawn<RunRecord>]) -> String {
    let found = RunFindings::new(run);
    let samples = counted(run.outcome.samples, "sample");
    let svg = |name| svg_of(drawn, name);
    let worst = worst::worst(run);
    let lost = if run.is_float() { "Does it lose bits?" } else { "Does it overflow?" };
    let sections = vec![
        Section::new(
            "overflow",
            lost,
            [sentences(&found.overflow), tables::levels(run), aligned::aligned(run)],
        ),
        Section::new(
            "where",
            "Where does it overflow?",
            [
                overflow::places(run, svg("overflow_heat_map")),
                overflow::timeline(run, svg("overflow_timeline")),
                tables::first_events(run),
            ],
        ),
        Section::new(
            "accuracy",
            "What does it cost in accuracy?",
            [sentences(&found.outputs), overflow::sqnr(run, svg("sqnr")), tables::classes(run)],
        ),
        Section::new(
            "width",
            "How wide must it be?",
            [
                sentences(&found.bits),
                overflow::required_bits(run, svg("required_bits")),
                picture(drawn, "sum_histograms"),
                aligned::fraction_bits(run, svg("fraction_bits")),
            ],
        ),
        Section::new(
            "speed",
            "How fast, how much energy, what bounds it?",
            [
                sentences(&found.time),
                machine::drawing(run),
                speed::time(run),
                speed::roofline(run, svg("roofline")),
                speed::utilization(run),
                speed::traffic(run),
                tables::times(run),
                tables::host(run),
                speed::energy(run),
                speed::area(run),
                tables::costs(run),
            ],
        ),
        Section::new(
            "what",
            "What was run?",
            [sentences(&found.covered), settings(about), accelerators(about), words(run.is_float())],
        ),
    ];
    Page {
        title: format!("{} on {}", run.model, run.hw),
        subtitle: format!("guardbit run · {samples} · {} · statistics: {}", run.mode, run.stats),
        about,
        front: Front {
            answer: run_answer(run),
            figures: figures(run),
            picture: worst::picture(run, &worst),
            worst: worst::list(run, &worst),
        },
        sections,
        data: panels::data(about, run),
    }
    .document()
}

/// Returns the key figures.
fn figures(run: &RunRecord) -> Vec<(&'static str, String, String)> {
    let (outcome, timing) = (&run.outcome, &run.timing);
    let mut all = Vec::new();
    let interval = |interval: Option<crate::Interval>| {
        interval
            .map_or(String::new(), |one| format!("95 %: {} to {}", percentage(one.low), percentage(one.high)))
    };
    if let Some(accuracy) = outcome.accuracy {
        all.push(("Accuracy", percentage(accuracy), interval(outcome.accuracy_interval)));
        let exact = outcome.accuracy_exact.map_or(String::new(), percentage);
        all.push(("Exact network", exact, interval(outcome.accuracy_exact_interval)));
    } else if let Some(agreement) = outcome.top1_agreement {
        all.push(("Same top-1 class", percentage(agreement), interval(outcome.agreement_interval)));
    }
    let (wrong, dots) =
        (sum(&run.layers, |row| row.wrong), sum(&run.layers, |row| row.wrong.map(|_| row.dots)));
    if let (Some(wrong), Some(dots)) = (wrong, dots) {
        let share = Fraction::of(wrong, dots).map_or(String::new(), percentage);
        all.push(("Wrong sums", share, format!("{} of {}", grouped(wrong), grouped(dots))));
    }
    let most = |of: fn(&crate::LayerRow) -> Option<u32>| run.layers.iter().filter_map(of).max();
    if let (Some(finals), Some(prefixes)) =
        (most(|row| row.exact_required_final), most(|row| row.exact_required_prefix))
    {
        all.push((
            "Bits for these samples",
            format!("{finals} / {prefixes}"),
            "wrapping / saturating".into(),
        ));
    }
    let rate = timing.throughput_per_s.map_or(String::new(), |rate| format!("{} per second", figure(rate)));
    all.push(("One inference", duration(timing.latency_us), rate));
    if run.is_float() {
        let count = |of: fn(&AlignedRow) -> u64| -> u64 { run.aligned.iter().map(of).sum() };
        let (wrong, dots) = (count(|row| row.wrong), count(|row| row.dots));
        let share = Fraction::of(wrong, dots).map_or(String::new(), percentage);
        all.push(("Wrong sums", share, format!("{} of {}", grouped(wrong), grouped(dots))));
        let required = run.aligned.iter().map(|row| row.required_result).collect::<Option<Vec<_>>>();
        let required = required.and_then(|all| all.into_iter().max());
        all.extend(
            required.map(|bits| ("Fraction bits required", bits.to_string(), "result of 40 bits".into())),
        );
    }
    let clock = run.design.clock_mhz;
    if timing.latency_us > 0.0 && timing.macs > 0 {
        let rate = 2e6 * timing.macs as f64 / timing.latency_us;
        let peak = 2e6 * timing.peak_macs_per_cycle as f64 * clock;
        all.push(("Operations", per_second(rate), format!("peak {}", per_second(peak))));
        for cost in &run.costs {
            if let Some(energy) = cost.energy_pj.filter(|&energy| energy > 0.0) {
                let without = cost.energy_without.iter().map(|part| format!(", without {part}"));
                let remark = cost.model.clone() + &without.collect::<String>();
                // Operations per picojoule are tera-operations per joule.
                let per_watt = 2e12 * timing.macs as f64 / energy;
                all.push(("Energy", format!("{} \u{b5}J", figure(energy / 1e6)), remark.clone()));
                all.push(("Efficiency", per_second(per_watt) + "/W", remark));
            }
        }
    }
    if let Some(bound) = &timing.bound {
        let less = timing.bound_ratio.map_or(String::new(), |ratio| {
            format!("twice as fast: {} less time", percentage(Fraction::new(1.0 - ratio)))
        });
        all.push(("Bound of an inference", speed::bound_in_words(bound).to_owned(), less));
    }
    if let Some(slowest) = run.bottlenecks.iter().max_by_key(|row| (row.cycles, std::cmp::Reverse(row.index)))
    {
        let bound = speed::bound_in_words(&slowest.bound);
        all.push((
            "Slowest layer",
            layer_label(slowest.index, &slowest.name),
            format!("bound by its {bound}"),
        ));
    }
    all
}

/// Returns a time in a unit that keeps it short.
fn duration(microseconds: f64) -> String {
    match microseconds {
        0.0..1e3 => format!("{} \u{b5}s", figure(microseconds)),
        1e3..1e6 => format!("{} ms", figure(microseconds / 1e3)),
        _ => format!("{} s", figure(microseconds / 1e6)),
    }
}

/// Returns operations per second in a unit that keeps them short.
fn per_second(rate: f64) -> String {
    let units = [(1e12, "TOPS"), (1e9, "GOPS"), (1e6, "MOPS")];
    let (unit, name) = units.into_iter().find(|(unit, _)| rate >= *unit).unwrap_or((1.0, "OPS"));
    format!("{} {name}", figure(rate / unit))
}
