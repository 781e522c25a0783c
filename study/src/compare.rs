//! Finished results side by side.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use guardbit_files::{Manifest, is_sealed, read_text};
use serde::Serialize;
use serde_json::Value;

use crate::StudyError;

/// Bytes of a manifest or a table, at most.
const LIMIT: u64 = 1 << 28;
/// Most folders that are compared.
const MOST_FOLDERS: usize = 64;

/// Results side by side. Every row has a value per folder, in their order; empty where a folder has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The command that made all of them.
    pub command: String,
    /// The folders, as they were named.
    pub folders: Vec<String>,
    /// Settings, inputs and keys of accelerators that differ.
    pub settings: Vec<Compared>,
    /// Figures of each as a whole.
    pub totals: Vec<Compared>,
    /// Figures of layers, levels or points that all have, where they differ.
    pub rows: Vec<ComparedRow>,
    /// Figures of such rows that are the same in all folders.
    pub same: usize,
    /// Rows that some folders do not have, by what tells them.
    pub unmatched: Vec<String>,
}

/// A setting or a figure.
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
    /// What tells the row from others: the layer and its level, or the point.
    pub row: String,
    /// The column.
    pub column: String,
    /// Its value in every folder.
    pub values: Vec<String>,
}

/// A kind of results: which file says what they are, what is a figure, and which table has rows.
struct Kind {
    command: &'static str,
    manifest: &'static str,
    /// Parts of the manifest whose numbers are figures.
    totals: &'static [&'static str],
    table: &'static str,
    /// Columns that tell rows apart.
    keys: &'static [&'static str],
    /// Columns that tell rows apart and are no figures, whatever their names: those behind this one are axes.
    axes_after: Option<&'static str>,
    figures: &'static [&'static str],
}

const KINDS: [Kind; 4] = [
    Kind {
        command: "run",
        manifest: Manifest::Run.file(),
        totals: &["outcome", "timing"],
        table: "layers.csv",
        keys: &["index", "name", "level"],
        axes_after: None,
        figures: &[
            "events",
            "persistent",
            "transient",
            "wrong",
            "output_mismatch",
            "sqnr_db",
            "cycles",
            "stall_cycles",
            "utilization",
            "sram_bytes",
            "dram_bytes",
            "exact_required_final",
            "exact_required_prefix",
        ],
    },
    Kind {
        command: "sweep",
        manifest: Manifest::Sweep.file(),
        totals: &[],
        table: "summary.csv",
        keys: &["bits", "overflow", "level", "mode"],
        axes_after: Some("trapped"),
        figures: &[
            "top1_agreement",
            "accuracy_exact",
            "accuracy",
            "output_mismatch",
            "output_sqnr_db",
            "events",
            "persistent",
            "transient",
            "wrong",
            "cycles",
            "host_cycles",
            "overlapped_cycles",
        ],
    },
    Kind {
        command: "size",
        manifest: Manifest::Size.file(),
        totals: &["result.recommended"],
        table: "size_levels.csv",
        keys: &["index", "name", "level"],
        axes_after: None,
        figures: &[
            "bits_type",
            "bits_weights",
            "bits_range",
            "bits_data_final",
            "bits_data_prefix",
            "bits_recommended",
            "bits_budget",
        ],
    },
    Kind {
        command: "explore",
        manifest: Manifest::Explore.file(),
        totals: &["result"],
        table: "points.csv",
        keys: &["design", "widths"],
        axes_after: Some("trapped"),
        figures: &[
            "accuracy",
            "top1_agreement",
            "output_mismatch",
            "cycles",
            "latency_us",
            "host_cycles",
            "overlapped_cycles",
            "utilization",
            "energy_pj",
            "area",
            "front",
            "recommended",
        ],
    },
];

/// Parts of a manifest that are settings, whatever made it.
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

/// A folder of results.
struct Folder {
    shown: String,
    manifest: Value,
    /// The table: names of the columns, cells.
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Puts the finished results of several folders side by side.
///
/// # Errors
/// [`StudyError::Compare`] for a folder without finished results, or results of different commands.
pub fn compare(folders: &[PathBuf]) -> Result<Comparison, StudyError> {
    let wrong = |problem: String| StudyError::Compare { problem };
    if !(2..=MOST_FOLDERS).contains(&folders.len()) {
        return Err(wrong(format!(
            "{} folders are named; 2 to {MOST_FOLDERS} can be compared",
            folders.len()
        )));
    }
    let kinds = folders.iter().map(|folder| kind_of(folder)).collect::<Result<Vec<&Kind>, _>>()?;
    let kind = kinds[0];
    if let Some((folder, other)) = folders.iter().zip(&kinds).find(|(_, other)| other.command != kind.command)
    {
        return Err(wrong(format!(
            "{} is of `guardbit {}`, {} of `guardbit {}`: only results of one command can be compared",
            folders[0].display(),
            kind.command,
            folder.display(),
            other.command
        )));
    }
    let read = folders.iter().map(|folder| Folder::read(folder, kind)).collect::<Result<Vec<_>, _>>()?;
    let (rows, same, unmatched) = compared_rows(kind, &read);
    Ok(Comparison {
        command: kind.command.to_owned(),
        settings: settings(&read),
        totals: totals(kind, &read),
        folders: read.into_iter().map(|folder| folder.shown).collect(),
        rows,
        same,
        unmatched,
    })
}

/// What made the results in a folder.
fn kind_of(folder: &Path) -> Result<&'static Kind, StudyError> {
    let is = |kind: &&Kind| folder.join(kind.manifest).is_file();
    KINDS.iter().find(is).ok_or_else(|| {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.manifest).collect();
        let why =
            if folder.is_dir() { format!("has none of {}", names.join(", ")) } else { "is no folder".into() };
        StudyError::Compare { problem: format!("{} {why}", folder.display()) }
    })
}

