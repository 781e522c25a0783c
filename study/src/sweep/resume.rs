//! The folder of a sweep: which points are done.

use std::fs;
use std::path::{Path, PathBuf};

use guardbit_reports::{PointRecord, write_atomic};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::{Description, Plan, PlannedPoint};
use super::{Existing, files};
use crate::{Identity, StudyError, folder};

/// Version of `sweep.json` and of the points' files.
const SCHEMA: u32 = 2;
const COMMAND: &str = "sweep";
const MANIFEST: &str = "sweep.json";

/// An output folder that belongs to one sweep.
#[derive(Debug)]
pub(super) struct SweepFolder {
    path: PathBuf,
}

/// What there is of a point.
#[derive(Debug)]
pub(super) enum Found {
    /// Its record.
    Same(Box<PointRecord>),
    /// That of another point, or of the same one on other inputs.
    Other,
    /// Nothing, or nothing whole.
    Nothing,
}

/// `sweep.json`.
#[derive(Serialize)]
struct SweepJson<'a> {
    schema: u32,
    tool: crate::Tool,
    command: &'static str,
    /// Of all points.
    identity: Identity,
    #[serde(flatten)]
    description: &'a Description,
    files: Vec<String>,
}

/// The file of a point.
#[derive(Serialize, Deserialize)]
struct Stored<R> {
    schema: u32,
    identity: Identity,
    record: R,
}

impl SweepFolder {
    /// Takes a folder for a sweep: a new one, or one that the same sweep has begun.
    pub fn open(path: &Path, existing: Existing, plan: &Plan) -> Result<Self, StudyError> {
        let folder = Self { path: path.into() };
        let json = SweepJson {
            schema: SCHEMA,
            tool: crate::TOOL,
            command: COMMAND,
            identity: plan.identity(),
            description: &plan.description,
            files: files(plan),
        };
        let manifest = path.join(MANIFEST);
        let found = folder.manifest();
        if existing == Existing::Refuse && is_same(&found, &json) {
            // The same under other names of files.
            if found != serde_json::to_value(&json).unwrap_or_default() {
                crate::write_json(&manifest, &json)?;
            }
            return Ok(folder);
        }
        folder::check(path, existing).map_err(|error| match error {
            StudyError::Occupied { path, ours, .. } => {
                StudyError::Occupied { path, ours, differs: differences(&found, &json) }
            }
            other => other,
        })?;
        folder::clear(path)?;
        folder::create(path)?;
        crate::write_json(&manifest, &json)?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What there is of point `index`. Names of files are those that they have now.
    pub fn found(&self, index: usize, point: &PlannedPoint) -> Found {
        let Ok(text) = fs::read_to_string(self.path.join(point_file(index))) else { return Found::Nothing };
        let Ok(stored) = serde_json::from_str::<Stored<PointRecord>>(&text) else { return Found::Nothing };
        if stored.schema != SCHEMA || stored.identity != point.identity {
            return Found::Other;
        }
        let mut record = stored.record;
        record.summary.model.clone_from(&point.point.model);
        record.summary.hw.clone_from(&point.point.hw);
        Found::Same(Box::new(record))
    }

    /// Stores the record of point `index`, without names of files: they are none of what it depends on.
    pub fn store(&self, index: usize, point: &PlannedPoint, record: &PointRecord) -> Result<(), StudyError> {
        let mut record = record.clone();
        record.summary.model.clear();
        record.summary.hw.clear();
        let stored = Stored { schema: SCHEMA, identity: point.identity, record };
        let text = serde_json::to_string(&stored).unwrap_or_default();
        Ok(write_atomic(&self.path.join(point_file(index)), text.as_bytes())?)
    }

    /// Removes what the sweep has written, and the folder if nothing else is in it.
    pub fn abandon(&self) -> Result<(), StudyError> {
        folder::clear(&self.path)?;
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }

    fn manifest(&self) -> Value {
        let text = fs::read_to_string(self.path.join(MANIFEST)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

fn is_same(found: &Value, json: &SweepJson<'_>) -> bool {
    found["schema"] == json.schema
        && found["command"] == json.command
        && found["identity"] == json.identity.to_string()
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
        ("other points", ["bits", "overflow", "level"].into_iter().any(|part| differs("points", part))),
    ];
    all.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect()
}

/// Name of the file of point `index`.
pub(super) fn point_file(index: usize) -> String {
    format!("points/{index:05}.json")
}
