//! File of a point, stored in a sweep's folder and in caches.

use std::io;

use base64::prelude::{BASE64_STANDARD, Engine};
use guardbit_reports::{PointRecord, Predictions, ReportError, SweepPoint};
use serde::{Deserialize, Serialize};

use crate::Identity;
use crate::point_store::{stored, stored_text};

/// Version of `sweep.json` and of the points' files.
pub(super) const SCHEMA: u32 = 4;

/// Contents of a point's file.
#[derive(Serialize)]
struct Written<'a> {
    record: &'a PointRecord,
    /// Content of `predictions.npz` in base64.
    predictions: &'a str,
}

/// Record in the file.
#[derive(Deserialize)]
pub(super) struct Recorded {
    record: PointRecord,
}

/// Predictions in the file.
#[derive(Deserialize)]
struct Predicted {
    predictions: String,
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

/// Returns the record in a text if its identity matches; file names are taken from `point`.
pub(super) fn read(text: &str, identity: Identity, point: &SweepPoint) -> Option<PointRecord> {
    Some(stored::<Recorded>(SCHEMA, identity, text)?.of(point))
}

impl Recorded {
    /// Returns the record with the file names of `point`.
    pub fn of(self, point: &SweepPoint) -> PointRecord {
        let mut record = self.record;
        record.summary.model.clone_from(&point.model);
        record.summary.hw.clone_from(&point.hw);
        record.parameters.clone_from(&point.parameters);
        record.samples.clone_from(&point.samples);
        record
    }
}

/// Returns `predictions.npz` from a text.
pub(super) fn predictions(text: &str) -> io::Result<Vec<u8>> {
    let Predicted { predictions } = serde_json::from_str(text)?;
    BASE64_STANDARD.decode(predictions).map_err(io::Error::other)
}
