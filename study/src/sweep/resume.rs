//! Folder of a sweep, and the points stored in it.

use std::cell::Cell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use guardbit_files::{
    Digest, Document, Existing, FileEntry, FolderError, Manifest, Staging, Target, is_sealed, read_text,
};
use guardbit_reports::{
    Pages, PointRecord, SweepPoint, pages_of, sweep_documents, sweep_parquet, sweep_parquet_paths,
    sweep_paths,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::{Description, Plan, PlannedPoint};
use super::stored::{self, LIMIT, SCHEMA};
use crate::shard::{Merged, ShardJson};
use crate::{Identity, MergeError, Shard, StudyError, TableFormat};

const COMMAND: &str = "sweep";
const MANIFEST: &str = Manifest::Sweep.file();

/// Output folder that belongs to one sweep.
#[derive(Debug)]
pub(super) struct SweepFolder<'a> {
    target: &'a Target,
    staging: Staging<'a>,
    /// Number of stored points, and number of points.
    stored: Cell<usize>,
    points: Range<usize>,
    /// File format of the tables after merging, for a shard.
    format: TableFormat,
}

/// Stored state of a point.
#[derive(Debug)]
pub(super) enum Found {
    /// Record of the point.
    Same(Box<PointRecord>),
    /// Record of another point, or of the point with other inputs.
    Other,
    /// No record.
    Nothing,
}

/// Contents of `sweep.json`. While the sweep is in progress it lists no files; each point's file proves
/// itself.
#[derive(Serialize)]
struct SweepJson<'a> {
    schema: u32,
    tool: crate::Tool,
    command: &'static str,
    /// Identity over all points.
    identity: Identity,
    #[serde(flatten)]
    description: &'a Description,
    /// Points with a trapped overflow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trapped: Vec<TrappedPoint<'a>>,
    /// Present if the folder belongs to a shard.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<ShardJson>,
    files: Vec<FileEntry>,
}

/// Point with a trapped overflow.
#[derive(Serialize)]
struct TrappedPoint<'a> {
    /// Index of the point in the list of points.
    point: usize,
    error: &'a str,
}

impl<'a> SweepFolder<'a> {
    /// Opens a new folder for a sweep, or one with an unfinished sweep of equal identity.
    pub fn open(
        target: &'a Target,
        existing: Existing,
        plan: &Plan,
        format: TableFormat,
    ) -> Result<Self, StudyError> {
        let found = manifest(target);
        let before = serde_json::from_value::<ShardJson>(found["shard"].clone());
        let format = before
            .ok()
            .filter(|_| existing == Existing::Refuse)
            .map_or(format, |before| before.format.max(format));
        let json = SweepJson::new(plan, format, false, &[], Vec::new());
        let mut folder = Self {
            target,
            staging: target.stage()?,
            stored: Cell::new(0),
            points: plan.own_points(),
            format,
        };
        if existing == Existing::Refuse && is_same(&found, &json) {
            let own = |index| [point_file(index), predictions_file(index)];
            let points: Vec<String> = plan.own_points().flat_map(own).collect();
            let (paths, parquet) = (sweep_paths(), sweep_parquet_paths());
            folder.staging.require_ours(paths.iter().chain(&parquet).chain(&points).map(String::as_str))?;
        } else {
            target.check(existing).map_err(|error| match error {
                FolderError::Occupied { path, ours, .. } => {
                    FolderError::Occupied { path, ours, differs: differences(&found, &json) }
                }
                other => other,
            })?;
            folder.staging.write(MANIFEST, &crate::sealed(&json))?;
            folder.staging.publish(existing)?;
        }
        folder.say();
        Ok(folder)
    }

    /// Returns the stored state of point `index`. File names in the record are updated to the current ones.
    pub fn found(&self, index: usize, point: &PlannedPoint) -> Found {
        // The seals of existing files have been checked.
        let Ok(text) = read_text(&self.path(index), LIMIT) else { return Found::Nothing };
        let Some(record) = stored::read(&text, point.identity, &point.point) else { return Found::Other };
        self.count();
        Found::Same(Box::new(record))
    }

    /// Stores point `index` with its text.
    pub fn store(&self, index: usize, text: &str) -> Result<(), StudyError> {
        self.staging.put(&point_file(index), text.as_bytes())?;
        self.count();
        Ok(())
    }

