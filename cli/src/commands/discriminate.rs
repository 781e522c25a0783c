//! `guardbit discriminate`.

use std::fmt::Write as _;
use std::process::ExitCode;

use guardbit_files::Target;
use guardbit_reports::{counted, grouped, text_table};
use guardbit_rtl_vectors::LayerParameters;
use guardbit_rtl_vectors::discriminate::{
    Discrimination, MAX_CANDIDATES, Named, Search, TestInput, input_name,
};
use guardbit_study::{Candidate, CodeType, DEFAULT_BIAS_BITS, DEFAULT_TERMS, Progress as _, candidates};
use serde_json::{Value, json};

use super::existing;
use crate::args::{Discriminate, Given, Global};
use crate::diagnostic::{CHECK_FAILED, Failure};
use crate::output::{print, print_json};
use crate::progress::Bar;

/// Rows of a table on the terminal, unless all are requested.
const ROWS: usize = 24;
/// Members of a class that are listed on the terminal, unless all are requested.
const MEMBERS: usize = 4;
/// Runs of equal products of an input that are listed on the terminal, unless all are requested.
const RUNS: usize = 6;
/// Codes of a type that is not given.
const INT8: CodeType = CodeType { dtype: guardbit_graph::DType::Int8, zero_point: 0 };

pub fn discriminate(args: &Given<Discriminate>, global: &Global) -> Result<ExitCode, Failure> {
    let target =
        args.output_dir.as_deref().map(|out| Target::claim_for(out, existing(global))).transpose()?;
    let search = search(args)?;
    let observed = observed(&args.observed)?;
    let candidates = candidates(args, MAX_CANDIDATES)?;
    if let [only] = candidates.as_slice() {
        let message = format!("`{}` alone cannot be told apart from another accelerator", only.label);
        return Err(Failure::usage(message, "name several with --hw, or vary settings with --any or --axis"));
    }
    let bar = Bar::new(global.quiet);
    let accelerators: Vec<_> = candidates.iter().map(|one| one.accelerator.clone()).collect();
    let found =
        guardbit_rtl_vectors::discriminate::discriminate(&accelerators, &search, &mut |tried, all| {
            bar.step(&format!("trying inputs: {tried} of {all}"));
        })?;
    drop(bar);
    if !observed.is_empty() && observed.len() != found.inputs.len() {
        let message = format!(
            "--observed has {} sums, but the table has {} inputs",
            observed.len(),
            found.inputs.len()
        );
        return Err(Failure::usage(
            message,
            "give a sum per input of the table, or ? for one that is not known",
        ));
    }
    let report = Report { candidates: &candidates, search: &search, found: &found };
    let names: Vec<_> = candidates.iter().map(|one| one.label.clone()).collect();
    let named = Named { found: &found, names: &names, layer: search.layer };
    if let Some(target) = target {
        let mut staging = target.stage()?;
        named.write(&mut staging)?;
        staging.publish(existing(global))?;
    }
    let matches = (!observed.is_empty()).then(|| report.matching(&observed));
    if global.json {
        let mut result = named.json();
        if let (Some(matches), Value::Object(result)) = (&matches, &mut result) {
            result.insert("matches".into(), json!(matches));
        }
        print_json(&result)?;
    } else {
        print(&report.text(args.all))?;
        if let Some(matches) = &matches {
            print(&matching_text(matches))?;
        }
    }
    Ok(match matches {
        Some(matches) if matches.is_empty() => ExitCode::from(CHECK_FAILED),
        _ => ExitCode::SUCCESS,
    })
}

fn search(args: &Given<Discriminate>) -> Result<Search, Failure> {
    let [activation, weight] = [args.activation, args.weight].map(|codes| codes.unwrap_or(INT8));
    let bias_bits = args.bias_bits.unwrap_or(DEFAULT_BIAS_BITS as usize);
    Ok(Search {
        layer: LayerParameters {
            terms: args.terms.unwrap_or(DEFAULT_TERMS),
            activation: activation.dtype,
            activation_zero_point: activation.zero_point,
            weight: weight.dtype,
            weight_zero_point: weight.zero_point,
        },
        bias_bits: u32::try_from(bias_bits).unwrap_or(u32::MAX),
        seed: args.seed.unwrap_or(0),
    })
}

fn observed(texts: &[String]) -> Result<Vec<Option<i128>>, Failure> {
    let sum = |text: &String| match text.trim() {
        "?" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            Failure::usage(
                format!("--observed: `{text}` is no whole number"),
                "use ? for a sum that is not known",
            )
        }),
    };
    texts.iter().map(sum).collect()
}

