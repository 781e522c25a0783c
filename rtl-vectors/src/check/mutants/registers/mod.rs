//! Faults of a register's rails, and proofs that a fault changes nothing.
//!
//! A fit is a function of the exact value, composed of linear pieces. Two fits agree over a range of values
//! if they agree at both ends of every piece there. The ranges are those of [`Reach`](crate::reach::Reach):
//! bounds over all stimuli of the layer.

use std::collections::BTreeSet;

use guardbit_hwmodels::Check;
use guardbit_hwmodels::bounds::Range;
use guardbit_num::{Overflow, Rounding};

use super::facts::{Facts, Target};
use super::mutant::{Patch, patch};
use crate::fit::Fit;
use crate::manifest::{LevelInfo, Manifest, RegisterInfo};
use crate::reach::{Bits, rails};

/// Greatest number of pieces that are compared.
const MAX_PIECES: i128 = 1 << 14;
/// Greatest number of values that are compared one by one.
const MAX_VALUES: i128 = 1 << 22;

/// Fault of one register: a different parameter of its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Wrap,
    Saturate,
    Symmetric,
    NotSticky,
    Narrower,
    Wider,
}

/// Fault of `gb_fit`, which affects every register.
pub(super) struct FitFault {
    pub patch: Patch,
    /// Returns the faulty fit.
    pub changed: fn(Fit) -> Fit,
}

/// Returns whether the result for a value beyond a rail depends on which rail it crossed.
fn reads_rail(mode: Overflow) -> bool {
    mode.hdl().contains("rail")
}

pub(super) const FIT_FAULTS: &[FitFault] = &[
    FitFault {
        patch: patch!("gb_fit/rail_off_by_one": "the upper rail is one too low"),
        changed: |fit| Fit { off_by_one: true, ..fit },
    },
    FitFault {
        patch: patch!("gb_fit/direction_swapped": "the clamp goes to the wrong rail"),
        changed: |fit| Fit { swapped: true, ..fit },
    },
    FitFault {
        patch: patch!("gb_pkg/vhdl_wrap_for_saturate": "registers wrap instead of clamping"),
        changed: |fit| Fit { rail_wraps: reads_rail(fit.mode), ..fit },
    },
    FitFault {
        patch: patch!("gb_pkg/vhdl_one_bit_narrower": "rails of every register one bit narrower"),
        changed: |fit| Fit { bits: fit.bits - 1, ..fit },
    },
];

impl Fault {
    pub const ALL: [Self; 6] =
        [Self::Wrap, Self::Saturate, Self::Symmetric, Self::NotSticky, Self::Narrower, Self::Wider];

    pub fn name(self, register: &Register) -> &'static str {
        match self {
            Self::Wrap => "wrap_for_saturate",
            Self::Saturate => match register.fit.mode {
                Overflow::Wrap => "saturate_for_wrap",
                Overflow::SaturateZero => "saturate_for_zero",
                mode if mode.is_symmetric() => "asymmetric_rail",
                _ => "saturate_for_other",
            },
            Self::Symmetric => "symmetric_for_saturate",
            Self::NotSticky => "sticky_leaves_rail",
            Self::Narrower => "one_bit_narrower",
            Self::Wider => "one_bit_wider",
        }
    }

    pub fn change(self) -> &'static str {
        match self {
            Self::Wrap => "the register wraps",
            Self::Saturate => "the register clamps to -2^(bits-1) and 2^(bits-1) - 1",
            Self::Symmetric => "the lower rail is -(2^(bits-1) - 1)",
            Self::NotSticky => "the register forgets that it is stuck",
            Self::Narrower => "rails one bit narrower",
            Self::Wider => "rails one bit wider",
        }
    }

    /// Returns whether the fault applies to a register.
    fn applies(self, register: &Register) -> bool {
        let (mode, has_memory) = (register.fit.mode, register.has_memory);
        match self {
            Self::Wrap => mode != Overflow::Wrap && !mode.keeps_exact(),
            Self::Saturate => mode != Overflow::Saturate && !mode.latches() && !mode.keeps_exact(),
            Self::Symmetric => mode == Overflow::Saturate && register.fit.signed,
            Self::NotSticky => mode.latches() && has_memory,
            Self::Narrower => register.fit.bits > 2,
            Self::Wider => true,
        }
    }

    fn changed(self, fit: Fit) -> Fit {
        match self {
            Self::Wrap => Fit { mode: Overflow::Wrap, ..fit },
            Self::Saturate | Self::NotSticky => Fit { mode: Overflow::Saturate, ..fit },
            Self::Symmetric => Fit { mode: Overflow::SaturateSymmetric, ..fit },
            Self::Narrower => Fit { bits: fit.bits - 1, ..fit },
            Self::Wider => Fit { bits: fit.bits + 1, ..fit },
        }
    }

    /// Returns the manifest of a design with this fault: one parameter of one register differs.
    pub fn planted(self, manifest: &Manifest, register: &Register) -> Manifest {
        let mut faulty = manifest.clone();
        let info = match register.place {
            RegisterId::Product => &mut faulty.arithmetic.product,
            RegisterId::Level(index) => &mut faulty.arithmetic.levels[index].register,
            RegisterId::Bias => &mut faulty.arithmetic.bias.register,
        };
        let changed = self.changed(register.fit);
        (info.bits, info.overflow) = (Some(changed.bits), Some(changed.mode));
        faulty
    }

    /// Returns the reason why the fault changes nothing, if that is proved.
    pub fn equivalent(self, register: &Register) -> Option<String> {
        if self == Self::NotSticky && !register.goes_on {
            return Some(format!("in a run of {}, no value follows one that can overflow", register.name));
        }
        if self == Self::NotSticky && !register.overflows() {
            return Some(register.range());
        }
        (self != Self::NotSticky).then(|| register.same(self.changed(register.fit)))?
    }
}

