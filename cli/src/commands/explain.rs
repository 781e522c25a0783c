//! `guardbit explain`.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::args::{Explain, Given, Global};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::pages::{CODES, Entry, hanging, nearest, shown};

/// The first part of every code.
const START: &str = "guardbit::";

pub fn explain(args: &Given<Explain>, global: &Global) -> Result<ExitCode, Failure> {
    let all: Vec<&Entry> = CODES.iter().collect();
    let found = match args.code.as_deref() {
        None => all,
        Some(code) => find(code, &all)?,
    };
    match (&found[..], args.code.is_some()) {
        ([entry], true) if global.json => {
            print_json(&json!({ "code": entry.name, "text": entry.text.trim() }))?
        }
        ([entry], true) => print(&format!("{}\n\n{}", entry.name, shown(&entry.text)))?,
        (several, _) if global.json => {
            let row =
                |entry: &&Entry| json!({ "code": entry.name, "page": entry.page, "about": entry.about() });
            print_json(&several.iter().map(row).collect::<Vec<Value>>())?;
        }
        (several, _) => print(&list(several))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the entry of a code, or those whose code begins or ends with these parts.
fn find<'a>(code: &str, all: &[&'a Entry]) -> Result<Vec<&'a Entry>, Failure> {
    let full = if code.starts_with(START) { code.to_owned() } else { format!("{START}{code}") };
    let of = |is_it: &dyn Fn(&str) -> bool| -> Vec<&'a Entry> {
        all.iter().copied().filter(|entry| is_it(entry.name)).collect()
    };
    let found = [
        of(&|name| name == full),
        of(&|name| name.starts_with(&format!("{full}::"))),
        of(&|name| name.ends_with(&format!("::{code}"))),
    ];
    found.into_iter().find(|found| !found.is_empty()).ok_or_else(|| unknown(code, &full, all))
}

fn unknown(code: &str, full: &str, all: &[&Entry]) -> Failure {
    // What all codes have in common would make each similar to any text.
    let own = |name: &'static str| name.trim_start_matches(START);
    let near = nearest(full.trim_start_matches(START), all.iter().map(|entry| own(entry.name)));
    let near = near.map_or(String::new(), |near| format!("did you mean `{START}{near}`? "));
    let mut groups: Vec<&str> = all.iter().filter_map(|entry| entry.name.split("::").nth(1)).collect();
    groups.sort_unstable();
    groups.dedup();
    let help = format!(
        "{near}`guardbit explain` lists all codes, and `guardbit explain GROUP` those of a group: {}",
        groups.join(", ")
    );
    Failure::usage(format!("unknown code `{code}`"), help)
}

/// Returns the codes by page, each with its first sentence.
fn list(entries: &[&Entry]) -> String {
    let (mut text, mut page) = (String::new(), "");
    for entry in entries {
        if page != entry.page {
            page = entry.page;
            text += &format!("{}{page}\n", if text.is_empty() { "" } else { "\n" });
        }
        text += &format!("  {}\n{}\n", entry.name, hanging(&entry.about(), 6));
    }
    text
}