/// What is reported.
struct Report<'a> {
    candidates: &'a [Candidate],
    search: &'a Search,
    found: &'a Discrimination,
}

impl Report<'_> {
    /// Returns the labels of the candidates that return the observed sums.
    fn matching(&self, observed: &[Option<i128>]) -> Vec<&str> {
        let classes = self.found.matches(observed);
        classes
            .iter()
            .flat_map(|class| &class.members)
            .map(|&at| self.candidates[at].label.as_str())
            .collect()
    }

    fn text(&self, all: bool) -> String {
        let Discrimination { inputs, is_shortest, classes, tried } = self.found;
        let rows = inputs.iter().enumerate().map(|(at, input)| {
            vec![
                input_name(at),
                input.products.len().to_string(),
                input.bias.to_string(),
                spelled(input, all),
            ]
        });
        let columns = ["input", "products", "bias", "activation x weight, from the first product on"];
        let mut text = shortened(&columns, rows.collect(), all, "inputs");
        let names = (0..inputs.len()).map(input_name);
        let columns: Vec<String> =
            ["class".into()].into_iter().chain(names).chain(["accelerators".into()]).collect();
        let rows = classes.iter().enumerate().map(|(at, class)| {
            let shown = if all { class.members.len() } else { MEMBERS };
            let mut labels: Vec<_> =
                class.members.iter().take(shown).map(|&at| self.candidates[at].label.clone()).collect();
            if class.members.len() > shown {
                labels.push(format!("and {} more", class.members.len() - shown));
            }
            let equal = match (class.members.len(), class.is_proved) {
                (1, _) => "",
                (_, true) => " (proved equal)",
                (_, false) => " (not told apart)",
            };
            let sums = class.sums.iter().map(i128::to_string);
            let labels = labels.join("; ") + equal;
            [(at + 1).to_string()].into_iter().chain(sums).chain([labels]).collect()
        });
        text += "\n";
        text += &shortened(&columns, rows.collect(), all, "classes");
        let unknown = classes.iter().filter(|class| !class.is_proved).count() as u64;
        let _ = write!(
            text,
            "\n{} of {} told apart by {}; {}",
            counted(classes.len() as u64, "class"),
            counted(self.candidates.len() as u64, "accelerator"),
            counted(inputs.len() as u64, "input"),
            match classes.iter().any(|class| class.members.len() > 1) {
                false => "every accelerator is identified\n".into(),
                true if unknown == 0 => format!(
                    "within a class, sums are proved equal for all inputs of up to {} products\n",
                    self.search.layer.terms
                ),
                true => format!(
                    "in {}, none of {} inputs tells the accelerators apart, but they are not proved equal\n",
                    counted(unknown, "class"),
                    grouped(*tried as u64)
                ),
            }
        );
        text + match is_shortest {
            None => "",
            Some(true) => "no input with fewer products tells them apart\n",
            Some(false) => "no input with fewer products was found\n",
        }
    }
}

/// Returns the products of an input, with the length of runs of equal ones: the first runs, or all.
fn spelled(input: &TestInput, all: bool) -> String {
    let mut runs: Vec<([i32; 2], usize)> = Vec::new();
    for &pair in &input.products {
        match runs.last_mut() {
            Some((last, count)) if *last == pair => *count += 1,
            _ => runs.push((pair, 1)),
        }
    }
    let most = if all { runs.len() } else { RUNS };
    let run = |&([a, w], count): &([i32; 2], usize)| match count {
        1 => format!("{a} x {w}"),
        count => format!("{count} times {a} x {w}"),
    };
    let mut shown: Vec<_> = runs.iter().take(most).map(run).collect();
    if runs.len() > most {
        shown.push("...".into());
    }
    shown.join(", ")
}

/// Returns a table with its first rows, or all.
fn shortened<C: AsRef<str>>(columns: &[C], mut rows: Vec<Vec<String>>, all: bool, what: &str) -> String {
    let more = rows.len().saturating_sub(ROWS);
    if all || more <= 1 {
        return text_table(columns, &rows);
    }
    rows.truncate(ROWS);
    text_table(columns, &rows) + &format!("... and {more} more {what}: --all prints them\n")
}

fn matching_text(matches: &[&str]) -> String {
    match matches {
        [] => "\nno candidate returns the observed sums: vary more settings with --any or --axis\n".into(),
        [one] => format!("\nthe observed sums are those of: {one}\n"),
        several => format!(
            "\nthe observed sums are those of {} candidates:\n  {}\n",
            several.len(),
            several.join("\n  ")
        ),
    }
}