    /// Adds the outputs over all points, and lists every file in the manifest.
    pub fn complete(
        &self,
        plan: &Plan,
        records: &[PointRecord],
        documents: &[Document],
    ) -> Result<(), StudyError> {
        let of_document =
            |(path, bytes): &Document| FileEntry { path: path.clone(), sha256: Digest::of_bytes(bytes) };
        let of_point = |index| {
            let path = self.path(index);
            let sha256 = Digest::of_file(&path);
            let failed = |source| FolderError::Read { path, source };
            Ok(FileEntry { path: point_file(index), sha256: sha256.map_err(failed)? })
        };
        let points = self.points.clone().map(of_point).collect::<Result<Vec<_>, FolderError>>()?;
        // Read one at a time: together they are as large as all points.
        let of_predictions = |index| Ok(of_document(&(predictions_file(index), self.predictions(index)?)));
        let predictions = self.points.clone().map(of_predictions);
        let predictions = predictions.collect::<Result<Vec<_>, FolderError>>()?;
        let missing = self.points.clone().zip(&predictions).filter(|(_, entry)| !self.has(entry));
        let missing: Vec<usize> = missing.map(|(index, _)| index).collect();
        let mut files: Vec<FileEntry> =
            documents.iter().map(of_document).chain(points).chain(predictions).collect();
        files.sort();
        let manifest =
            (MANIFEST.to_owned(), crate::sealed(&SweepJson::new(plan, self.format, true, records, files)));
        self.staging.complete(&manifest, documents)?;
        for index in missing {
            self.staging.put(&predictions_file(index), &self.predictions(index)?)?;
        }
        self.target.keeps(format!("the results in {} are complete", self.target.shown().display()));
        Ok(())
    }

    /// Returns `predictions.npz` of the stored point `index`.
    fn predictions(&self, index: usize) -> Result<Vec<u8>, FolderError> {
        let path = self.path(index);
        let bytes = read_text(&path, LIMIT).and_then(|text| stored::predictions(&text));
        bytes.map_err(|source| FolderError::Read { path, source })
    }

    /// Returns the file formats of tables: the requested ones and the existing ones, so that no table is left
    /// without an owner.
    pub fn format(&self, asked: TableFormat) -> TableFormat {
        let has = sweep_parquet_paths().iter().any(|path| self.target.path().join(path).exists());
        if has { TableFormat::Parquet } else { asked }
    }

    /// Returns the pages to write: the requested ones and the existing ones.
    pub fn pages(&self, asked: Pages) -> Pages {
        let has = pages_of(|path| self.target.path().join(path).exists());
        Pages { plots: asked.plots || has.plots, report: asked.report || has.report }
    }

    /// Returns whether a file exists with the expected contents.
    fn has(&self, entry: &FileEntry) -> bool {
        Digest::of_file(&self.target.path().join(&entry.path)).is_ok_and(|found| found == entry.sha256)
    }

    fn path(&self, index: usize) -> PathBuf {
        self.target.path().join(point_file(index))
    }

    fn count(&self) {
        self.stored.set(self.stored.get() + 1);
        self.say();
    }

    /// Notes what is stored if the sweep ends now.
    fn say(&self) {
        let (stored, points, shown) = (self.stored.get(), self.points.len(), self.target.shown().display());
        self.target.keeps(format!(
            "{stored} of {points} points are kept in {shown}; run the same command again to continue"
        ));
    }
}

impl<'a> SweepJson<'a> {
    fn new(
        plan: &'a Plan,
        format: TableFormat,
        complete: bool,
        records: &'a [PointRecord],
        files: Vec<FileEntry>,
    ) -> Self {
        let (tool, identity) = (crate::TOOL, plan.identity());
        let trapped = trapped(plan.own_points(), records);
        let shard = plan.shard.map(|shard| ShardJson { shard, complete, format, about: plan.about() });
        let description = &plan.description;
        Self { schema: SCHEMA, tool, command: COMMAND, identity, description, trapped, shard, files }
    }
}

/// Returns the points among these indices with a trapped overflow.
fn trapped<'r>(points: impl IntoIterator<Item = usize>, records: &'r [PointRecord]) -> Vec<TrappedPoint<'r>> {
    let trapped = |(point, record): (usize, &'r PointRecord)| {
        record.summary.trapped.as_deref().map(|error| TrappedPoint { point, error })
    };
    points.into_iter().zip(records).filter_map(trapped).collect()
}

/// Result of a merge.
#[derive(Debug)]
pub struct Merging {
    /// Existing points, in order.
    pub records: Vec<PointRecord>,
    /// Shards that no folder has.
    pub missing_shards: Vec<Shard>,
    /// Missing points, including those of missing shards: rows of `summary.csv` of the whole, from 0.
    pub missing_points: Vec<usize>,
}

/// Merges the shards of a sweep into one folder.
///
/// # Errors
/// [`StudyError::Merge`] unless `folders` are all shards of one sweep, each once and complete, and none of
/// them is `out`. Also fails with errors of the output folder. Nothing is written in these cases.
pub fn merge(folders: &[PathBuf], out: &Path, existing: Existing) -> Result<Vec<PointRecord>, StudyError> {
    Ok(merged(folders, out, existing, false)?.records)
}

