//! Plan of an exploration: every point is loaded, checked, timed and priced before any simulation.

use std::collections::HashMap;
use std::sync::Arc;

use guardbit_files::Digest;
use guardbit_hwmodels::cost::{CostModel, network_cost};
use guardbit_hwmodels::{Accelerator, Problem, Program, check_with, lower};
use guardbit_reports::{About, NetworkTiming, Parameter};
use guardbit_sim::Mode;
use rayon::prelude::*;
use serde::Serialize;

use super::objective::Objective;
use super::shape::{self, LayerShape, structure};
use crate::axes::{Variant, argument, check_targets};
use crate::costs::{self, CostId};
use crate::identity::{DependsOn, Sources, of_accelerator};
use crate::settings::ExploreRequest;
use crate::size::MOST_SEARCHED;
use crate::subject::{CommonSettings, Subject};
use crate::{AxisError, Budget, Identity, MAX_POINTS, StudyError};

/// Cost model used if none is given.
const DEFAULT_COST: &str = "aladdin-40nm";

/// Exploration that is ready to run.
pub(super) struct Plan {
    pub request: ExploreRequest,
    pub subject: Subject,
    /// Accelerator without the settings of a point.
    pub base: Accelerator,
    /// Models of energies and areas.
    pub models: Vec<CostModel>,
    pub objectives: Vec<Objective>,
    pub points: Vec<Point>,
    /// First point of each group that differs only in widths of levels.
    pub structures: Vec<usize>,
    /// First point of each group that differs only in axes over widths of levels.
    pub variants: Vec<usize>,
}

/// Point of the axes.
pub(super) struct Point {
    pub parameters: Vec<Parameter>,
    pub accelerator: Accelerator,
    pub shapes: Vec<LayerShape>,
    pub structure: usize,
    pub figures: Figures,
    /// Warnings of `guardbit hw check --model`.
    pub warnings: Vec<String>,
}

/// Cycles of a design and costs of its parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    pub cycles: u64,
    pub latency_us: f64,
    pub host_cycles: u64,
    pub overlapped_cycles: u64,
    /// Products, and products that the array could have computed.
    pub utilization: Option<(u64, u64)>,
    /// Bound of an inference, and the ratio of cycles if it is twice as fast; `None` if an inference takes no time.
    pub bound: Option<(String, f64)>,
    /// Bound of the layers on the accelerator alone.
    pub accelerator_bound: Option<(String, f64)>,
    /// Every part with its energy and area, per model; `None` if the model does not provide it.
    pub costs: Vec<Vec<PartFigures>>,
}

/// Figures of a kind of part.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PartFigures {
    pub label: String,
    pub is_used: bool,
    pub is_there: bool,
    pub energy_pj: Option<f64>,
    pub area: Option<f64>,
}

/// Settings that decide the results, apart from network, samples and labels.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Deciding {
    #[serde(flatten)]
    common: CommonSettings,
    budget: Option<String>,
    objectives: Vec<&'static str>,
    costs: Vec<CostId>,
    /// Content of each point's accelerator.
    points: Vec<Digest>,
}

impl Figures {
    pub fn of(program: &Program, models: &[CostModel]) -> Self {
        let timing = NetworkTiming::new(program);
        let parts = |model: &CostModel| {
            let (_, network) = network_cost(program, model);
            let part = |part: guardbit_hwmodels::cost::PartCost| PartFigures {
                label: part.label(),
                is_used: part.accesses > 0.0,
                is_there: part.instances > 0,
                energy_pj: part.cost.energy_pj,
                area: part.cost.area,
            };
            network.parts.into_iter().map(part).collect()
        };
        let sum = |of: fn(&guardbit_hwmodels::timing::Cost) -> u64| {
            program.mac_layers().map(|layer| of(&layer.timing.cost)).fold(0, u64::saturating_add)
        };
        Self {
            cycles: timing.cycles,
            latency_us: timing.latency_us,
            host_cycles: timing.host_cycles,
            overlapped_cycles: timing.overlapped_cycles,
            bound: timing.bound.zip(timing.bound_ratio),
            accelerator_bound: timing.accelerator_bound.zip(timing.accelerator_bound_ratio),
            utilization: Some((sum(|cost| cost.macs), sum(|cost| cost.capacity))).filter(|(_, all)| *all > 0),
            costs: models.iter().map(parts).collect(),
        }
    }
}

