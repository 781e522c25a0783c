//! Merges folders of shards into one folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use guardbit_files::{Digest, FileEntry, Manifest, Staging};
use guardbit_reports::About;
use serde::{Deserialize, Serialize};
use serde_yaml::{Mapping, Value};

use super::{Shard, ShardJson};
use crate::point_store::sealed_text;
use crate::{StudyError, TableFormat};

/// Maximum number of list items in a message.
const TOLD: usize = 10;
/// Keys of a shard's manifest that are recreated for the whole.
const OWN: [&str; 4] = ["shard", "trapped", "files", "sha256"];

/// Reason why shards cannot be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Folders that are not shards.
    #[error(
        "{} of a sweep:{}",
        if .0.len() == 1 { "this folder is not a shard" } else { "these folders are not shards" },
        listed(.0.iter().map(|path| path.display()))
    )]
    NoShard(Vec<PathBuf>),
    /// Shards of other plans, or of the plan split into another number of shards, each with its difference.
    #[error(
        "{} not from the same sweep as {}:{}",
        is_or_are(strays.len()),
        first.display(),
        listed(strays.iter().map(|(path, why)| format!("{}: {why}", path.display())))
    )]
    Stray {
        /// Folder that the others are compared with.
        first: PathBuf,
        /// Folders that do not match it.
        strays: Vec<(PathBuf, String)>,
    },
    /// Shard that occurs in several folders.
    #[error("shards overlap:{}", listed(.0.iter().map(|(shard, a, b)| {
        format!("{} and {} are both shard {shard}", a.display(), b.display())
    })))]
    Overlap(Vec<(Shard, PathBuf, PathBuf)>),
    /// Missing or unfinished shards.
    #[error("the sweep is incomplete:{}", listed(missing.iter().map(|shard| format!("shard {shard} is missing")).chain(
        unfinished.iter().map(|one| {
            format!("{}: has {} of {} points of shard {}", one.folder.display(), one.stored, one.points, one.shard)
        })
    )))]
    NotWhole {
        /// Shards that no folder has.
        missing: Vec<Shard>,
        /// Shards with missing points.
        unfinished: Vec<Unfinished>,
    },
    /// Shards whose manifests list files other than those of their points, sealed or not.
    #[error("the file lists of these shards do not match their points:{}", listed(.0.iter().map(|path| path.display())))]
    Unlisted(Vec<PathBuf>),
    /// Shards without a single stored point.
    #[error("the sweep has no finished point yet")]
    NoPoint,
    /// Output folder that is a shard, or inside of one, or contains one.
    #[error("{} is the output folder, and {} is one of its shards", out.display(), folder.display())]
    IntoItself {
        /// Output folder.
        out: PathBuf,
        /// Folder of the shard.
        folder: PathBuf,
    },
    /// Files of shards that were changed or removed.
    #[error("files changed since guardbit wrote them:{}", listed(.0.iter().map(|path| path.display())))]
    Damaged(Vec<PathBuf>),
}

/// Shard that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Folder of the shard.
    pub folder: PathBuf,
    /// Index and number of the shard.
    pub shard: Shard,
    /// Number of stored points.
    pub stored: usize,
    /// Number of points of the shard.
    pub points: usize,
}

fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "this folder is" } else { "these folders are" }
}

/// Formats one line per item, for the first items.
fn listed<T: std::fmt::Display>(items: impl Iterator<Item = T>) -> String {
    let items: Vec<String> = items.map(|item| format!("\n  {item}")).collect();
    match items.len().saturating_sub(TOLD) {
        0 => items.concat(),
        others => format!("{}\n  and {others} more", items[..TOLD].concat()),
    }
}

impl MergeError {
    /// Returns a stable name for this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoShard(_) => "guardbit::merge::folder",
            Self::Stray { .. } => "guardbit::merge::stray",
            Self::Overlap(_) => "guardbit::merge::overlap",
            Self::NotWhole { .. } => "guardbit::merge::missing",
            Self::Unlisted(_) => "guardbit::merge::unlisted",
            Self::NoPoint => "guardbit::merge::no_point",
            Self::IntoItself { .. } => "guardbit::merge::output",
            Self::Damaged(_) => "guardbit::merge::damaged",
        }
    }

    /// Returns advice on a fix.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoShard(_) => "name the folders that `guardbit sweep --shard I/N -o DIR` wrote",
            Self::Stray { .. } => "merge folders of one sweep, all with the same N of --shard I/N",
            Self::Overlap(_) => "name one folder for each shard",
            Self::NotWhole { .. } => {
                "run each of these shards with the command of the others and its own --shard I/N and -o \
                 DIR; an interrupted shard continues. `guardbit status DIR...` lists the missing points, \
                 `merge --partial` merges the finished points"
            }
            Self::NoPoint => "run the shards first",
            Self::IntoItself { .. } => "name another folder with -o: shards are never changed",
            Self::Unlisted(_) | Self::Damaged(_) => "remove these folders and run their shards again",
        }
    }
}

