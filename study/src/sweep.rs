//! A grid of runs over the width and overflow mode of one level, resumable.

mod plan;
mod resume;

use std::path::Path;

use guardbit_hwmodels::Program;
use guardbit_reports::{PointRecord, sweep_files, write_sweep};
use guardbit_sim::{Options, Placing};

use crate::execute::{Executed, execute_together};
use crate::folder::Existing;
use crate::{Progress, StudyError, SweepRequest};
use plan::{Plan, PlannedPoint};
use resume::SweepFolder;

/// Points that run together, at most. More share more work; fewer lose less when a sweep is interrupted.
pub const POINTS_TOGETHER: usize = 18;

/// Runs every point of `request` and writes the results to `out`, if given.
///
/// A folder that an interrupted sweep with the same inputs and settings left behind is resumed, and ends equal to
/// an uninterrupted one, byte by byte. Up to [`POINTS_TOGETHER`] points of one network on one accelerator run
/// together and are stored when all samples are through: only those that were on their way begin anew.
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
    plan.subjects.iter().for_each(|subject| subject.input.note_clipped(progress));
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
    for group in plan.groups() {
        let done = |index: usize| folder.and_then(|folder| folder.finished(index, &plan.points[index]));
        let mut found: Vec<Option<PointRecord>> = group.clone().map(done).collect();
        let missing: Vec<usize> =
            group.clone().filter(|index| found[index - group.start].is_none()).collect();
        let samples = plan.subject(&plan.points[group.start]).samples.count() as u64;
        progress.advance((group.len() - missing.len()) as u64 * samples);
        for missing in missing.chunks(POINTS_TOGETHER) {
            for (&index, record) in missing.iter().zip(run_together(plan, missing, request, progress)?) {
                if let Some(folder) = folder {
                    folder.store(index, &record)?;
                }
                found[index - group.start] = Some(record);
            }
        }
        records.extend(found.into_iter().flatten());
    }
    Ok(records)
}

/// Runs some points of one group.
fn run_together(
    plan: &Plan,
    points: &[usize],
    request: &SweepRequest,
    progress: &dyn Progress,
) -> Result<Vec<PointRecord>, StudyError> {
    let points: Vec<&PlannedPoint> = points.iter().map(|&index| &plan.points[index]).collect();
    let Some(first) = points.first() else { return Ok(Vec::new()) };
    let (settings, subject) = (&request.settings, plan.subject(first));
    let programs = points.iter().map(|point| subject.lower(&point.accelerator));
    let programs: Vec<Program> = programs.collect::<Result<_, _>>()?;
    let options = Options {
        mode: settings.mode,
        stats: settings.stats,
        placing: Placing::First,
        events_per_layer: 0,
        ..Options::default()
    };
    let all: Vec<&Program> = programs.iter().collect();
    let executed = execute_together(subject, &all, options, progress, &mut |_| Ok(()))?;
    let record = |((point, program), executed): ((&&PlannedPoint, &Program), Executed)| {
        PointRecord::new(&point.point, program, &executed.layers, &options, &executed.outcome)
    };
    Ok(points.iter().zip(&programs).zip(executed).map(record).collect())
}

/// The files of a sweep folder beside `sweep.json`.
fn files(plan: &Plan) -> Vec<String> {
    let points = (0..plan.points.len()).map(resume::point_file);
    sweep_files().into_iter().chain(points).collect()
}
