//! Mapping from values to positions along an axis, with ticks.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::sheet::cut;

/// Room for a value without a position on a logarithmic or unbounded axis: 0 or infinity.
const OUTSIDE: f64 = 1.0;

/// Axis without a title: the mapping from values to positions, and the named positions.
#[derive(Debug, Clone)]
pub struct Scale {
    /// First and last position.
    pub range: (f64, f64),
    /// Positions with their names.
    pub ticks: Vec<(f64, String)>,
    /// Position of a line between the scale and the separate place of 0 or infinity.
    pub split: Option<f64>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Linear,
    /// Decades; 0 has its own position below them.
    Log {
        zero: f64,
    },
    /// Linear; infinity has its own position above.
    Unbounded {
        infinity: f64,
    },
}

impl Scale {
    /// Returns a scale of whole numbers from `low` to `high`, each in the middle of its cell. At most `most`
    /// of them are named.
    pub fn whole(low: u32, high: u32, most: u32) -> Self {
        let step = [1, 2, 4, 8, 16].into_iter().find(|step| (high - low) / step < most).unwrap_or(32);
        let ticks = (low..=high).filter(|value| value % step == 0);
        Self {
            range: (f64::from(low) - 0.6, f64::from(high) + 0.6),
            ticks: ticks.map(|value| (f64::from(value), value.to_string())).collect(),
            split: None,
            kind: Kind::Linear,
        }
    }

