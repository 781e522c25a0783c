//! Model of the arrays, `rtl/gb_os_array.sv` and `rtl/gb_ws_array.sv`, cycle by cycle, with the faults of their control, and of
//! the bench `bench/tb_array.sv`.

use std::collections::VecDeque;

use super::twist::signed;
use super::unit::{LevelRegisters, Model};
use crate::array::{ArrayPart, DONE, FIRST, LAST, LOAD, START, VALID, is_output_stationary};
use crate::manifest::{ArrayInfo, LevelInfo, Manifest};

/// Fault of an array. Each stands for a mutant of the reference RTL; see [`TWISTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Twist {
    None,
    RowsLate,
    LowerRowsLate,
    ColumnsTogether,
    CycleLate,
    LastProductMissed,
    TileNotCleared,
    DrainStandsStill,
    DrainShort,
    DrainOpen,
    StaleWeight,
    WeightsShort,
    WeightsOvertaken,
    ChainStartsAnew,
    TileOverwrites,
    PixelOff,
}

/// The patch of every mutant of an array in SystemVerilog and its fault of the model.
pub(super) const TWISTS: &[(&str, Twist)] = &[
    ("gb_os_array/skew_off_by_one", Twist::RowsLate),
    ("gb_os_array/columns_not_skewed", Twist::ColumnsTogether),
    ("gb_os_array/cycle_late", Twist::CycleLate),
    ("gb_os_pe/last_product_missed", Twist::LastProductMissed),
    ("gb_os_pe/tile_not_cleared", Twist::TileNotCleared),
    ("gb_os_pe/drain_stands_still", Twist::DrainStandsStill),
    ("gb_os_array/drain_one_step_short", Twist::DrainShort),
    ("gb_os_array/drain_stays_open", Twist::DrainOpen),
    ("gb_ws_array/skew_off_by_one", Twist::LowerRowsLate),
    ("gb_ws_pe/stale_weight", Twist::StaleWeight),
    ("gb_ws_array/weights_off_by_one_row", Twist::WeightsShort),
    ("gb_ws_array/weights_overtaken", Twist::WeightsOvertaken),
    ("gb_ws_pe/chain_starts_anew", Twist::ChainStartsAnew),
    ("gb_ws_acc/tile_overwrites", Twist::TileOverwrites),
    ("gb_ws_acc/pixel_off_by_one", Twist::PixelOff),
    ("gb_ws_array/cycle_late", Twist::CycleLate),
];

/// Line of registers, which a reset has set to 0.
struct Delay<T>(VecDeque<T>);

impl<T: Copy + Default> Delay<T> {
    fn new(depth: usize) -> Self {
        Self(vec![T::default(); depth].into())
    }

    /// Returns what leaves the line in a cycle, and applies the edge at its end.
    fn clock(&mut self, value: T) -> T {
        self.0.push_back(value);
        self.0.pop_front().unwrap_or_default()
    }
}

/// Activation with its control bits, on its way along a row.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    ctrl: i64,
    activation: i64,
}

impl Step {
    fn has(self, bits: i64) -> bool {
        self.ctrl & bits == bits
    }
}

/// Registers of an element.
#[derive(Debug, Clone, Copy)]
struct Element {
    step: Step,
    /// Weight that is passed down, and the one that stays.
    weight: i64,
    own_weight: i64,
    level: LevelRegisters,
    /// Sum that is passed down, and whether it sticks to a rail.
    sum: i128,
    stuck: bool,
}

/// Registers at the bottom of a column.
#[derive(Debug, Clone)]
struct Column {
    draining: bool,
    /// Rows that have been drained, or loaded.
    row: usize,
    /// Accumulator memory: sum, and whether it sticks to a rail.
    sums: Vec<(i128, bool)>,
    count: usize,
}

/// Registers of an array after a reset, which leaves some of them with any value.
pub(super) struct Array<'a> {
    unit: Model<'a>,
    levels: &'a [LevelInfo],
    product_bits: u32,
    info: &'a ArrayInfo,
    twist: Twist,
    rows: Vec<Delay<Step>>,
    cols: Vec<Delay<Step>>,
    /// Control bits on their way to the accumulators.
    tile: Vec<Delay<i64>>,
    elements: Vec<Element>,
    columns: Vec<Column>,
}