impl Folder {
    fn read(folder: &Path, kind: &Kind) -> Result<Self, StudyError> {
        let shown = folder.display().to_string();
        let wrong = |problem: String| StudyError::Compare { problem: format!("{shown}: {problem}") };
        let text = |name: &str| {
            read_text(&folder.join(name), LIMIT)
                .map_err(|error| wrong(format!("{name} cannot be read: {error}")))
        };
        let sealed = text(kind.manifest)?;
        if !is_sealed(&sealed) {
            return Err(wrong(format!("{} is not as guardbit wrote it", kind.manifest)));
        }
        let manifest: Value = serde_json::from_str(&sealed).unwrap_or_default();
        if manifest["command"] != kind.command {
            return Err(wrong(format!("{} is not of `guardbit {}`", kind.manifest, kind.command)));
        }
        if manifest["files"].as_array().is_none_or(Vec::is_empty) {
            return Err(wrong("is not finished: the command that made it goes on with the rest".into()));
        }
        let table = text(kind.table)?;
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let failed = |error: csv::Error| wrong(format!("{}: {error}", kind.table));
        let columns = reader.headers().map_err(failed)?.iter().map(String::from).collect();
        let rows = reader.records().map(|record| Ok(record?.iter().map(String::from).collect()));
        let rows = rows.collect::<Result<_, csv::Error>>().map_err(failed)?;
        Ok(Self { shown, manifest, columns, rows })
    }

    fn cell<'a>(&'a self, row: &'a [String], column: &str) -> &'a str {
        let at = self.columns.iter().position(|name| name == column);
        at.and_then(|at| row.get(at)).map_or("", String::as_str)
    }

    /// The rows by what tells them from others.
    fn by_key(&self, kind: &Kind) -> BTreeMap<String, &Vec<String>> {
        let axes = kind.axes_after.and_then(|last| self.columns.iter().position(|name| name == last));
        let key = |row: &Vec<String>| {
            let own = kind.keys.iter().map(|column| self.cell(row, column).to_owned());
            let axes = axes.into_iter().flat_map(|last| {
                let behind = self.columns.iter().zip(row).skip(last + 1);
                behind.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
            });
            let parts: Vec<String> = own.chain(axes).filter(|part| !part.is_empty()).collect();
            parts.join(" ")
        };
        self.rows.iter().map(|row| (key(row), row)).collect()
    }
}

/// Settings that differ.
fn settings(folders: &[Folder]) -> Vec<Compared> {
    let of = |folder: &Folder| {
        let mut found = BTreeMap::new();
        for part in SETTINGS {
            flatten(part, find(&folder.manifest, part), &mut found);
        }
        found
    };
    // Of a name with a hash, the hash tells more.
    let all: Vec<BTreeMap<String, String>> = folders.iter().map(of).collect();
    compared(&all, |name| !name.ends_with("sha256") && !name.ends_with("description"))
        .collect::<Vec<_>>()
        .into_iter()
        .chain(compared(&all, |name| name.ends_with(".sha256") && !name.starts_with("hw")))
        .filter(|row| row.values.windows(2).any(|pair| pair[0] != pair[1]))
        .collect()
}

/// Figures of each as a whole.
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

/// A row per name that some folder has.
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

fn compared_rows(kind: &Kind, folders: &[Folder]) -> (Vec<ComparedRow>, usize, Vec<String>) {
    let all: Vec<BTreeMap<String, &Vec<String>>> = folders.iter().map(|folder| folder.by_key(kind)).collect();
    let (mut rows, mut same, mut unmatched) = (Vec::new(), 0, Vec::new());
    // In the order of the first folder, then what others have beside.
    let first = folders[0].rows.iter().map(|row| position(&all[0], row));
    let mut keys: Vec<&String> = first.flatten().collect();
    for key in all[1..].iter().flat_map(BTreeMap::keys) {
        if !all[0].contains_key(key) && !keys.contains(&key) {
            keys.push(key);
        }
    }
    for key in keys {
        let found: Vec<Option<&&Vec<String>>> = all.iter().map(|one| one.get(key)).collect();
        if found.iter().any(Option::is_none) {
            unmatched.push(key.clone());
            continue;
        }
        for column in kind.figures {
            let cell = |(folder, row): (&Folder, &Option<&&Vec<String>>)| {
                row.map_or(String::new(), |row| folder.cell(row, column).to_owned())
            };
            let values: Vec<String> = folders.iter().zip(&found).map(cell).collect();
            if values.windows(2).all(|pair| pair[0] == pair[1]) {
                same += usize::from(!values[0].is_empty());
            } else {
                rows.push(ComparedRow { row: key.clone(), column: (*column).to_owned(), values });
            }
        }
    }
    (rows, same, unmatched)
}

fn position<'a>(by_key: &'a BTreeMap<String, &Vec<String>>, row: &Vec<String>) -> Option<&'a String> {
    by_key.iter().find(|(_, other)| std::ptr::eq(**other, row)).map(|(key, _)| key)
}

/// What stands at a dotted path.
fn find<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(value, |value, key| &value[key])
}

/// Every single value below `value` by its path; levels of accumulation by their names.
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
