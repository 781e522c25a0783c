//! Fraction bits of floating-point accumulators: the results of the network against them, and areas.

use guardbit_hwmodels::{Accelerator, FloatAccumulation, FloatMacLayer};
use guardbit_num::FloatDot;
use guardbit_reports::{AlignedRow, Score, ScoreFigures, SizeBitsRow, SizeFloatRow, aligned_rows};
use guardbit_sim::StatsLevel;
use rayon::prelude::*;

use super::area::{Area, Synthesis};
use super::search;
use super::sizing::Sizing;
use crate::execute::Executed;
use crate::{StudyError, registers};

/// Numbers of fraction bits whose multiples are synthesized: an area takes up to a minute.
const SYNTHESIZED: u32 = 4;

/// Layers whose terms are aligned, and the network's results by their fraction bits.
#[derive(Default)]
pub(super) struct Fractions {
    /// Rows of `size_float.csv`.
    pub layers: Vec<SizeFloatRow>,
    /// Rows of `size_bits.csv`, from 1 bit to the most that a layer requires.
    pub bits: Vec<SizeBitsRow>,
    /// Recommended number for all layers; `None` if there is no such layer.
    pub recommended: Option<u32>,
    /// Remark on the budget.
    pub remark: Option<String>,
}

/// Returns whether a layer has fraction bits below the largest exponent of an addition.
pub(super) fn is_aligned(layer: &FloatMacLayer) -> bool {
    matches!(layer.accumulation.dot(), FloatDot::Aligned(_))
}

/// Sets the fraction bits of all layers.
pub(super) fn set(accelerator: &mut Accelerator, bits: u32) {
    let own = accelerator.layers.values_mut().map(|own| &mut own.float);
    let all = own.chain([&mut accelerator.float]);
    all.flatten().for_each(|accumulation| accumulation.fraction_bits = bits);
}

impl Fractions {
    /// Runs the network with every number of fraction bits from 1 to the most that a layer requires on these samples.
    /// Recommends the least from which on all are within the budget, or, without a budget, the most.
    pub fn new(
        sizing: &Sizing<'_>,
        measured: &Executed,
        synthesis: Option<&Synthesis>,
    ) -> Result<Self, StudyError> {
        let program = sizing.program;
        let layers: Vec<&FloatMacLayer> = program.float_layers().filter(|layer| is_aligned(layer)).collect();
        let rows = aligned_rows(program, &measured.floats, StatsLevel::Full);
        let rows: Vec<AlignedRow> = rows
            .into_iter()
            .filter(|row| layers.iter().any(|layer| layer.node.index() == row.index))
            .collect();
        let required =
            |row: &AlignedRow| row.required_result.unwrap_or(FloatAccumulation::MAX_FRACTION_BITS).max(1);
        let Some(most) = rows.iter().map(required).max() else { return Ok(Self::default()) };
        let wide = registers::unlimited(sizing.subject, program)?.accelerator;
        let scores = (1..=most).map(|bits| with_bits(sizing, &wide, bits)).collect::<Result<Vec<_>, _>>()?;

        let codes = sizing.codes_per_sample();
        let budget = sizing.request.budget;
        let within = |score: &Score| budget.map(|budget| budget.allows(score, codes));
        let kept = scores.iter().rev().take_while(|score| within(score) == Some(true)).count() as u32;
        let recommended = most + 1 - kept.max(1);
        let remark = budget.filter(|_| kept == 0).map(|budget| {
            format!("{most} fraction bits, the most that a layer requires, are not within {budget}")
        });

        let own = rows.iter().map(|row| row.fraction_bits).max();
        let is_synthesized =
            |bits: &u32| *bits == recommended || Some(*bits) == own || bits.is_multiple_of(SYNTHESIZED);
        let areas: Vec<Option<Area>> = (1..=most)
            .into_par_iter()
            .map(|bits| match synthesis.filter(|_| is_synthesized(&bits)) {
                Some(synthesis) => area(synthesis, &layers, bits),
                None => Ok(None),
            })
            .collect::<Result<_, _>>()?;
        let row = |((bits, score), area): ((u32, &Score), Option<Area>)| {
            let figures = ScoreFigures::from(score);
            SizeBitsRow {
                fraction_bits: bits,
                samples: figures.samples,
                accuracy: figures.accuracy,
                top1_agreement: figures.top1_agreement,
                output_mismatch: figures.output_mismatch,
                output_sqnr_db: figures.output_sqnr_db,
                within_budget: within(score),
                recommended: bits == recommended,
                lut: area.map(|area| area.lut),
                ff: area.map(|area| area.ff),
            }
        };
        Ok(Self {
            layers: rows.into_iter().map(|row| layer_row(row, recommended)).collect(),
            bits: (1..).zip(&scores).zip(areas).map(row).collect(),
            recommended: Some(recommended),
            remark,
        })
    }
}

/// Returns the results with a number of fraction bits in all layers. The integer accumulators of `wide` hold every sum.
fn with_bits(sizing: &Sizing<'_>, wide: &Accelerator, bits: u32) -> Result<Score, StudyError> {
    let mut accelerator = wide.clone();
    set(&mut accelerator, bits);
    let program = registers::observing_traps(&sizing.subject.lower_any(&accelerator)?);
    search::score(sizing, &format!("{bits} fraction bits"), &program)
}

/// Returns the area of the largest unit of these layers.
fn area(synthesis: &Synthesis, layers: &[&FloatMacLayer], bits: u32) -> Result<Option<Area>, StudyError> {
    let mut known: Vec<(FloatMacLayer, Option<Area>)> = Vec::new();
    for &layer in layers {
        let same = |known: &FloatMacLayer| {
            known.accumulation == FloatAccumulation { fraction_bits: bits, ..layer.accumulation }
                && known.dots.activations.format == layer.dots.activations.format
                && known.dots.weights.format == layer.dots.weights.format
        };
        if known.iter().any(|(known, _)| same(known)) {
            continue;
        }
        let mut unit = layer.clone();
        unit.accumulation.fraction_bits = bits;
        let area = synthesis.float_layer(&unit)?;
        known.push((unit, area));
    }
    Ok(known.into_iter().filter_map(|(_, area)| area).max_by_key(|area| area.lut))
}

fn layer_row(row: AlignedRow, recommended: u32) -> SizeFloatRow {
    SizeFloatRow {
        index: row.index,
        layer: row.layer,
        op: row.op,
        activations: row.activations,
        weights: row.weights,
        products: row.products,
        fraction_bits: row.fraction_bits,
        required_exact: row.required_exact,
        required_result: row.required_result,
        recommended,
        name: row.name,
    }
}
