//! Folder of a sweep, and the points stored in it.

use std::io;

use guardbit_files::{Document, Existing, Manifest, Target};
use guardbit_reports::{PointRecord, sweep_parquet_paths, sweep_paths};
use serde::Serialize;
use serde_json::Value;

use super::plan::{Description, Plan};
use super::stored;
use crate::point_store::{Points, manifest};
use crate::shard::ShardJson;
use crate::{Identity, Shard, TableFormat};

/// Contents of `sweep.json`. While the sweep is in progress it lists no files; each point's file proves
/// itself.
#[derive(Serialize)]
pub(super) struct Content<'a> {
    #[serde(flatten)]
    description: &'a Description,
    /// Points with a trapped overflow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trapped: Vec<TrappedPoint<'a>>,
    /// Present if the folder belongs to a shard.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<ShardJson>,
}

/// Point with a trapped overflow.
#[derive(Serialize)]
pub(super) struct TrappedPoint<'a> {
    /// Index of the point in the list of points.
    point: usize,
    error: &'a str,
}

impl Points for Plan {
    const MANIFEST: Manifest = Manifest::Sweep;
    const SCHEMA: u32 = stored::SCHEMA;

    fn identity(&self) -> Identity {
        self.identity()
    }

    fn paths(&self) -> Vec<String> {
        let points = self.own_points().flat_map(|index| [point_file(index), predictions_file(index)]);
        sweep_paths().into_iter().chain(sweep_parquet_paths()).chain(points).collect()
    }

    fn kept(&self, stored: usize, shown: &str) -> String {
        let points = self.own_points().len();
        format!("{stored} of {points} points are kept in {shown}; run the same command again to continue")
    }

    fn is_same_part(&self, found: &Value) -> bool {
        part(found) == self.shard
    }

    fn differences(&self, found: &Value, asked: &Value) -> Vec<&'static str> {
        let parts = |value: &Value, list: &str, part: &str| {
            let items = value[list].as_array().cloned().unwrap_or_else(|| vec![value[list].clone()]);
            items.iter().map(|item| item[part].clone()).collect::<Vec<_>>()
        };
        let differs = |list: &str, part: &str| parts(found, list, part) != parts(asked, list, part);
        let setting = |key: &str| found["settings"][key] != asked["settings"][key];
        let all = [
            ("another version of guardbit", found["arithmetic"] != asked["arithmetic"]),
            ("another network", differs("models", "sha256")),
            ("another accelerator", differs("hws", "sha256")),
            ("other samples", differs("input", "sha256")),
            ("other labels", differs("labels", "sha256")),
            ("other settings", ["mode", "stats", "output"].into_iter().any(setting)),
            ("another shard", !self.is_same_part(found)),
            (
                "other points",
                ["bits", "overflow", "level", "parameters"].into_iter().any(|part| differs("points", part)),
            ),
        ];
        all.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect()
    }

    fn derived(path: &str, text: &str) -> io::Result<Option<Document>> {
        let path = path.replace(POINTS, PREDICTIONS).replace(".json", ".npz");
        Ok(Some((path, stored::predictions(text)?)))
    }
}

impl Plan {
    /// Returns the contents of `sweep.json`: with the records of all points, or without records while the sweep is in progress.
    /// `format` is the file format of the tables after merging, for a shard.
    pub fn content<'a>(&'a self, format: TableFormat, records: Option<&'a [PointRecord]>) -> Content<'a> {
        let complete = records.is_some();
        let trapped = trapped(self.own_points(), records.unwrap_or_default());
        let shard = self.shard.map(|shard| ShardJson { shard, complete, format, about: self.about() });
        Content { description: &self.description, trapped, shard }
    }
}

/// Returns the file format of tables: the requested one, or the existing one if it has more files, so that no table is left
/// without an owner.
pub(super) fn format(target: &Target, existing: Existing, asked: TableFormat) -> TableFormat {
    if existing == Existing::Replace {
        return asked;
    }
    let before = serde_json::from_value(manifest(target.path(), Manifest::Sweep)["shard"].clone());
    let before = before.map_or(TableFormat::Csv, |shard: ShardJson| shard.format);
    let has = sweep_parquet_paths().iter().any(|path| target.path().join(path).exists());
    asked.max(before).max(if has { TableFormat::Parquet } else { TableFormat::Csv })
}

/// Returns the points among these indices with a trapped overflow.
pub(super) fn trapped<'r>(
    points: impl IntoIterator<Item = usize>,
    records: &'r [PointRecord],
) -> Vec<TrappedPoint<'r>> {
    let trapped = |(point, record): (usize, &'r PointRecord)| {
        record.summary.trapped.as_deref().map(|error| TrappedPoint { point, error })
    };
    points.into_iter().zip(records).filter_map(trapped).collect()
}

/// Returns the shard of an existing folder; `None` for a whole sweep.
fn part(found: &Value) -> Option<Shard> {
    serde_json::from_value(found["shard"].clone()).ok()
}

/// Folders of points and of their predictions.
const POINTS: &str = "points/";
const PREDICTIONS: &str = "predictions/";

/// Returns the file name of the predictions of point `index`.
pub(crate) fn predictions_file(index: usize) -> String {
    format!("{PREDICTIONS}{index:05}.npz")
}

/// Returns the file name of point `index`.
pub(crate) fn point_file(index: usize) -> String {
    format!("{POINTS}{index:05}.json")
}