impl FitFault {
    pub fn applies(&self, facts: &Facts, target: Target) -> bool {
        let all = registers(facts, target);
        all.iter()
            .any(|r| (self.changed)(r.fit) != r.fit && (r.fit.mode != Overflow::Wrap || self.patch.is_vhdl()))
    }

    pub fn equivalent(&self, facts: &Facts, target: Target) -> Option<String> {
        // What follows a register has the fault too: an original register can then be replaced after those that follow it.
        let all = registers_before(facts, target, self.changed);
        let reasons: Option<Vec<String>> = all.iter().map(|r| r.same((self.changed)(r.fit))).collect();
        reasons.map(|reasons| reasons.join("; "))
    }
}

/// Returns the registers of a design that have a width, with the faults that apply to each.
pub(super) fn registers(facts: &Facts, target: Target) -> Vec<Register> {
    registers_before(facts, target, |fit| fit)
}

/// Returns the registers of a design, each followed by registers with changed fits.
fn registers_before(facts: &Facts, target: Target, changed: fn(Fit) -> Fit) -> Vec<Register> {
    let arithmetic = &facts.manifest.arithmetic;
    let is_unit = !target.is_array();
    let mut all = Vec::new();
    let (product, first) = (&arithmetic.product, &arithmetic.levels[0]);
    // The only value of a tree is not fitted; of it, only the bits are seen that the tree keeps.
    let is_lone = facts.manifest.layer.terms == 1 && first.reduce.takes_run_at_once();
    let drop = match is_lone && first.check == Check::EachAdd && product.shift == 0 {
        true => (first.register.shift, first.register.round),
        false => (product.shift, product.round),
    };
    let beyond = |first: usize| Beyond::new(facts, first, is_unit, changed);
    all.extend(Register::new(product, facts.reach.product).map(|register| Register {
        name: "product".into(),
        place: RegisterId::Product,
        port: Some(product.port_bits),
        drop,
        values: facts.sets.product.clone(),
        low_bits: before(low_bits(&arithmetic.levels), product).filter(|_| !is_unit),
        beyond: beyond(0),
        ..register
    }));
    for (index, (level, reach)) in arithmetic.levels.iter().zip(&facts.reach.levels).enumerate() {
        let has_memory = !level.reduce.takes_run_at_once();
        // Of a level within an array, nothing shows but the values that it hands over.
        let hidden = !is_unit;
        let mut after = if hidden { beyond(index + 1) } else { Beyond::default() };
        if hidden && level.check == Check::EachAdd && (level.register.shift > 0 || after.hides()) {
            after.fits.insert(0, Next::handing_over(None, &level.register));
        }
        all.extend(Register::new(&level.register, reach.result).map(|register| {
            Register {
                name: level.name.clone(),
                place: RegisterId::Level(index),
                port: match (has_memory, level.check) {
                    (true, Check::EachAdd) => Some(level.acc_bits + u32::from(!level.acc_signed)),
                    (_, Check::HandOver) => Some(level.register.port_bits),
                    (false, Check::EachAdd) => None,
                },
                // A value that is fitted when it leaves is seen without the bits that it drops.
                drop: match level.check {
                    Check::HandOver => (level.register.shift, level.register.round),
                    Check::EachAdd => (0, Rounding::Floor),
                },
                shows_flags: is_unit,
                has_memory,
                goes_on: reach.goes_on,
                // A loaded value is fitted too.
                values: facts.sets.levels.get(index).filter(|_| reach.start == Range::ZERO).cloned(),
                low_bits: before(low_bits(&arithmetic.levels[index + 1..]), &level.register)
                    .filter(|_| !is_unit),
                beyond: after,
                early: match level.check {
                    Check::EachAdd => reach.early.filter(|_| hidden),
                    Check::HandOver => None,
                },
                ..register
            }
        }));
    }
    if let (true, Some(reach)) = (is_unit, facts.reach.bias.filter(|_| arithmetic.requantize.in_rtl)) {
        all.extend(Register::new(&arithmetic.bias.register, reach).map(|register| Register {
            name: "bias".into(),
            place: RegisterId::Bias,
            port: Some(arithmetic.bias.register.port_bits),
            hides_negative: facts.hides_negative(),
            ..register
        }));
    }
    all
}

