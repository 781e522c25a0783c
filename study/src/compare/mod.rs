//! Compares finished results side by side.

pub(crate) mod folder;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use guardbit_files::{Existing, SingleFile, read};
use guardbit_reports::{Compared, ComparedPoint, ComparedRow, Comparison, compare_page, short_key};
use serde_json::Value;

use crate::StudyError;
use folder::{Folder, Kind, joined, kind_of, short};

/// Maximum number of folders.
const MOST_FOLDERS: usize = 64;
/// Text in every page of a comparison, by which pages of guardbit are recognized.
const MARK: &str = "guardbit compare";
/// Greatest size of a page that is replaced, in bytes.
const MOST_BYTES: u64 = 100_000_000;

/// Parts of a manifest that are settings, for all commands.
const SETTINGS: [&str; 10] = [
    "tool",
    "arithmetic",
    "model",
    "models",
    "hw",
    "hws",
    "input",
    "labels",
    "settings",
    "depends_on.settings",
];

/// Compares the finished results of several folders.
///
/// # Errors
/// [`StudyError::Compare`] for a folder without finished results, or results of different commands.
pub fn compare(folders: &[PathBuf]) -> Result<Comparison, StudyError> {
    let wrong = |problem: String| StudyError::Compare { problem };
    if !(2..=MOST_FOLDERS).contains(&folders.len()) {
        return Err(wrong(format!("{} folders; expected 2 to {MOST_FOLDERS}", folders.len())));
    }
    let kinds = folders.iter().map(|folder| kind_of(folder)).collect::<Result<Vec<&Kind>, _>>()?;
    let kind = kinds[0];
    if let Some((folder, other)) = folders.iter().zip(&kinds).find(|(_, other)| other.command != kind.command)
    {
        return Err(wrong(format!(
            "cannot compare results of different commands: {} is of `guardbit {}`, {} of `guardbit {}`",
            folders[0].display(),
            kind.command,
            folder.display(),
            other.command
        )));
    }
    let read = folders.iter().map(|folder| Folder::read(folder, kind)).collect::<Result<Vec<_>, _>>()?;
    let axes = joined(&read)?;
    let (points, unmatched) = compared_points(kind, &axes, &read);
    let columns: Vec<String> = kind.figures.iter().map(ToString::to_string).collect();
    let differ = |values: &[String]| values.windows(2).any(|pair| pair[0] != pair[1]);
    let (totals, equal_totals): (Vec<_>, Vec<_>) =
        totals(kind, &read).into_iter().partition(|row| differ(&row.values));
    let (mut rows, mut same) = (Vec::new(), equal_totals.len());
    for (point, (column, values)) in
        points.iter().flat_map(|point| columns.iter().zip(&point.values).map(move |cell| (point, cell)))
    {
        if differ(values) {
            rows.push(ComparedRow {
                row: point.name.clone(),
                column: column.clone(),
                values: values.clone(),
            });
        } else {
            same += usize::from(!values[0].is_empty());
        }
    }
    Ok(Comparison {
        command: kind.command.to_owned(),
        settings: settings(&read),
        totals,
        axes,
        folders: read.into_iter().map(|folder| folder.shown).collect(),
        rows,
        same,
        unmatched,
        names: short(folders),
        equal_totals,
        columns,
        points,
    })
}

/// Writes a comparison as a page to `out`.
///
/// # Errors
/// [`StudyError::Compare`] for a name that does not end in .html, [`StudyError::Folder`] if the file exists or
/// cannot be written.
pub fn write_comparison(comparison: &Comparison, out: &Path, existing: Existing) -> Result<(), StudyError> {
    if out.extension().is_none_or(|extension| extension != "html") {
        let problem =
            format!("cannot write a report to {}: expected a file that ends in .html", out.display());
        return Err(StudyError::Compare { problem });
    }
    let is_ours = |path: &Path| {
        let found = read(path, MOST_BYTES).unwrap_or_default();
        found.windows(MARK.len()).any(|part| part == MARK.as_bytes())
    };
    let file = SingleFile::new(out, existing, is_ours)?;
    let pairs = comparison.folders.iter().map(|folder| ("folder", folder.clone())).collect();
    Ok(file.write(compare_page(&crate::about(pairs, []), comparison).as_bytes())?)
}

