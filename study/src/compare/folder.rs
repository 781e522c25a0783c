//! Folder of finished results, and the columns that identify rows of its table.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use guardbit_files::{Digest, Manifest, is_sealed, read_text};
use serde_json::Value;

use crate::StudyError;
use crate::point_store::LIMIT;

/// Kind of results: its manifest, its figures, and the table that has rows.
pub(crate) struct Kind {
    pub command: &'static str,
    manifest: &'static str,
    /// Parts of the manifest whose numbers are figures.
    pub totals: &'static [&'static str],
    pub table: &'static str,
    /// Table with more rows of that kind, if the results have it.
    more: Option<&'static str>,
    /// Columns that identify rows.
    keys: Keys,
    pub figures: &'static [&'static str],
}

/// Columns that identify the rows of a table.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    /// Layer and level, which are columns of the table.
    Columns,
    /// Points of a sweep as listed in its manifest, in the order of the rows.
    Points,
    /// Axes listed in the manifest of an exploration: the last columns of the table.
    Designs,
}

pub(crate) const KINDS: [Kind; 4] = [
    Kind {
        command: "run",
        manifest: Manifest::Run.file(),
        totals: &["outcome", "timing"],
        table: "layers.csv",
        more: Some("aligned.csv"),
        keys: Keys::Columns,
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
            "cut_share",
            "vanished_share",
            "sum_sqnr_db",
            "output_sqnr_db",
            "required_result",
        ],
    },
    Kind {
        command: "sweep",
        manifest: Manifest::Sweep.file(),
        totals: &[],
        table: "summary.csv",
        more: None,
        keys: Keys::Points,
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
        more: None,
        keys: Keys::Columns,
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
        more: None,
        keys: Keys::Designs,
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

/// Folder of results.
pub(crate) struct Folder {
    pub shown: String,
    pub manifest: Value,
    /// Table: names of the columns, and cells.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Candidates for identifying rows: names, and the value of each in every row.
    pub axes: Vec<(String, Vec<String>)>,
}

/// Names of columns, and cells.
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn parse(text: &str) -> Result<Self, csv::Error> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns = reader.headers()?.iter().map(String::from).collect();
        let rows = reader.records().map(|record| Ok(record?.iter().map(String::from).collect()));
        Ok(Self { columns, rows: rows.collect::<Result<_, csv::Error>>()? })
    }

    /// Appends the rows of another table. Cells of columns that one of them lacks are blank.
    fn append(&mut self, other: Self) {
        for name in &other.columns {
            if !self.columns.contains(name) {
                self.columns.push(name.clone());
            }
        }
        self.rows.iter_mut().for_each(|row| row.resize(self.columns.len(), String::new()));
        for cells in other.rows {
            let mut row = vec![String::new(); self.columns.len()];
            for (name, cell) in other.columns.iter().zip(cells) {
                if let Some(at) = self.columns.iter().position(|own| own == name) {
                    row[at] = cell;
                }
            }
            self.rows.push(row);
        }
        if let Some(index) = self.columns.iter().position(|name| name == "index") {
            self.rows.sort_by_key(|row| row[index].parse::<usize>().unwrap_or(usize::MAX));
        }
    }
}

impl Kind {
    /// Returns the label of a row: index, name and level of a layer, or axes and values of a point.
    pub fn label(&self, names: &[&str], key: &[&str]) -> String {
        let part = |(name, value): (&&str, &&str)| match self.keys {
            Keys::Columns => (*value).to_owned(),
            _ if ["design", "model", "hw"].contains(name) => (*value).to_owned(),
            _ => format!("{name}={value}"),
        };
        let parts = names.iter().zip(key).filter(|(_, value)| !value.is_empty()).map(part);
        parts.collect::<Vec<_>>().join(" ")
    }
}

/// Returns the kind of the results in a folder.
pub(crate) fn kind_of(folder: &Path) -> Result<&'static Kind, StudyError> {
    let is = |kind: &&Kind| folder.join(kind.manifest).is_file();
    KINDS.iter().find(is).ok_or_else(|| {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.manifest).collect();
        let why = if folder.is_dir() {
            format!("contains none of {}", names.join(", "))
        } else if !folder.exists() {
            "does not exist".into()
        } else {
            "is not a folder".into()
        };
        StudyError::Compare { problem: format!("{} {why}", folder.display()) }
    })
}

