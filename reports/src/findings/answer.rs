//! One sentence per report that answers its question.

use guardbit_sim::Mode;

use super::certainty::{by_chance, left_open, within};
use super::sweep::{Question, group_findings};
use crate::numbers::{counted, figure, grouped, number, percentage};
use crate::plots::{Group, Groups};
use crate::tables::{AlignedRow, LayerRow, sum};
use crate::{
    DesignLevel, Fraction, PointRecord, QuantizeRecord, RunRecord, ScoreFigures, SizeRecord, SummaryRow,
};

/// Returns what overflow costs a network.
pub fn run_answer(run: &RunRecord) -> String {
    let outcome = &run.outcome;
    let output = run.output_word();
    let samples = counted(outcome.samples, "sample");
    if run.layers.is_empty() && run.aligned.is_empty() {
        return format!(
            "The accelerator runs no layer of the network: the host computes its outputs, on {samples}."
        );
    }
    if let Some((differ, all)) = alone(run) {
        // Errors of single layers do not reach the outputs of the network.
        return format!(
            "Each layer alone, on exact activations: {} of {} other {output}s on {samples}.",
            grouped(differ),
            if all == 1 { "1 layer gives".to_owned() } else { format!("{} give", counted(all, "layer")) }
        );
    }
    let events = sum(&run.layers, |row| row.events);
    let widths = widths(run);
    if let (Some(accuracy), Some(exact)) = (outcome.accuracy, outcome.accuracy_exact) {
        let cost = lost(accuracy, exact);
        return match (accuracy == exact, events) {
            (true, Some(0)) => format!(
                "No accumulator {widths} overflows{}: accuracy stays at {} on {samples}.",
                required(run),
                percentage(accuracy)
            ),
            (true, _) => format!(
                "Accumulators {widths} {}lose no accuracy: it stays at {} {}{}.",
                overflow_and(run, events),
                percentage(accuracy),
                unchanged_on(outcome),
                also(output, outcome)
            ),
            (false, _) => format!(
                "Accumulators {widths} {cost}: {} instead of {} on {samples}{}.",
                percentage(accuracy),
                percentage(exact),
                by_chance(outcome.samples, outcome.mcnemar_p)
            ),
        };
    }
    if let Some(share) = outcome.top1_agreement {
        // One sample says nothing about others.
        let within = within(outcome.agreement_interval.filter(|_| outcome.samples > 1));
        return match events {
            Some(0) => format!("No accumulator {widths} overflows{} on {samples}.", required(run)),
            _ if share.value() >= 1.0 => {
                format!(
                    "Accumulators {widths} {}change no top-1 class {}{}.",
                    overflow_and(run, events),
                    left_open(outcome.samples),
                    also(output, outcome)
                )
            }
            _ => format!(
                "Accumulators {widths} keep {}{within} of the top-1 classes on {samples}.",
                percentage(share)
            ),
        };
    }
    match (events, outcome.output_mismatch) {
        (Some(0), 0) => format!("No accumulator {widths} overflows{} on {samples}.", required(run)),
        (Some(_), 0) => format!(
            "Accumulators {widths} overflow in {}, and change no {output} on {samples}.",
            overflowing(run)
        ),
        (None, 0) => format!("Accumulators {widths} change no {output} on {samples}."),
        (_, codes) => format!(
            "Accumulators {widths} change {}{} on {samples}.",
            counted(codes, output),
            share_of_codes(outcome).map_or(String::new(), |share| format!(" ({share})"))
        ),
    }
}

