//! The points of a sweep: everything loaded and checked before the first one runs.

use std::ops::Range;
use std::path::PathBuf;

use guardbit_hwmodels::{Accelerator, Level, Register};
use guardbit_num::Overflow;
use guardbit_reports::{About, SweepPoint};
use guardbit_sim::ARITHMETIC_VERSION;
use serde::Serialize;

use crate::identity::DependsOn;
use crate::subject::{CommonSettings, FileId, HwId, InputId, Subject};
use crate::{Identity, MAX_POINTS, StudyError, SweepRequest};

/// A sweep ready to run.
#[derive(Debug)]
pub(super) struct Plan {
    pub subjects: Vec<Subject>,
    /// The accelerators as they are without a point.
    bases: Vec<Accelerator>,
    /// In the order of the rows of `summary.csv`.
    pub points: Vec<PlannedPoint>,
    /// What the results were made from.
    pub description: Description,
}

/// One point.
#[derive(Debug)]
pub(super) struct PlannedPoint {
    subject: usize,
    /// Points of one group differ in the swept register alone.
    group: usize,
    pub point: SweepPoint,
    pub accelerator: Accelerator,
    pub identity: Identity,
}

/// What the results of a sweep were made from, by name and content.
#[derive(Debug, Serialize)]
pub(super) struct Description {
    arithmetic: u32,
    models: Vec<FileId>,
    hws: Vec<HwId>,
    input: Vec<InputId>,
    labels: Option<FileId>,
    settings: SettingsJson,
    points: Vec<PointJson>,
}

/// A point, what it depends on, and the hash of that.
#[derive(Debug, Serialize)]
struct PointJson {
    #[serde(flatten)]
    point: SweepPoint,
    identity: Identity,
    depends_on: DependsOn<PointSettings>,
}

/// The settings that decide the figures of a point.
#[derive(Debug, Serialize)]
struct PointSettings {
    #[serde(flatten)]
    common: CommonSettings,
    /// At which level events are summed up.
    level: String,
}

#[derive(Debug, Serialize)]
struct SettingsJson {
    mode: &'static str,
    stats: &'static str,
    output: Option<String>,
    set: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'static str>,
}

impl Plan {
    pub fn new(request: &SweepRequest) -> Result<Self, StudyError> {
        if request.points() > MAX_POINTS {
            return Err(StudyError::TooManyPoints { points: request.points() });
        }
        let settings = &request.settings;
        let load = |model: &PathBuf| Subject::load(model, settings);
        let subjects: Vec<Subject> = request.models.iter().map(load).collect::<Result<_, _>>()?;
        let bases = request.hws.iter().map(|hw| guardbit_hwmodels::load(hw, &settings.sets));
        let bases: Vec<Accelerator> = bases.collect::<Result<_, _>>()?;

        let (mut points, mut listed) = (Vec::new(), Vec::new());
        let mut group = 0;
        for (index, subject) in subjects.iter().enumerate() {
            for (hw, base) in request.hws.iter().zip(&bases) {
                // Whatever is wrong with a combination is said before the first point runs.
                subject.lower(base)?;
                for (point, accelerator) in points_of(request, subject, hw, base)? {
                    let common = subject.settings(settings);
                    let own = PointSettings { common, level: point.level.clone() };
                    let depends_on = subject.depends_on(&accelerator, own);
                    let identity = depends_on.identity();
                    listed.push(PointJson { point: point.clone(), identity, depends_on });
                    points.push(PlannedPoint { subject: index, group, point, accelerator, identity });
                }
                group += 1;
            }
        }
        let description = Description {
            arithmetic: ARITHMETIC_VERSION,
            models: subjects.iter().map(|s| s.model.clone()).collect(),
            hws: bases.iter().map(HwId::of).collect(),
            input: subjects.iter().map(|s| s.input.clone()).collect(),
            labels: subjects.first().and_then(|s| s.labels_file.clone()),
            settings: SettingsJson {
                mode: settings.mode.name(),
                stats: settings.stats.name(),
                output: settings.output.clone(),
                set: settings.sets.clone(),
                profile: settings.profile.map(guardbit_frontends::Profile::name),
            },
            points: listed,
        };
        Ok(Self { subjects, bases, points, description })
    }

