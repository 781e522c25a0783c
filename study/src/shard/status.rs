//! How far sweeps in folders are: which shards and points are missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use guardbit_files::{is_sealed, read_text};
use guardbit_reports::short_key;
use serde::Serialize;
use serde_json::Value;

use super::Shard;
use crate::point_file;

/// Bytes of a manifest or a point, at most.
const LIMIT: u64 = 1 << 28;

/// How far some folders are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Every folder, in the order in which they were named.
    pub folders: Vec<FolderStatus>,
    /// Every sweep that some of the folders are of.
    pub sweeps: Vec<SweepStatus>,
}

/// How far a folder is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FolderStatus {
    /// The folder.
    pub folder: PathBuf,
    /// What it is.
    pub state: State,
    /// The part of the sweep that it is, as `2/8`; `None` for a whole sweep.
    pub shard: Option<String>,
    /// Points that are stored.
    pub stored: usize,
    /// Points that it is to have.
    pub points: usize,
}

/// What a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Every point and every other file is there.
    Complete,
    /// The same command goes on with what is missing.
    Unfinished,
    /// Not the folder of a sweep, or changed since guardbit wrote it.
    NotASweep,
}

impl State {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Unfinished => "unfinished",
            Self::NotASweep => "not a sweep",
        }
    }
}

/// How far a sweep is, whose parts may lie in several folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SweepStatus {
    /// The folders of its parts.
    pub folders: Vec<PathBuf>,
    /// How many points it has.
    pub points: usize,
    /// The parts that no folder has, as `3/8`.
    pub missing_shards: Vec<String>,
    /// The points that no folder has.
    pub missing: Vec<MissingPoint>,
}

/// A point that no folder has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingPoint {
    /// Its row of `summary.csv`, from 0.
    pub point: usize,
    /// The part that it belongs to, as `3/8`; `None` where the sweep is in one piece.
    pub shard: Option<String>,
    /// What tells it from others: axes and their values.
    pub what: String,
}

impl Status {
    /// Whether nothing is missing anywhere.
    pub fn is_complete(&self) -> bool {
        self.folders.iter().all(|one| one.state == State::Complete)
            && self.sweeps.iter().all(|sweep| sweep.missing.is_empty() && sweep.missing_shards.is_empty())
    }
}

/// A folder of a sweep.
struct Part {
    identity: String,
    shard: Option<Shard>,
    manifest: Value,
    /// Which of its points are stored.
    stored: Vec<usize>,
}

/// Returns how far the sweeps in some folders are. Shards of one sweep are looked at together. Nothing is changed.
pub fn status(folders: &[PathBuf]) -> Status {
    let mut all = Vec::new();
    // Whatever manifests say, parts of one sweep have the same number of shards and points.
    let mut sweeps: BTreeMap<(String, usize, usize), Vec<(PathBuf, Part)>> = BTreeMap::new();
    for folder in folders {
        let Some(part) = Part::read(folder) else {
            let folder = folder.clone();
            all.push(FolderStatus { folder, state: State::NotASweep, shard: None, stored: 0, points: 0 });
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
    let sweeps = sweeps.into_values().map(|parts| sweep(&parts)).collect();
    Status { folders: all, sweeps }
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

/// What tells a point from others.
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
        let text = read_text(&folder.join("sweep.json"), LIMIT).ok().filter(|text| is_sealed(text))?;
        let manifest: Value = serde_json::from_str(&text).ok()?;
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

    /// Whether the file of a point is there, and is that of the point.
    fn is_stored(&self, folder: &Path, point: usize) -> bool {
        let Ok(text) = read_text(&folder.join(point_file(point)), LIMIT) else { return false };
        // The identity stands before all that is large.
        let identity =
            self.points()[point]["identity"].as_str().map(|hash| format!("\"identity\":\"{hash}\""));
        is_sealed(&text) && identity.is_some_and(|identity| text.contains(&identity))
    }

    /// Whether its manifest lists files, and all of them are there.
    fn has_files(&self, folder: &Path) -> bool {
        let files = self.manifest["files"].as_array().map_or(&[][..], Vec::as_slice);
        let is_there = |file: &Value| file["path"].as_str().is_some_and(|path| folder.join(path).is_file());
        !files.is_empty() && files.iter().all(is_there)
    }
}
