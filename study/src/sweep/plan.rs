//! Plan of a sweep: everything is loaded and checked before the first point runs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use guardbit_files::ListedSettings;
use guardbit_hwmodels::{Accelerator, Level, Register};
use guardbit_num::Overflow;
use guardbit_reports::{About, Parameter, SweepPoint, counted};
use guardbit_sim::{ARITHMETIC_VERSION, Mode, StatsLevel};
use serde::Serialize;

use crate::axes::{Variant, check_targets, may_be_path};
use crate::identity::DependsOn;
use crate::quantize::swept;
use crate::subject::{CommonSettings, FileId, HwId, InputId, Network, Subject};
use crate::{Axis, Identity, MAX_POINTS, Settings, Shard, StudyError, SweepRequest, default_sweep_stats};

/// Sweep that is ready to run.
#[derive(Debug)]
pub(super) struct Plan {
    pub subjects: Vec<Subject>,
    /// Accelerators without the settings of points.
    bases: Vec<Accelerator>,
    /// Points in the order of the rows of `summary.csv`.
    pub points: Vec<PlannedPoint>,
    /// Shard to run; all points if `None`.
    pub shard: Option<Shard>,
    settings: Settings,
    /// Inputs of the results.
    pub description: Description,
}

/// Point of a sweep.
#[derive(Debug)]
pub(super) struct PlannedPoint {
    subject: usize,
    /// Group; its points differ only in registers.
    group: usize,
    pub point: SweepPoint,
    pub accelerator: Accelerator,
    pub mode: Mode,
    pub stats: StatsLevel,
    pub identity: Identity,
}

/// Inputs of a sweep's results, by name and content.
#[derive(Debug, Serialize)]
pub(super) struct Description {
    arithmetic: u32,
    models: Vec<FileId>,
    hws: Vec<HwId>,
    input: Vec<InputId>,
    labels: Option<FileId>,
    settings: ListedSettings,
    points: Vec<PointJson>,
}

/// Point with what it depends on, and the hash of that.
#[derive(Debug, Serialize)]
struct PointJson {
    #[serde(flatten)]
    point: SweepPoint,
    identity: Identity,
    depends_on: DependsOn<PointSettings>,
}

/// Settings that decide the figures of a point.
#[derive(Debug, Serialize)]
struct PointSettings {
    #[serde(flatten)]
    common: CommonSettings,
    /// Level at which events are summed.
    level: String,
}

impl Plan {
    pub fn new(request: &SweepRequest) -> Result<Self, StudyError> {
        if request.points() > MAX_POINTS {
            return Err(StudyError::TooManyPoints { points: request.points() });
        }
        if request.bits.is_none() && request.axes.list().is_empty() {
            return Err(StudyError::NothingVaried);
        }
        let settings = &request.settings;
        let bases = request.hws.iter().map(|hw| guardbit_hwmodels::load(hw, &settings.sets));
        let bases: Vec<Accelerator> = bases.collect::<Result<_, _>>()?;
        let mut subjects = Subjects::default();
        let (mut points, mut listed, mut groups) = (Vec::new(), Vec::new(), HashMap::new());
        // The lowered program does not depend on samples.
        let mut lowered = None;
        for Combination { variant, parameters, apart } in combinations(request, &bases)? {
            let (index, subject) = subjects.of(&variant, request.cache.as_deref())?;
            for (point, accelerator) in points_of(request, subject, &variant, &parameters)? {
                // Errors of combinations are reported before the first point runs.
                let differs =
                    listed.last().is_none_or(|last: &PointJson| last.point.parameters != parameters);
                if differs
                    && !lowered.as_ref().is_some_and(|(graph, known)| {
                        Arc::ptr_eq(graph, &subject.graph) && *known == accelerator
                    })
                {
                    subject.lower(&accelerator)?;
                    lowered = Some((Arc::clone(&subject.graph), accelerator.clone()));
                }
                let common = subject.settings(&variant.settings);
                let own = PointSettings { common, level: point.level.clone() };
                let depends_on = subject.depends_on(&accelerator, own);
                let identity = depends_on.identity();
                listed.push(PointJson { point: point.clone(), identity, depends_on });
                let next = groups.len();
                let group = *groups.entry((index, variant.hw.clone(), apart.clone())).or_insert(next);
                let (mode, stats) = (variant.settings.mode, variant.settings.stats);
                points.push(PlannedPoint {
                    subject: index,
                    group,
                    point,
                    accelerator,
                    mode,
                    stats,
                    identity,
                });
            }
        }
        let subjects = subjects.list;
        let description = Description {
            arithmetic: ARITHMETIC_VERSION,
            models: subjects.iter().map(|s| s.model.clone()).collect(),
            hws: bases.iter().map(HwId::of).collect(),
            input: subjects.iter().map(|s| s.input.clone()).collect(),
            labels: subjects.first().and_then(|s| s.labels_file.clone()),
            settings: request.listed(),
            points: listed,
        };
        Ok(Self { subjects, bases, points, shard: request.shard, settings: settings.clone(), description })
    }