/// Returns the settings that differ.
fn settings(folders: &[Folder]) -> Vec<Compared> {
    let of = |folder: &Folder| {
        let mut found = BTreeMap::new();
        for part in SETTINGS {
            // A single list item needs no name.
            match find(&folder.manifest, part).as_array().map(Vec::as_slice) {
                Some([only]) => flatten(part.strip_suffix('s').unwrap_or(part), only, &mut found),
                _ => flatten(part, find(&folder.manifest, part), &mut found),
            }
        }
        found
    };
    // If a name and a hash differ, the hash is the more specific one.
    let all: Vec<BTreeMap<String, String>> = folders.iter().map(of).collect();
    let mut rows: Vec<Compared> =
        compared(&all, |name| !name.ends_with("sha256") && !name.ends_with("description"))
            .collect::<Vec<_>>()
            .into_iter()
            .chain(compared(&all, |name| name.ends_with(".sha256") && !name.starts_with("hw")))
            .filter(|row| row.values.windows(2).any(|pair| pair[0] != pair[1]))
            .collect();
    // Keys of the accelerators say what `--set` changed.
    let is_key = |row: &Compared| row.name.starts_with("hw.resolved.") && row.name != "hw.resolved.name";
    if rows.iter().any(is_key) {
        rows.retain(|row| row.name != "settings.set");
    }
    rows
}

/// Returns the overall figures that differ.
fn totals(kind: &Kind, folders: &[Folder]) -> Vec<Compared> {
    let of = |folder: &Folder| {
        let mut found = BTreeMap::new();
        for part in kind.totals {
            flatten("", find(&folder.manifest, part), &mut found);
        }
        for cost in folder.manifest["costs"].as_array().into_iter().flatten() {
            let model = cost["model"].as_str().unwrap_or_default();
            for figure in ["energy_pj", "area", "flip_flops"] {
                if let Some(value) = cost[figure].as_f64() {
                    found.insert(format!("{figure} ({model})"), value.to_string());
                }
            }
        }
        found
    };
    let all: Vec<BTreeMap<String, String>> = folders.iter().map(of).collect();
    compared(&all, |name| !name.contains('[')).collect()
}

/// Returns a row for every name that occurs in any folder.
fn compared<'a>(
    all: &'a [BTreeMap<String, String>],
    wanted: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = Compared> + 'a {
    let names: std::collections::BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let row = |name: &String| Compared {
        name: name.clone(),
        values: all.iter().map(|one| one.get(name).cloned().unwrap_or_default()).collect(),
    };
    names.into_iter().filter(move |name| wanted(name)).map(row)
}

/// Returns the rows that all folders have, and the names of those that some lack.
fn compared_points(kind: &Kind, axes: &[String], folders: &[Folder]) -> (Vec<ComparedPoint>, Vec<String>) {
    let by_key = |folder: &'_ Folder| -> HashMap<Vec<String>, usize> {
        let keys = folder.keys(axes).map(|key| key.into_iter().map(String::from).collect());
        keys.zip(0..).collect()
    };
    let all: Vec<HashMap<Vec<String>, usize>> = folders.iter().map(by_key).collect();
    let names: Vec<String> = axes.iter().map(|axis| short_key(axis)).collect();
    // If two axis names have equal abbreviations, they are not abbreviated.
    let unclear = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let names: Vec<&str> =
        names.iter().zip(axes).map(|(name, axis)| if unclear(name) { axis.as_str() } else { name }).collect();
    let (mut points, mut unmatched) = (Vec::new(), Vec::new());
    let mut done: std::collections::HashSet<Vec<&str>> = Default::default();
    // Order of the first folder, followed by names that occur only in others.
    for key in folders
        .iter()
        .flat_map(|folder| folder.keys(axes))
        .filter(|key| done.insert(key.clone()))
        .collect::<Vec<_>>()
    {
        let name = kind.label(&names, &key);
        let key: Vec<String> = key.into_iter().map(String::from).collect();
        let found: Option<Vec<usize>> = all.iter().map(|one| one.get(&key).copied()).collect();
        let Some(found) = found else {
            unmatched.push(name);
            continue;
        };
        let cells = |column: &&str| {
            let cell = |(folder, &row): (&Folder, &usize)| folder.cell(&folder.rows[row], column).to_owned();
            folders.iter().zip(&found).map(cell).collect()
        };
        points.push(ComparedPoint { name, key, values: kind.figures.iter().map(cells).collect() });
    }
    (points, unmatched)
}

/// Returns the value at a dotted path.
fn find<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(value, |value, key| &value[key])
}

/// Collects every leaf below `value` by its path; levels of accumulation are named.
fn flatten(path: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Null => {}
        Value::Object(map) => map.iter().for_each(|(key, value)| flatten(&join(key), value, found)),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                let name = item["name"].as_str().map_or_else(|| format!("[{index}]"), String::from);
                flatten(&join(&name), item, found);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            found.insert(path.to_owned(), items.join(", "));
        }
        single => {
            found.insert(path.to_owned(), plain(single));
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}
