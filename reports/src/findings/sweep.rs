//! Findings of a sweep: the smallest width from which on a result holds.

use serde::Serialize;

use super::certainty::{left_open, told_apart, within};
use crate::numbers::{counted, number, percentage};
use crate::plots::Group;
use crate::{Interval, PointRecord, SummaryRow};

/// Question that is answered for every width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Does the point run to its end, without a trapped overflow? Asked only if some point does not.
    NoTrap,
    /// Does every delivered sum equal the exact one?
    ExactSums,
    /// Does every output code equal that of the exact network?
    ExactOutputs,
    /// Does every top-1 class equal that of the exact network?
    FullAgreement,
    /// Does the accuracy equal that of the exact network?
    ExactAccuracy,
}

/// Answer to a question for one model, accelerator and overflow mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The model.
    pub model: String,
    /// The accelerator.
    pub hw: String,
    /// Further settings that distinguish its points from others; empty if there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub heading: String,
    /// The overflow mode.
    pub overflow: String,
    /// The question.
    pub question: Question,
    /// Smallest width for which the answer is yes, and stays yes for all greater widths that were run.
    pub least_bits: Option<u32>,
    /// The answer as a sentence.
    pub text: String,
}

const QUESTIONS: [Question; 4] =
    [Question::ExactSums, Question::ExactOutputs, Question::FullAgreement, Question::ExactAccuracy];

/// Returns the answers for every model, accelerator and overflow mode. Questions without an answer are left
/// out.
pub fn sweep_findings(points: &[PointRecord]) -> Vec<Finding> {
    let groups = Group::all(points);
    groups.iter().flat_map(|group| group.modes.iter().flat_map(|mode| group_findings(group, mode))).collect()
}

/// Returns the answers for one overflow mode of a group.
pub(crate) fn group_findings(group: &Group<'_>, mode: &str) -> Vec<Finding> {
    let answer = |question, rows: &[&SummaryRow], ran| answer(question, rows, ran, &group.heading);
    let all_rows: Vec<&SummaryRow> = group.of_mode(mode).into_iter().map(|point| &point.summary).collect();
    let no_trap = answer(Question::NoTrap, &all_rows, "was run");
    // All other questions consider only points that ran to their end.
    let whole: Vec<&SummaryRow> = all_rows.iter().copied().filter(|row| row.trapped.is_none()).collect();
    let ran = if whole.len() == all_rows.len() { "was run" } else { "ran to its end" };
    no_trap
        .into_iter()
        .chain(QUESTIONS.into_iter().filter_map(|question| answer(question, &whole, ran)))
        .collect()
}

/// Answers `question`. `rows` are those of one overflow mode in order of width. `ran` describes the
/// considered points: `was run` or `ran to its end`.
fn answer(question: Question, rows: &[&SummaryRow], ran: &str, heading: &str) -> Option<Finding> {
    let verdicts: Option<Vec<bool>> = rows.iter().map(|row| question.holds(row)).collect();
    let verdicts = verdicts.filter(|verdicts| question != Question::NoTrap || verdicts.contains(&false))?;
    let (first, last) = (rows.first()?, rows.last()?);
    let start = verdicts.iter().rposition(|holds| !holds).map_or(0, |fails| fails + 1);
    let least = rows.get(start);
    let good = question.good(last);
    let mut text = match (least, start) {
        (None, _) => {
            let widths = widths(first.width(), last.width());
            let (never, bad) = (question.never(), question.bad(last));
            format!("{never} at every width that {ran} ({widths}): at {} bits, {bad}.", last.width())
        }
        (Some(_), 0) => {
            format!("At every width that {ran} ({}), {good}.", widths(first.width(), last.width()))
        }
        (Some(row), _) => {
            let below = rows[start - 1];
            format!(
                "From {} bits on, {good}. At {} bits, {}.",
                row.width(),
                below.width(),
                question.bad(below)
            )
        }
    };
    let by_chance: Vec<String> =
        (0..start).filter(|&i| verdicts[i]).map(|i| rows[i].width().to_string()).collect();
    if !by_chance.is_empty() {
        text += &format!(" This also holds at {} bits, but not in between.", by_chance.join(", "));
    }
    Some(Finding {
        model: first.model.clone(),
        hw: first.hw.clone(),
        heading: heading.into(),
        overflow: first.overflow.clone(),
        question,
        least_bits: least.map(|row| row.width()),
        text,
    })
}

impl Question {
    /// Returns whether the answer is yes, or `None` if it is undefined.
    fn holds(self, row: &SummaryRow) -> Option<bool> {
        match self {
            Self::NoTrap => Some(row.trapped.is_none()),
            Self::ExactSums => row.wrong.map(|wrong| wrong == 0),
            Self::ExactOutputs => row.output_mismatch.map(|codes| codes == 0),
            Self::FullAgreement => row.top1_agreement.map(|share| share.value() >= 1.0),
            Self::ExactAccuracy => Some(row.accuracy? == row.accuracy_exact?),
        }
    }

    fn good(self, row: &SummaryRow) -> String {
        match self {
            Self::NoTrap => "no overflow is trapped".into(),
            Self::ExactSums => "every sum is exact".into(),
            Self::ExactOutputs => "every output code equals that of the exact network".into(),
            Self::FullAgreement => {
                format!("every top-1 class equals that of the exact network, {}", left_open(row.samples))
            }
            Self::ExactAccuracy => {
                let exact = row.accuracy_exact.map_or(String::new(), percentage);
                let interval = Interval::between(row.accuracy_exact_low, row.accuracy_exact_high);
                format!("the accuracy equals that of the exact network, {exact}{}", within(interval))
            }
        }
    }

    fn bad(self, row: &SummaryRow) -> String {
        match self {
            Self::NoTrap => match &row.trapped {
                Some(trapped) => format!("the run stops: {trapped}"),
                None => String::new(),
            },
            Self::ExactSums => {
                let wrong = row.wrong.unwrap_or(0);
                format!("{} {} wrong", counted(wrong, "sum"), number(wrong, "is", "are"))
            }
            Self::ExactOutputs => {
                let codes = row.output_mismatch.unwrap_or(0);
                format!("{} {}", counted(codes, "output code"), number(codes, "differs", "differ"))
            }
            Self::FullAgreement => {
                let share = row.top1_agreement.map_or(String::new(), percentage);
                let within = within(Interval::between(row.agreement_low, row.agreement_high));
                format!("{share}{within} of the top-1 classes agree")
            }
            Self::ExactAccuracy => {
                let accuracy = row.accuracy.map_or(String::new(), percentage);
                let exact = row.accuracy_exact.map_or(String::new(), percentage);
                format!("it is {accuracy} instead of {exact}{}", told_apart(row.samples, row.mcnemar_p))
            }
        }
    }

    fn never(self) -> &'static str {
        match self {
            Self::NoTrap => "An overflow is trapped",
            Self::ExactSums => "Some sums are wrong",
            Self::ExactOutputs => "Some output codes differ",
            Self::FullAgreement => "Some top-1 classes differ",
            Self::ExactAccuracy => "The accuracy differs from the exact network's",
        }
    }
}

fn widths(first: u32, last: u32) -> String {
    if first == last { format!("{first} bits") } else { format!("{first} to {last} bits") }
}