    /// That of all points.
    pub fn identity(&self) -> Identity {
        Identity::of_parts(self.points.iter().map(|point| point.identity))
    }

    pub fn subject(&self, point: &PlannedPoint) -> &Subject {
        &self.subjects[point.subject]
    }

    /// The points that run together: those of one network on one accelerator.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        self.points.chunk_by(|a, b| a.group == b.group).map(move |group| {
            start += group.len();
            start - group.len()..start
        })
    }

    /// Samples over all points.
    pub fn samples(&self) -> u64 {
        self.points.iter().map(|point| self.subject(point).samples.count() as u64).sum()
    }

    pub fn title(&self) -> String {
        format!("{} points", self.points.len())
    }

    /// What was swept, in words for the report.
    pub fn about(&self) -> About {
        let made_from = &self.description;
        let files = made_from.models.iter().map(|model| model.file.as_str()).collect::<Vec<_>>().join(", ");
        let hws = made_from.hws.iter().map(|hw| hw.name.as_str()).collect::<Vec<_>>().join(", ");
        let mut pairs = vec![("Model", files), ("Accelerator", hws)];
        pairs.extend(made_from.input.first().map(|input| ("Input", input.describe())));
        pairs.extend(made_from.labels.as_ref().map(|file| ("Labels", file.file.clone())));
        pairs.push(("Mode", made_from.settings.mode.into()));
        pairs.extend(made_from.settings.output.clone().map(|output| ("Output", output)));
        pairs.extend(made_from.settings.set.iter().map(|set| ("Set", set.clone())));
        crate::about(pairs, &self.bases)
    }
}

/// Every width and mode of one network on one accelerator.
fn points_of(
    request: &SweepRequest,
    subject: &Subject,
    hw: &str,
    base: &Accelerator,
) -> Result<Vec<(SweepPoint, Accelerator)>, StudyError> {
    let level = swept_level(request.level.as_deref(), base)?;
    let modes: Vec<Option<Overflow>> = match request.overflow.as_slice() {
        [] => vec![None],
        modes => modes.iter().copied().map(Some).collect(),
    };
    let mut points = Vec::new();
    for mode in modes {
        for &bits in request.bits.widths() {
            let key = format!("accumulation.{}", level.name);
            let mut sets = request.settings.sets.clone();
            sets.push(format!("{key}.bits={bits}"));
            sets.extend(mode.map(|mode| format!("{key}.overflow={mode}")));
            let accelerator = guardbit_hwmodels::load(hw, &sets)?;
            let point = SweepPoint {
                model: subject.model.file.clone(),
                hw: base.name.clone(),
                bits,
                overflow: mode.unwrap_or_else(|| own_mode(level)).name().into(),
                level: level.name.clone(),
            };
            points.push((point, accelerator));
        }
    }
    Ok(points)
}

/// The named level, or the only one with a width.
fn swept_level<'a>(name: Option<&str>, base: &'a Accelerator) -> Result<&'a Level, StudyError> {
    let levels = &base.datapath.levels;
    let hw = || base.name.clone();
    let names = |levels: &[&Level]| levels.iter().map(|level| level.name.clone()).collect::<Vec<_>>();
    if let Some(name) = name {
        let unknown = || StudyError::UnknownLevel {
            hw: hw(),
            level: name.into(),
            levels: names(&levels.iter().collect::<Vec<_>>()),
        };
        return levels.iter().find(|level| level.name == name).ok_or_else(unknown);
    }
    let with_width: Vec<&Level> = levels.iter().filter(|level| level.register != Register::Auto).collect();
    match with_width.as_slice() {
        [only] => Ok(only),
        several => Err(StudyError::AmbiguousLevel { hw: hw(), levels: names(several) }),
    }
}

/// The mode that a level has by itself; a width alone means saturation.
fn own_mode(level: &Level) -> Overflow {
    match level.register {
        Register::Auto => Overflow::Saturate,
        Register::Fixed { overflow, .. } => overflow,
    }
}