/// Merges the points that shards of a sweep have so far, with tables, plots and report for these. `guardbit
/// sweep` continues in that folder with the missing points.
///
/// # Errors
/// [`StudyError`] under the conditions of [`merge`], except that shards may be missing or unfinished;
/// [`StudyError::Merge`] if there is no point at all.
pub fn merge_partial(folders: &[PathBuf], out: &Path, existing: Existing) -> Result<Merging, StudyError> {
    merged(folders, out, existing, true)
}

fn merged(folders: &[PathBuf], out: &Path, existing: Existing, partial: bool) -> Result<Merging, StudyError> {
    /// Point as the manifest lists it.
    #[derive(Deserialize)]
    struct Listed {
        #[serde(flatten)]
        point: SweepPoint,
        identity: Identity,
    }
    crate::shard::check_output(folders, out)?;
    let target = Target::claim_for(out, existing)?;
    let parts = Merged::read(folders, MANIFEST, partial)?;
    let mut staging = target.stage()?;
    let (mut records, mut places, mut missing_points) = (Vec::new(), Vec::new(), Vec::new());
    for (index, found) in parts.points().enumerate() {
        let (Listed { point, identity }, part) = found?;
        let path = part.map(|part| part.folder.join(point_file(index)));
        let text = path.as_ref().and_then(|path| read_text(path, LIMIT).ok());
        let record = text.as_deref().and_then(|text| stored::read(text, identity, &point));
        match (record, text, path) {
            (Some(record), Some(text), Some(path)) => {
                let failed = |source| FolderError::Read { path: path.clone(), source };
                staging.write(&point_file(index), text.as_bytes())?;
                staging.write(&predictions_file(index), &stored::predictions(&text).map_err(failed)?)?;
                records.push(record);
                places.push(index);
            }
            // Point that an unfinished shard does not have yet.
            (_, _, path) if path.is_none() || part.is_some_and(|part| !part.is_complete()) => {
                missing_points.push(index);
            }
            (_, _, path) => return Err(MergeError::Damaged(path.into_iter().collect()).into()),
        }
    }
    if records.is_empty() {
        return Err(MergeError::NoPoint.into());
    }
    staging.write_all(&sweep_documents(&parts.about(), &records)?)?;
    if parts.format() == TableFormat::Parquet {
        staging.write_all(&sweep_parquet(&records)?)?;
    }
    parts.write(&mut staging, MANIFEST, &trapped(places, &records), &missing_points)?;
    staging.publish(existing)?;
    Ok(Merging { records, missing_shards: parts.missing(), missing_points })
}

/// Returns the manifest of an existing sweep, as guardbit wrote it.
fn manifest(target: &Target) -> Value {
    let text = read_text(&target.path().join(MANIFEST), LIMIT).unwrap_or_default();
    let sealed = Some(text).filter(|text| is_sealed(text));
    sealed.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn is_same(found: &Value, json: &SweepJson<'_>) -> bool {
    found["schema"] == json.schema
        && found["command"] == json.command
        && found["identity"] == json.identity.to_string()
        && part(found) == json.shard.as_ref().map(|part| part.shard)
}

/// Returns the shard of an existing folder; `None` for a whole sweep.
fn part(found: &Value) -> Option<Shard> {
    serde_json::from_value(found["shard"].clone()).ok()
}

/// Returns the differences between an existing sweep and the requested one.
fn differences(found: &Value, json: &SweepJson<'_>) -> Vec<&'static str> {
    if found["schema"] != json.schema || found["command"] != json.command {
        return Vec::new();
    }
    let asked = serde_json::to_value(json).unwrap_or_default();
    let parts = |value: &Value, list: &str, part: &str| {
        let items = value[list].as_array().cloned().unwrap_or_else(|| vec![value[list].clone()]);
        items.iter().map(|item| item[part].clone()).collect::<Vec<_>>()
    };
    let differs = |list: &str, part: &str| parts(found, list, part) != parts(&asked, list, part);
    let setting = |key: &str| found["settings"][key] != asked["settings"][key];
    let all = [
        ("another version of guardbit", found["arithmetic"] != asked["arithmetic"]),
        ("another network", differs("models", "sha256")),
        ("another accelerator", differs("hws", "sha256")),
        ("other samples", differs("input", "sha256")),
        ("other labels", differs("labels", "sha256")),
        ("other settings", ["mode", "stats", "output"].into_iter().any(setting)),
        ("another shard", part(found) != json.shard.as_ref().map(|part| part.shard)),
        (
            "other points",
            ["bits", "overflow", "level", "parameters"].into_iter().any(|part| differs("points", part)),
        ),
    ];
    all.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect()
}

/// Returns the file name of the predictions of point `index`.
pub(crate) fn predictions_file(index: usize) -> String {
    format!("predictions/{index:05}.npz")
}

/// Returns the file name of point `index`.
pub(crate) fn point_file(index: usize) -> String {
    format!("points/{index:05}.json")
}
