//! `plots/*.csv`: figures of plots that no other table contains.

use serde::Serialize;

use super::table::{after_point, table};
use super::{Column, Row};
use crate::{LayerActivity, LevelHistogram, PointRecord};

table! {
    "plots/required_bits.csv"
    /// Number of sums of one level that require a number of bits. Numbers of bits that no sum requires have
    /// no row.
    RequiredBitsRow {
        /// Index of the layer over all operations of the graph.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Name of the level.
        level: String,
        /// What is counted. final: the final sum of each dot product (the largest over its runs). prefix: the largest of all its prefixes.
        sums: String,
        /// Required bits; 65 if no unsigned width holds the sum.
        bits: usize ["bits"],
        /// Dot products that require this number of bits.
        dots: u64,
        /// Short name of the layer.
        name: String,
    }
}

table! {
    "plots/overflow_timeline.csv"
    /// Overflow events of all samples in a part of a layer's cycles. Parts without events have no row.
    TimelineRow {
        /// Index of the layer over all operations of the graph.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// The part of the layer's cycles: one of 64 equal parts, counted from 0.
        part: usize,
        /// First cycle of the part, from the layer's start within one inference.
        first_cycle: u64 ["cycles"],
        /// Events in it.
        events: u64,
        /// Short name of the layer.
        name: String,
    }
}

table! {
    "plots/overflow_heat_map.csv"
    /// Overflow events of all samples at a processing element. Elements without events have no row.
    HeatMapRow {
        /// Index of the layer over all operations of the graph.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Row of the processing element.
        pe_row: usize,
        /// Column of the processing element.
        pe_col: usize,
        /// Events there.
        events: u64,
        /// Short name of the layer.
        name: String,
    }
}

impl LevelHistogram {
    /// Returns the rows of `plots/required_bits.csv`.
    pub fn rows(&self) -> impl Iterator<Item = RequiredBitsRow> {
        let both = [("final", &self.required_final), ("prefix", &self.required_prefix)];
        both.into_iter().flat_map(move |(sums, counts)| {
            let counts = counts.iter().enumerate().filter(|(_, dots)| **dots > 0);
            counts.map(move |(bits, &dots)| RequiredBitsRow {
                index: self.index,
                layer: self.layer.clone(),
                level: self.level.clone(),
                sums: sums.to_owned(),
                bits,
                dots,
                name: self.name.clone(),
            })
        })
    }
}

impl LayerActivity {
    /// Returns the rows of `plots/overflow_timeline.csv`.
    pub fn timeline_rows(&self) -> impl Iterator<Item = TimelineRow> {
        let parts = self.timeline.len() as u128;
        // An event at cycle c belongs to part c * parts / cycles, rounded down.
        let first = move |part: usize| (part as u128 * u128::from(self.cycles.max(1))).div_ceil(parts) as u64;
        let counts = self.timeline.iter().enumerate().filter(|(_, events)| **events > 0);
        counts.map(move |(part, &events)| TimelineRow {
            index: self.index,
            layer: self.layer.clone(),
            part,
            first_cycle: first(part),
            events,
            name: self.name.clone(),
        })
    }

    /// Returns the rows of `plots/overflow_heat_map.csv`.
    pub fn heat_map_rows(&self) -> impl Iterator<Item = HeatMapRow> {
        let counts = self.heat_map.iter().enumerate().filter(|(_, events)| **events > 0);
        counts.map(|(place, &events)| HeatMapRow {
            index: self.index,
            layer: self.layer.clone(),
            pe_row: place / self.cols,
            pe_col: place % self.cols,
            events,
            name: self.name.clone(),
        })
    }
}

/// Row of the `plots/required_bits.csv` of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepRequiredBitsRow {
    /// Row of `summary.csv`, from 0.
    pub point: usize,
    /// Row of the point's own table, whose columns follow.
    pub bits: RequiredBitsRow,
}

impl Row for SweepRequiredBitsRow {
    const FILE: &'static str = RequiredBitsRow::FILE;
    const ABOUT: &'static str =
        "A number of bits at one point: the columns of a run's `plots/required_bits.csv` after `point`.";
    const COLUMNS: &'static [Column] = &COLUMNS;
}

const COLUMNS: [Column; 1 + RequiredBitsRow::COLUMNS.len()] = after_point(RequiredBitsRow::COLUMNS);

/// Returns the required bits of every point, in the order of the points.
pub fn sweep_required_bits_rows(points: &[PointRecord]) -> Vec<SweepRequiredBitsRow> {
    let of = |(point, record): (usize, &PointRecord)| {
        let rows = record.histograms.iter().flat_map(LevelHistogram::rows);
        rows.map(|bits| SweepRequiredBitsRow { point, bits }).collect::<Vec<_>>()
    };
    points.iter().enumerate().flat_map(of).collect()
}
