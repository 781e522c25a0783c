//! Sizes every accumulator: proved widths, measured widths, and widths within an error budget.

mod area;
mod budget;
mod cost;
mod fractions;
mod grid;
mod grid_errors;
mod layers;
mod recommend;
mod rows;
mod search;
mod sizing;
mod uniform;
mod witnesses;

use std::collections::BTreeSet;
use std::path::Path;

use guardbit_files::{Existing, Manifest, Staging, Target};
use guardbit_hwmodels::Program;
use guardbit_reports::{About, CoverageRecord, Score, SizeRecord, size_documents, size_parquet};
use serde::Serialize;

pub use area::AreaTool;
pub(crate) use budget::Counts;
pub use budget::{Budget, BudgetError};
pub use grid::Grid;
pub(crate) use recommend::resized;
pub(crate) use search::MOST_SEARCHED;

use crate::result_json::write_single;
use crate::run::write_inputs;
use crate::settings::SizeRequest;
use crate::subject::{CommonSettings, InputOrigin, Subject};
use crate::{Progress, StudyError, TableFormat};
use area::Synthesis;
use fractions::Fractions;
use layers::SizedLayer;
use recommend::Recommendation;
use sizing::Sizing;
use uniform::Uniform;

/// File of the accelerator with the recommended widths.
const RECOMMENDED: &str = "recommended.yaml";

/// Sizes the accumulators of `request` and writes the results to `out`, which is created only when it is
/// complete. Without `out`, nothing is written.
///
/// # Errors
/// [`StudyError`]; nothing is left behind in that case.
pub fn size(
    request: &SizeRequest,
    out: Option<&Path>,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<SizeRecord, StudyError> {
    out.map_or(Ok(()), |out| request.settings.format.require_writable(out))?;
    let target = out.map(|out| Target::claim_for(out, existing)).transpose()?;
    let synthesis = request.area.map(|tool| Synthesis::new(tool, request.rtl)).transpose()?;
    let accelerator = guardbit_hwmodels::load(&request.hw, &request.settings.sets)?;
    let subject = Subject::load(&request.model, &request.settings)?;
    subject.input.note_doubts(progress);
    let program = subject.lower(&accelerator)?;
    if program.mac_layers().next().is_none() && !program.float_layers().any(fractions::is_aligned) {
        let (hw, model) = (accelerator.name.clone(), subject.model.file.clone());
        return Err(StudyError::NothingToSize { hw, model });
    }
    if let Some(budget) = request.budget {
        budget.check(&subject)?;
    }

    let sizing = Sizing { request, subject: &subject, program: &program, progress };
    let measured = sizing.measure()?;
    let mut layers = SizedLayer::all(&program, &measured.layers);
    let fractions = Fractions::new(&sizing, &measured, synthesis.as_ref())?;
    let budget = request.budget.filter(|_| !layers.is_empty());
    let found = budget.map(|budget| search::search(&sizing, budget, &mut layers)).transpose()?;
    let score = found.clone().flatten().filter(|_| fractions.recommended.is_none());
    let recommendation = Recommendation::new(&sizing, &layers, fractions.recommended, score)?;
    let levels = rows::levels(&layers, &recommendation.program);
    let mut design = rows::design(&levels);
    let mut remarks = remarks(&sizing, &layers, found.as_ref().is_some_and(Option::is_none));
    remarks.extend(fractions.remark);
    if let (Some(budget), Some(_)) = (budget, found.flatten()) {
        let uniform = Uniform::within(&sizing, budget, &levels, design)?;
        design = uniform.design;
        remarks.extend(uniform.remark);
    }
    let record = SizeRecord {
        model: subject.model.file.clone(),
        hw: accelerator.name.clone(),
        budget: request.budget.map(|budget| budget.to_string()),
        area: synthesis.as_ref().map(Synthesis::describe),
        layers: rows::layers(&program, &layers, &recommendation.program, synthesis.as_ref())?,
        channels: rows::channels(&layers),
        coverage: CoverageRecord::new(&program),
        design,
        levels,
        grid: grid::rows(&sizing)?,
        rates: rows::rates(&program, &measured.layers),
        fraction_bits: fractions.bits,
        float_layers: fractions.layers,
        witnesses: witnesses::records(&layers),
        recommended: (&recommendation.score).into(),
        remarks,
    };
    if let Some(target) = &target {
        let mut staging = target.stage()?;
        write(&mut staging, &sizing, &recommendation, &layers, &record)?;
        staging.publish(existing)?;
    }
    Ok(record)
}

/// Returns remarks for readers of the figures.
fn remarks(sizing: &Sizing<'_>, layers: &[SizedLayer<'_>], out_of_reach: bool) -> Vec<String> {
    let graph = &sizing.program.graph;
    let leaving = |may_overflow: &dyn Fn(&SizedLayer<'_>) -> bool| match layers
        .iter()
        .filter(|layer| may_overflow(layer))
        .count()
    {
        0 => None,
        1 => Some("one layer may overflow its".to_owned()),
        count => Some(format!("{count} layers may overflow their")),
    };
    let of_products = leaving(&|layer| layer.products_may_overflow(graph)).map(|leaving| {
        format!("products of {leaving} register: proved widths and widths by samples assume exact products")
    });
    let of_biases = leaving(&|layer| layer.biases_may_overflow(graph)).map(|leaving| {
        format!("sums with biases of {leaving} register, `bias.bits`, which `size` does not size")
    });
    let of_budget = sizing.request.budget.map(|budget| of_budget(sizing, budget, out_of_reach));
    let remarks = of_levels_without_sign(layers).into_iter().chain(of_products).chain(of_biases);
    remarks.chain(of_budget.into_iter().flatten()).collect()
}

/// Returns a remark on unsigned levels that hold their sums at no width.
fn of_levels_without_sign(layers: &[SizedLayer<'_>]) -> Option<String> {
    let levels = layers.iter().flat_map(|sized| {
        let levels = sized.layer.datapath.levels.iter().enumerate();
        levels.filter(|(index, _)| sized.is_out_of_reach(*index)).map(|(_, level)| level.name.as_str())
    });
    let levels: BTreeSet<&str> = levels.collect();
    let names = levels.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| {
        format!(
            "{names} is unsigned, but sums may be negative: no width holds them (shown as 65), and without \
             a budget the register is not changed; use `signed: true`"
        )
    })
}

/// Returns remarks for readers of the budget's figures.
fn of_budget(sizing: &Sizing<'_>, budget: Budget, out_of_reach: bool) -> Vec<String> {
    let samples = sizing.subject.samples.count() as u64;
    let out_of_reach = out_of_reach.then(|| {
        format!(
            "no width is within {budget}, because other parts of the datapath lose more; the proved widths \
             are recommended"
        )
    });
    budget.finer_than_one(samples, sizing.codes_per_sample()).into_iter().chain(out_of_reach).collect()
}

/// Designs within a budget: widths per accelerated layer and level, with the network's results at these
/// widths.
pub(crate) struct Designs {
    /// Designs with widths per layer.
    pub mixed: Vec<(Vec<Vec<u32>>, Score)>,
    /// Designs with one width per level for all layers.
    pub uniform: Vec<(Vec<Vec<u32>>, Score)>,
}

impl Designs {
    /// Returns the end of narrowing on every path; none if even accumulators without overflow are outside the
    /// budget.
    pub fn find(
        request: &SizeRequest,
        subject: &Subject,
        program: &Program,
        budget: Budget,
        progress: &dyn Progress,
    ) -> Result<Self, StudyError> {
        let sizing = Sizing { request, subject, program, progress };
        let layers = SizedLayer::all(program, &sizing.measure()?.layers);
        let [mixed, uniform] = search::designs(&sizing, budget, &layers)?;
        let told = |(widths, score): (search::Widths, Score)| {
            let of_layer = |(layer, widths): (&SizedLayer<'_>, Vec<Option<u32>>)| {
                let levels = widths.into_iter().enumerate();
                levels.map(|(level, bits)| bits.unwrap_or_else(|| layer.unsearched_bits(level))).collect()
            };
            (layers.iter().zip(widths).map(of_layer).collect(), score)
        };
        Ok(Self {
            mixed: mixed.into_iter().map(told).collect(),
            uniform: uniform.into_iter().map(told).collect(),
        })
    }
}

/// Settings that decide the output of a sizing.
#[derive(Serialize)]
struct Deciding<'a> {
    #[serde(flatten)]
    common: CommonSettings,
    budget: &'a Option<String>,
    /// Tool with its version.
    area: &'a Option<String>,
    /// Extent of the grid of two levels, unless it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<&'static str>,
}