impl<'a> Array<'a> {
    /// Returns an array of the faulty design `manifest` around the arithmetic of `unit`.
    pub fn new(manifest: &'a Manifest, info: &'a ArrayInfo, unit: Model<'a>, twist: Twist) -> Self {
        let (rows, cols) = (info.rows, info.cols);
        let late = usize::from(twist == Twist::CycleLate);
        let of_row = |row: usize| match twist {
            Twist::RowsLate => row + 1,
            Twist::LowerRowsLate => row + usize::from(row > 0),
            _ => row + late,
        };
        let of_col = |col: usize| if twist == Twist::ColumnsTogether { 0 } else { col + late };
        let element = Element {
            step: Step::default(),
            weight: if is_output_stationary(info) { 0 } else { -1 },
            own_weight: -1,
            level: LevelRegisters::after_reset(),
            sum: -1,
            stuck: true,
        };
        let depth = info.tiles.iter().map(|tile| tile.pixels).max().unwrap_or(1);
        let column = Column { draining: false, row: 0, sums: vec![(-1, true); depth], count: 0 };
        Self {
            unit,
            levels: &manifest.arithmetic.levels,
            product_bits: manifest.arithmetic.product.port_bits,
            info,
            twist,
            rows: (0..rows).map(|row| Delay::new(of_row(row))).collect(),
            cols: (0..cols).map(|col| Delay::new(of_col(col))).collect(),
            tile: (0..cols).map(|col| Delay::new(rows - 1 + col + late)).collect(),
            elements: vec![element; rows * cols],
            columns: vec![column; cols],
        }
    }

    /// Returns the sum that leaves each column in a cycle, if one does, and applies the edge at its end.
    fn clock(&mut self, ctrl: i64, activations: &[i64], weights: &[i64]) -> Vec<Option<i128>> {
        let lefts: Vec<Step> = self
            .rows
            .iter_mut()
            .zip(activations)
            .map(|(delay, &activation)| delay.clock(Step { ctrl, activation }))
            .collect();
        let tops: Vec<Step> = self
            .cols
            .iter_mut()
            .zip(weights)
            .map(|(delay, &weight)| delay.clock(Step { ctrl, activation: weight }))
            .collect();
        let before = self.elements.clone();
        match is_output_stationary(self.info) {
            true => self.output_stationary(&lefts, &tops, &before),
            false => {
                let tile: Vec<i64> = self.tile.iter_mut().map(|delay| delay.clock(ctrl)).collect();
                self.weight_stationary(&lefts, &tops, &tile, &before)
            }
        }
    }

    fn output_stationary(&mut self, lefts: &[Step], tops: &[Step], before: &[Element]) -> Vec<Option<i128>> {
        let (rows, cols) = (self.info.rows, self.info.cols);
        let mut out = Vec::new();
        for (col, top) in tops.iter().enumerate() {
            let Column { draining, row: drained, .. } = self.columns[col];
            out.push(draining.then(|| before[(rows - 1) * cols + col].sum));
            let mut step = Step::default();
            for (row, &left) in lefts.iter().enumerate() {
                let at = row * cols + col;
                step = if col == 0 { left } else { before[at - 1].step };
                let (weight, above) = match row {
                    0 => (top.activation, 0),
                    _ => (before[at - cols].weight, before[at - cols].sum),
                };
                let element = &mut self.elements[at];
                let (level, held) = (&self.levels[0], element.level.acc);
                let starts = step.has(VALID | FIRST) && self.twist != Twist::TileNotCleared;
                let ends = step.has(LAST) && self.twist != Twist::TileNotCleared;
                let product = self.unit.product(step.activation, weight);
                let flow = [step.has(VALID), starts, ends];
                let sum = self.unit.serial(level, product, self.product_bits, flow, 0, &mut element.level);
                let window = match self.twist {
                    Twist::DrainShort => drained + 1 < row,
                    Twist::DrainOpen => row > 0,
                    _ => drained < row,
                };
                let shifts = draining && window;
                if step.has(VALID | LAST) {
                    let missed = self.twist == Twist::LastProductMissed;
                    element.sum = if missed { signed(held, level.register.port_bits) } else { sum };
                } else if shifts && self.twist != Twist::DrainStandsStill {
                    element.sum = above;
                }
                (element.step, element.weight) = (step, weight);
            }
            let column = &mut self.columns[col];
            let ends = step.has(VALID | LAST);
            column.draining = ends || draining && drained != rows - 1;
            column.row = if ends { 0 } else { drained + 1 };
        }
        out
    }

