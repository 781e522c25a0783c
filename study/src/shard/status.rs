//! Status of sweeps in folders: missing shards and points.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use guardbit_files::Manifest;
use guardbit_reports::short_key;
use serde::Serialize;
use serde_json::Value;

use super::Shard;
use crate::point_store::{manifest, sealed_text};
use crate::{StudyError, point_file};

/// Status of some folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// All folders, in the order given.
    pub folders: Vec<FolderStatus>,
    /// All sweeps to which the folders belong.
    pub sweeps: Vec<SweepStatus>,
}

/// Status of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FolderStatus {
    /// The folder.
    pub folder: PathBuf,
    /// State of the folder.
    pub state: State,
    /// Shard in the folder, e.g. `2/8`; `None` for a whole sweep.
    pub shard: Option<String>,
    /// Number of stored points.
    pub stored: usize,
    /// Number of planned points.
    pub points: usize,
}

/// State of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All points and all other files are present.
    Complete,
    /// Unfinished; repeating the command continues.
    Unfinished,
}

impl State {
    /// Returns the state in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Unfinished => "unfinished",
        }
    }
}

/// Status of a sweep, whose shards may be in several folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SweepStatus {
    /// Folders of its shards.
    pub folders: Vec<PathBuf>,
    /// Number of points of the sweep.
    pub points: usize,
    /// Shards that no folder has, e.g. `3/8`.
    pub missing_shards: Vec<String>,
    /// Points that no folder has.
    pub missing: Vec<MissingPoint>,
}

/// Point that no folder has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingPoint {
    /// Row of the point in `summary.csv`, from 0.
    pub point: usize,
    /// Shard of the point, e.g. `3/8`; `None` for a sweep without shards.
    pub shard: Option<String>,
    /// Axes and values that identify the point.
    pub what: String,
}

impl Status {
    /// Returns whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.folders.iter().all(|one| one.state == State::Complete)
            && self.sweeps.iter().all(|sweep| sweep.missing.is_empty() && sweep.missing_shards.is_empty())
    }
}

/// Folder of a sweep.
struct Part {
    identity: String,
    shard: Option<Shard>,
    manifest: Value,
    /// Indices of the stored points.
    stored: Vec<usize>,
}

/// Returns the status of the sweeps in some folders. Shards of one sweep are combined. Nothing is changed.
///
/// # Errors
/// [`StudyError::NoSweep`] if a folder is missing, or is not that of a sweep.
pub fn status(folders: &[PathBuf]) -> Result<Status, StudyError> {
    let (mut all, mut strangers) = (Vec::new(), Vec::new());
    // Shards of one sweep have equal numbers of shards and points, whatever manifests state.
    let mut sweeps: BTreeMap<(String, usize, usize), Vec<(PathBuf, Part)>> = BTreeMap::new();
    for folder in folders {
        let Some(part) = Part::read(folder) else {
            strangers.push(stranger(folder));
            continue;
        };
        let points = part.own().len();
        let is_done = part.stored.len() == points && part.has_files(folder);
        all.push(FolderStatus {
            folder: folder.clone(),
            state: if is_done { State::Complete } else { State::Unfinished },
            shard: part.shard.map(|shard| shard.to_string()),
            stored: part.stored.len(),
            points,
        });
        let count = part.shard.map_or(1, Shard::count);
        let sweep = (part.identity.clone(), count, part.points().len());
        sweeps.entry(sweep).or_default().push((folder.clone(), part));
    }
    if !strangers.is_empty() {
        return Err(StudyError::NoSweep(strangers));
    }
    let sweeps = sweeps.into_values().map(|parts| sweep(&parts)).collect();
    Ok(Status { folders: all, sweeps })
}

/// Returns why a folder has no status.
fn stranger(folder: &Path) -> String {
    let shown = folder.display();
    let other = Manifest::ALL.iter().find(|manifest| folder.join(manifest.file()).is_file());
    match other {
        _ if !folder.exists() => format!("{shown} does not exist"),
        Some(Manifest::Sweep) => format!("{shown}: sweep.json changed since guardbit wrote it"),
        Some(other) => format!("{shown} is not the folder of a sweep: it has {}", other.file()),
        None => format!("{shown} is not the folder of a sweep"),
    }
}

fn sweep(parts: &[(PathBuf, Part)]) -> SweepStatus {
    let points = parts[0].1.points();
    let count = parts[0].1.shard.map_or(1, Shard::count);
    let shards: Vec<Shard> = (1..=count).filter_map(|index| Shard::new(index, count)).collect();
    let is_cut = parts[0].1.shard.is_some();
    let has = |shard: &Shard| parts.iter().any(|(_, part)| part.shard == Some(*shard));
    let mut stored = vec![false; points.len()];
    parts.iter().flat_map(|(_, part)| &part.stored).for_each(|&point| stored[point] = true);
    let missing = shards.iter().flat_map(|&shard| {
        let missing = shard.points(points.len()).filter(|&point| !stored[point]);
        missing.map(move |point| (shard, point)).collect::<Vec<_>>()
    });
    let missing = missing.map(|(shard, point)| MissingPoint {
        point,
        shard: is_cut.then(|| shard.to_string()),
        what: named(&points[point]),
    });
    SweepStatus {
        folders: parts.iter().map(|(folder, _)| folder.clone()).collect(),
        points: points.len(),
        missing_shards: shards
            .iter()
            .filter(|shard| is_cut && !has(shard))
            .map(ToString::to_string)
            .collect(),
        missing: missing.collect(),
    }
}

/// Returns the axes and values that identify a point.
fn named(point: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
    let mut parts = Vec::new();
    if !point["bits"].is_null() {
        parts.push(format!("bits={} overflow={}", text(&point["bits"]), text(&point["overflow"])));
    }
    let parameters = point["parameters"].as_array().into_iter().flatten();
    parts.extend(parameters.map(|one| format!("{}={}", short_key(&text(&one["key"])), text(&one["value"]))));
    parts.join(" ")
}

impl Part {
    fn read(folder: &Path) -> Option<Self> {
        let manifest = manifest(folder, Manifest::Sweep);
        let shard = match &manifest["shard"] {
            Value::Null => None,
            shard => Some(serde_json::from_value(shard.clone()).ok()?),
        };
        let identity = manifest["identity"].as_str()?.to_owned();
        manifest["points"].as_array()?;
        let mut part = Self { identity, shard, manifest, stored: Vec::new() };
        part.stored = part.own().filter(|&point| part.is_stored(folder, point)).collect();
        Some(part)
    }

    fn points(&self) -> &[Value] {
        self.manifest["points"].as_array().map_or(&[], Vec::as_slice)
    }

    fn own(&self) -> std::ops::Range<usize> {
        let points = self.points().len();
        self.shard.map_or(0..points, |shard| shard.points(points))
    }

    /// Returns whether the file of a point exists and belongs to the point.
    fn is_stored(&self, folder: &Path, point: usize) -> bool {
        let Some(text) = sealed_text(&folder.join(point_file(point))) else { return false };
        // The identity precedes all large values in the file.
        let identity =
            self.points()[point]["identity"].as_str().map(|hash| format!("\"identity\":\"{hash}\""));
        identity.is_some_and(|identity| text.contains(&identity))
    }

    /// Returns whether the manifest lists files and all of them exist.
    fn has_files(&self, folder: &Path) -> bool {
        let files = self.manifest["files"].as_array().map_or(&[][..], Vec::as_slice);
        let is_there = |file: &Value| file["path"].as_str().is_some_and(|path| folder.join(path).is_file());
        !files.is_empty() && files.iter().all(is_there)
    }
}
