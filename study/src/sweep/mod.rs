//! Sweeps: resumable grids of runs over the width and overflow mode of one level, or over anything else.

mod cache;
mod merging;
mod plan;
mod records;
mod resume;
mod stored;

use std::path::Path;
use std::time::{Duration, Instant};

use guardbit_files::{Document, Existing, Target};
use guardbit_hwmodels::Program;
use guardbit_reports::{About, PointRecord, Predictions, sweep_documents, sweep_parquet};
use guardbit_sim::{BatchTensors, Keep, Options, Placing};

use crate::execute::{Executed, ExecutedTogether, Pace, execute_together};
use crate::point_store::{Found, PointStore};
use crate::{Observer, Progress, Seen, StudyError, SweepRequest, TableFormat};
use cache::Cache;
pub use merging::{Merging, merge, merge_partial};
use plan::{Plan, PlannedPoint};
use records::Records;
pub(crate) use resume::{point_file, predictions_file};
use stored::StoredPoint;

/// Maximum number of points that run together. More points share more work; fewer lose less on interruption.
pub const POINTS_TOGETHER: usize = 18;

/// Maximum number of layers, over all points, that run together: each keeps its counts, about 30 KiB, until
/// all samples are done.
const LAYERS_TOGETHER: usize = 4000;

/// Approximate interval of storing points: points that run together are stored when all samples are done.
const PACE: Pace = Pace { limit: Duration::from_secs(10), least: 2 };

/// Runs every point of `request` and writes the results to `out`, if given.
///
/// A folder of an interrupted sweep with equal inputs and settings is resumed. Its final contents are
/// byte-equal to those of an uninterrupted sweep. Points of one network on one accelerator run together: at
/// most [`POINTS_TOGETHER`], and as many as take about ten seconds, but at least two. They are stored when
/// all samples are done, so an interruption loses only the points that were running.
///
/// With a [`Shard`](crate::Shard), only its points run, and the folder is an input of [`merge`].
///
/// # Errors
/// [`StudyError`]. A point with a trapped overflow is an ordinary result.
pub fn sweep(
    request: &SweepRequest,
    out: Option<&Path>,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<Vec<PointRecord>, StudyError> {
    sweep_observed(request, out, existing, progress, None)
}

/// Runs `request` as [`sweep`](sweep()) does, and passes every tensor of every point to an observer. All
/// points run, even if the folder or the cache has them.
///
/// # Errors
/// [`StudyError`] under the conditions of [`sweep`](sweep()).
pub fn sweep_observed(
    request: &SweepRequest,
    out: Option<&Path>,
    existing: Existing,
    progress: &dyn Progress,
    observer: Option<&mut Observer<'_>>,
) -> Result<Vec<PointRecord>, StudyError> {
    let target = out.map(Target::claim).transpose()?;
    let format = target.as_ref().map(|target| resume::format(target, existing, request.settings.format));
    let format = format.unwrap_or_default();
    // Tables of a shard are created when shards are merged.
    if let Some(target) = target.as_ref().filter(|_| request.shard.is_none()) {
        format.require_writable(target.shown())?;
    }
    let plan = Plan::new(request).map_err(|error| {
        let error = error.of_axes(&request.settings.sets);
        match &request.study {
            Some(study) => study.placed(error),
            None => error,
        }
    })?;
    plan.subjects.iter().for_each(|subject| subject.input.note_doubts(progress));
    let folder = target
        .as_ref()
        .map(|target| PointStore::open(target, existing, &plan, plan.content(format, None)))
        .transpose()?;
    let cache = request.cache.as_deref().and_then(|folder| Cache::open(folder, progress));
    let sweep = Sweep { plan: &plan, folder: folder.as_ref(), cache: cache.as_ref(), pace: PACE, progress };
    let records = sweep.run(observer)?;
    if let Some(hits) = cache.map(|cache| cache.hits()) {
        progress.note(&format!("{hits} of {} points are from the cache", plan.points.len()));
    }
    if let Some(folder) = &folder {
        // Outputs over all points are created when shards are merged.
        let documents = match plan.shard {
            None => {
                let about = About { pages: folder.pages(request.settings.pages), ..plan.about() };
                documents(&about, &records, format)?
            }
            Some(_) => Vec::new(),
        };
        folder.complete(plan.content(format, Some(&records)), &documents)?;
    }
    Ok(records)
}

/// Returns the outputs over all points.
fn documents(
    about: &About,
    records: &[PointRecord],
    format: TableFormat,
) -> Result<Vec<Document>, StudyError> {
    let mut documents = sweep_documents(about, records)?;
    if format == TableFormat::Parquet {
        documents.extend(sweep_parquet(records)?);
    }
    Ok(documents)
}

/// Sweep in progress.
struct Sweep<'a> {
    plan: &'a Plan,
    folder: Option<&'a PointStore<'a, Plan>>,
    cache: Option<&'a Cache>,
    pace: Pace,
    progress: &'a dyn Progress,
}