    fn weight_stationary(
        &mut self,
        lefts: &[Step],
        tops: &[Step],
        tile: &[i64],
        before: &[Element],
    ) -> Vec<Option<i128>> {
        let (rows, cols) = (self.info.rows, self.info.cols);
        let (chain, last) = (&self.levels[0], &self.levels[1]);
        let latches = |level: &LevelInfo| level.register.overflow.is_some_and(|mode| mode.latches());
        let mut out = Vec::new();
        for (col, top) in tops.iter().enumerate() {
            let (mut step, mut value) = (Step::default(), 0);
            for (row, &left) in lefts.iter().enumerate() {
                let at = row * cols + col;
                step = if col == 0 { left } else { before[at - 1].step };
                let (weight, above, stuck) = match row {
                    0 => (top.activation, 0, false),
                    _ => (before[at - cols].weight, before[at - cols].sum, before[at - cols].stuck),
                };
                let element = &mut self.elements[at];
                let loaded = self.columns[col].row;
                let loads = match self.twist {
                    Twist::WeightsShort => loaded > row,
                    Twist::WeightsOvertaken => true,
                    _ => loaded >= row,
                };
                let next = if step.has(VALID | FIRST) { element.weight } else { element.own_weight };
                let used = if self.twist == Twist::StaleWeight { element.own_weight } else { next };
                let held = if self.twist == Twist::ChainStartsAnew { 0 } else { above };
                let product = self.unit.product(step.activation, used);
                let stuck = latches(chain) && stuck;
                let added = self.unit.added(chain, held, stuck, product, self.product_bits, true);
                if top.has(LOAD) && loads {
                    element.weight = weight;
                }
                (element.own_weight, element.step) = (next, step);
                (element.sum, element.stuck) = (added.next, added.stuck);
                value = added.handed;
            }
            let column = &mut self.columns[col];
            if top.has(LOAD) {
                column.row = if column.row == rows - 1 { 0 } else { column.row + 1 };
            }
            let (starts, ends) = (tile[col] & START != 0, tile[col] & DONE != 0);
            let at = match () {
                () if step.has(FIRST) && !starts && self.twist == Twist::PixelOff => 1,
                () if step.has(FIRST) => 0,
                () => column.count,
            };
            // A place that the memory does not have holds anything.
            let (sum, stuck) = column.sums.get(at).copied().unwrap_or((-1, true));
            let held = if starts || self.twist == Twist::TileOverwrites { 0 } else { sum };
            let stuck = latches(last) && !starts && stuck;
            let added = self.unit.added(last, held, stuck, value, chain.register.port_bits, ends);
            if step.has(VALID) {
                if let Some(place) = column.sums.get_mut(at) {
                    *place = (added.next, added.stuck);
                }
                column.count = (at + 1) % column.sums.len().next_power_of_two().max(2);
            }
            out.push((step.has(VALID) && ends).then_some(added.handed));
        }
        out
    }
}

/// Returns the first difference that the bench finds in an array; `None` if there is none.
pub(super) fn replay(part: &ArrayPart, mut array: Array<'_>) -> Option<String> {
    let info = &part.info;
    let (rows, cols) = (info.rows, info.cols);
    // Cycles after the last beat in which the array is watched.
    let watched = 2 * (rows + cols) + 16;
    let mut at = vec![0; cols];
    let mut cycles = 0;
    for cycle in 0..info.beats + watched {
        let beat = cycle.min(info.beats - 1);
        let ctrl = if cycle < info.beats { part.ctrl[beat] } else { 0 };
        let activations = &part.activations[beat * rows..][..rows];
        let weights = &part.weights[beat * cols..][..cols];
        for (col, sum) in array.clock(ctrl, activations, weights).into_iter().enumerate() {
            let Some(sum) = sum else { continue };
            let word = at[col];
            at[col] += 1;
            if word >= info.words {
                return Some(format!("one more sum of column {col}"));
            }
            if word < info.real_words {
                cycles = cycle as u64 + 1;
            }
            let expected = part.sums[word * cols + col];
            if part.mask[word * cols + col] != 0 && sum != i128::from(expected) {
                return Some(format!("sum {word} of column {col}: {sum} for {expected}"));
            }
        }
    }
    let is_complete = at.iter().all(|&sums| sums == info.words) && cycles == info.cycles.cycles;
    (!is_complete).then(|| format!("{at:?} sums for {}, {cycles} cycles", info.words))
}