/// Returns the number of layers whose outputs differ, and of all layers, if each layer reads exact activations.
fn alone(run: &RunRecord) -> Option<(u64, u64)> {
    if run.mode != Mode::Isolated.name() {
        return None;
    }
    let integer = run.layers.iter().map(|row| (row.index, row.output_mismatch > Some(0)));
    let float = run.aligned.iter().map(|row| (row.index, row.output_mismatch > 0));
    let mut layers: Vec<(usize, bool)> = integer.chain(float).collect();
    layers.sort_unstable();
    // Of the levels of a layer, one that differs comes last.
    layers.reverse();
    layers.dedup_by_key(|(index, _)| *index);
    let differ = layers.iter().filter(|(_, differs)| *differs).count();
    (!layers.is_empty()).then_some((differ as u64, layers.len() as u64))
}

/// Returns, before a figure that does not change, that accumulators overflow nevertheless.
fn overflow_and(run: &RunRecord, events: Option<u64>) -> String {
    match events {
        Some(1..) => format!("overflow in {}, and ", overflowing(run)),
        _ => String::new(),
    }
}

/// Returns the number of layers with an event, e.g. `2 of 28 layers`.
fn overflowing(run: &RunRecord) -> String {
    let layers = |is: fn(&&LayerRow) -> bool| {
        let mut layers: Vec<usize> = run.layers.iter().filter(is).map(|row| row.index).collect();
        layers.dedup();
        layers.len() as u64
    };
    let all = layers(|_| true);
    format!("{} of {}", grouped(layers(|row| row.events > Some(0))), counted(all, "layer"))
}

/// Returns, in brackets, the most bits that sums of the samples require.
fn required(run: &RunRecord) -> String {
    let bits = run.layers.iter().filter_map(|row| row.exact_required_prefix.or(row.required_prefix)).max();
    bits.map_or(String::new(), |bits| format!(" (sums require up to {bits} bits)"))
}

/// Returns the samples with what they leave open about other inputs, if none of them tells the networks apart.
fn unchanged_on(outcome: &ScoreFigures) -> String {
    match (outcome.lost, outcome.gained) {
        (Some(0), Some(0)) => left_open(outcome.samples),
        (Some(lost), Some(gained)) => {
            let samples = counted(outcome.samples, "sample");
            format!("on {samples} ({} lost, {} gained)", counted(lost, "correct class"), grouped(gained))
        }
        _ => format!("on {}", counted(outcome.samples, "sample")),
    }
}

fn share_of_codes(outcome: &ScoreFigures) -> Option<String> {
    Fraction::of(outcome.output_mismatch, outcome.output_codes?).map(percentage)
}

/// Returns, behind a figure that does not change, that outputs do.
fn also(output: &str, outcome: &ScoreFigures) -> String {
    match (outcome.output_mismatch, share_of_codes(outcome)) {
        (0, _) => String::new(),
        (_, Some(share)) => format!("; {share} of the {output}s differ"),
        (codes, None) => {
            format!("; {} {}", counted(codes, output), number(codes, "differs", "differ"))
        }
    }
}

/// Returns the difference of two accuracies in words, e.g. `lose 73.1 points of accuracy`.
fn lost(accuracy: Fraction, exact: Fraction) -> String {
    let points = ((exact.value() - accuracy.value()) * 1e4).round() / 1e2;
    let size = figure(points.abs());
    match points {
        0.0 => "lose no accuracy".into(),
        0.0.. => format!("lose {size} {} of accuracy", if points == 1.0 { "point" } else { "points" }),
        _ => format!("gain {size} points of accuracy"),
    }
}

/// Returns the widths of the levels, e.g. `of 14 bits (wrap)`.
fn widths(run: &RunRecord) -> String {
    let fixed: Vec<&LayerRow> = run.layers.iter().filter(|row| row.bits.bits().is_some()).collect();
    let bits = || fixed.iter().filter_map(|row| row.bits.bits());
    let mut modes: Vec<&str> = fixed.iter().filter_map(|row| row.overflow.as_deref()).collect();
    modes.sort_unstable();
    modes.dedup();
    match (bits().min(), bits().max()) {
        (Some(least), Some(most)) => {
            let range = if least == most { format!("{most}") } else { format!("{least} to {most}") };
            format!("of {range} bits ({})", modes.join(", "))
        }
        _ if run.layers.is_empty() && !run.aligned.is_empty() => fraction_bits(&run.aligned),
        _ => "of unlimited width".into(),
    }
}