    /// Returns a scale from 0 to `high` with ticks at round values.
    pub fn from_zero(high: f64) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let ticks = round_ticks(0.0, high).into_iter().map(|tick| (tick, si(tick))).collect();
        Self { range: (0.0, high * 1.06), ticks, split: None, kind: Kind::Linear }
    }

    /// Returns a scale from `low` to `high` with ticks at round values.
    pub fn between(low: f64, high: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let margin = 0.03 * (high - low);
        let ticks = round_ticks(low, high).into_iter().map(|tick| (tick, si(tick))).collect();
        Self { range: (low - margin, high + margin), ticks, split: None, kind: Kind::Linear }
    }

    /// Returns the scale without the margin after its last value.
    pub fn without_margin(mut self) -> Self {
        self.range.1 /= 1.06;
        self
    }

    /// Returns a scale from 0 % to 100 %, for values from 0 to 1.
    pub fn percent() -> Self {
        let ticks = (0..=5).map(|i| f64::from(i) / 5.0);
        Self {
            range: (-0.03, 1.05),
            ticks: ticks.map(|tick| (tick, percent(tick))).collect(),
            split: None,
            kind: Kind::Linear,
        }
    }

    /// Returns a scale up to 100 % for shares that are nowhere below `least`. It starts at the greatest of 95, 90, 80, 50
    /// and 0 % that is below them.
    pub fn percent_from(least: f64) -> Self {
        let Some(start) = [0.95, 0.9, 0.8, 0.5].into_iter().find(|start| *start < least) else {
            return Self::percent();
        };
        let room = 1.0 - start;
        let ticks = (0..=5).map(|i| start + room * f64::from(i) / 5.0);
        Self {
            range: (start - 0.03 * room, 1.0 + 0.05 * room),
            ticks: ticks.map(|tick| (tick, percent(tick))).collect(),
            ..Self::percent()
        }
    }

    /// Returns a scale of decades for shares up to 100 %, with a separate position for 0.
    pub fn log_share(values: impl IntoIterator<Item = f64>) -> Self {
        let least = values.into_iter().filter(|&value| value > 0.0).fold(0.1, f64::min);
        Self::log(least.log10().floor().max(-9.0) as i32, 0, percent)
    }

    /// Returns a scale of decades for shares up to 100 %, for bars that start at the axis: a share of 0 has
    /// no bar.
    pub fn log_bars(values: impl IntoIterator<Item = f64>) -> Self {
        let mut scale = Self::log_share(values);
        scale.ticks.pop();
        scale.split = None;
        scale.range.0 += OUTSIDE;
        scale
    }

    /// Returns a scale of decades that contains all values above 0.
    pub fn decades(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = values.into_iter().fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if high > 0.0 { (low, high) } else { (1.0, 10.0) };
        let ends = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let mut scale = Self::log(ends.0, ends.1.max(ends.0 + 1), si);
        scale.ticks.pop();
        scale.split = None;
        scale.range.0 += OUTSIDE;
        scale
    }

    /// Returns a scale of names below each other, the first one at the top.
    pub fn names(names: impl ExactSizeIterator<Item = String>) -> Self {
        let last = names.len() as f64 - 1.0;
        let ticks = names.enumerate().map(|(i, name)| (last - i as f64, name)).collect();
        Self { range: (-0.6, last + 0.6), ticks, split: None, kind: Kind::Linear }
    }

    /// Returns a scale of names from left to right.
    pub fn categories(names: &[&str]) -> Self {
        let ticks = names.iter().enumerate().map(|(at, name)| (at as f64, (*name).to_owned()));
        let range = (-0.6, names.len() as f64 - 0.4);
        Self { range, ticks: ticks.collect(), split: None, kind: Kind::Linear }
    }

    /// Returns a scale of decades for counts, with a separate position for 0.
    pub fn log_count(values: impl IntoIterator<Item = u64>) -> Self {
        let greatest = values.into_iter().max().unwrap_or(0).max(10);
        Self::log(0, (greatest as f64).log10().ceil() as i32, si)
    }

    /// Returns a scale in dB, with a separate position for infinity, which is named `exact`.
    pub fn decibel(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = finite.fold((0.0f64, 10.0f64), |(low, high), v| (low.min(v), high.max(v)));
        let infinity = high + (high - low) * 0.18;
        let below = low - (high - low) * 0.04;
        let ticks = round_ticks(low, high).into_iter().map(|tick| (tick, si(tick)));
        Self {
            range: (below, infinity + (high - low) * 0.1),
            ticks: ticks.chain([(infinity, "exact".to_owned())]).collect(),
            split: Some(infinity - (high - low) * 0.07),
            kind: Kind::Unbounded { infinity },
        }
    }

    /// Cuts the names of ticks to a number of letters.
    pub fn cut_names(&mut self, letters: usize) {
        self.ticks.iter_mut().for_each(|(_, name)| *name = cut(name, letters));
    }

    /// Returns the scale with only every second, third and so on tick if the names of all ticks do not fit into
    /// `room` pixels next to each other. `length` is the room that a name takes. The tick of a
    /// separate place stays.
    pub fn thinned(mut self, room: f64, length: impl Fn(&str) -> f64) -> Self {
        let separate = self.ticks.pop_if(|_| self.split.is_some());
        let (low, high) = self.range;
        let apart = |pair: &[(f64, String)]| (pair[1].0 - pair[0].0).abs() / (high - low) * room;
        let least = self.ticks.windows(2).map(apart).fold(f64::INFINITY, f64::min);
        let longest = self.ticks.iter().map(|(_, name)| length(name)).fold(0.0, f64::max);
        let step = (longest / least.max(0.01)).ceil().max(1.0) as usize;
        let ticks = std::mem::take(&mut self.ticks).into_iter().step_by(step);
        self.ticks = ticks.chain(separate).collect();
        self
    }

    /// Returns the position of a value. A value outside the scale is placed at its edge.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        match self.kind {
            Kind::Linear => value.clamp(low, high),
            Kind::Log { zero } if value <= 0.0 => zero,
            Kind::Log { zero } => value.log10().clamp(zero + OUTSIDE, high),
            Kind::Unbounded { infinity } if value == f64::INFINITY => infinity,
            Kind::Unbounded { .. } => value.clamp(low, high),
        }
    }

    /// Returns the name of a position; empty if it has none.
    pub fn name(&self, place: f64) -> &str {
        let tick = self.ticks.iter().find(|(tick, _)| (tick - place).abs() < 1e-9);
        tick.map_or("", |(_, name)| name)
    }

    fn log(low: i32, high: i32, name: fn(f64) -> String) -> Self {
        let zero = f64::from(low) - OUTSIDE;
        let step = ((high - low) / 7 + 1) as usize;
        let decades = (low..=high).rev().step_by(step);
        let ticks = decades.map(|decade| (f64::from(decade), name(10f64.powi(decade))));
        Self {
            range: (zero - 0.35, f64::from(high) + 0.25),
            ticks: ticks.chain([(zero, "0".to_owned())]).collect(),
            split: Some(zero + OUTSIDE / 2.0),
            kind: Kind::Log { zero },
        }
    }
}

