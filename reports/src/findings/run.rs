//! Findings of a run: what overflowed and how that affected the outputs.

use guardbit_hwmodels::timing::Bound;
use guardbit_num::{MAX_BITS, Overflow};

use super::certainty::{difference_text, within};
use super::float;
use crate::numbers::{counted, figure, grouped, number, percentage};
use crate::tables::{LayerRow, sum};
use crate::{Fraction, HostRow, NetworkTiming, RunRecord, ScoreFigures, layer_label};

/// Returns sentences on what overflowed, how that affected the outputs, and how many bits suffice.
pub fn run_findings(run: &RunRecord) -> Vec<String> {
    let RunFindings { overflow, outputs, bits, covered, time } = RunFindings::new(run);
    [overflow, outputs, bits, covered, time].concat()
}

/// Findings of a run by the question that they answer.
pub(crate) struct RunFindings {
    /// Does it overflow?
    pub overflow: Vec<String>,
    /// What does it cost in accuracy?
    pub outputs: Vec<String>,
    /// How wide must it be?
    pub bits: Vec<String>,
    /// What was run?
    pub covered: Vec<String>,
    /// How fast is it?
    pub time: Vec<String>,
}

impl RunFindings {
    pub fn new(run: &RunRecord) -> Self {
        let all = |sentences: Vec<Option<String>>| sentences.into_iter().flatten().collect();
        Self {
            overflow: all(vec![
                overflow(run),
                wrong(run),
                float::lost(run),
                float::overflows(run),
                float::wrong(run),
            ]),
            outputs: all(vec![outputs(run), accuracy(run), difference(run), judged(run)]),
            bits: bits(run).into_iter().chain(float::bits(run)).collect(),
            covered: covered(run).collect(),
            time: all(vec![Some(time(run)), bound(run)]),
        }
    }
}

fn overflow(run: &RunRecord) -> Option<String> {
    let events = sum(&run.layers, |row| row.events)?;
    let elsewhere = sum(&run.layers, |row| Some(row.product_events? + row.bias_events?)).unwrap_or(0);
    let mut text = if events == 0 {
        "No accumulator overflowed.".to_owned()
    } else {
        let touched = |row: &&LayerRow| row.touched_share().map_or(0.0, Fraction::value);
        // Of equal layers the first, as in the list of the worst.
        let worst = run.layers.iter().rev().max_by(|a, b| touched(a).total_cmp(&touched(b)))?;
        let layers = run.layers.iter().filter(|row| row.events > Some(0));
        let mut layers: Vec<usize> = layers.map(|row| row.index).collect();
        layers.dedup();
        let label = layer_label(worst.index, &worst.name);
        format!(
            "Accumulators overflowed {} in {}. {label} is affected most: {} of its dot products have an \
             overflow event.",
            times(events),
            counted(layers.len() as u64, "layer"),
            worst.touched_share().map_or("none".into(), percentage),
        )
    };
    if elsewhere > 0 {
        text += &format!(" Product registers and bias adders overflowed {}.", times(elsewhere));
    }
    Some(text)
}

fn wrong(run: &RunRecord) -> Option<String> {
    let wrong = sum(&run.layers, |row| row.wrong)?;
    let dots = sum(&run.layers, |row| row.wrong.map(|_| row.dots))?;
    if wrong == 0 {
        return Some(format!("All sums are exact ({}).", counted(dots, "sum")));
    }
    let harmless = sum(&run.layers, |row| row.harmless).unwrap_or(0);
    Some(format!(
        "{} of {} {} wrong ({}); {} of them do not change the output code.",
        grouped(wrong),
        counted(dots, "sum"),
        number(wrong, "is", "are"),
        Fraction::of(wrong, dots).map_or(String::new(), percentage),
        grouped(harmless),
    ))
}

fn outputs(run: &RunRecord) -> Option<String> {
    let differing = run.outcome.output_mismatch;
    let output = run.output_word();
    let whose = if run.mode == "isolated" { "the layers" } else { "the network" };
    Some(if differing == 0 {
        format!("Every {output} of {whose} equals the exact one.")
    } else {
        let verb = number(differing, "differs", "differ");
        format!("{} of {whose} {verb} from the exact ones.", counted(differing, output))
    })
}

