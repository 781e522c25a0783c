//! The model of the unit.

use guardbit_hwmodels::Check;

use super::requant;
use super::twist::{Twist, signed, unsigned};
use crate::fit::Fit;
use crate::manifest::{Arithmetic, BiasAt, LevelInfo, RegisterInfo};

/// Values of the input ports.
#[derive(Debug, Clone, Default)]
pub(super) struct Inputs {
    pub reset: bool,
    pub valid: bool,
    pub clear: bool,
    /// A bit per level.
    pub run_last: u64,
    /// A bit per lane.
    pub keep: u64,
    pub activations: Vec<i64>,
    pub weights: Vec<i64>,
    pub bias: i64,
    pub mult: i64,
    pub exp: i64,
}

/// Registers between products and accumulators.
#[derive(Debug, Clone, Default)]
struct Stage {
    valid: bool,
    clear: bool,
    run_last: u64,
    keep: u64,
    products: Vec<i128>,
    bias: i128,
    mult: i128,
    exp: i64,
}

/// Registers of a level.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LevelRegisters {
    pub acc: i128,
    pub updated: bool,
    pub high: bool,
    pub low: bool,
    pub sticky: bool,
    fresh: bool,
    stuck: bool,
    /// Idle cycles up to 3, of the fault that counts them.
    idle: u8,
}

impl LevelRegisters {
    /// Returns what a reset leaves.
    pub fn after_reset() -> Self {
        Self { fresh: true, ..Self::default() }
    }
}

/// Registers of the unit, which hold anything before the first reset.
#[derive(Debug, Clone)]
pub(super) struct Model<'a> {
    arithmetic: &'a Arithmetic,
    lanes: usize,
    twist: Twist,
    /// Fault of every fit.
    fit: fn(Fit) -> Fit,
    early: Stage,
    stage: Stage,
    late_products: Vec<i128>,
    pub levels: Vec<LevelRegisters>,
    pub sum_valid: bool,
    pub sum: i128,
    bias: i128,
    mult: i128,
    exp: i64,
    pub out_valid: bool,
    pub code: i128,
}

fn acc_width(level: &LevelInfo) -> u32 {
    level.acc_bits + u32::from(!level.acc_signed)
}

/// Result of one addition of a serial level.
pub(super) struct Added {
    pub next: i128,
    pub stuck: bool,
    pub handed: i128,
    high: bool,
    low: bool,
}

impl<'a> Model<'a> {
    /// Returns a unit with the parameters of `arithmetic` and a fault.
    pub fn new(arithmetic: &'a Arithmetic, lanes: usize, twist: Twist, fit: fn(Fit) -> Fit) -> Self {
        let level = LevelRegisters {
            acc: -1,
            updated: true,
            high: true,
            low: true,
            sticky: false,
            fresh: false,
            stuck: true,
            idle: 3,
        };
        let stage = || Stage { products: vec![-1; lanes], ..Stage::default() };
        Self {
            arithmetic,
            lanes,
            twist,
            fit,
            early: stage(),
            stage: stage(),
            late_products: vec![-1; lanes],
            levels: vec![level; arithmetic.levels.len()],
            sum_valid: true,
            sum: -1,
            bias: 0,
            mult: 0,
            exp: 0,
            out_valid: true,
            code: -1,
        }
    }

    /// Applies a clock edge.
    pub fn clock(&mut self, inputs: &Inputs) {
        self.out_valid = !inputs.reset && self.sum_valid;
        self.code = self.output_code();
        let stage = self.stage.clone();
        let (valid, sum) = self.accumulate(&stage, inputs.reset);
        self.sum_valid = !inputs.reset && valid;
        self.sum = signed(sum, self.arithmetic.levels.last().map_or(1, |level| level.register.port_bits));
        (self.bias, self.mult, self.exp) = (stage.bias, stage.mult, stage.exp);
        let next = self.multiply(inputs);
        self.stage = match self.twist {
            Twist::OneRegisterMore => {
                let mut now = std::mem::replace(&mut self.early, next);
                (now.valid, now.clear) = (now.valid && !inputs.reset, now.clear && !inputs.reset);
                now
            }
            Twist::ProductsLate => {
                let late = std::mem::replace(&mut self.late_products, next.products);
                Stage { products: late, ..next }
            }
            _ => next,
        };
    }