/// What happens to a value behind a register, before anything of it is seen.
#[derive(Debug, Clone, Default)]
struct Beyond {
    /// Registers that hold nothing else, the next one first.
    fits: Vec<Next>,
    /// Whether the flags of the last of them are seen.
    shows_flags: bool,
    /// Bounds at and beyond which all values have one effect on the register after these.
    clamps: Option<Range>,
}

/// A register that a value passes alone.
#[derive(Debug, Clone)]
struct Next {
    fit: Option<Fit>,
    /// Low bits that are dropped before anything sees the value, and their rounding.
    drop: (u32, Rounding),
    /// Number of low bits that are kept then.
    port: u32,
}

impl Next {
    /// Returns a register of which the value that it hands over is seen.
    fn handing_over(fit: Option<Fit>, info: &RegisterInfo) -> Self {
        Self { fit, drop: (info.shift, info.round), port: info.port_bits }
    }
}

impl Beyond {
    /// Returns what happens to a value that arrives at a level.
    fn new(facts: &Facts, first: usize, is_unit: bool, changed: fn(Fit) -> Fit) -> Self {
        let levels = facts.levels().iter().zip(&facts.reach.levels).skip(first);
        let mut found = Self { shows_flags: is_unit, ..Self::default() };
        for (level, reach) in levels {
            // A run of one value starts from 0.
            let is_alone = reach.early.is_none() && reach.start == Range::ZERO;
            let (at_once, hands_over) = (level.reduce.takes_run_at_once(), level.check == Check::HandOver);
            // A value alone is no node of a tree.
            if !is_alone || at_once && !hands_over {
                found.clamps = beyond_any_sum(level, is_unit);
                break;
            }
            let fit = Fit::of(&level.register).map(changed);
            found.fits.push(match is_unit && !at_once {
                // A unit shows the exact sum that a serial level fits when it hands it over.
                true if hands_over => break,
                true => Next {
                    fit,
                    drop: (0, Rounding::Floor),
                    port: level.acc_bits + u32::from(!level.acc_signed),
                },
                false => Next::handing_over(fit, &level.register),
            });
            if is_unit {
                break;
            }
        }
        found
    }

    fn hides(&self) -> bool {
        !self.fits.is_empty() || self.clamps.is_some()
    }

    /// Returns what is seen of a value: the value, and flags.
    fn seen(&self, value: i128) -> (i128, Option<(bool, bool)>) {
        let (mut value, mut flags) = (value, None);
        for next in &self.fits {
            let (held, beyond) = next.fit.map_or((value, (false, false)), |fit| fit.apply(value));
            let (shift, round) = next.drop;
            value = low(round.shift_right(held, shift), next.port);
            flags = self.shows_flags.then_some(beyond);
        }
        (self.clamps.map_or(value, |range| value.clamp(range.min, range.max)), flags)
    }
}

/// Returns the low `bits` of a value as a signed number.
fn low(value: i128, bits: u32) -> i128 {
    let modulus = 1i128 << bits;
    (value + modulus / 2).rem_euclid(modulus) - modulus / 2
}