/// Part of the results that `size.json` contains.
#[derive(Serialize)]
struct Figures<'a> {
    result: &'a SizeRecord,
}

fn write(
    staging: &mut Staging<'_>,
    sizing: &Sizing<'_>,
    recommendation: &Recommendation,
    layers: &[SizedLayer<'_>],
    record: &SizeRecord,
) -> Result<(), StudyError> {
    let (settings, subject) = (&sizing.request.settings, sizing.subject);
    let mut pairs = vec![
        ("Model", subject.model.file.clone()),
        ("Accelerator", record.hw.clone()),
        ("Input", subject.input.describe()),
        ("Mode", settings.mode.name().into()),
    ];
    pairs.extend(record.budget.clone().map(|budget| ("Budget", budget)));
    pairs.extend(record.area.clone().map(|area| ("Area", area)));
    pairs.extend(subject.labels_file.as_ref().map(|file| ("Labels", file.file.clone())));
    pairs.extend(settings.sets.iter().map(|set| ("Set", set.clone())));
    let about = About { pages: settings.pages, ..crate::about(pairs, [&sizing.program.accelerator]) };
    staging.write_all(&size_documents(&about, record)?)?;
    if settings.format == TableFormat::Parquet {
        staging.write_all(&size_parquet(record)?)?;
    }
    staging.write(RECOMMENDED, recommendation.yaml().as_bytes())?;
    witnesses::write(staging, sizing.program, layers)?;
    if matches!(subject.input.origin, InputOrigin::Random { .. }) {
        write_inputs(staging, subject)?;
    }
    let grid = sizing.request.grid;
    let own = Deciding {
        common: subject.settings(settings),
        budget: &record.budget,
        area: &record.area,
        grid: (grid != Grid::default()).then(|| grid.name()),
    };
    let (hw, result) = (&sizing.program.accelerator, Figures { result: record });
    write_single(staging, Manifest::Size, subject, hw, own, sizing.request.listed(), result)
}