impl Sweep<'_> {
    fn run(&self, mut observer: Option<&mut Observer<'_>>) -> Result<Vec<PointRecord>, StudyError> {
        let plan = self.plan;
        self.progress.start(&plan.title(), plan.samples());
        let mut found = Records::new(plan.points.len());
        for group in plan.groups() {
            for &index in group.iter().filter(|_| observer.is_none()) {
                if let Some(record) = self.known(index)? {
                    found.put(index, &record)?;
                }
            }
            let missing: Vec<usize> = group.iter().copied().filter(|&index| !found.has(index)).collect();
            let samples = group.first().map_or(0, |&first| plan.subject(&plan.points[first]).samples.count());
            self.progress.advance((group.len() - missing.len()) as u64 * samples as u64);
            let mut missing = missing.as_slice();
            let layers =
                group.first().map_or(1, |&first| plan.subject(&plan.points[first]).graph.nodes().len());
            let most = (LAYERS_TOGETHER / layers.max(1)).clamp(PACE.least, POINTS_TOGETHER);
            let mut together = most;
            while !missing.is_empty() {
                let started = &missing[..together.min(missing.len())];
                let start = Instant::now();
                let done = self.run_together(started, observer.as_deref_mut())?;
                together = self.pace.next(done.len(), start.elapsed()).min(most);
                let (now, later) = missing.split_at(done.len());
                for (&index, record) in now.iter().zip(&done) {
                    found.put(index, record)?;
                }
                missing = later;
            }
        }
        Ok(found.all()?)
    }

    /// Returns the record of a point that is done, here or in another study.
    fn known(&self, index: usize) -> Result<Option<PointRecord>, StudyError> {
        if let Some(record) = self.stored(index) {
            return Ok(Some(record));
        }
        let point = &self.plan.points[index];
        let found = self.cache.and_then(|cache| cache.found(point, self.progress));
        let Some((record, text)) = found else { return Ok(None) };
        if let Some(folder) = self.folder {
            folder.store(&point_file(index), &text)?;
        }
        Ok(Some(record))
    }

    /// Stores a point that was run.
    fn keep(&self, index: usize, record: &PointRecord, predictions: &Predictions) -> Result<(), StudyError> {
        if self.folder.is_none() && self.cache.is_none() {
            return Ok(());
        }
        let point = &self.plan.points[index];
        let text = stored::text(point.identity, record, predictions)?;
        if let Some(folder) = self.folder {
            folder.store(&point_file(index), &text)?;
        }
        if let Some(cache) = self.cache {
            cache.add(point, &text, self.progress);
        }
        Ok(())
    }

    /// Returns the record of a point that is stored in the folder.
    fn stored(&self, index: usize) -> Option<PointRecord> {
        let (file, point) = (point_file(index), &self.plan.points[index]);
        match self.folder?.read::<StoredPoint>(&file, point.identity) {
            // Names of files are those that they have now.
            Found::Same(stored) => Some(stored.record(&point.point)),
            Found::Other => {
                self.progress.note(&format!("{file} has other inputs or settings and is run again"));
                None
            }
            Found::Nothing => None,
        }
    }

    /// Runs the first points of one group, at least one, and stores them.
    fn run_together(
        &self,
        points: &[usize],
        mut observer: Option<&mut Observer<'_>>,
    ) -> Result<Vec<PointRecord>, StudyError> {
        let planned: Vec<&PlannedPoint> = points.iter().map(|&index| &self.plan.points[index]).collect();
        let Some(first) = planned.first() else { return Ok(Vec::new()) };
        let subject = self.plan.subject(first);
        let programs = planned.iter().map(|point| subject.lower(&point.accelerator));
        let programs: Vec<Program> = programs.collect::<Result<_, _>>()?;
        let options = Options {
            mode: first.mode,
            stats: first.stats,
            placing: Placing::First,
            events_per_layer: 0,
            keep: if observer.is_some() { Keep::All } else { Keep::Outputs },
            ..Options::default()
        };
        let all: Vec<&Program> = programs.iter().collect();
        // Points that an observer has seen are not run again.
        let pace = observer.is_none().then_some(self.pace);
        let mut samples = 0;
        let mut look = |tensors: &BatchTensors| {
            let sample = samples;
            samples += 1;
            let Some(observer) = observer.as_deref_mut() else { return Ok(()) };
            for ((&point, program), simulated) in points.iter().zip(&programs).zip(&tensors.simulated) {
                let exact = &tensors.exact;
                let seen = Seen { point, sample, mode: options.mode, program, exact, simulated };
                if observer(&seen).is_break() {
                    return Err(StudyError::Interrupted);
                }
            }
            Ok(())
        };
        let ExecutedTogether { each, unlimited } =
            execute_together(subject, &all, options, pace, self.progress, &mut look)?;
        let mut records = Vec::with_capacity(points.len());
        for (((&index, point), program), done) in points.iter().zip(&planned).zip(&programs).zip(each) {
            let (record, predictions) = match done {
                Ok(Executed { layers, verdict, floats, .. }) => {
                    let unlimited = unlimited.as_deref().unwrap_or(&layers);
                    let record =
                        PointRecord::new(&point.point, program, &layers, unlimited, &options, &verdict)
                            .with_floats(program, &floats, options.stats);
                    (record, verdict.predictions)
                }
                Err(error) => {
                    (PointRecord::stopped(&point.point, program, &options, &error), Predictions::default())
                }
            };
            self.keep(index, &record, &predictions)?;
            records.push(record);
        }
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use guardbit_sim::StatsLevel;

    use super::*;
    use crate::{Axes, InputSource, Settings, Silent};

    const NETWORK: &str = include_str!("../../tests/net.yaml");

    /// Observer of how many points are stored whenever samples are done, with the number of those samples.
    struct Watch {
        points: PathBuf,
        done: AtomicU64,
        stored: Mutex<Vec<usize>>,
    }

    impl Progress for Watch {
        fn start(&self, _what: &str, _total: u64) {}

        fn advance(&self, samples: u64) {
            self.done.fetch_add(samples, Ordering::Relaxed);
            let stored = fs::read_dir(&self.points).map_or(0, Iterator::count);
            self.stored.lock().unwrap().push(stored);
        }

        fn note(&self, _text: &str) {}
    }

    /// With little time, few points run together, and each is stored before the next ones begin.
    #[test]
    fn points_are_stored_as_they_end() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("net.yaml"), NETWORK).unwrap();
        let settings =
            Settings { stats: StatsLevel::Full, ..Settings::new(InputSource::Random { count: 12, seed: 0 }) };
        let request = SweepRequest {
            models: vec![dir.path().join("net.yaml")],
            hws: vec!["fpga-int14-os".into()],
            settings,
            level: None,
            bits: Some("10..=16".parse().unwrap()),
            overflow: Vec::new(),
            axes: Axes::default(),
            stats_given: true,
            cache: None,
            shard: None,
            study: None,
        };
        let plan = Plan::new(&request).unwrap();
        let out = dir.path().join("out");
        let target = Target::claim(&out).unwrap();
        let content = plan.content(TableFormat::Csv, None);
        let folder = PointStore::open(&target, Existing::Refuse, &plan, content).unwrap();
        let watch = Watch { points: out.join("points"), done: AtomicU64::new(0), stored: Mutex::default() };
        let pace = Pace { limit: Duration::ZERO, least: 2 };
        let hurried = Sweep { plan: &plan, folder: Some(&folder), cache: None, pace, progress: &watch };
        let hurried = hurried.run(None);
        let hurried = hurried.unwrap();
        let mut stored = watch.stored.into_inner().unwrap();
        stored.dedup();
        assert_eq!(stored, [0, 2, 4, 6]);
        assert_eq!(watch.done.load(Ordering::Relaxed), 7 * 12, "every sample of every point is counted once");
        let together = sweep(&request, None, Existing::Refuse, &Silent).unwrap();
        assert_eq!(hurried, together);
    }
}
