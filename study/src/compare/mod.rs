//! Compares finished results side by side.

pub(crate) mod folder;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use guardbit_reports::short_key;
use serde::Serialize;
use serde_json::Value;

use crate::StudyError;
use folder::{Folder, Kind, joined, kind_of};

/// Maximum number of folders.
const MOST_FOLDERS: usize = 64;

/// Results side by side. Every row has one value per folder, in their order; empty if a folder has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Command that wrote all of them.
    pub command: String,
    /// Folders as they were named.
    pub folders: Vec<String>,
    /// Settings, inputs and accelerator keys that differ.
    pub settings: Vec<Compared>,
    /// Overall figures that differ.
    pub totals: Vec<Compared>,
    /// Columns that identify rows: layer and level, or the axes that all folders name.
    pub axes: Vec<String>,
    /// Figures of layers, levels or points present in all folders, if they differ.
    pub rows: Vec<ComparedRow>,
    /// Number of figures that are equal in all folders.
    pub same: usize,
    /// Rows missing in some folders, by their identifying values.
    pub unmatched: Vec<String>,
}

/// Setting or figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Its value in every folder.
    pub values: Vec<String>,
}

/// A figure of a row of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedRow {
    /// Identifier of the row: the layer and its level, or the point.
    pub row: String,
    /// The column.
    pub column: String,
    /// Its value in every folder.
    pub values: Vec<String>,
}

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
    let (rows, same_cells, unmatched) = compared_rows(kind, &axes, &read);
    let (totals, same_totals): (Vec<_>, Vec<_>) =
        totals(kind, &read).into_iter().partition(|row| row.values.windows(2).any(|pair| pair[0] != pair[1]));
    let same = same_cells + same_totals.len();
    Ok(Comparison {
        command: kind.command.to_owned(),
        settings: settings(&read),
        totals,
        axes,
        folders: read.into_iter().map(|folder| folder.shown).collect(),
        rows,
        same,
        unmatched,
    })
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
    compared(&all, |name| !name.ends_with("sha256") && !name.ends_with("description"))
        .collect::<Vec<_>>()
        .into_iter()
        .chain(compared(&all, |name| name.ends_with(".sha256") && !name.starts_with("hw")))
        .filter(|row| row.values.windows(2).any(|pair| pair[0] != pair[1]))
        .collect()
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

fn compared_rows(kind: &Kind, axes: &[String], folders: &[Folder]) -> (Vec<ComparedRow>, usize, Vec<String>) {
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
    let (mut rows, mut same, mut unmatched) = (Vec::new(), 0, Vec::new());
    let mut done: std::collections::HashSet<Vec<&str>> = Default::default();
    // Order of the first folder, followed by names that occur only in others.
    for key in folders
        .iter()
        .flat_map(|folder| folder.keys(axes))
        .filter(|key| done.insert(key.clone()))
        .collect::<Vec<_>>()
    {
        let label = kind.label(&names, &key);
        let owned: Vec<String> = key.into_iter().map(String::from).collect();
        let found: Option<Vec<usize>> = all.iter().map(|one| one.get(&owned).copied()).collect();
        let Some(found) = found else {
            unmatched.push(label);
            continue;
        };
        for column in kind.figures {
            let cell = |(folder, &row): (&Folder, &usize)| folder.cell(&folder.rows[row], column).to_owned();
            let values: Vec<String> = folders.iter().zip(&found).map(cell).collect();
            if values.windows(2).all(|pair| pair[0] == pair[1]) {
                same += usize::from(!values[0].is_empty());
            } else {
                rows.push(ComparedRow { row: label.clone(), column: (*column).to_owned(), values });
            }
        }
    }
    (rows, same, unmatched)
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