fn accuracy(run: &RunRecord) -> Option<String> {
    let outcome = &run.outcome;
    let agreement = outcome.top1_agreement.map(|share| {
        let within = within(outcome.agreement_interval);
        format!("{}{within} of the top-1 classes equal those of the exact network", percentage(share))
    });
    let accuracy = outcome.accuracy.zip(outcome.accuracy_exact).map(|(accuracy, exact)| {
        let (own, others) = (within(outcome.accuracy_interval), within(outcome.accuracy_exact_interval));
        format!(
            "the accuracy is {}{own}, that of the exact network {}{others}",
            percentage(accuracy),
            percentage(exact)
        )
    });
    let both: Vec<String> = [agreement, accuracy].into_iter().flatten().collect();
    (!both.is_empty()).then(|| capitalized(&both.join("; ")) + ". Brackets show 95 % intervals.")
}

/// Describes the result of a detector or a regressor against its labels.
fn judged(run: &RunRecord) -> Option<String> {
    let outcome = &run.outcome;
    if let Some((auc, exact)) = outcome.auc.zip(outcome.auc_exact) {
        return Some(format!("The area under the ROC curve is {auc}, that of the exact network {exact}."));
    }
    let (mse, exact) = outcome.mse.zip(outcome.mse_exact)?;
    Some(format!("The mean squared error against the labels is {mse}, that of the exact network {exact}."))
}

/// Describes whether the samples distinguish the accuracy from that of the exact network.
fn difference(run: &RunRecord) -> Option<String> {
    let ScoreFigures { samples, lost, gained, mcnemar_p, accuracy_interval, .. } = run.outcome;
    difference_text(samples, lost.zip(gained), mcnemar_p, accuracy_interval)
}

/// Returns, per level, a sentence on the number of bits that suffice.
fn bits(run: &RunRecord) -> Vec<String> {
    let mut levels: Vec<LevelNeed<'_>> = Vec::new();
    for row in run.layers.iter().filter(|row| row.required_final.is_some()) {
        match levels.iter_mut().find(|level| level.name == row.level) {
            Some(level) => level.add(row),
            None => {
                let mut level = LevelNeed { name: &row.level, ..LevelNeed::default() };
                level.add(row);
                levels.push(level);
            }
        }
    }
    levels.iter().flat_map(|level| [level.enough(), level.met()]).flatten().collect()
}

/// Bits required by the final sums and the prefixes of one level, over all layers.
#[derive(Default)]
struct LevelNeed<'a> {
    name: &'a str,
    /// Required bits in a network without overflows.
    exact: Option<[u32; 2]>,
    /// Required bits on the activations of this run.
    met: [u32; 2],
    /// Layers for which the width of this level alone decides nothing.
    undecided: u64,
    /// Overflow mode, if its rails are symmetric.
    symmetric: Option<Overflow>,
}

impl LevelNeed<'_> {
    fn add(&mut self, row: &LayerRow) {
        let most = |a: [u32; 2], b: [u32; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        self.met = most(self.met, [row.required_final.unwrap_or(0), row.required_prefix.unwrap_or(0)]);
        match (row.exact_required_final, row.exact_required_prefix) {
            (Some(finals), Some(prefixes)) => {
                self.exact = Some(most(self.exact.unwrap_or_default(), [finals, prefixes]));
            }
            _ => self.undecided += 1,
        }
        let mode = row.overflow.as_deref().and_then(|name| name.parse::<Overflow>().ok());
        self.symmetric = mode.filter(|mode| mode.is_symmetric()).or(self.symmetric);
    }

    /// Returns a sentence on the widths to build.
    fn enough(&self) -> Option<String> {
        let [finals, prefixes] = self.exact?;
        let level = self.name;
        if finals > MAX_BITS || prefixes > MAX_BITS {
            return Some(format!(
                "Level {level} is unsigned, but some sums are negative: no width holds them."
            ));
        }
        let mut text = format!(
            "If no accumulator overflows, level {level} requires {finals} bits for every final sum of \
             these samples (enough for wrapping) and {prefixes} bits for every prefix (enough for \
             saturation)"
        );
        if let Some(mode) = self.symmetric {
            text += &format!(" ({mode} may require one more)");
        }
        if self.undecided > 0 {
            text += &format!(
                "; {} in which products overflow or lanes share an adder are not counted",
                counted(self.undecided, "layer")
            );
        }
        Some(text + ". `guardbit size` proves widths for every input.")
    }

    /// Returns a sentence on the required bits of this run, if they differ from those of the exact network.
    fn met(&self) -> Option<String> {
        let ([finals, prefixes], level) = (self.met, self.name);
        (self.exact.is_some_and(|exact| exact != self.met) && finals.max(prefixes) <= MAX_BITS).then(|| {
            format!(
                "Earlier overflow changed the activations: in this run, level {level} required {finals} \
                 bits for final sums and {prefixes} for prefixes. These are not widths to build."
            )
        })
    }
}

