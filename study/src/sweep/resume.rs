//! The folder of a sweep: which points are done.

use std::cell::Cell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use guardbit_files::{
    Digest, Document, Existing, FileEntry, FolderError, Manifest, Staging, Target, is_sealed, read_text,
};
use guardbit_reports::{
    Pages, PointRecord, SweepPoint, pages_of, sweep_documents, sweep_parquet_paths, sweep_paths,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::{Description, Plan, PlannedPoint};
use super::stored::{self, LIMIT, SCHEMA};
use crate::shard::{Merged, ShardJson};
use crate::{Identity, MergeError, Shard, StudyError, TableFormat};

const COMMAND: &str = "sweep";
const MANIFEST: &str = Manifest::Sweep.file();

/// An output folder that belongs to one sweep.
#[derive(Debug)]
pub(super) struct SweepFolder<'a> {
    target: &'a Target,
    staging: Staging<'a>,
    /// How many points are stored, and how many there are.
    stored: Cell<usize>,
    points: Range<usize>,
}

/// What there is of a point.
#[derive(Debug)]
pub(super) enum Found {
    /// Its record.
    Same(Box<PointRecord>),
    /// That of another point, or of the same one on other inputs.
    Other,
    /// Nothing.
    Nothing,
}

/// `sweep.json`. While the sweep is under way it lists no files: points prove themselves.
#[derive(Serialize)]
struct SweepJson<'a> {
    schema: u32,
    tool: crate::Tool,
    command: &'static str,
    /// Of all points.
    identity: Identity,
    #[serde(flatten)]
    description: &'a Description,
    /// The points in which an overflow was trapped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trapped: Vec<TrappedPoint<'a>>,
    /// Where the folder is that of a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<ShardJson>,
    files: Vec<FileEntry>,
}

/// A point in which an overflow was trapped.
#[derive(Serialize)]
struct TrappedPoint<'a> {
    /// Index in the list of points.
    point: usize,
    error: &'a str,
}

impl<'a> SweepFolder<'a> {
    /// Takes a folder for a sweep: a new one, or one that the same sweep has begun.
    pub fn open(target: &'a Target, existing: Existing, plan: &Plan) -> Result<Self, StudyError> {
        let json = SweepJson::new(plan, false, &[], Vec::new());
        let found = manifest(target);
        let mut folder =
            Self { target, staging: target.stage()?, stored: Cell::new(0), points: plan.own_points() };
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

    /// What there is of point `index`. Names of files are those that they have now.
    pub fn found(&self, index: usize, point: &PlannedPoint) -> Found {
        // What is there was seen to be sealed.
        let Ok(text) = read_text(&self.path(index), LIMIT) else { return Found::Nothing };
        let Some(record) = stored::read(&text, point.identity, &point.point) else { return Found::Other };
        self.count();
        Found::Same(Box::new(record))
    }

    /// Stores point `index`, of that text.
    pub fn store(&self, index: usize, text: &str) -> Result<(), StudyError> {
        self.staging.put(&point_file(index), text.as_bytes())?;
        self.count();
        Ok(())
    }

    /// Adds what is made of all points, and lists every file in the manifest.
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
        // One at a time: together they are as large as all points.
        let of_predictions = |index| Ok(of_document(&(predictions_file(index), self.predictions(index)?)));
        let predictions = self.points.clone().map(of_predictions);
        let predictions = predictions.collect::<Result<Vec<_>, FolderError>>()?;
        let missing = self.points.clone().zip(&predictions).filter(|(_, entry)| !self.has(entry));
        let missing: Vec<usize> = missing.map(|(index, _)| index).collect();
        let mut files: Vec<FileEntry> =
            documents.iter().map(of_document).chain(points).chain(predictions).collect();
        files.sort();
        let manifest = (MANIFEST.to_owned(), crate::sealed(&SweepJson::new(plan, true, records, files)));
        self.staging.complete(&manifest, documents)?;
        for index in missing {
            self.staging.put(&predictions_file(index), &self.predictions(index)?)?;
        }
        self.target.keeps(format!("the results in {} are whole", self.target.shown().display()));
        Ok(())
    }

