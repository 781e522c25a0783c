//! Explores designs of an accelerator for one network: errors, cycles and costs of each, and the Pareto
//! front.

mod candidate;
mod designs;
mod explorer;
mod folder;
mod found;
mod front;
mod objective;
mod outcome;
mod plan;
mod quality;
mod record;
mod sensitivity;
mod shape;
mod values;

use std::collections::BTreeMap;
use std::path::Path;

use guardbit_files::{Document, Existing, Target};
use guardbit_hwmodels::Program;
use guardbit_reports::{About, CoverageRecord, ExploreRecord, explore_documents};
use guardbit_sim::{Options, StatsLevel};

pub use objective::{Objective, ObjectiveError};

use crate::execute::{execute, execute_together};
use crate::point_store::PointStore;
use crate::settings::ExploreRequest;
use crate::sweep::POINTS_TOGETHER;
use crate::{Identity, Progress, StudyError, registers};
use candidate::{Candidate, Design};
use explorer::Explorer;
use outcome::Outcome;
use plan::Plan;
use values::{Measured, Values};

/// Explores the designs of `request` and writes the results to `out`, if given.
///
/// An interrupted exploration of equal inputs and settings is resumed, and its final output is byte-equal to
/// that of an uninterrupted one.
///
/// # Errors
/// [`StudyError`]. A point with a trapped overflow is an ordinary result.
pub fn explore(
    request: &ExploreRequest,
    out: Option<&Path>,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<ExploreRecord, StudyError> {
    let target = out.map(Target::claim).transpose()?;
    let plan = Plan::new(request)?;
    plan.subject.input.note_doubts(progress);
    let open = |target| PointStore::open(target, existing, &plan, plan.content(None));
    let folder = target.as_ref().map(open).transpose()?;
    let (record, accelerators) = Explorer { plan: &plan, folder: folder.as_ref(), progress }.run()?;
    let Some(folder) = folder else { return Ok(record) };
    let about = About { pages: folder.pages(request.settings.pages), ..plan.about() };
    let mut documents = explore_documents(&about, &record)?;
    documents.extend(accelerators);
    folder.complete(plan.content(Some(&record)), &documents)?;
    Ok(record)
}

impl Explorer<'_> {
    /// Returns the record and the accelerators of the Pareto front, and of the recommended design if one meets
    /// the budget.
    fn run(&self) -> Result<(ExploreRecord, Vec<Document>), StudyError> {
        let plan = self.plan;
        let measured = self.measure()?;
        let values: Vec<Values> =
            plan.points.iter().map(|point| measured[point.structure].values(plan, &point.shapes)).collect();
        let outcomes = self.simulate(&measured, &values)?;
        let of_point = |(index, (point, values)): (usize, (&plan::Point, &Values))| Candidate {
            design: Design::Axes,
            parameters: point.parameters.clone(),
            widths: shape::widths(&point.shapes),
            figures: point.figures.clone(),
            outcome: outcomes[&values.key].clone(),
            values: *values,
            accelerator: plan.points[index].accelerator.clone(),
            warnings: point.warnings.clone(),
        };
        let mut candidates: Vec<Candidate> =
            plan.points.iter().zip(&values).enumerate().map(of_point).collect();
        if let Some(budget) = plan.request.budget {
            for found in designs::search(self, budget, &measured)? {
                // A design that equals a point of the axes gets no second row.
                let known = |one: &Candidate| {
                    one.accelerator.datapath == found.accelerator.datapath
                        && one.values == found.values
                        && one.figures == found.figures
                        && one.widths == found.widths
                };
                if !candidates.iter().any(known) {
                    candidates.push(found);
                }
            }
        }
        let recommended = front::recommended(plan, &candidates);
        let mut record = record::record(plan, self.coverage()?, &candidates, recommended);
        if let Some(chosen) = recommended.or_else(|| record.front().first().copied()) {
            record.sensitivity = sensitivity::rows(plan, chosen, &candidates[chosen])?;
        }
        let file =
            |path: String, index: usize| (path, candidates[index].accelerator.resolved_yaml().into_bytes());
        let front = record.front().into_iter().map(|index| file(folder::design(index), index));
        let best = recommended.map(|index| file(folder::RECOMMENDED.to_owned(), index));
        let accelerators = front.chain(best).collect();
        Ok((record, accelerators))
    }

    /// Returns the operations that accelerators run; if accelerators differ in it, those of the one that runs
    /// least.
    fn coverage(&self) -> Result<CoverageRecord, StudyError> {
        let plan = self.plan;
        let one =
            |&first: &usize| Ok(CoverageRecord::new(&plan.subject.lower(&plan.points[first].accelerator)?));
        let all = plan.structures.iter().map(one).collect::<Result<Vec<_>, StudyError>>()?;
        Ok(all.into_iter().min_by_key(|coverage| coverage.macs_on_accelerator).unwrap_or_default())
    }

    /// Measures the requirements of accumulators that hold everything, once for all points that differ only
    /// in widths.
    fn measure(&self) -> Result<Vec<Measured>, StudyError> {
        let plan = self.plan;
        let one = |&first: &usize| {
            let program = plan.subject.lower(&plan.points[first].accelerator)?;
            let unlimited = registers::unlimited(&plan.subject, &program)?;
            self.start("widths that every accumulator requires", 1);
            let options = self.options(StatsLevel::Full);
            let executed = execute(&plan.subject, &unlimited, options, self.progress, &mut |_| Ok(()))?;
            Ok(Measured::new(&program, &executed))
        };
        plan.structures.iter().map(one).collect()
    }

    /// Returns the outcomes by values: of points that provably have equal values, only one is simulated.
    fn simulate(
        &self,
        measured: &[Measured],
        values: &[Values],
    ) -> Result<BTreeMap<Identity, Outcome>, StudyError> {
        let plan = self.plan;
        let mut outcomes = BTreeMap::new();
        let mut missing: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, (point, values_of)) in plan.points.iter().zip(values).enumerate() {
            let known = match values_of.is_exact {
                true => Some(measured[point.structure].outcome.clone()),
                false => self.seen(folder::VALUES, values_of.key),
            };
            if let Some(outcome) = known {
                outcomes.insert(values_of.key, outcome);
                continue;
            }
            let of_structure = missing.entry(point.structure).or_default();
            if !of_structure.iter().any(|&other| values[other].key == values_of.key) {
                of_structure.push(index);
            }
        }
        let count = missing.values().map(Vec::len).sum();
        self.start(&format!("{} points, {count} to simulate", plan.points.len()), count);
        for chunk in missing.values().flat_map(|indices| indices.chunks(POINTS_TOGETHER)) {
            let programs = chunk.iter().map(|&index| plan.subject.lower(&plan.points[index].accelerator));
            let programs: Vec<Program> = programs.collect::<Result<_, _>>()?;
            let all: Vec<&Program> = programs.iter().collect();
            let options = self.options(StatsLevel::None);
            let done = execute_together(&plan.subject, &all, options, None, self.progress, &mut |_| Ok(()))?;
            for (&index, result) in chunk.iter().zip(&done.each) {
                let outcome = Outcome::of(result);
                self.store_seen(folder::VALUES, values[index].key, &outcome)?;
                outcomes.insert(values[index].key, outcome);
            }
        }
        Ok(outcomes)
    }

    fn options(&self, stats: StatsLevel) -> Options {
        let mode = self.plan.request.settings.mode;
        Options { mode, stats, events_per_layer: 0, ..Options::default() }
    }

    fn start(&self, what: &str, programs: usize) {
        let title = format!("{}: {what}", self.plan.subject.model.file);
        self.progress.start(&title, (self.plan.subject.samples.count() * programs) as u64);
    }
}