impl Folder {
    pub fn read(folder: &Path, kind: &Kind) -> Result<Self, StudyError> {
        let shown = folder.display().to_string();
        let wrong = |problem: String| StudyError::Compare { problem: format!("{shown}: {problem}") };
        let text = |name: &str| {
            read_text(&folder.join(name), LIMIT)
                .map_err(|error| wrong(format!("{name} cannot be read: {error}")))
        };
        let sealed = text(kind.manifest)?;
        if !is_sealed(&sealed) {
            return Err(wrong(format!("{} changed since guardbit wrote it", kind.manifest)));
        }
        let manifest: Value = serde_json::from_str(&sealed).unwrap_or_default();
        if manifest["command"] != kind.command {
            return Err(wrong(format!("{} was not written by `guardbit {}`", kind.manifest, kind.command)));
        }
        if !manifest["shard"].is_null() {
            return Err(wrong(
                "is one shard of a sweep: compare the folder that `guardbit merge` writes".into(),
            ));
        }
        if let Some(missing) = manifest["missing"].as_array().filter(|missing| !missing.is_empty()) {
            return Err(wrong(format!(
                "lacks {} of its points: run the same `guardbit sweep` again to add them",
                missing.len()
            )));
        }
        let Some(files) = manifest["files"].as_array().filter(|files| !files.is_empty()) else {
            return Err(wrong("is not finished: run the same command again to finish it".into()));
        };
        let listed = |name: &str| {
            let file = files.iter().find(|file| file["path"] == name)?;
            file["sha256"].as_str()
        };
        let table = |name: &str| -> Result<Table, StudyError> {
            let table = text(name)?;
            if listed(name) != Some(&Digest::of_bytes(table.as_bytes()).to_string()) {
                return Err(wrong(format!("{name} changed since guardbit wrote it")));
            }
            Table::parse(&table).map_err(|error| wrong(format!("{name}: {error}")))
        };
        let mut whole = table(kind.table)?;
        if let Some(more) = kind.more.filter(|more| listed(more).is_some()) {
            whole.append(table(more)?);
        }
        let Table { columns, rows } = whole;
        let read = Self { shown: shown.clone(), manifest, columns, rows, axes: Vec::new() };
        let axes =
            read.axes(kind).ok_or_else(|| wrong(format!("{} does not list its points", kind.manifest)))?;
        Ok(Self { axes, ..read })
    }

    pub fn cell<'a>(&'a self, row: &'a [String], column: &str) -> &'a str {
        let at = self.columns.iter().position(|name| name == column);
        at.and_then(|at| row.get(at)).map_or("", String::as_str)
    }

    /// Returns the cells of a column; `None` if the table does not have it.
    pub fn column(&self, name: &str) -> Option<Vec<String>> {
        let at = self.columns.iter().position(|own| own == name)?;
        Some(self.rows.iter().map(|row| row.get(at).cloned().unwrap_or_default()).collect())
    }

    fn axes(&self, kind: &Kind) -> Option<Vec<(String, Vec<String>)>> {
        let column = |name: &str, last: bool| {
            let mut places = (0..self.columns.len()).filter(|&at| self.columns[at] == name);
            let at = if last { places.next_back() } else { places.next() }?;
            Some((name.to_owned(), self.rows.iter().map(|row| row[at].clone()).collect()))
        };
        match kind.keys {
            Keys::Columns => ["index", "name", "level"].into_iter().map(|name| column(name, false)).collect(),
            Keys::Points => self.axes_of_points(),
            Keys::Designs => {
                let named = self.manifest["settings"]["axes"].as_array()?;
                let named = named.iter().map(|axis| Some(axis.as_str()?.split_once('=')?.0));
                let own = ["design", "widths"].map(|name| column(name, false));
                own.into_iter().chain(named.map(|name| column(name?, true))).collect()
            }
        }
    }

