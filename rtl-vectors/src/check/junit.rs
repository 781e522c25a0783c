//! JUnit file of a check: a suite of its checks, and one per replay with a test case for each case of the bundle.

use std::fmt::Write;

use super::outcome::{CheckReport, Outcome, Replayed};

/// Start of the root element of every JUnit file of a check.
pub const JUNIT: &str = "<testsuites name=\"guardbit check\"";

/// Test case in a JUnit file.
struct Test<'a> {
    name: &'a str,
    /// Element that says why it did not pass: its name and message.
    problem: Option<(&'static str, String)>,
}

impl CheckReport {
    /// Returns the report as a JUnit file. Suite `check` has one test case for each check. Every replay of the MAC unit
    /// follows as a suite with one test case for each case of the bundle.
    pub fn junit(&self) -> String {
        let checks = self.checks.iter().map(|(name, outcome)| Test { name, problem: problem(outcome) });
        let mut suites = vec![("check".to_owned(), checks.collect::<Vec<_>>())];
        for replay in &self.replays {
            let tests = self.cases.iter().enumerate().map(|(place, id)| self.case(replay, place, id));
            suites.push((replay.name.clone(), tests.collect()));
        }
        document(&suites)
    }

    fn case<'a>(&'a self, replay: &Replayed, place: usize, id: &'a str) -> Test<'a> {
        let skipped = self.skipped.iter().find(|(skipped, _)| *skipped == place);
        let outcome = self.checks.iter().find(|(name, _)| *name == replay.name).map(|(_, outcome)| outcome);
        let problem = match (skipped, &replay.failed, outcome) {
            (Some((_, needs)), ..) => {
                let needs: Vec<&str> = needs.iter().map(|need| need.name()).collect();
                Some(("skipped", format!("needs {}", needs.join(", "))))
            }
            (None, Some(failed), _) if !failed.contains(&place) => None,
            (None, Some(_), Some(Outcome::Fail { first, .. })) if first.case == id => {
                let parts = [first.kind.as_str(), &first.level, &first.details];
                Some((
                    "failure",
                    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "),
                ))
            }
            (None, Some(_), _) => Some(("failure", "the design differs from the expected values".into())),
            (None, None, outcome) => outcome.and_then(problem).or(Some(("error", "did not run".into()))),
        };
        Test { name: id, problem }
    }
}

fn problem(outcome: &Outcome) -> Option<(&'static str, String)> {
    match outcome {
        Outcome::Pass { .. } => None,
        Outcome::Fail { first, .. } if first.kind == "build or run" => Some(("error", first.details.clone())),
        Outcome::Fail { mismatches, first } => {
            let parts = [first.kind.as_str(), &first.case, &first.level, &first.details];
            let first: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            Some(("failure", format!("{mismatches} differ; first: {}", first.join(", "))))
        }
        // What was asked for did not run.
        Outcome::NotApplicable { reason } => Some(("skipped", reason.clone())),
        Outcome::Absent { reason } => Some(("error", reason.clone())),
    }
}

fn document(suites: &[(String, Vec<Test<'_>>)]) -> String {
    let all = |tests: &[Test<'_>]| {
        let count =
            |kind| tests.iter().filter(|t| t.problem.as_ref().is_some_and(|(k, _)| *k == kind)).count();
        [tests.len(), count("failure"), count("error"), count("skipped")]
    };
    let attributes = |[tests, failures, errors, skipped]: [usize; 4]| {
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
    };
    let mut body = String::new();
    let mut total = [0; 4];
    for (name, tests) in suites {
        let counts = all(tests);
        (0..4).for_each(|i| total[i] += counts[i]);
        let name = escaped(name);
        let _ = writeln!(body, "  <testsuite name=\"{name}\" {}>", attributes(counts));
        for test in tests {
            let start =
                format!("    <testcase classname=\"guardbit.{name}\" name=\"{}\"", escaped(test.name));
            let _ = match &test.problem {
                None => writeln!(body, "{start}/>"),
                Some((kind, message)) => {
                    writeln!(body, "{start}><{kind} message=\"{}\"/></testcase>", escaped(message))
                }
            };
        }
        body += "  </testsuite>\n";
    }
    // Of the whole file, readers expect no number of skipped tests.
    let [tests, failures, errors, _] = total;
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{JUNIT} tests=\"{tests}\" \
         failures=\"{failures}\" errors=\"{errors}\">\n{body}</testsuites>\n"
    )
}

/// Returns text for an attribute. XML has no place for most control characters.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' => out += "&#10;",
            '\t' => out += "&#9;",
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