impl Plan {
    pub fn new(request: &ExploreRequest) -> Result<Self, StudyError> {
        if request.axes.size() > MAX_POINTS {
            return Err(StudyError::TooManyPoints { points: request.axes.size() });
        }
        check_axes(request)?;
        let settings = &request.settings;
        let named = if request.costs.is_empty() { &[DEFAULT_COST.to_owned()][..] } else { &request.costs };
        let models = costs::load(named)?;
        let base = guardbit_hwmodels::load(&request.hw, &settings.sets)?;
        let subject = Subject::load(&request.model, settings)?;
        if let Some(budget) = request.budget {
            budget.check(&subject)?;
        }
        let keys: Vec<_> =
            request.axes.list().iter().map(|axis| (axis.key(), axis.key().to_owned())).collect();
        check_targets(&keys, &base.datapath.levels, &subject.graph)?;
        let drafts = drafts(request)?;
        // Lowers points in parallel to save time; which error is reported does not depend on threads.
        subject.lower_codes(&base)?;
        let graph = &subject.graph;
        let one = |draft: &Draft| -> Result<(Vec<LayerShape>, Figures, Vec<String>), StudyError> {
            let program = lower(Arc::clone(graph), &draft.accelerator)?;
            let warnings = warnings_of(draft.warnings.clone(), &program);
            Ok((LayerShape::all(&program), Figures::of(&program, &models), warnings))
        };
        let lowered: Vec<_> = drafts.par_iter().map(one).collect();
        let (mut structures, mut variants) = (Vec::new(), Vec::new());
        let (mut by_structure, mut by_variant) = (HashMap::new(), HashMap::new());
        let mut points = Vec::new();
        for (index, (draft, lowered)) in drafts.into_iter().zip(lowered).enumerate() {
            let (shapes, figures, warnings) = lowered?;
            let structure = *by_structure.entry(structure(&shapes)).or_insert_with(|| {
                structures.push(index);
                structures.len() - 1
            });
            by_variant.entry(draft.variant).or_insert_with(|| variants.push(index));
            let Draft { parameters, accelerator, .. } = draft;
            points.push(Point { parameters, accelerator, shapes, structure, figures, warnings });
        }
        let plan = Self {
            request: request.clone(),
            subject,
            base,
            models,
            objectives: Vec::new(),
            points,
            structures,
            variants,
        };
        let objectives = plan.chosen_objectives()?;
        Ok(Self { objectives, ..plan })
    }

    /// Returns the requested objectives, or by default cycles and all that the cost models provide.
    fn chosen_objectives(&self) -> Result<Vec<Objective>, StudyError> {
        let told = |objective: &Objective| match objective {
            Objective::Energy => self.energy_model().is_some(),
            Objective::Area => self.area_model().is_some(),
            Objective::Cycles | Objective::Latency => true,
        };
        if self.request.objectives.is_empty() {
            let all = [Objective::Cycles, Objective::Area, Objective::Energy];
            return Ok(all.into_iter().filter(told).collect());
        }
        let mut objectives: Vec<Objective> = Vec::new();
        for &objective in &self.request.objectives {
            if !told(&objective) {
                let models: Vec<&str> = self.models.iter().map(|model| model.name.as_str()).collect();
                return Err(StudyError::NoSuchCost { what: objective.name(), models: models.join(", ") });
            }
            if !objectives.contains(&objective) {
                objectives.push(objective);
            }
        }
        Ok(objectives)
    }

    /// Returns the index of the first model that provides energies.
    pub fn energy_model(&self) -> Option<usize> {
        self.models.iter().position(|model| model.tells()[0])
    }

    /// Returns the index of the first model that provides areas.
    pub fn area_model(&self) -> Option<usize> {
        self.models.iter().position(|model| model.tells()[1])
    }

    /// Returns the maximum number of designs, including searched ones.
    pub fn most_designs(&self) -> usize {
        let searched = self.request.budget.map_or(0, |_| self.variants.len() * MOST_SEARCHED);
        self.points.len() + searched
    }

    /// Returns the number of compared output codes per sample.
    pub fn codes_per_sample(&self) -> u64 {
        let graph = &self.subject.graph;
        self.subject.outputs.compared.iter().map(|&id| graph.tensor(id).ty.len() as u64).sum()
    }

    /// Returns the identity of the values of a datapath: a hash of everything that they depend on.
    pub fn values_key(&self, datapath: &str) -> Identity {
        self.depends_on(Digest::of_bytes(datapath.as_bytes()), self.common()).identity()
    }

    /// Returns the identity of a search for widths.
    pub fn search_key(&self, structure: usize, budget: Budget) -> Identity {
        let datapath = shape::structure(&self.points[self.structures[structure]].shapes);
        let own = (self.common(), budget.to_string());
        self.depends_on(Digest::of_bytes(datapath.as_bytes()), own).identity()
    }

