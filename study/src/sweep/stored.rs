//! The file of a point: what a sweep keeps of it, in its own folder and in caches.

use std::io;

use base64::prelude::{BASE64_STANDARD, Engine};
use guardbit_files::{UNSEALED, is_sealed, seal_text};
use guardbit_reports::{PointRecord, Predictions, ReportError, SweepPoint};
use serde::{Deserialize, Serialize};

use crate::Identity;

/// Version of `sweep.json` and of the points' files.
pub(super) const SCHEMA: u32 = 4;
/// Bytes of a manifest or a point's file, at most.
pub(super) const LIMIT: u64 = 1 << 28;

/// The file of a point, sealed.
#[derive(Serialize)]
struct Stored<'a> {
    schema: u32,
    tool: crate::Tool,
    identity: Identity,
    record: &'a PointRecord,
    /// `predictions.npz`, in base64.
    predictions: &'a str,
    sha256: &'static str,
}

/// What is read of it.
#[derive(Deserialize)]
struct Read {
    schema: u32,
    identity: Identity,
    record: PointRecord,
}

/// The predictions in it.
#[derive(Deserialize)]
struct Predicted {
    predictions: String,
}

/// A point as text, without names of files: they are none of what it depends on.
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

/// The record in a text, if it is that of the point of that identity; names of files are those of `point`.
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

/// `predictions.npz` from a text.
pub(super) fn predictions(text: &str) -> io::Result<Vec<u8>> {
    let Predicted { predictions } = serde_json::from_str(text)?;
    BASE64_STANDARD.decode(predictions).map_err(io::Error::other)
}
