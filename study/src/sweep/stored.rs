//! File of a point, stored in a sweep's folder and in caches.

use std::io;

use base64::prelude::{BASE64_STANDARD, Engine};
use guardbit_files::{UNSEALED, is_sealed, seal_text};
use guardbit_reports::{PointRecord, Predictions, ReportError, SweepPoint};
use serde::{Deserialize, Serialize};

use crate::Identity;

/// Version of `sweep.json` and of the points' files.
pub(super) const SCHEMA: u32 = 4;
/// Maximum bytes of a manifest or of a point's file.
pub(super) const LIMIT: u64 = 1 << 28;

/// File of a point, sealed.
#[derive(Serialize)]
struct Stored<'a> {
    schema: u32,
    tool: crate::Tool,
    identity: Identity,
    record: &'a PointRecord,
    /// Content of `predictions.npz` in base64.
    predictions: &'a str,
    sha256: &'static str,
}

/// Part that is read from the file.
#[derive(Deserialize)]
struct Read {
    schema: u32,
    identity: Identity,
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
    let (tool, record) = (crate::TOOL, &record);
    let stored = Stored { schema: SCHEMA, tool, identity, record, predictions, sha256: UNSEALED };
    Ok(seal_text(&serde_json::to_string(&stored).unwrap_or_default()))
}

/// Returns the record in a text if its identity matches; file names are taken from `point`.
pub(super) fn read(text: &str, identity: Identity, point: &SweepPoint) -> Option<PointRecord> {
    let stored = serde_json::from_str::<Read>(text).ok().filter(|_| is_sealed(text))?;
    let mut record =
        Some(stored).filter(|stored| stored.schema == SCHEMA && stored.identity == identity)?.record;
    record.summary.model.clone_from(&point.model);
    record.summary.hw.clone_from(&point.hw);
    record.parameters.clone_from(&point.parameters);
    record.samples.clone_from(&point.samples);
    Some(record)
}

/// Returns `predictions.npz` from a text.
pub(super) fn predictions(text: &str) -> io::Result<Vec<u8>> {
    let Predicted { predictions } = serde_json::from_str(text)?;
    BASE64_STANDARD.decode(predictions).map_err(io::Error::other)
}