/// plotters only sees positions, not values.
impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, limit: (i32, i32)) -> i32 {
        let (low, high) = self.range;
        let share = (place - low) / (high - low);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.iter().map(|(place, _)| *place).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.0..self.range.1
    }
}

impl ValueFormatter<f64> for Scale {
    fn format(place: &f64) -> String {
        place.to_string()
    }

    fn format_ext(&self, place: &f64) -> String {
        self.name(*place).to_owned()
    }
}

/// Returns a share as a percentage with two significant digits.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value == 0.0 {
        "0 %".into()
    } else if value.abs() >= 9.95 {
        format!("{value:.0} %")
    } else if value.abs() < 0.000_95 {
        power(value) + " %"
    } else {
        let decimals = (1 - value.abs().log10().floor() as i32).clamp(0, 5) as usize;
        let digits = format!("{value:.decimals$}");
        let digits =
            if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
        format!("{digits} %")
    }
}

/// Returns a share in percent, without the sign and in at most four characters, for table cells.
pub fn short_percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0".into(),
        value if value >= 9.95 => format!("{value:.0}"),
        value if value >= 0.95 => format!("{value:.1}"),
        value if value >= 0.0095 => format!("{value:.2}"),
        value => power(value),
    }
}

/// Returns a number with the suffix `k`, `M` or `G`, or as a power of ten from 1e15 on.
pub fn si(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v >= 1e15 => return power(value),
        v if v >= 1e12 => (value / 1e12, "T"),
        v if v >= 1e9 => (value / 1e9, "G"),
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let step = if scaled.abs() >= 100.0 {
        1.0
    } else if scaled.abs() >= 10.0 {
        10.0
    } else {
        100.0
    };
    let rounded = (scaled * step).round() / step;
    format!("{rounded}{unit}")
}

fn power(value: f64) -> String {
    format!("{value:.0e}")
}

fn round_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let decade = 10f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let step = factors.into_iter().map(|f| f * decade).find(|step| *step >= rough).unwrap_or(10.0 * decade);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_two_digits() {
        let cases = [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.985_185, "99 %"),
            (0.1, "10 %"),
            (0.012_34, "1.2 %"),
            (0.01, "1 %"),
            (0.000_123, "0.012 %"),
            (0.000_01, "0.001 %"),
            (0.000_001, "1e-4 %"),
        ];
        for (share, text) in cases {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn cells_have_room_for_four_characters() {
        let cases =
            [(0.0, "0"), (1.0, "100"), (0.0996, "10"), (0.0123, "1.2"), (0.000_46, "0.05"), (2.3e-7, "2e-5")];
        for (share, text) in cases {
            assert_eq!(short_percent(share), text);
        }
    }

    #[test]
    fn zero_has_a_place_of_its_own() {
        let scale = Scale::log_share([0.5, 0.003, 0.0]);
        assert_eq!(scale.at(0.01), -2.0);
        assert_eq!(scale.name(scale.at(0.0)), "0");
        assert!(scale.at(0.0) < scale.at(1e-12));
        assert!(scale.at(1e-12) < scale.at(0.003));
    }

    #[test]
    fn infinity_has_a_place_of_its_own() {
        let scale = Scale::decibel([12.0, 48.0, f64::INFINITY]);
        assert_eq!(scale.name(scale.at(f64::INFINITY)), "exact");
        assert!(scale.at(f64::INFINITY) > scale.at(48.0));
        assert!(scale.at(f64::NEG_INFINITY) >= scale.range.0);
    }

    #[test]
    fn counts_are_abbreviated() {
        for (value, text) in [
            (0.0, "0"),
            (999.0, "999"),
            (1500.0, "1.5k"),
            (21_608.0, "21.6k"),
            (222_950.0, "223k"),
            (2e6, "2M"),
            (3e16, "3e16"),
        ] {
            assert_eq!(si(value), text);
        }
    }
}