/// Returns whether a path stays within a folder that it is joined to.
fn is_inside(path: &Path) -> bool {
    path.file_name().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Folder of one shard.
pub(crate) struct Part {
    pub folder: PathBuf,
    json: ShardJson,
    manifest: Mapping,
    points: usize,
    files: Vec<FileEntry>,
}

/// Keys that the manifests of all kinds of plans have.
#[derive(Deserialize)]
struct Common {
    shard: ShardJson,
    points: Vec<Value>,
    files: Vec<FileEntry>,
}

impl Part {
    /// Reads a folder; `None` if it is not the folder of a shard.
    fn read(folder: &Path, manifest: Manifest) -> Option<Self> {
        let text = sealed_text(&folder.join(manifest.file()))?;
        let Common { shard, points, files } = serde_json::from_str(&text).ok()?;
        // A seal does not prove who wrote the file, so paths are checked.
        if !files.iter().all(|file| is_inside(Path::new(&file.path))) {
            return None;
        }
        let manifest = serde_json::from_str(&text).ok()?;
        Some(Self { folder: folder.into(), json: shard, manifest, points: points.len(), files })
    }

    fn shard(&self) -> Shard {
        self.json.shard
    }

    pub fn is_complete(&self) -> bool {
        self.json.complete
    }

    /// Returns whether the manifest lists exactly the files of its points, or none while it is unfinished.
    fn lists_its_files(&self) -> bool {
        let points = if self.json.complete { self.shard().points(self.points) } else { 0..0 };
        let all: BTreeSet<String> =
            points.flat_map(|index| [crate::point_file(index), crate::predictions_file(index)]).collect();
        let listed: BTreeSet<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        listed.len() == self.files.len() && listed.iter().copied().eq(all.iter().map(String::as_str))
    }

    /// Returns the difference from another shard of a plan, if any.
    fn differs(&self, first: &Self) -> Option<String> {
        let differs = |key: &str| self.manifest.get(key) != first.manifest.get(key);
        if self.shard().count() != first.shard().count() {
            return Some(format!("shard {}, not one of {}", self.shard(), first.shard().count()));
        }
        let whats = [
            ("schema", "another version of its files"),
            ("tool", "another version of guardbit"),
            ("arithmetic", "another version of guardbit"),
            ("command", "another command"),
            ("models", "another network"),
            ("hws", "another accelerator"),
            ("input", "other samples"),
            ("labels", "other labels"),
            ("settings", "other settings"),
        ];
        let mut found: Vec<&str> =
            whats.iter().filter(|(key, _)| differs(key)).map(|&(_, what)| what).collect();
        found.dedup();
        let is_same = self.description() == first.description();
        match found.as_slice() {
            [] if is_same && self.json.about == first.json.about => None,
            [] => Some("other points".into()),
            found => Some(found.join(", ")),
        }
    }

    /// Returns the manifest's description of the whole.
    fn description(&self) -> Mapping {
        let mut description = self.manifest.clone();
        OWN.iter().for_each(|&key| drop(description.shift_remove(key)));
        description
    }

    /// Returns how much is stored, unless the shard is complete.
    fn unfinished(&self) -> Option<Unfinished> {
        if self.json.complete {
            return None;
        }
        let points = self.shard().points(self.points);
        let stored = points.clone().filter(|&index| self.folder.join(crate::point_file(index)).is_file());
        Some(Unfinished {
            folder: self.folder.clone(),
            shard: self.shard(),
            stored: stored.count(),
            points: points.len(),
        })
    }

    /// Returns files that differ from the manifest's hashes.
    fn damaged(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let files = self.files.iter().map(|file| (self.folder.join(&file.path), file.sha256));
        files.filter(|(path, sha256)| Digest::of_file(path).ok() != Some(*sha256)).map(|(path, _)| path)
    }
}

/// Merged shards.
pub(crate) struct Merged {
    parts: BTreeMap<Shard, Part>,
}

/// Fails if the output folder is a shard, inside of one, or contains one.
pub(crate) fn check_output(folders: &[PathBuf], out: &Path) -> Result<(), MergeError> {
    let real = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
        // For a path that does not exist yet, use the part that exists.
        let there = path
            .ancestors()
            .find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
        there.map_or_else(
            || path.clone(),
            |(above, below)| if below.as_os_str().is_empty() { above } else { above.join(below) },
        )
    };
    let whole = real(out);
    let within = folders.iter().find(|folder| {
        let part = real(folder);
        part.starts_with(&whole) || whole.starts_with(&part)
    });
    within.map_or(Ok(()), |folder| Err(MergeError::IntoItself { out: out.into(), folder: folder.clone() }))
}

/// Manifest of the whole.
#[derive(Serialize)]
struct Whole<'a, T> {
    #[serde(flatten)]
    description: Mapping,
    #[serde(skip_serializing_if = "<[T]>::is_empty")]
    trapped: &'a [T],
    /// Missing points of a partial merge.
    #[serde(skip_serializing_if = "<[usize]>::is_empty")]
    missing: &'a [usize],
    files: Vec<FileEntry>,
}