/// Returns the fraction bits of floating-point accumulators.
fn fraction_bits(rows: &[AlignedRow]) -> String {
    let bits = || rows.iter().map(|row| row.fraction_bits);
    match (bits().min(), bits().max()) {
        (Some(least), Some(most)) if least < most => format!("with {least} to {most} fraction bits"),
        (_, most) => format!("with {}", counted(most.unwrap_or(0).into(), "fraction bit")),
    }
}

/// Returns the width from which on a sweep loses nothing, and what its narrowest point loses; `None` if the points
/// have no figures of the network.
pub fn sweep_answer(points: &[PointRecord]) -> Option<String> {
    answer_of_groups(points, &Groups::shown(points).shown)
}

fn answer_of_groups(points: &[PointRecord], groups: &[Group<'_>]) -> Option<String> {
    if points.iter().all(|point| !point.is_whole()) && !points.is_empty() {
        return Some("No point ran to its end. An overflow is trapped in each of them.".into());
    }
    if groups.is_empty() {
        return best_point(points);
    }
    let several = groups.len() > 1;
    let parts = groups.iter().flat_map(|group| group.modes.iter().map(move |mode| (group, *mode)));
    let mut parts: Vec<(Option<u32>, u8, String)> = parts
        .filter_map(|(group, mode)| {
            let finding = group_findings(group, mode)
                .into_iter()
                .filter_map(|finding| Some((rank(finding.question)?, finding)))
                .max_by_key(|(rank, _)| *rank);
            let (rank, finding) = finding?;
            let of =
                if several { format!(" ({})", group.heading.replace(" · ", ", ")) } else { String::new() };
            let [good, bad] = match finding.question {
                Question::ExactAccuracy => ["loses no accuracy", "loses accuracy"],
                Question::FullAgreement => ["changes no top-1 class", "changes a top-1 class"],
                Question::ExactOutputs => ["changes no output code", "changes an output code"],
                _ => ["has no wrong sum", "has a wrong sum"],
            };
            let text = match finding.least_bits {
                Some(bits) => format!("From {} on, {mode}{of} {good}", group.width(bits)),
                None => format!("With {mode}{of}, every width that was run {bad}"),
            };
            Some((finding.least_bits, rank, text))
        })
        .collect();
    // The least width first, and widths that do not suffice last.
    parts.sort_by_key(|(bits, rank, _)| (std::cmp::Reverse(*rank), bits.unwrap_or(u32::MAX)));
    let (least_bits, rank, first) = parts.first()?;
    if several && least_bits.is_none() && *rank == ACCURACY {
        let samples = counted(points.iter().map(|point| point.summary.samples).max().unwrap_or(0), "sample");
        return Some(format!("Every setting that was run loses accuracy on {samples}{}.", best_of(groups)));
    }
    // Of several settings, the answer names the best one, and says how far the others are from it.
    let same = parts[1..].iter().filter(|(_, other, _)| several && other == rank);
    let others = match same.clone().map(|(bits, ..)| *bits).collect::<Option<Vec<u32>>>().as_deref() {
        _ if least_bits.is_none() || same.clone().count() == 0 => String::new(),
        Some(bits) => match (bits[0], bits[bits.len() - 1]) {
            (least, most) if least == most => format!("; the other settings, from {least} bits on"),
            (least, most) => format!("; the other settings, from {least} to {most} bits on"),
        },
        None => {
            let never = same.clone().filter(|(bits, ..)| bits.is_none()).count() as u64;
            let verb = number(never, "does", "do");
            format!("; {never} of the {} other settings {verb} not at any width that was run", same.count())
        }
    };
    let narrow = narrowest(groups).map_or(String::new(), |text| format!("; {text}"));
    let samples = points.iter().map(|point| point.summary.samples).max().unwrap_or(0);
    let on = match least_bits {
        Some(_) => left_open(samples),
        None => format!("on {}", counted(samples, "sample")),
    };
    Some(format!("{first} {on}{others}{narrow}."))
}

/// Returns what the most accurate point of several groups loses.
fn best_of(groups: &[Group<'_>]) -> String {
    let rows = groups.iter().flat_map(|group| group.points.iter().map(move |point| (group, &point.summary)));
    let value = |row: &SummaryRow| row.accuracy.map_or(-1.0, Fraction::value);
    let best = rows.max_by(|(_, a), (_, b)| value(a).total_cmp(&value(b)));
    let Some((group, row)) = best else { return String::new() };
    let Some((accuracy, exact)) = row.accuracy.zip(row.accuracy_exact) else { return String::new() };
    format!("; at best, {} {}", group.name(row), lost(accuracy, exact))
}

/// Rank of the question that networks with labels answer.
const ACCURACY: u8 = 4;

fn rank(question: Question) -> Option<u8> {
    match question {
        Question::ExactAccuracy => Some(ACCURACY),
        Question::FullAgreement => Some(3),
        Question::ExactOutputs => Some(2),
        Question::ExactSums => Some(1),
        Question::NoTrap => None,
    }
}

/// Returns what the worst of the narrowest points loses, e.g. `10 bits (wrap) lose 73 points of accuracy`.
fn narrowest(groups: &[Group<'_>]) -> Option<String> {
    let worst = |row: &SummaryRow| row.accuracy.or(row.top1_agreement).map_or(0.0, Fraction::value);
    let rows = || {
        let points = groups.iter().flat_map(|group| group.points.iter().map(move |point| (group, *point)));
        points.filter(|(_, point)| point.is_whole()).map(|(group, point)| (group, &point.summary))
    };
    let least = rows().map(|(_, row)| row.width()).min()?;
    let narrow = rows().filter(|(_, row)| row.width() == least);
    let (group, row) = narrow.min_by(|(_, a), (_, b)| worst(a).total_cmp(&worst(b)))?;
    let what = match (row.accuracy, row.accuracy_exact, row.top1_agreement, row.output_mismatch) {
        (Some(accuracy), Some(exact), ..) => lost(accuracy, exact),
        (_, _, Some(share), _) => format!("keep {} of the top-1 classes", percentage(share)),
        (.., Some(codes)) => format!("change {}", counted(codes, "output code")),
        _ => return None,
    };
    Some(format!("{} {what}", group.name(row)))
}

/// Returns the best point of a sweep without widths.
fn best_point(points: &[PointRecord]) -> Option<String> {
    let share = |point: &PointRecord| point.summary.accuracy.or(point.summary.top1_agreement);
    let whole = points.iter().filter(|point| share(point).is_some());
    let by = |a: &&PointRecord, b: &&PointRecord| {
        let value = |point: &PointRecord| share(point).map_or(0.0, Fraction::value);
        value(a).total_cmp(&value(b))
    };
    // Of equal points the first ones.
    let points: Vec<&PointRecord> = whole.collect();
    let best = points.iter().rev().copied().max_by(|a, b| by(a, b))?;
    let worst = points.iter().copied().min_by(|a, b| by(a, b))?;
    let what = if best.summary.accuracy.is_some() { "accuracy" } else { "agreement with the exact network" };
    let value = |point: &PointRecord| share(point).map_or(String::new(), percentage);
    let all = counted(points.len() as u64, "point");
    if share(best) == share(worst) {
        return Some(format!("The {what} of {all} is {}.", value(best)));
    }
    let equal = points.iter().filter(|point| share(point) == share(best)).count() as u64;
    let others = match equal - 1 {
        0 => String::new(),
        1 => "; 1 more point has as much".into(),
        others => format!("; {} more points have as much", grouped(others)),
    };
    Some(format!(
        "The {what} of {all} lies between {} ({}) and {} ({}{others}).",
        value(worst),
        worst.settings(),
        value(best),
        best.settings()
    ))
}

/// Returns the widths to build.
pub fn size_answer(size: &SizeRecord) -> String {
    let most = |level: &DesignLevel| {
        let own = size.levels.iter().filter(|row| row.level == level.level);
        let bits = own.map(|row| row.bits_recommended).max().unwrap_or(level.bits);
        format!("{bits} bits in {}", level.level).replace("auto bits", "any width")
    };
    let bits = size.recommended_fraction_bits().map(|bits| format!("{bits} fraction bits"));
    let levels: Vec<String> = size.design.iter().map(most).chain(bits).collect();
    let outcome = &size.recommended;
    let samples = counted(outcome.samples, "sample");
    let what = match (outcome.accuracy, outcome.accuracy_exact) {
        (Some(accuracy), Some(exact)) if accuracy == exact => {
            let on =
                if outcome.output_mismatch == 0 { format!("on {samples}") } else { unchanged_on(outcome) };
            format!("lose no accuracy ({}) {on}{}", percentage(accuracy), also("output code", outcome))
        }
        (Some(accuracy), Some(exact)) => format!(
            "{}, {} instead of {} on {samples}{}",
            lost(accuracy, exact),
            percentage(accuracy),
            percentage(exact),
            by_chance(outcome.samples, outcome.mcnemar_p)
        ),
        _ if outcome.output_mismatch == 0 => format!("change no output code on {samples}"),
        _ => {
            let share = share_of_codes(outcome).map_or(String::new(), |share| format!(" ({share})"));
            format!("change {}{share} on {samples}", counted(outcome.output_mismatch, "output code"))
        }
    };
    match levels.as_slice() {
        [] => "The accelerator runs no layer of this network.".into(),
        levels if is_uniform(size) => {
            format!("One design for {}: {} {what}.", size.coverage.sized(), levels.join(" and "))
        }
        levels => format!("Widths per layer, at most {}, {what}.", levels.join(" and ")),
    }
}

/// Returns whether every layer has the widths of the design for all layers. Only then the results are its.
fn is_uniform(size: &SizeRecord) -> bool {
    let of = |level: &DesignLevel| {
        let rows = size.levels.iter().filter(|row| row.level == level.level);
        rows.map(|row| row.bits_recommended).all(|bits| bits == level.bits)
    };
    size.design.iter().all(of)
}

/// Returns the accuracy of a quantized network against that of the float network.
pub fn quantize_answer(record: &QuantizeRecord) -> String {
    let evaluated = counted(record.evaluated, "sample");
    let float = record.parts.iter().filter(|part| part.float.is_some()).count() as u64;
    let left = match float {
        0 => String::new(),
        left => format!("; {} {} in float", counted(left, "part"), number(left, "stays", "stay")),
    };
    let on = if record.accuracy_hw.is_some() { format!(" on {}", record.hw) } else { String::new() };
    match (record.accuracy_float, record.accuracy_hw.or(record.accuracy)) {
        (Some(before), Some(after)) if before == after => format!(
            "Quantized by {}, the network loses no accuracy{on}: it stays at {} on {evaluated}{left}.",
            record.method,
            percentage(after),
        ),
        (Some(before), Some(after)) => format!(
            "Quantized by {}, the network {}{on}: {} instead of {} on {evaluated}{left}.",
            record.method,
            lost(after, before).replace("lose", "loses").replace("gain", "gains"),
            percentage(after),
            percentage(before)
        ),
        _ => format!(
            "{} of {} compute on codes{left}.",
            grouped(record.parts.len() as u64 - float),
            counted(record.parts.len() as u64, "part")
        ),
    }
}