    /// Returns the identity of the sweep, over all points.
    pub fn identity(&self) -> Identity {
        Identity::of_parts(self.points.iter().map(|point| point.identity))
    }

    pub fn subject(&self, point: &PlannedPoint) -> &Subject {
        &self.subjects[point.subject]
    }

    /// Returns the indices of the points that are run.
    pub fn own_points(&self) -> Range<usize> {
        self.shard.map_or(0..self.points.len(), |shard| shard.points(self.points.len()))
    }

    /// Returns the indices of points that run together: points that differ only in registers.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let count = self.points.iter().map(|point| point.group + 1).max().unwrap_or(0);
        let mut groups = vec![Vec::new(); count];
        for index in self.own_points() {
            groups[self.points[index].group].push(index);
        }
        groups
    }

    /// Returns the total number of samples over all points that are run.
    pub fn samples(&self) -> u64 {
        self.points[self.own_points()].iter().map(|point| self.subject(point).samples.count() as u64).sum()
    }

    pub fn title(&self) -> String {
        let own = self.own_points();
        match self.shard {
            None => counted(own.len() as u64, "point"),
            Some(shard) => format!("{} of {} points, shard {shard}", own.len(), self.points.len()),
        }
    }

    /// Describes the sweep in words for the report.
    pub fn about(&self) -> About {
        let made_from = &self.description;
        let files = made_from.models.iter().map(|model| model.file.as_str()).collect::<Vec<_>>().join(", ");
        let hws = made_from.hws.iter().map(|hw| hw.name.as_str()).collect::<Vec<_>>().join(", ");
        let mut pairs = vec![("Model", files), ("Accelerator", hws)];
        pairs.extend(made_from.input.first().map(|input| ("Input", input.describe())));
        pairs.extend(made_from.labels.as_ref().map(|file| ("Labels", file.file.clone())));
        pairs.push(("Mode", self.settings.mode.name().into()));
        pairs.extend(self.settings.output.clone().map(|output| ("Output", output)));
        pairs.extend(self.settings.sets.iter().map(|set| ("Set", set.clone())));
        crate::about(pairs, &self.bases)
    }
}

/// Settings of one combination of axis values.
struct Combination {
    variant: Variant,
    parameters: Vec<Parameter>,
    /// Parameters other than registers: points that differ in them do not run together.
    apart: Vec<Parameter>,
}

/// Returns every combination of network, accelerator and axes.
fn combinations(request: &SweepRequest, bases: &[Accelerator]) -> Result<Vec<Combination>, StudyError> {
    let axes = request.axes.list();
    // A level is named in tables only if its name is equal in all accelerators.
    let varies_hw = axes.iter().any(|axis| axis.key() == "hw");
    let bases = if varies_hw { &[] } else { bases };
    let mut all = Vec::new();
    for model in &request.models {
        for hw in &request.hws {
            for values in request.axes.combinations()? {
                let settings = request.settings.clone();
                let mut variant = Variant { model: model.clone(), hw: hw.clone(), settings, quantize: None };
                for (axis, value) in axes.iter().zip(&values) {
                    variant.set(axis.key(), value)?;
                }
                if !request.stats_given {
                    variant.settings.stats = default_sweep_stats(variant.settings.mode);
                }
                let parameter = |(axis, value): (&Axis, &&str)| Parameter {
                    key: named_key(axis, bases),
                    value: shown(axis, value),
                };
                let apart = axes.iter().zip(&values).filter(|(axis, _)| axis.level().is_none());
                let apart = apart.map(parameter).collect();
                let parameters = axes.iter().zip(&values).map(parameter).collect();
                all.push(Combination { variant, parameters, apart });
            }
        }
    }
    Ok(all)
}

/// Returns the key as shown in tables: levels are named, even if given by index.
fn named_key(axis: &Axis, bases: &[Accelerator]) -> String {
    let mut names = bases.iter().map(|base| Some(level_at(base, axis.level()?)?.name.as_str()));
    let first = names.next().flatten().filter(|first| names.all(|name| name == Some(first)));
    match (first, axis.key().rsplit_once('.')) {
        (Some(name), Some((_, what))) => format!("accumulation.{name}.{what}"),
        _ => axis.key().into(),
    }
}

/// Returns the level of a key, given by its name or its index.
fn level_at<'a>(base: &'a Accelerator, level: &str) -> Option<&'a Level> {
    let levels = &base.datapath.levels;
    levels.iter().find(|one| one.name == level).or_else(|| levels.get(level.parse::<usize>().ok()?))
}

/// Returns a value as shown in tables: without the folder of a file, which makes no difference to results.
fn shown(axis: &Axis, value: &str) -> String {
    let name = Path::new(value).file_name().filter(|_| may_be_path(axis.key()));
    name.map_or_else(|| value.into(), |name| name.to_string_lossy().into_owned())
}

/// Networks with their samples, each loaded once.
#[derive(Default)]
struct Subjects {
    list: Vec<Subject>,
    /// Indices of subjects, by what they depend on.
    known: HashMap<String, usize>,
    /// Networks by what they depend on; subjects that differ only in samples share one.
    networks: HashMap<String, Network>,
}