    /// Returns the identity of the exploration, over all points.
    pub fn identity(&self) -> Identity {
        let deciding = Deciding {
            common: self.common(),
            budget: self.request.budget.map(|budget| budget.to_string()),
            objectives: self.objectives.iter().map(|objective| objective.name()).collect(),
            costs: self.models.iter().map(CostId::of).collect(),
            points: self.points.iter().map(|point| of_accelerator(&point.accelerator)).collect(),
        };
        self.depends_on(of_accelerator(&self.base), deciding).identity()
    }

    fn common(&self) -> CommonSettings {
        self.subject.settings(&self.request.settings)
    }

    fn depends_on<S: Serialize>(&self, accelerator: Digest, settings: S) -> DependsOn<S> {
        let subject = &self.subject;
        let sources = Sources {
            model: subject.model.sha256,
            accelerator,
            input: subject.input.sha256,
            labels: subject.labels_file.as_ref().map(|file| file.sha256),
        };
        DependsOn::new(sources, settings)
    }

    /// Returns a description of the exploration for the report.
    pub fn about(&self) -> About {
        let (request, subject) = (&self.request, &self.subject);
        let mut pairs = vec![
            ("Model", subject.model.file.clone()),
            ("Accelerator", self.base.name.clone()),
            ("Input", subject.input.describe()),
            ("Mode", request.settings.mode.name().into()),
        ];
        pairs.extend(subject.labels_file.as_ref().map(|file| ("Labels", file.file.clone())));
        pairs.extend(request.axes.list().iter().map(|axis| ("Axis", axis.to_string())));
        pairs.extend(request.budget.map(|budget| ("Budget", budget.to_string())));
        let objectives: Vec<&str> = self.objectives.iter().map(|objective| objective.name()).collect();
        pairs.push(("Objectives", objectives.join(", ")));
        pairs.extend(request.settings.sets.iter().map(|set| ("Set", set.clone())));
        crate::about(pairs, [&self.base])
    }
}

/// Point before it is lowered.
struct Draft {
    parameters: Vec<Parameter>,
    accelerator: Accelerator,
    /// Values of all axes except axes over widths of levels.
    variant: Vec<String>,
    /// Warnings about the accelerator that do not depend on the network.
    warnings: Vec<Problem>,
}

/// Returns warnings about an accelerator for its network: those about the accelerator alone first.
pub(super) fn warnings_of(about: Vec<Problem>, program: &Program) -> Vec<String> {
    check_with(about, program).iter().map(ToString::to_string).collect()
}

fn drafts(request: &ExploreRequest) -> Result<Vec<Draft>, StudyError> {
    let axes = request.axes.list();
    let draft = |values: Vec<&str>| {
        let (model, hw, settings) = (request.model.clone(), request.hw.clone(), request.settings.clone());
        let mut variant = Variant { model, hw, settings, quantize: None };
        for (axis, value) in axes.iter().zip(&values) {
            variant.set(axis.key(), value)?;
        }
        let is_width = |key: &str| key.starts_with("accumulation.") && key.ends_with(".bits");
        let others = axes.iter().zip(&values).filter(|(axis, _)| !is_width(axis.key()));
        let parameter = |(axis, value): (&crate::Axis, &&str)| Parameter {
            key: axis.key().into(),
            value: (*value).into(),
        };
        let (accelerator, warnings) = guardbit_hwmodels::check(&variant.hw, &variant.settings.sets);
        Ok(Draft {
            accelerator: accelerator
                .map_err(|error| StudyError::from(error).of_axes(&request.settings.sets))?,
            warnings,
            variant: others.map(|(_, value)| (*value).to_owned()).collect(),
            parameters: axes.iter().zip(&values).map(parameter).collect(),
        })
    };
    request.axes.combinations()?.into_iter().map(draft).collect()
}

/// Fails for axes over anything except the accelerator.
fn check_axes(request: &ExploreRequest) -> Result<(), StudyError> {
    let other = |key: &str| argument(key).is_some() && !["hw", "requantize"].contains(&key);
    if request.settings.mode == Mode::Isolated {
        return Err(StudyError::from(AxisError::Values {
            key: "mode".into(),
            problem: "isolated mode has figures of layers only, but designs are compared by the results of \
                      the network"
                .into(),
        }));
    }
    match request.axes.list().iter().find(|axis| other(axis.key())) {
        Some(axis) => Err(StudyError::from(AxisError::Values {
            key: axis.key().into(),
            problem:
                "`explore` varies only keys of the accelerator; use `guardbit sweep` to vary other arguments"
                    .into(),
        })),
        None => Ok(()),
    }
}
