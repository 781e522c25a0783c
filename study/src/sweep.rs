//! A grid of runs over the width and overflow mode of one level, resumable.

mod plan;
mod resume;

use std::path::Path;

use guardbit_reports::{PointRecord, sweep_files, write_sweep};
use guardbit_sim::Options;

use crate::execute::execute;
use crate::folder::Existing;
use crate::{Progress, StudyError, SweepRequest};
use plan::{Plan, PlannedPoint};
use resume::SweepFolder;

/// Runs every point of `request` and writes the results to `out`, if given.
///
/// A folder that an interrupted sweep with the same inputs and settings left behind is resumed, and ends equal to
/// an uninterrupted one, byte by byte.
///
/// # Errors
/// [`StudyError`]; a point that traps removes what this sweep had written.
pub fn sweep(
    request: &SweepRequest,
    out: Option<&Path>,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<Vec<PointRecord>, StudyError> {
    let plan = Plan::new(request)?;
    let folder = out.map(|out| SweepFolder::open(out, existing, &plan)).transpose()?;
    let result = run_points(&plan, request, folder.as_ref(), progress);
    if let (Err(StudyError::Sim(_)), Some(folder)) = (&result, &folder) {
        folder.abandon()?;
    }
    let records = result?;
    if let Some(folder) = &folder {
        write_sweep(folder.path(), &plan.about(), &records)?;
    }
    Ok(records)
}

fn run_points(
    plan: &Plan,
    request: &SweepRequest,
    folder: Option<&SweepFolder>,
    progress: &dyn Progress,
) -> Result<Vec<PointRecord>, StudyError> {
    progress.start(&plan.title(), plan.samples());
    let mut records = Vec::with_capacity(plan.points.len());
    for (index, point) in plan.points.iter().enumerate() {
        let samples = plan.subject(point).samples.count() as u64;
        if let Some(done) = folder.and_then(|folder| folder.finished(index, point)) {
            progress.advance(samples);
            records.push(done);
            continue;
        }
        let record = run_point(plan, point, request, progress)?;
        if let Some(folder) = folder {
            folder.store(index, &record)?;
        }
        records.push(record);
    }
    Ok(records)
}

fn run_point(
    plan: &Plan,
    point: &PlannedPoint,
    request: &SweepRequest,
    progress: &dyn Progress,
) -> Result<PointRecord, StudyError> {
    let settings = &request.settings;
    let subject = plan.subject(point);
    let program = subject.lower(&point.accelerator)?;
    let options =
        Options { mode: settings.mode, stats: settings.stats, events_per_layer: 0, ..Options::default() };
    let executed = execute(subject, &program, options, progress, &mut |_| Ok(()))?;
    Ok(PointRecord::new(&point.point, &program, &executed.layers, &options, &executed.outcome))
}

/// The files of a sweep folder beside `sweep.json`.
fn files(plan: &Plan) -> Vec<String> {
    let points = (0..plan.points.len()).map(resume::point_file);
    sweep_files().into_iter().chain(points).collect()
}
