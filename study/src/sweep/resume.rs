//! The folder of a sweep: which points are done.

use std::fs;
use std::path::{Path, PathBuf};

use guardbit_reports::{PointRecord, write_atomic};
use serde::Serialize;
use serde_json::Value;

use super::plan::{Identity, Plan, PlannedPoint};
use super::{Existing, files};
use crate::{StudyError, folder};

/// Version of `sweep.json` and of the points' files.
const SCHEMA: u32 = 1;
const MANIFEST: &str = "sweep.json";

/// An output folder that belongs to one sweep.
#[derive(Debug)]
pub(super) struct SweepFolder {
    path: PathBuf,
}

/// `sweep.json`.
#[derive(Serialize)]
struct SweepJson<'a> {
    schema: u32,
    tool: crate::Tool,
    command: &'static str,
    /// Of all that the results depend on, with the versions above.
    sha256: String,
    #[serde(flatten)]
    identity: &'a Identity,
    files: Vec<String>,
}

impl SweepFolder {
    /// Takes a folder for a sweep: a new one, or one that the same sweep has begun.
    pub fn open(path: &Path, existing: Existing, plan: &Plan) -> Result<Self, StudyError> {
        let folder = Self { path: path.into() };
        let json = SweepJson {
            schema: SCHEMA,
            tool: crate::TOOL,
            command: "sweep",
            sha256: plan.identity.sha256(),
            identity: &plan.identity,
            files: files(plan),
        };
        if existing == Existing::Refuse && folder.is_of(&json) {
            return Ok(folder);
        }
        folder::check(path, existing)?;
        folder::clear(path)?;
        folder::create(path)?;
        crate::write_json(&path.join(MANIFEST), &json)?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The record of point `index`, if it is done.
    pub fn finished(&self, index: usize, point: &PlannedPoint) -> Option<PointRecord> {
        let text = fs::read_to_string(self.path.join(point_file(index))).ok()?;
        let record: PointRecord = serde_json::from_str(&text).ok()?;
        let summary = &record.summary;
        let same = summary.bits == point.point.bits
            && summary.overflow == point.point.overflow
            && summary.model == point.point.model
            && summary.hw == point.point.hw;
        same.then_some(record)
    }

    /// Stores the record of point `index`.
    pub fn store(&self, index: usize, record: &PointRecord) -> Result<(), StudyError> {
        let text = serde_json::to_string(record).unwrap_or_default();
        Ok(write_atomic(&self.path.join(point_file(index)), text.as_bytes())?)
    }

    /// Removes what the sweep has written, and the folder if nothing else is in it.
    pub fn abandon(&self) -> Result<(), StudyError> {
        folder::clear(&self.path)?;
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }

    fn is_of(&self, json: &SweepJson<'_>) -> bool {
        let text = fs::read_to_string(self.path.join(MANIFEST)).unwrap_or_default();
        let found: Value = serde_json::from_str(&text).unwrap_or_default();
        let expected = serde_json::to_value(json).unwrap_or_default();
        ["schema", "tool", "sha256"].iter().all(|key| found[key] == expected[key])
    }
}

/// Name of the file of point `index`.
pub(super) fn point_file(index: usize) -> String {
    format!("points/{index:05}.json")
}