    /// Returns what the first stage holds after the edge.
    fn multiply(&self, inputs: &Inputs) -> Stage {
        let lets = !inputs.reset || self.twist == Twist::BeatSurvivesReset;
        let valid = inputs.valid || self.twist == Twist::BubbleAdds;
        Stage {
            valid: lets && valid,
            clear: lets && inputs.valid && inputs.clear,
            run_last: inputs.run_last,
            keep: inputs.keep,
            products: inputs
                .activations
                .iter()
                .zip(&inputs.weights)
                .map(|(&a, &w)| self.product(a, w))
                .collect(),
            bias: inputs.bias.into(),
            mult: inputs.mult.into(),
            exp: inputs.exp,
        }
    }

    /// Returns what the multiplier hands over.
    pub fn product(&self, activation: i64, weight: i64) -> i128 {
        let (a, w) = (i128::from(activation), i128::from(weight));
        let arithmetic = self.arithmetic;
        let (a_bits, w_bits) = (arithmetic.activation.bits, arithmetic.weight.bits);
        let exact = match self.twist {
            // One unsigned operand makes the other one unsigned.
            Twist::UnsignedProduct => signed(unsigned(a, a_bits) * unsigned(w, w_bits), a_bits + w_bits),
            _ => a * w,
        };
        let register = &arithmetic.product;
        let (fitted, ..) = self.fitted(exact, register, true);
        signed(register.round.shift_right(fitted, register.shift), register.port_bits)
    }

    /// Fits a value to a register, or lets it pass. Returns whether it was above or below the rails too.
    fn fitted(&self, value: i128, register: &RegisterInfo, is_checked: bool) -> (i128, bool, bool) {
        let Some(bits) = register.bits.filter(|_| is_checked) else { return (value, false, false) };
        let fit =
            Fit::new(bits, register.signed, register.overflow.unwrap_or(guardbit_num::Overflow::Saturate));
        let (held, (high, low)) = (self.fit)(fit).apply(value);
        (held, high, low)
    }

    /// Applies the edge to all levels. Returns whether the last one hands a sum over, and the sum.
    fn accumulate(&mut self, stage: &Stage, is_reset: bool) -> (bool, i128) {
        let arithmetic = self.arithmetic;
        let (mut valid, mut values, mut keep) = (stage.valid, stage.products.clone(), stage.keep);
        let mut bits = arithmetic.product.port_bits;
        for (index, level) in arithmetic.levels.iter().enumerate() {
            let is_last = stage.run_last >> index & 1 == 1;
            let is_loaded = arithmetic.bias.at == BiasAt::PRELOAD && index + 1 == arithmetic.levels.len();
            let init = if is_loaded { stage.bias } else { 0 };
            let mut now = self.levels[index];
            let handed = match level.reduce.takes_run_at_once() {
                true => self.tree(level, &values, keep, bits, valid, &mut now),
                false => self.serial(level, values[0], bits, [valid, stage.clear, is_last], init, &mut now),
            };
            if is_reset {
                let before = self.levels[index];
                let is_serial = !level.reduce.takes_run_at_once();
                let keeps = |twist: Twist| is_serial && self.twist == twist;
                now = LevelRegisters {
                    acc: if keeps(Twist::NotReset) { before.acc } else { 0 },
                    sticky: keeps(Twist::StickyNotReset) && before.sticky,
                    idle: before.idle,
                    ..LevelRegisters::after_reset()
                };
            }
            self.levels[index] = now;
            bits = level.register.port_bits;
            (values, keep, valid) = (vec![handed], 1, valid && is_last);
        }
        (valid, values[0])
    }

    /// Applies an edge to a serial level. Returns what it hands over.
    pub fn serial(
        &self,
        level: &LevelInfo,
        value: i128,
        bits: u32,
        [valid, clear, is_last]: [bool; 3],
        init: i128,
        now: &mut LevelRegisters,
    ) -> i128 {
        let each_add = level.check == Check::EachAdd;
        let (first, first_high, first_low) = self.fitted(init, &level.register, each_add);
        let start = now.fresh || clear && self.twist != Twist::ClearIgnored;
        let held = match start && self.twist != Twist::NotCleared {
            true => signed(first, acc_width(level)),
            false => now.acc,
        };
        let latches = level.register.overflow.is_some_and(|mode| mode.latches());
        let stuck = latches && if start { first_high || first_low } else { now.stuck };
        let added = self.added(level, held, stuck, value, bits, is_last);
        now.updated = valid;
        if valid {
            let kept = now.sticky && (!start || self.twist == Twist::StickyNotCleared);
            now.acc = added.next;
            now.stuck = added.stuck;
            (now.high, now.low) = (added.high, added.low);
            now.sticky = kept || added.high || added.low;
            now.fresh = is_last && self.twist != Twist::RunBoundaryIgnored;
            now.idle = 0;
        } else {
            now.fresh |= clear;
            if self.twist == Twist::LostAfterIdle && now.idle == 2 {
                now.acc = 0;
            }
            now.idle = (now.idle + 1).min(3);
        }
        added.handed
    }

