//! File of a point, stored in a sweep's folder and in caches.

use std::io;

use base64::prelude::{BASE64_STANDARD, Engine};
use guardbit_reports::{PointRecord, Predictions, ReportError, SweepPoint};
use serde::{Deserialize, Serialize};

use crate::Identity;
use crate::point_store::{Head, Stored, stored, stored_text};

/// Version of `sweep.json` and of the points' files.
pub(super) const SCHEMA: u32 = 4;

/// Contents of a point's file.
#[derive(Serialize)]
struct Written<'a> {
    record: &'a PointRecord,
    /// Content of `predictions.npz` in base64.
    predictions: &'a str,
}

/// Point in its file.
#[derive(Deserialize)]
pub(super) struct StoredPoint {
    #[serde(flatten)]
    head: Head,
    record: PointRecord,
    predictions: String,
}

/// Predictions in the file.
#[derive(Deserialize)]
struct Predicted {
    predictions: String,
}

impl Stored for StoredPoint {
    fn head(&self) -> &Head {
        &self.head
    }
}

/// Returns a point as text without file names, which it does not depend on.
pub(super) fn text(
    identity: Identity,
    record: &PointRecord,
    predictions: &Predictions,
) -> Result<String, ReportError> {
    let mut record = record.clone();
    record.summary.model.clear();
    record.summary.hw.clear();
    record.parameters.clear();
    record.samples.clear();
    let predictions = &BASE64_STANDARD.encode(predictions.npz()?);
    Ok(stored_text(SCHEMA, identity, &Written { record: &record, predictions }))
}

/// Returns the point in a text if its identity matches.
pub(super) fn read(text: &str, identity: Identity) -> Option<StoredPoint> {
    stored(SCHEMA, identity, text)
}

impl StoredPoint {
    /// Returns the record with the file names of `point`.
    pub fn record(self, point: &SweepPoint) -> PointRecord {
        let mut record = self.record;
        record.summary.model.clone_from(&point.model);
        record.summary.hw.clone_from(&point.hw);
        record.parameters.clone_from(&point.parameters);
        record.samples.clone_from(&point.samples);
        record
    }

    /// Returns `predictions.npz`.
    pub fn predictions(&self) -> io::Result<Vec<u8>> {
        decoded(&self.predictions)
    }
}

/// Returns `predictions.npz` from a text.
pub(super) fn predictions(text: &str) -> io::Result<Vec<u8>> {
    let Predicted { predictions } = serde_json::from_str(text)?;
    decoded(&predictions)
}

fn decoded(predictions: &str) -> io::Result<Vec<u8>> {
    BASE64_STANDARD.decode(predictions).map_err(io::Error::other)
}