impl Subjects {
    fn of(&mut self, variant: &Variant, cache: Option<&Path>) -> Result<(usize, &Subject), StudyError> {
        let Variant { model, settings, quantize, hw } = variant;
        let Settings { input, labels, task, output, profile, cut, .. } = settings;
        let quantized = quantize.as_ref().map(|one| swept::key(one, hw, &settings.sets)).transpose()?;
        let key =
            format!("{model:?} {input:?} {labels:?} {task:?} {output:?} {profile:?} {cut:?} {quantized:?}");
        let index = match self.known.get(&key) {
            Some(&index) => index,
            None => {
                self.list.push(match quantize {
                    None => {
                        let network = match self.networks.entry(format!("{model:?} {profile:?} {cut:?}")) {
                            Entry::Occupied(known) => known.into_mut(),
                            Entry::Vacant(new) => new.insert(Network::load(model, settings)?),
                        };
                        Subject::of_network(network, model, settings)?
                    }
                    Some(one) => {
                        let float = settings.network(model)?;
                        let graph = swept::network(one, &float, model, hw, &settings.sets, cache)?;
                        Subject::of_graph(graph, model, settings)?
                    }
                });
                self.known.insert(key, self.list.len() - 1);
                self.list.len() - 1
            }
        };
        Ok((index, &self.list[index]))
    }
}

/// Returns all widths and modes of one network on one accelerator.
fn points_of(
    request: &SweepRequest,
    subject: &Subject,
    variant: &Variant,
    parameters: &[Parameter],
) -> Result<Vec<(SweepPoint, Accelerator)>, StudyError> {
    let Variant { hw, settings, .. } = variant;
    let base = guardbit_hwmodels::load(hw, &settings.sets)?;
    let level = match &request.bits {
        Some(_) => Some(swept_level(request.level.as_deref(), &base)?),
        None => varied_level(request, &base)?,
    };
    check_targets(&varied_keys(request, level), &base.datapath.levels, &subject.graph)?;
    let modes: Vec<Option<Overflow>> = match request.overflow.as_slice() {
        [] => vec![None],
        modes => modes.iter().copied().map(Some).collect(),
    };
    let widths =
        request.bits.as_ref().map_or(vec![None], |bits| bits.widths().iter().copied().map(Some).collect());
    let mut points = Vec::new();
    for mode in modes {
        for &bits in &widths {
            let mut sets = settings.sets.clone();
            if let Some(level) = level {
                let key = format!("accumulation.{}", level.name);
                sets.extend(bits.map(|bits| format!("{key}.bits={bits}")));
                sets.extend(mode.map(|mode| format!("{key}.overflow={mode}")));
            }
            let accelerator = guardbit_hwmodels::load(hw, &sets)?;
            let own = level.and_then(|level| {
                let register =
                    accelerator.datapath.levels.iter().find(|one| one.name == level.name)?.register;
                register_of(register)
            });
            let point = SweepPoint {
                model: subject.model.file.clone(),
                hw: base.name.clone(),
                bits: own.map(|(bits, _)| bits),
                overflow: own.map_or(String::new(), |(_, overflow)| overflow.name().into()),
                level: own.and(level).map_or(String::new(), |level| level.name.clone()),
                parameters: parameters.to_vec(),
                samples: subject.samples_key(),
            };
            points.push((point, accelerator));
        }
    }
    Ok(points)
}

/// Returns all varied keys: the name shown, and the key.
fn varied_keys<'a>(request: &'a SweepRequest, level: Option<&Level>) -> Vec<(&'a str, String)> {
    let of_level = |what: &'a str| level.map(|level| (what, format!("accumulation.{}.{what}", level.name)));
    let bits = request.bits.is_some().then(|| of_level("bits")).flatten();
    let overflow = (!request.overflow.is_empty()).then(|| of_level("overflow")).flatten();
    let axes = request.axes.list().iter().map(|axis| (axis.key(), axis.key().to_owned()));
    bits.into_iter().chain(overflow).chain(axes).collect()
}

/// Returns the level that the axes sweep: the named one, or the level of the last axis over widths or
/// overflow modes.
fn varied_level<'a>(request: &SweepRequest, base: &'a Accelerator) -> Result<Option<&'a Level>, StudyError> {
    if request.level.is_some() || !request.overflow.is_empty() {
        return swept_level(request.level.as_deref(), base).map(Some);
    }
    let axes = request.axes.list();
    let over = |what: &str| axes.iter().rfind(|axis| axis.level().is_some() && axis.key().ends_with(what));
    let name = over(".bits").or_else(|| over(".overflow")).and_then(|axis| axis.level());
    Ok(name.and_then(|name| level_at(base, name)))
}

fn register_of(register: Register) -> Option<(u32, Overflow)> {
    match register {
        Register::Auto => None,
        Register::Fixed { format, overflow } => Some((format.bits(), overflow)),
    }
}

/// Returns the named level, or the only one with a width.
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