    /// Adds a value to what a level holds.
    pub fn added(
        &self,
        level: &LevelInfo,
        held: i128,
        stuck: bool,
        value: i128,
        bits: u32,
        is_last: bool,
    ) -> Added {
        let (register, acc_bits) = (&level.register, acc_width(level));
        let each_add = level.check == Check::EachAdd;
        let value = if self.twist == Twist::AddendZeroExtended { unsigned(value, bits) } else { value };
        let sum = signed(held + value, bits.max(acc_bits) + 1);
        let (fitted, high, low) = self.fitted(sum, register, each_add);
        let (add_high, add_low) = (high && !stuck, low && !stuck);
        let next = if stuck { held } else { signed(fitted, acc_bits) };
        let (leaving, leave_high, leave_low) = self.fitted(next, register, !each_add);
        let leaving = signed(leaving, acc_bits.max(register.bits.unwrap_or(0)) + 1);
        Added {
            next,
            stuck: stuck || add_high || add_low,
            handed: signed(register.round.shift_right(leaving, register.shift), register.port_bits),
            high: add_high || is_last && leave_high,
            low: add_low || is_last && leave_low,
        }
    }

    fn tree(
        &self,
        level: &LevelInfo,
        values: &[i128],
        keep: u64,
        bits: u32,
        valid: bool,
        now: &mut LevelRegisters,
    ) -> i128 {
        let register = &level.register;
        let each_add = level.check == Check::EachAdd;
        let leaves = self.lanes.next_power_of_two();
        let is_wide =
            !each_add || register.bits.is_none() || register.overflow.is_some_and(|mode| mode.keeps_exact());
        let width = match register.bits {
            Some(held) if !is_wide => bits.max(held + 1) + 1,
            _ => bits + leaves.ilog2() + 1,
        };
        let mut nodes = vec![(0, false); 2 * leaves];
        for leaf in 0..self.lanes {
            let from = match self.twist {
                Twist::TreeOrder => leaf % 2 * (self.lanes / 2) + leaf / 2,
                _ => leaf,
            };
            nodes[leaves + leaf] =
                (values[from], keep >> leaf & 1 == 1 || self.twist == Twist::TailLanesAdded);
        }
        let (mut high, mut low) = (false, false);
        for node in (1..leaves).rev() {
            let [left, right] = [nodes[2 * node], nodes[2 * node + 1]];
            let (fitted, is_high, is_low) = self.fitted(left.0 + right.0, register, each_add);
            nodes[node] = (if right.1 { signed(fitted, width) } else { left.0 }, left.1);
            high |= right.1 && is_high;
            low |= right.1 && is_low;
        }
        let is_checked = !each_add || self.twist == Twist::LoneValueFitted;
        let (root, root_high, root_low) = self.fitted(nodes[1].0, register, is_checked);
        let root = signed(root, width + 1);
        let handed = signed(register.round.shift_right(root, register.shift), register.port_bits);
        now.updated = valid;
        if valid {
            now.acc = signed(handed, acc_width(level));
            (now.high, now.low) = (high || root_high, low || root_low);
        }
        now.sticky = now.high || now.low;
        handed
    }

    /// Returns the code of the sum that is held.
    fn output_code(&self) -> i128 {
        let bias = &self.arithmetic.bias;
        let biased = match bias.at {
            BiasAt::POST => {
                let with = if self.twist == Twist::BiasDropped { self.sum } else { self.sum + self.bias };
                self.fitted(with, &bias.register, true).0
            }
            _ => self.sum,
        };
        let biased = signed(biased, bias.register.port_bits);
        requant::code(&self.arithmetic.requantize, biased, self.mult, self.exp, self.twist)
    }
}