impl Merged {
    /// Reads the shards in `folders`, which have manifests of this kind, in order. All must be present and
    /// complete, unless `partial` is set.
    pub fn read(folders: &[PathBuf], manifest: Manifest, partial: bool) -> Result<Self, MergeError> {
        let read = |folder: &PathBuf| Part::read(folder, manifest).ok_or_else(|| folder.clone());
        let (parts, others): (Vec<_>, Vec<_>) = folders.iter().map(read).partition(Result::is_ok);
        let others: Vec<PathBuf> = others.into_iter().filter_map(Result::err).collect();
        let parts: Vec<Part> = parts.into_iter().filter_map(Result::ok).collect();
        let Some(first) = parts.first().filter(|_| others.is_empty()) else {
            return Err(MergeError::NoShard(others));
        };
        let strays = parts.iter().filter_map(|part| Some((part.folder.clone(), part.differs(first)?)));
        let strays: Vec<_> = strays.collect();
        if !strays.is_empty() {
            return Err(MergeError::Stray { first: first.folder.clone(), strays });
        }
        Self::of_parts(parts, partial)
    }

    fn of_parts(parts: Vec<Part>, partial: bool) -> Result<Self, MergeError> {
        let mut by_shard: BTreeMap<Shard, Part> = BTreeMap::new();
        let mut overlaps = Vec::new();
        for part in parts {
            match by_shard.get(&part.shard()) {
                Some(other) => overlaps.push((part.shard(), other.folder.clone(), part.folder)),
                None => drop(by_shard.insert(part.shard(), part)),
            }
        }
        if !overlaps.is_empty() {
            return Err(MergeError::Overlap(overlaps));
        }
        let unlisted =
            by_shard.values().filter(|part| !part.lists_its_files()).map(|part| part.folder.clone());
        let unlisted: Vec<PathBuf> = unlisted.collect();
        if !unlisted.is_empty() {
            return Err(MergeError::Unlisted(unlisted));
        }
        let merged = Self { parts: by_shard };
        let missing = merged.missing();
        let unfinished: Vec<Unfinished> = merged.parts.values().filter_map(Part::unfinished).collect();
        if !partial && (!missing.is_empty() || !unfinished.is_empty()) {
            return Err(MergeError::NotWhole { missing, unfinished });
        }
        let damaged: Vec<PathBuf> = merged.parts.values().flat_map(Part::damaged).collect();
        if !damaged.is_empty() {
            return Err(MergeError::Damaged(damaged));
        }
        Ok(merged)
    }

    /// Returns the missing shards.
    pub fn missing(&self) -> Vec<Shard> {
        let count = self.parts.keys().next().map_or(0, |shard| shard.count());
        let all = (1..=count).filter_map(|index| Shard::new(index, count));
        all.filter(|shard| !self.parts.contains_key(shard)).collect()
    }

    fn first(&self) -> Option<&Part> {
        self.parts.values().next()
    }

    /// Returns the report's description.
    pub fn about(&self) -> About {
        self.first().map_or_else(About::default, |part| part.json.about.clone())
    }

    /// Returns the file format of tables: all formats that any shard requested.
    pub fn format(&self) -> TableFormat {
        self.parts.values().map(|part| part.json.format).max().unwrap_or_default()
    }

    /// Returns each point as the manifest describes it, with the shard that has it.
    pub fn points<'a, T: serde::de::DeserializeOwned>(
        &'a self,
    ) -> impl Iterator<Item = Result<(T, Option<&'a Part>), MergeError>> + 'a {
        let first = self.first();
        let damaged =
            move || MergeError::Damaged(first.map(|part| part.folder.clone()).into_iter().collect());
        let described = first.and_then(|part| part.manifest.get("points")).and_then(Value::as_sequence);
        let count = first.map_or(0, |part| part.points);
        let shards = first.map_or(0, |part| part.shard().count());
        let shards = (1..=shards).filter_map(move |index| Shard::new(index, shards));
        let parts = shards.flat_map(move |shard| shard.points(count).map(move |_| self.parts.get(&shard)));
        described.into_iter().flatten().zip(parts).map(move |(point, part)| {
            Ok((serde_yaml::from_value(point.clone()).map_err(|_| damaged())?, part))
        })
    }

    /// Adds the manifest of the whole.
    pub fn write<T: Serialize>(
        &self,
        staging: &mut Staging<'_>,
        manifest: Manifest,
        trapped: &[T],
        missing: &[usize],
    ) -> Result<(), StudyError> {
        let description = self.first().map_or_else(Mapping::new, Part::description);
        let whole = Whole { description, trapped, missing, files: staging.entries() };
        Ok(staging.write(manifest.file(), &crate::sealed(&whole))?)
    }
}
