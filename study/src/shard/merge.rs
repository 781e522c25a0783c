//! Folders of parts that become the folder of the whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use guardbit_files::{Digest, FileEntry, Staging, is_sealed, read_text};
use guardbit_reports::About;
use serde::{Deserialize, Serialize};
use serde_yaml::{Mapping, Value};

use super::{Shard, ShardJson};
use crate::{StudyError, TableFormat};

/// Bytes of a manifest, at most.
const LIMIT: u64 = 1 << 28;
/// Of long lists so many are told.
const TOLD: usize = 10;
/// Keys of a part's manifest that are made anew for the whole.
const OWN: [&str; 4] = ["shard", "trapped", "files", "sha256"];

/// Why parts do not become a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Folders that are no parts.
    #[error(
        "{} of a sweep:{}",
        if .0.len() == 1 { "this folder is no shard" } else { "these folders are no shards" },
        listed(.0.iter().map(|path| path.display()))
    )]
    NoShard(Vec<PathBuf>),
    /// Parts of other plans, or of the same plan cut into another number of parts, with what is other about each.
    #[error(
        "{} not from the same sweep as {}:{}",
        is_or_are(strays.len()),
        first.display(),
        listed(strays.iter().map(|(path, why)| format!("{}: {why}", path.display())))
    )]
    Stray {
        /// The folder that the others are compared with.
        first: PathBuf,
        /// Those that do not go with it.
        strays: Vec<(PathBuf, String)>,
    },
    /// One part in several folders.
    #[error("shards overlap:{}", listed(.0.iter().map(|(shard, a, b)| {
        format!("{} and {} are both shard {shard}", a.display(), b.display())
    })))]
    Overlap(Vec<(Shard, PathBuf, PathBuf)>),
    /// Parts that are not there, or not done.
    #[error("the sweep is not whole:{}", listed(missing.iter().map(|shard| format!("shard {shard} is missing")).chain(
        unfinished.iter().map(|one| {
            format!("{}: {} of {} points of shard {} are there", one.folder.display(), one.stored, one.points, one.shard)
        })
    )))]
    NotWhole {
        /// Parts that no folder has.
        missing: Vec<Shard>,
        /// Parts of which points are missing.
        unfinished: Vec<Unfinished>,
    },
    /// Manifests of parts whose lists of files are not those of their points, sealed or not.
    #[error("the lists of files of these shards are not those of their points:{}", listed(.0.iter().map(|path| path.display())))]
    Unlisted(Vec<PathBuf>),
    /// Parts of which not one point is there.
    #[error("no point of the sweep is there yet")]
    NoPoint,
    /// A folder for the whole that is one of its parts, or lies in one, or holds one.
    #[error("{} is the output folder, and {} is one of its shards", out.display(), folder.display())]
    IntoItself {
        /// The folder for the whole.
        out: PathBuf,
        /// The part.
        folder: PathBuf,
    },
    /// Files of parts that were changed or removed.
    #[error("files are not as guardbit wrote them:{}", listed(.0.iter().map(|path| path.display())))]
    Damaged(Vec<PathBuf>),
}

/// A part that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Its folder.
    pub folder: PathBuf,
    /// Which one it is.
    pub shard: Shard,
    /// How many of its points are stored.
    pub stored: usize,
    /// How many it has.
    pub points: usize,
}

fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "this folder is" } else { "these folders are" }
}

/// A line per item, of the first ones.
fn listed<T: std::fmt::Display>(items: impl Iterator<Item = T>) -> String {
    let items: Vec<String> = items.map(|item| format!("\n  {item}")).collect();
    match items.len().saturating_sub(TOLD) {
        0 => items.concat(),
        others => format!("{}\n  and {others} more", items[..TOLD].concat()),
    }
}

impl MergeError {
    /// A name for this kind of error that does not change.
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

    /// What may help.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoShard(_) => "name the folders that `guardbit sweep --shard I/N -o DIR` wrote",
            Self::Stray { .. } => "merge folders of one sweep, all with the same N of --shard I/N",
            Self::Overlap(_) => "name one folder for each shard",
            Self::NotWhole { .. } => {
                "run each of these shards with the command of the others, its own --shard I/N and -o DIR: one that was begun \
                 goes on where it was. `guardbit status DIR...` lists the missing points, `merge --partial` merges what there is"
            }
            Self::NoPoint => "run the shards first",
            Self::IntoItself { .. } => "name another folder with -o: shards are only read",
            Self::Unlisted(_) | Self::Damaged(_) => "remove these folders and run their shards again",
        }
    }
}