/// Returns the bounds beyond which all values overflow a level's register, whatever it holds, and have one result; `None` if
/// results depend on the value, or if a value alone is not compared. Where no flags are seen, a sum at a rail is one that is clamped
/// to it.
fn beyond_any_sum(level: &LevelInfo, has_flags: bool) -> Option<Range> {
    let mode = level.register.overflow?;
    let is_compared = level.check == Check::EachAdd && !level.reduce.takes_run_at_once();
    let rails =
        rails(&level.register).filter(|_| is_compared && !mode.keeps_exact() && mode != Overflow::Wrap)?;
    let is_rail = matches!(mode, Overflow::Saturate | Overflow::SaturateSymmetric);
    let span = rails.max - rails.min + i128::from(has_flags || !is_rail);
    Some(Range { min: -span, max: span })
}

/// Returns the number of low bits of a value that decide what leaves `levels`; `None` if all do. A level that wraps keeps low
/// bits only.
fn low_bits(levels: &[LevelInfo]) -> Option<u32> {
    let (level, above) = levels.split_first()?;
    let above = before(low_bits(above), &level.register);
    match level.register.overflow {
        Some(Overflow::Wrap) => level.register.bits.map(|bits| above.map_or(bits, |low| low.min(bits))),
        Some(mode) if !mode.keeps_exact() => None,
        _ => above,
    }
}

/// Returns the number of low bits that decide those which remain without the bits that a register drops.
fn before(low_bits: Option<u32>, info: &RegisterInfo) -> Option<u32> {
    let sees_sign = matches!(info.round, Rounding::TowardZero | Rounding::HalfAway | Rounding::HalfToZero);
    low_bits.filter(|_| info.shift == 0 || !sees_sign).map(|bits| bits + info.shift)
}

/// Identifies a register of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegisterId {
    Product,
    Level(usize),
    Bias,
}

/// Register with rails.
#[derive(Debug, Clone)]
pub(super) struct Register {
    pub name: String,
    place: RegisterId,
    pub fit: Fit,
    /// Range of all exact values that reach it.
    reach: Range,
    /// Number of low bits that the following module keeps; `None` if that is not considered.
    port: Option<u32>,
    /// Low bits that are dropped before anything sees the value, and their rounding.
    drop: (u32, Rounding),
    shows_flags: bool,
    /// Whether it keeps a value between two additions.
    has_memory: bool,
    goes_on: bool,
    /// Whether all values below 0 give one code.
    hides_negative: bool,
    /// What happens to the last value of a run.
    beyond: Beyond,
    /// Number of low bits that decide what is seen; `None` if all do.
    low_bits: Option<u32>,
    /// Range of the values after which a run goes on, if the last value of a run is seen through `beyond` alone.
    early: Option<Range>,
    /// The values that reach it, if these are known one by one.
    values: Option<Bits>,
}

impl Register {
    fn new(info: &RegisterInfo, reach: Range) -> Option<Self> {
        let fit = Fit::new(info.bits?, info.signed, info.overflow?);
        Some(Self {
            name: String::new(),
            place: RegisterId::Product,
            fit,
            reach,
            port: None,
            drop: (0, Rounding::Floor),
            shows_flags: false,
            has_memory: false,
            goes_on: true,
            hides_negative: false,
            beyond: Beyond::default(),
            low_bits: None,
            early: None,
            values: None,
        })
    }