    /// Returns the axes of a sweep. The width of the swept level is included under its key.
    fn axes_of_points(&self) -> Option<Vec<(String, Vec<String>)>> {
        let points = self.manifest["points"].as_array().filter(|points| points.len() == self.rows.len())?;
        let mut axes: Vec<(String, Vec<String>)> = Vec::new();
        for (index, point) in points.iter().enumerate() {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
            let mut own =
                vec![("model".to_owned(), text(&point["model"])), ("hw".to_owned(), text(&point["hw"]))];
            if let Some(level) = point["level"].as_str().filter(|level| !level.is_empty()) {
                let key = |what: &str| format!("accumulation.{level}.{what}");
                own.push((key("bits"), text(&point["bits"])));
                own.push((key("overflow"), text(&point["overflow"])));
            }
            for parameter in point["parameters"].as_array().into_iter().flatten() {
                let key = parameter["key"].as_str()?;
                if own.iter().all(|(name, _)| name != key) {
                    own.push((key.to_owned(), text(&parameter["value"])));
                }
            }
            for (name, value) in own {
                let at = axes.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                    axes.push((name, vec![String::new(); points.len()]));
                    axes.len() - 1
                });
                axes[at].1[index] = value;
            }
        }
        Some(axes)
    }
}

/// Returns the axes that identify rows in all folders: axes that all folders name and that differ between the
/// rows of some folder.
///
/// # Errors
/// [`StudyError::Compare`] if two rows of a folder do not differ in any axis that the other folders also
/// name.
pub(crate) fn joined(folders: &[Folder]) -> Result<Vec<String>, StudyError> {
    let varies = |(_, values): &&(String, Vec<String>)| values.windows(2).any(|pair| pair[0] != pair[1]);
    let named = |folder: &Folder, name: &str| folder.axes.iter().any(|(own, _)| own == name);
    let (mut joined, mut apart): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (name, _) in folders.iter().flat_map(|folder| folder.axes.iter().filter(varies)) {
        let list = if folders.iter().all(|folder| named(folder, name)) { &mut joined } else { &mut apart };
        if !list.contains(name) {
            list.push(name.clone());
        }
    }
    for folder in folders {
        let mut seen = HashSet::new();
        if !folder.keys(&joined).all(|key| seen.insert(key)) {
            let own = apart.iter().filter(|name| named(folder, name)).cloned().collect::<Vec<_>>().join(", ");
            let problem = match own.as_str() {
                "" => format!("{}: several rows of its table have the same keys", folder.shown),
                own => format!(
                    "{}: its points differ in {own}, which not all of these folders vary or list, so \
                     points cannot be matched",
                    folder.shown
                ),
            };
            return Err(StudyError::Compare { problem });
        }
    }
    // Designs found by a search need more than axes for identification; points of axes do not.
    for more in ["design", "widths"] {
        let without: Vec<String> = joined.iter().filter(|name| *name != more).cloned().collect();
        let is_enough = |folder: &Folder| {
            let mut seen = HashSet::new();
            folder.keys(&without).all(|key| seen.insert(key))
        };
        if folders.iter().all(is_enough) {
            joined = without;
        }
    }
    Ok(joined)
}

impl Folder {
    /// Returns the identifying values of each row for these axes.
    pub fn keys<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = Vec<&'a str>> {
        let axis = |name: &String| self.axes.iter().find(|(own, _)| own == name).map(|(_, values)| values);
        let chosen: Vec<Option<&Vec<String>>> = names.iter().map(axis).collect();
        (0..self.rows.len()).map(move |row| {
            chosen.iter().map(|values| values.map_or("", |values| values[row].as_str())).collect()
        })
    }
}

/// Returns the shortest endings of paths that distinguish the folders.
pub(crate) fn short(folders: &[PathBuf]) -> Vec<String> {
    let last = |folder: &PathBuf, count: usize| {
        let parts: Vec<_> = folder.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        parts[parts.len().saturating_sub(count)..].join("/")
    };
    let most = folders.iter().map(|folder| folder.components().count()).max().unwrap_or(1);
    let differ = |count: &usize| {
        let names: Vec<String> = folders.iter().map(|folder| last(folder, *count)).collect();
        (0..names.len()).all(|at| !names[..at].contains(&names[at]))
    };
    let count = (1..=most).find(differ).unwrap_or(most);
    folders.iter().map(|folder| last(folder, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let check = |folders: &[&str], expected: &[&str]| {
            assert_eq!(short(&folders.iter().map(PathBuf::from).collect::<Vec<_>>()), expected);
        };
        check(&["/long/way/a", "/long/way/b/"], &["a", "b"]);
        check(&["x/a/out", "x/b/out"], &["a/out", "b/out"]);
        check(&["a", "x/a"], &["a", "x/a"]);
        check(&["same", "same"], &["same", "same"]);
    }
}