/// Whether a path stays within a folder that it is joined to.
fn is_inside(path: &Path) -> bool {
    path.file_name().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// A folder of one part.
pub(crate) struct Part {
    pub folder: PathBuf,
    json: ShardJson,
    manifest: Mapping,
    points: usize,
    files: Vec<FileEntry>,
}

/// What the manifest of every kind of plan has.
#[derive(Deserialize)]
struct Common {
    shard: ShardJson,
    points: Vec<Value>,
    files: Vec<FileEntry>,
}

impl Part {
    /// `None` if this is no folder of a part.
    fn read(folder: &Path, manifest: &str) -> Option<Self> {
        let text = read_text(&folder.join(manifest), LIMIT).ok().filter(|text| is_sealed(text))?;
        let Common { shard, points, files } = serde_json::from_str(&text).ok()?;
        // Whoever knows how a seal is made can make one.
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

    /// Whether its manifest lists the files of its points, and nothing else: all of them, or none while it is under way.
    fn lists_its_files(&self) -> bool {
        let points = if self.json.complete { self.shard().points(self.points) } else { 0..0 };
        let all: BTreeSet<String> =
            points.flat_map(|index| [crate::point_file(index), crate::predictions_file(index)]).collect();
        let listed: BTreeSet<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        listed.len() == self.files.len() && listed.iter().copied().eq(all.iter().map(String::as_str))
    }

    /// What is other about it than about another part of a plan.
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

    /// What its manifest says of the whole.
    fn description(&self) -> Mapping {
        let mut description = self.manifest.clone();
        OWN.iter().for_each(|&key| drop(description.shift_remove(key)));
        description
    }

    /// How much of it is there, if not all.
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

    /// Files that are not what its manifest says.
    fn damaged(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let files = self.files.iter().map(|file| (self.folder.join(&file.path), file.sha256));
        files.filter(|(path, sha256)| Digest::of_file(path).ok() != Some(*sha256)).map(|(path, _)| path)
    }
}

/// Parts of a whole.
pub(crate) struct Merged {
    parts: BTreeMap<Shard, Part>,
}

/// Fails if the folder for the whole is one of its parts, lies in one or holds one.
pub(crate) fn check_output(folders: &[PathBuf], out: &Path) -> Result<(), MergeError> {
    let real = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
        // Of a folder that is not there yet, the part that is.
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

/// The manifest of the whole.
#[derive(Serialize)]
struct Whole<'a, T> {
    #[serde(flatten)]
    description: Mapping,
    #[serde(skip_serializing_if = "<[T]>::is_empty")]
    trapped: &'a [T],
    /// Of a partial merge the points that are not there.
    #[serde(skip_serializing_if = "<[usize]>::is_empty")]
    missing: &'a [usize],
    files: Vec<FileEntry>,
}

impl Merged {
    /// The parts in `folders`, whose manifests are called `manifest`, in order: all of them, each whole, unless it is to be `partial`.
    pub fn read(folders: &[PathBuf], manifest: &str, partial: bool) -> Result<Self, MergeError> {
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

    /// The parts that are not there.
    pub fn missing(&self) -> Vec<Shard> {
        let count = self.parts.keys().next().map_or(0, |shard| shard.count());
        let all = (1..=count).filter_map(|index| Shard::new(index, count));
        all.filter(|shard| !self.parts.contains_key(shard)).collect()
    }

    fn first(&self) -> Option<&Part> {
        self.parts.values().next()
    }

    /// What the report says.
    pub fn about(&self) -> About {
        self.first().map_or_else(About::default, |part| part.json.about.clone())
    }

    /// In what files tables are written: in all that some part was asked for.
    pub fn format(&self) -> TableFormat {
        self.parts.values().map(|part| part.json.format).max().unwrap_or_default()
    }

    /// Each point as the manifest describes it, with the part that has it.
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
        manifest: &str,
        trapped: &[T],
        missing: &[usize],
    ) -> Result<(), StudyError> {
        let description = self.first().map_or_else(Mapping::new, Part::description);
        let whole = Whole { description, trapped, missing, files: staging.entries() };
        Ok(staging.write(manifest, &crate::sealed(&whole))?)
    }
}