    /// Returns the faults that apply to this register.
    pub fn faults(&self) -> impl Iterator<Item = Fault> + '_ {
        Fault::ALL.into_iter().filter(|fault| fault.applies(self))
    }

    fn overflows(&self) -> bool {
        let (min, max) = self.fit.rails();
        self.reach.min < min || self.reach.max > max
    }

    fn range(&self) -> String {
        format!("every exact result of {} lies in {}..={}", self.name, self.reach.min, self.reach.max)
    }

    /// Returns the reason why `changed` behaves like the original fit, if it does for every value in reach.
    fn same(&self, changed: Fit) -> Option<String> {
        let alike = |value: i128| self.seen(self.fit, value) == self.seen(changed, value);
        let known = || self.values.as_ref().is_some_and(|values| values.iter().all(alike));
        let early = |reach: Range| {
            let values = self.values.clone();
            Self { reach, beyond: Beyond::default(), early: None, values, ..self.clone() }
                .same(changed)
                .is_some()
        };
        let goes_on_alike = !self.beyond.hides() || self.early.is_none_or(early);
        let holds = |fit: Fit| {
            let (min, max) = fit.rails();
            min <= self.reach.min && self.reach.max <= max
        };
        // Equal before anything hides a difference.
        let is_equal = |value: i128| self.fit.apply(value) == changed.apply(value);
        let is_equal_throughout = holds(self.fit) && holds(changed)
            || self.ends_of_pieces(changed).is_some_and(|ends| ends.into_iter().all(is_equal));
        let is_left_alike = |value: i128| self.left(self.fit, value) == self.left(changed, value);
        // Dropped bits and other registers may hide a difference at both ends of a piece, but not within.
        let may_hide = self.drop.0 > 0 || self.beyond.hides();
        let is_same = is_equal_throughout
            || self.drop.0 == 0
                && self.ends_of_pieces(changed).is_some_and(|ends| ends.into_iter().all(is_left_alike))
            || may_hide
                && self.reach.max - self.reach.min < MAX_VALUES
                && (self.reach.min..=self.reach.max).all(alike);
        // The low bits of sums are those of the sums of low bits.
        let wraps_alike =
            |low: u32| [self.fit, changed].iter().all(|fit| fit.mode == Overflow::Wrap && fit.bits >= low);
        if !(is_same && goes_on_alike)
            && let Some(low) = self.low_bits.filter(|&low| wraps_alike(low))
        {
            return Some(format!("{}: only {low} low bits of it matter, which are equal", self.range()));
        }
        (goes_on_alike && (is_same || known())).then(|| match () {
            () if !is_same => {
                format!("no operands lead to a result of {} that tells both rails apart", self.name)
            }
            () if !self.overflows() => format!("{}, within both pairs of rails", self.range()),
            () if self.fit.mode == Overflow::Wrap => {
                format!("{}: the kept low bits are equal", self.range())
            }
            () if self.beyond.hides() && !is_equal_throughout => {
                let ends = if self.early.is_some() { "ends a run, and " } else { "" };
                format!("{}: what differs {ends}has one result in the next level", self.range())
            }
            () if self.hides_negative => {
                format!("{}: only negative sums differ, and their codes are clamped", self.range())
            }
            () => format!("{}: the register holds the same value there", self.range()),
        })
    }

    /// Returns both ends of every range of values over which both fits are linear.
    fn ends_of_pieces(&self, changed: Fit) -> Option<Vec<i128>> {
        let mut starts = BTreeSet::from([self.reach.min]);
        let mut add = |at: i128| {
            if (self.reach.min..=self.reach.max).contains(&at) {
                starts.insert(at);
            }
        };
        for fit in [self.fit, changed] {
            let (min, max) = fit.rails();
            [min, max + 1, 0, 1].into_iter().for_each(&mut add);
        }
        let widths = [Some(self.fit.bits), Some(changed.bits), self.port];
        for bits in widths.into_iter().flatten().filter(|&bits| bits < 100) {
            // Points where a value of `bits` bits wraps or changes its sign.
            let half = 1i128 << (bits - 1);
            let (first, last) = (self.reach.min.div_euclid(half), self.reach.max.div_euclid(half) + 1);
            if last - first > MAX_PIECES {
                return None;
            }
            (first..=last).flat_map(|k| [k * half, k * half + 1]).for_each(&mut add);
        }
        let starts: Vec<i128> = starts.into_iter().collect();
        let ends = starts.iter().skip(1).map(|start| start - 1).chain([self.reach.max]);
        Some(starts.iter().copied().chain(ends).collect())
    }

    /// Returns what can be observed of a value after the register: the value, its flags, and those of the next register.
    fn seen(&self, fit: Fit, value: i128) -> (i128, [Option<(bool, bool)>; 2]) {
        let (left, flags) = self.left(fit, value);
        let (kept, next_flags) = self.beyond.seen(left);
        (kept, [flags, next_flags])
    }

    /// Returns what leaves the register, and its flags if they are seen.
    fn left(&self, fit: Fit, value: i128) -> (i128, Option<(bool, bool)>) {
        let (held, flags) = fit.apply(value);
        let (shift, round) = self.drop;
        let held = round.shift_right(held, shift);
        let kept = self.port.map_or(held, |bits| low(held, bits));
        let kept = if self.hides_negative { kept.max(0) } else { kept };
        (kept, self.shows_flags.then_some(flags))
    }
}

#[cfg(test)]
mod tests;
