//! Documentation page with every key of an accelerator file.

use super::KEYS;
use crate::load::{KeyPath, Rule};

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
    let mut text = INTRODUCTION.to_owned();
    for top in KEYS.iter().filter(|row| row.section.is_empty()) {
        let key = top.name;
        let path = KeyPath::dotted(key);
        if Rule::is_stated(&path) || KEYS.iter().all(|row| row.section != key) {
            row(&mut text, key, &Rule::of(&path).allowed, &top.meaning());
        }
        for of in KEYS.iter().filter(|row| row.section.trim_end_matches(".*") == key) {
            row(&mut text, &format!("{}.{}", of.section, of.name), &(of.allowed)(), &of.meaning());
        }
    }
    text
}

fn row(text: &mut String, key: &str, allowed: &str, meaning: &str) {
    *text += &format!("| `{key}` | {} | {} |\n", allowed.replace('|', "\\|"), meaning.replace('|', "\\|"));
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Defaults of rows, ranges of rows and ranges of schemas are what a file without the key has, and what is checked.
    #[test]
    fn rows_say_what_is_done() {
        let complete =
            |text: &str| crate::from_yaml(&format!("schema: 1\n{text}"), "x", &[]).unwrap().resolved_json();
        let files = [
            complete(""),
            complete(
                "reduction_order: {walk: random}\nproduct: {bits: 8, round: stochastic}\n\
                 accumulation: [{name: acc, bits: 8, round: stochastic}]\n",
            ),
            complete("float_accumulation: {}\n"),
            complete("float_accumulation: {incoming: apart}\n"),
            complete("float_accumulation: {result: fixed}\n"),
            complete("float_accumulation: {result: fixed, bits: 8}\n"),
            complete("float_accumulation: {reduce: serial}\n"),
            complete(
                "packing: {kind: dsp48e2_int8x2}\naccumulation: [{name: dsp, terms: 7, bits: 18, overflow: wrap}, {name: acc, bits: 30}]\n",
            ),
        ];
        let schema: Value = serde_json::from_str(&crate::schema()).unwrap();
        let (mut defaults, mut ranges) = (0, 0);
        for row in KEYS {
            let key = format!("{}/{}", row.section, row.name);
            if let Some(default) = (row.default)() {
                let expected: Value = serde_yaml::from_str(&default).unwrap();
                let path = format!("/{key}").replace("//", "/").replace(".*", "/0");
                let found: Vec<&Value> = files.iter().filter_map(|file| file.pointer(&path)).collect();
                // Resolved files leave out some keys that have their default.
                let with = |text: &str| complete(&format!("{}: {{{text}}}\n", row.section));
                let is_left_out = || match row.name {
                    // It has no effect without scales of blocks.
                    "scale_format" | "group_terms" => {
                        let scaled = "block_scales: per_group, operands: [e2m1], terms: 64";
                        with(scaled) == with(&format!("{scaled}, {}: {default}", row.name))
                    }
                    name => with("") == with(&format!("{name}: {default}")),
                };
                // One of the files states another value of this key, which resolved files leave out as well.
                let is_unstated = found.is_empty() || row.name == "reduce";
                let is_default = found.contains(&&expected) || is_unstated && is_left_out();
                assert!(is_default, "{key}: {default}, {found:?}");
                defaults += 1;
            }
            let owner = if row.section.is_empty() { String::new() } else { format!("/$defs/{}", row.file) };
            let property = schema.pointer(&format!("{owner}/properties/{}", row.name)).unwrap();
            assert_eq!(property["description"], row.description(), "{key}");
            let number = property["oneOf"].as_array().and_then(|choices| choices.last()).unwrap_or(property);
            let bounds = ["minimum", "maximum"].map(|bound| number[bound].as_f64());
            if let Some(range) = (row.span)() {
                let ends = range.split(';').next().unwrap().split_once("..=").unwrap();
                assert_eq!([ends.0, ends.1].map(|end| end.parse().ok()), bounds, "{key}");
                ranges += 1;
            }
        }
        assert!(defaults > 40 && ranges >= 30, "{defaults} {ranges}");
    }
}