/// Returns sentences on the part of the network that the accelerator runs.
fn covered(run: &RunRecord) -> impl Iterator<Item = String> {
    run.coverage.sentences().into_iter().map(|sentence| sentence + ".")
}

/// Describes the time of one inference.
fn time(run: &RunRecord) -> String {
    let NetworkTiming { convention, cycles, stall_cycles, latency_us, accelerator_us, .. } = &run.timing;
    let often = |per_second: f64| format!("{} inferences per second", figure(per_second));
    let mut text = format!(
        "One inference takes {} on the accelerator, {} \u{b5}s",
        counted(*cycles, "cycle"),
        figure(*accelerator_us)
    );
    let often_alone = run.timing.throughput_per_s.filter(|_| run.timing.host_cycles == 0);
    text += &often_alone.map_or(String::new(), |rate| format!(" ({})", often(rate)));
    text += "; ";
    text += &match (convention.as_str(), Fraction::of(*stall_cycles, *cycles)) {
        ("scalesim_v3", _) => "the convention does not count stalls".to_owned(),
        (_, Some(share)) if *stall_cycles > 0 => {
            let of = |stalls: u64| Fraction::of(stalls, *cycles).map_or_else(String::new, percentage);
            let (sram, dram) = (of(run.timing.stall_sram_cycles), of(run.timing.stall_dram_cycles));
            format!("{} of the cycles are stalls (SRAM {sram}, DRAM {dram})", percentage(share))
        }
        _ => "there are no stalls".to_owned(),
    };
    if let Some(rate) = run.timing.pipelined_per_s {
        text += &format!("; with all layers running at the same time, {}", often(rate));
    }
    text + &match run.timing.host.as_slice() {
        [] => ".".to_owned(),
        host => {
            let NetworkTiming { host_cycles, host_us, overlapped_us, throughput_per_s, .. } = &run.timing;
            let rate = throughput_per_s.map_or(String::new(), |rate| format!(" ({})", often(rate)));
            format!(
                ". The host runs {} ({}) in {} of the same clock, {} \u{b5}s. One after the other they take {} \
                 \u{b5}s{rate}. Overlapped they take {} \u{b5}s.",
                counted(host.len() as u64, "operation"),
                HostRow::counted(host),
                counted(*host_cycles, "cycle"),
                figure(*host_us),
                figure(*latency_us),
                figure(*overlapped_us),
            )
        }
    }
}

/// Describes which resource the cycles are spent on.
fn bound(run: &RunRecord) -> Option<String> {
    let all: u64 = run.bottlenecks.iter().map(|row| row.cycles).sum();
    let of = |name: &str| {
        let cycles: u64 = run.bottlenecks.iter().filter(|row| row.bound == name).map(|row| row.cycles).sum();
        Fraction::of(cycles, all).filter(|_| cycles > 0)
    };
    let share = |bound: Bound| Some(format!("{} {}", bound.words(), percentage(of(bound.name())?)));
    let shares: Vec<String> = Bound::ALL.into_iter().filter_map(share).collect();
    let slowest = run.bottlenecks.iter().max_by_key(|row| (row.cycles, std::cmp::Reverse(row.index)))?;
    (!shares.is_empty()).then(|| {
        format!(
            "Cycles by the resource that limits the layer: {}. {} takes the most cycles. {}",
            shares.join(", "),
            layer_label(slowest.index, &slowest.name),
            run.timing.gains_text().map_or(String::new(), |gains| format!("Twice as fast, {gains}."))
        )
        .trim_end()
        .to_owned()
    })
}

fn times(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{} times", grouped(count)) }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
