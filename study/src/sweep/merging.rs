//! Merges the shards of a sweep into one folder.

use std::path::{Path, PathBuf};

use guardbit_files::{Existing, FolderError, Manifest, Target, read_text};
use guardbit_reports::{PointRecord, SweepPoint, sweep_documents, sweep_parquet};
use serde::Deserialize;

use super::resume::{point_file, predictions_file, trapped};
use super::stored;
use crate::point_store::LIMIT;
use crate::shard::Merged;
use crate::{Identity, MergeError, Shard, StudyError, TableFormat};

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
    let parts = Merged::read(folders, Manifest::Sweep, partial)?;
    parts.format().require_writable(target.shown())?;
    let mut staging = target.stage()?;
    let (mut records, mut places, mut missing_points) = (Vec::new(), Vec::new(), Vec::new());
    for (index, found) in parts.points().enumerate() {
        let (Listed { point, identity }, part) = found?;
        let path = part.map(|part| part.folder.join(point_file(index)));
        let text = path.as_ref().and_then(|path| read_text(path, LIMIT).ok());
        let stored = text.as_deref().and_then(|text| stored::read(text, identity));
        match (stored, text, path) {
            (Some(stored), Some(text), Some(path)) => {
                let failed = |source| FolderError::Read { path: path.clone(), source };
                staging.write(&point_file(index), text.as_bytes())?;
                staging.write(&predictions_file(index), &stored.predictions().map_err(failed)?)?;
                records.push(stored.record(&point));
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
    parts.write(&mut staging, Manifest::Sweep, &trapped(places, &records), &missing_points)?;
    staging.publish(existing)?;
    Ok(Merging { records, missing_shards: parts.missing(), missing_points })
}