    /// `predictions.npz` of point `index`, which is stored.
    fn predictions(&self, index: usize) -> Result<Vec<u8>, FolderError> {
        let path = self.path(index);
        let bytes = read_text(&path, LIMIT).and_then(|text| stored::predictions(&text));
        bytes.map_err(|source| FolderError::Read { path, source })
    }

    /// In what files its tables are written, if `asked` for: those that it has already stay, else they would be nobody's.
    pub fn format(&self, asked: TableFormat) -> TableFormat {
        let has = sweep_parquet_paths().iter().any(|path| self.target.path().join(path).exists());
        if has { TableFormat::Parquet } else { asked }
    }

    /// Its pages, if `asked` for: those that it has already stay too.
    pub fn pages(&self, asked: Pages) -> Pages {
        let has = pages_of(|path| self.target.path().join(path).exists());
        Pages { plots: asked.plots || has.plots, report: asked.report || has.report }
    }

    /// Whether a file is there as it is to be.
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

    /// What there is of it if it ends now.
    fn say(&self) {
        let (stored, points, shown) = (self.stored.get(), self.points.len(), self.target.shown().display());
        self.target.keeps(format!(
            "{stored} of {points} points are kept in {shown}; the same command goes on with the others"
        ));
    }
}

impl<'a> SweepJson<'a> {
    fn new(plan: &'a Plan, complete: bool, records: &'a [PointRecord], files: Vec<FileEntry>) -> Self {
        let (tool, identity) = (crate::TOOL, plan.identity());
        let trapped = trapped(plan.own_points(), records);
        let shard = plan.shard.map(|shard| ShardJson { shard, complete, about: plan.about() });
        let description = &plan.description;
        Self { schema: SCHEMA, tool, command: COMMAND, identity, description, trapped, shard, files }
    }
}

/// The points, of those with these indices, in which an overflow was trapped.
fn trapped<'r>(points: Range<usize>, records: &'r [PointRecord]) -> Vec<TrappedPoint<'r>> {
    let trapped = |(point, record): (usize, &'r PointRecord)| {
        record.summary.trapped.as_deref().map(|error| TrappedPoint { point, error })
    };
    points.zip(records).filter_map(trapped).collect()
}

/// Makes the folder of a sweep from those of its parts.
///
/// # Errors
/// [`StudyError::Merge`] unless `folders` are all parts of one sweep, each of them once and whole; those of the target. In
/// that case nothing is written.
pub fn merge(folders: &[PathBuf], out: &Path, existing: Existing) -> Result<Vec<PointRecord>, StudyError> {
    /// A point as the manifest lists it.
    #[derive(Deserialize)]
    struct Listed {
        #[serde(flatten)]
        point: SweepPoint,
        identity: Identity,
    }
    let target = Target::claim_for(out, existing)?;
    let parts = Merged::read(folders, MANIFEST)?;
    let record = |found: Result<(Listed, PathBuf), MergeError>| {
        let (Listed { point, identity }, path) = found?;
        let text = read_text(&path, LIMIT).unwrap_or_default();
        stored::read(&text, identity, &point).ok_or_else(|| MergeError::Damaged(vec![path]))
    };
    let records = parts.points().map(record).collect::<Result<Vec<_>, _>>()?;
    let mut staging = target.stage()?;
    staging.write_all(&sweep_documents(&parts.about(), &records)?)?;
    parts.write(&mut staging, MANIFEST, &trapped(0..records.len(), &records))?;
    staging.publish(existing)?;
    Ok(records)
}

/// The manifest of a sweep that is there, as guardbit wrote it.
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

/// Which part of a sweep is there, if it is none as a whole.
fn part(found: &Value) -> Option<Shard> {
    serde_json::from_value(found["shard"].clone()).ok()
}

/// In what a sweep that is there differs from one that is asked for.
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

/// Name of the file of the predictions of point `index`.
fn predictions_file(index: usize) -> String {
    format!("predictions/{index:05}.npz")
}

/// Name of the file of point `index`.
pub(crate) fn point_file(index: usize) -> String {
    format!("points/{index:05}.json")
}
