//! Documentation page with every key of an accelerator file.

use serde_json::Value;

use super::KEYS;
use crate::file::AcceleratorFile;
use crate::load::{KeyPath, Rule};
use crate::schema::schema;

const INTRODUCTION: &str = "\
# Accelerator keys

Every key of an accelerator file, with its valid values and its meaning. `guardbit hw show PRESET` prints all keys with their
values, `--set KEY=VALUE` changes one on the command line (levels by name: `accumulation.acc.bits=14`), and `layers` changes
keys of single layers. [accelerators.md](accelerators.md) explains their effects. This page is generated:
`scripts/renew -p guardbit-hwmodels` renews it.

| key | valid values | meaning |
|---|---|---|
";

/// Returns the page as Markdown.
pub fn keys_text() -> String {
    let schema: Value = serde_json::from_str(&schema()).unwrap_or_default();
    let meaning = |of: &Value| of["description"].as_str().unwrap_or_default().to_owned();
    let mut text = INTRODUCTION.to_owned();
    for key in AcceleratorFile::keys() {
        let path = KeyPath::dotted(key);
        if Rule::is_stated(&path) || KEYS.iter().all(|row| row.section != key) {
            row(&mut text, key, &Rule::of(&path).allowed, &meaning(&schema["properties"][key]));
        }
        for of in KEYS.iter().filter(|row| row.section.trim_end_matches(".*") == key) {
            row(&mut text, &format!("{}.{}", of.section, of.name), &(of.allowed)(), of.meaning);
        }
    }
    text
}

fn row(text: &mut String, key: &str, allowed: &str, meaning: &str) {
    *text += &format!("| `{key}` | {} | {} |\n", allowed.replace('|', "\\|"), meaning.replace('|', "\\|"));
}
