//! Statistics of a layer over all dot products and samples.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;
use guardbit_num::required_bits;

use crate::accumulate::Accumulate;
use crate::accumulate_fields;
use crate::codes::{Codes, Packed};
use crate::dot::{DotEvent, DotOutcome, LevelOutcome};
use crate::event::{Event, FirstEvents};
use crate::fast::Kernels;
use crate::options::{Options, StatsLevel};
pub(crate) use crate::statistics::DotErrors;
use crate::statistics::LevelSeen;
pub use crate::statistics::{ChannelErrors, ChannelLevel};

/// Number of bins of a histogram of required bits; the index is the number of bits.
pub const HISTOGRAM_BINS: usize = 66;
/// Number of bins of a layer's time axis.
pub const TIMELINE_BINS: usize = 64;

/// Statistics of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerStats {
    /// Number of dot products run.
    pub dots: u64,
    /// Statistics per level, innermost first.
    pub levels: Vec<LevelStats>,
    /// Statistics per output channel.
    pub channels: Vec<ChannelErrors>,
    /// Error of the output against the exact network.
    pub output_error: SquaredError,
    /// Earliest cycle of an event within one inference.
    pub first_event_cycle: Option<u64>,
    /// Events per [`TIMELINE_BINS`]th part of the layer's cycles.
    pub timeline: Vec<u64>,
    /// Events per processing element, row by row.
    pub heat_map: Vec<u64>,
    /// First events, sorted.
    pub events: Vec<Event>,
    first_events: FirstEvents,
    /// Events so far.
    counted: EventCounts,
}

/// Numbers of events of one layer, by register.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Events of all accumulation levels.
    pub levels: u64,
    /// Events of the product register.
    pub products: u64,
    /// Events of the bias.
    pub biases: u64,
}

/// Statistics of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LevelStats {
    /// Statistics per output channel.
    pub channels: Vec<ChannelLevel>,
    /// Number of dot products by the bits that their final sums require.
    pub required_final: [u64; HISTOGRAM_BINS],
    /// Number of dot products by the bits that their prefixes require.
    pub required_prefix: [u64; HISTOGRAM_BINS],
}

/// Squares of exact values and of their errors, in steps of the output's scale.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SquaredError {
    /// Sum of squares of the exact values.
    pub signal: u128,
    /// Sum of squares of the errors.
    pub noise: u128,
}

impl SquaredError {
    /// Adds one pair of an exact and a simulated value, both in steps: codes minus their zero point.
    pub fn add(&mut self, exact: i64, simulated: i64) {
        let value = i128::from(exact);
        let error = i128::from(exact) - i128::from(simulated);
        self.signal += (value * value) as u128;
        self.noise += (error * error) as u128;
    }

    /// Returns the signal-to-quantization-noise ratio in dB; infinite if nothing differs.
    pub fn sqnr_db(self) -> f64 {
        sqnr_db(self.signal as f64, self.noise as f64)
    }
}

/// Returns the signal-to-noise ratio in dB of two sums of squares; infinite without noise.
pub fn sqnr_db(signal: f64, noise: f64) -> f64 {
    if noise == 0.0 { f64::INFINITY } else { 10.0 * (signal / noise).log10() }
}

accumulate_fields!(SquaredError { signal, noise });

accumulate_fields!(EventCounts { levels, products, biases });

accumulate_fields!(LevelStats { channels, required_final, required_prefix });

impl LevelStats {
    fn new(channels: usize) -> Self {
        Self {
            channels: vec![ChannelLevel::new(); channels],
            required_final: [0; HISTOGRAM_BINS],
            required_prefix: [0; HISTOGRAM_BINS],
        }
    }

    /// Returns the counts over all channels.
    pub fn total(&self) -> ChannelLevel {
        let mut total = ChannelLevel::new();
        self.channels.iter().for_each(|&channel| total.merge(channel));
        total
    }

    fn record(&mut self, channel: usize, outcome: &LevelOutcome, signed: bool, stats: StatsLevel) {
        let mut seen = LevelSeen { outcome, final_bits: 0, prefix_bits: 0 };
        if stats.counts_prefixes() {
            seen.final_bits = required(outcome.min_final, outcome.max_final, signed);
            seen.prefix_bits = required(outcome.min_prefix, outcome.max_prefix, signed);
            let bin = |bits: u32| bits.min(HISTOGRAM_BINS as u32 - 1) as usize;
            self.required_final[bin(seen.final_bits)] += 1;
            self.required_prefix[bin(seen.prefix_bits)] += 1;
        }
        self.channels[channel].record(&seen, |needs| stats.meets(needs));
    }
}

impl LayerStats {
    /// Returns empty statistics.
    pub(crate) fn new(layer: &MacLayer, options: &Options) -> Self {
        let channels = layer.dots.window.channels();
        let pes = layer.timing.array.rows * layer.timing.array.cols;
        let places = if options.places_all() { (TIMELINE_BINS, pes) } else { (0, 0) };
        Self {
            dots: 0,
            levels: vec![LevelStats::new(channels); layer.datapath.levels.len()],
            channels: vec![ChannelErrors::default(); channels],
            output_error: SquaredError::default(),
            first_event_cycle: None,
            timeline: vec![0; places.0],
            heat_map: vec![0; places.1],
            events: Vec::new(),
            first_events: FirstEvents::new(options.events_per_layer),
            counted: EventCounts::default(),
        }
    }

    /// Returns empty statistics of equal shape, for samples from `first` on.
    pub(crate) fn empty_part(&self, first: usize) -> Self {
        Self {
            // Later events do not matter, so this part need not look for them.
            first_event_cycle: self.first_event_cycle,
            first_events: self.first_events.empty_part(first),
            ..self.empty()
        }
    }

    /// Returns the counts over all channels.
    pub fn total(&self) -> ChannelErrors {
        let mut total = ChannelErrors::default();
        self.channels.iter().for_each(|&channel| total.merge(channel));
        total
    }

    /// Counts one dot product.
    pub(crate) fn record(
        &mut self,
        layer: &MacLayer,
        sample: usize,
        out: OutputPosition,
        outcome: &DotOutcome,
        options: &Options,
    ) {
        self.dots += 1;
        let channel = &mut self.channels[out.c];
        channel.dots += 1;
        if !options.stats.counts() {
            return;
        }
        channel.product_events += outcome.product_events;
        self.counted.products += outcome.product_events;
        self.counted.biases += outcome.bias_events;
        let harmless = outcome.code == outcome.exact_code;
        channel.record(DotErrors { error: outcome.error, harmless, bias_events: outcome.bias_events });
        let levels = self.levels.iter_mut().zip(&layer.datapath.levels).zip(&outcome.levels);
        for ((stats, level), seen) in levels {
            stats.record(out.c, seen, level.register.is_signed(), options.stats);
        }
        if options.stats.counts_events() {
            self.counted.levels += outcome.events.len() as u64;
            self.place_events(layer, sample, out, &outcome.events, options);
            self.list_narrowings(layer, sample, out, &outcome.narrowings);
        }
    }

    /// Counts `per_channel` dot products for every channel, each with `terms` additions at the only level.
    pub(crate) fn count_dots(&mut self, per_channel: u64, terms: u64, options: &Options) {
        self.dots += per_channel * self.channels.len() as u64;
        self.channels.iter_mut().for_each(|channel| channel.dots += per_channel);
        if options.stats.counts() {
            self.levels[0].channels.iter_mut().for_each(|channel| channel.adds += per_channel * terms);
        }
    }

    /// Counts `per_channel` additions at one level for every channel.
    pub(crate) fn count_adds(&mut self, level: usize, per_channel: u64) {
        self.levels[level].channels.iter_mut().for_each(|channel| channel.adds += per_channel);
    }

    /// Counts products of output channel `channel` that did not fit.
    pub(crate) fn count_product_events(&mut self, channel: usize, events: u64) {
        self.channels[channel].product_events += events;
        self.counted.products += events;
    }

    /// Records the result of a dot product of output channel `channel` over the whole datapath.
    pub(crate) fn record_errors(&mut self, channel: usize, errors: DotErrors) {
        self.channels[channel].record(errors);
        self.counted.biases += errors.bias_events;
    }

    /// Adds counts of output channel `channel` at one level.
    pub(crate) fn add_level(&mut self, level: usize, channel: usize, seen: &ChannelLevel) {
        self.levels[level].channels[channel].merge(*seen);
        self.counted.levels += seen.events();
    }

    /// Adds counts of output channel `channel` over the whole datapath.
    pub(crate) fn add_errors(&mut self, channel: usize, errors: &ChannelErrors) {
        self.channels[channel].merge(*errors);
        self.counted.products += errors.product_events;
        self.counted.biases += errors.bias_events;
    }

    /// Returns the events so far.
    pub(crate) fn counted(&self) -> EventCounts {
        self.counted
    }

    /// Adds dot products by the bits that their final sums and their prefixes require at one level.
    pub(crate) fn add_required(&mut self, level: usize, [finals, prefixes]: &[[u64; HISTOGRAM_BINS]; 2]) {
        self.levels[level].required_final.merge(*finals);
        self.levels[level].required_prefix.merge(*prefixes);
    }

    /// Returns whether events of `sample` may be listed.
    pub(crate) fn wants_events(&self, sample: usize) -> bool {
        self.first_events.wants(sample)
    }

    /// Returns whether an event at `cycle` would be earlier than all before.
    pub(crate) fn would_be_first(&self, cycle: u64) -> bool {
        self.first_event_cycle.is_none_or(|first| cycle < first)
    }

    /// Returns the cycle from which on no further event of a level in `sample` is listed or can be the first
    /// one; `None` if there is no such cycle yet.
    pub(crate) fn listed_before(&self, sample: usize) -> Option<u64> {
        // Products and biases that are listed may have left no room before the first event of a level.
        self.first_events.before(sample).zip(self.first_event_cycle).map(|(listed, first)| listed.max(first))
    }

    /// Returns the cycle from which on no further product or bias event of `sample` is listed; `None` if
    /// there is no such cycle yet.
    pub(crate) fn narrowings_listed_before(&self, sample: usize) -> Option<u64> {
        self.first_events.before(sample)
    }

    /// Records that an event happened at `cycle`.
    pub(crate) fn note_first(&mut self, cycle: u64) {
        self.first_event_cycle = Some(self.first_event_cycle.map_or(cycle, |first| first.min(cycle)));
    }

    /// Places and lists the events of one dot product, given in the order in which they happened.
    pub(crate) fn place_events(
        &mut self,
        layer: &MacLayer,
        sample: usize,
        out: OutputPosition,
        events: &[DotEvent],
        options: &Options,
    ) {
        if options.places_all() {
            let cols = layer.timing.array.cols;
            for event in events {
                let place = layer.timing.place(out, event.k, event.stage.level(layer));
                self.timeline[timeline_bin(layer, place.cycle)] += 1;
                self.heat_map[place.row * cols + place.col] += 1;
            }
        }
        self.list_events(layer, sample, out, events);
    }

    /// Frees the memory of events that are not listed.
    pub(crate) fn compact_events(&mut self) {
        self.first_events.compact();
    }

    /// Lists the events of one dot product, given in the order in which they happened.
    pub(crate) fn list_events(
        &mut self,
        layer: &MacLayer,
        sample: usize,
        out: OutputPosition,
        events: &[DotEvent],
    ) {
        let wants = self.first_events.wants(sample);
        for (sequence, event) in events.iter().enumerate() {
            let place = layer.timing.place(out, event.k, event.stage.level(layer));
            self.note_first(place.cycle);
            if wants {
                self.first_events.push(event.at(sample, place, out, sequence));
            }
        }
    }

    /// Lists the products and biases of one dot product that did not fit. They are not events of a level: nothing else is
    /// counted of their places.
    pub(crate) fn list_narrowings(
        &mut self,
        layer: &MacLayer,
        sample: usize,
        out: OutputPosition,
        narrowings: &[DotEvent],
    ) {
        if !self.first_events.wants(sample) {
            return;
        }
        for event in narrowings {
            let place = layer.timing.place(out, event.k, event.stage.level(layer));
            self.first_events.push(event.at(sample, place, out, 0));
        }
    }

    /// Adds what a sample's output codes were found to be: the [`signal`] of the exact ones, and how they differ.
    pub(crate) fn add_outputs(&mut self, signal: u128, differences: Option<&Differences>) {
        self.output_error.signal += signal;
        let Some(differences) = differences else { return };
        self.output_error.noise += differences.noise;
        for (channel, &mismatches) in self.channels.iter_mut().zip(&differences.mismatches) {
            channel.output_mismatch += u64::from(mismatches);
        }
    }

    /// Sorts the listed events.
    pub(crate) fn finish(&mut self) {
        self.events = std::mem::take(&mut self.first_events).into_sorted();
    }
}

impl Accumulate for LayerStats {
    fn empty(&self) -> Self {
        Self {
            dots: self.dots.empty(),
            levels: self.levels.empty(),
            channels: self.channels.empty(),
            output_error: self.output_error.empty(),
            first_event_cycle: None,
            timeline: self.timeline.empty(),
            heat_map: self.heat_map.empty(),
            events: Vec::new(),
            first_events: self.first_events.empty_part(0),
            counted: EventCounts::default(),
        }
    }

    fn merge(&mut self, other: Self) {
        self.dots.merge(other.dots);
        self.levels.merge(other.levels);
        self.channels.merge(other.channels);
        self.output_error.merge(other.output_error);
        other.first_event_cycle.into_iter().for_each(|cycle| self.note_first(cycle));
        self.timeline.merge(other.timeline);
        self.heat_map.merge(other.heat_map);
        self.first_events.merge(other.first_events);
        self.counted.merge(other.counted);
    }
}

/// Returns the sum of the squares of codes minus their zero point. There must be fewer than 2^28 codes.
pub(crate) fn signal(codes: &Codes, zero_point: i32) -> u128 {
    let (kernels, mut signal) = (Kernels::choose(None), 0);
    let least = match codes.packed() {
        Packed::Bytes(codes) => codes.least,
        _ => 0,
    };
    match (codes.packed(), u8::try_from(zero_point.wrapping_sub(least)), i16::try_from(zero_point)) {
        (Packed::Bytes(codes), Ok(zero_point), _) => kernels.signal(codes.get(), zero_point, &mut signal),
        (Packed::I16(codes), _, Ok(zero_point)) => kernels.signal(codes, zero_point, &mut signal),
        _ => return codes.to_vec().into_iter().map(|code| square(code, zero_point)).sum(),
    }
    signal.into()
}

/// Returns the squared difference of two codes of 32 bits.
fn square(a: i32, b: i32) -> u128 {
    let difference = u128::from(a.abs_diff(b));
    difference * difference
}

/// Differences of the output codes of one sample from those of the exact network.
pub(crate) struct Differences {
    /// Sum of the squared differences.
    noise: u128,
    /// Number of codes that differ, per output channel.
    mismatches: Vec<u32>,
}

impl Differences {
    /// Compares codes `[pixel][channel]` of one dtype. There must be fewer than 2^28 codes.
    pub fn new(channels: usize, exact: &Codes, simulated: &Codes) -> Self {
        let (mut noise, mut wide, mut mismatches) = (0, 0, vec![0; channels]);
        let kernels = Kernels::choose(None);
        match (exact.packed(), simulated.packed()) {
            (Packed::Bytes(exact), Packed::Bytes(simulated)) => {
                kernels.compare(exact.get(), simulated.get(), &mut mismatches, &mut noise);
            }
            (Packed::I16(exact), Packed::I16(simulated)) => {
                kernels.compare(exact, simulated, &mut mismatches, &mut noise);
            }
            (Packed::I32(exact), Packed::I32(simulated)) => {
                for (index, (&exact, &simulated)) in exact.iter().zip(simulated).enumerate() {
                    mismatches[index % channels] += u32::from(exact != simulated);
                    wide += square(exact, simulated);
                }
            }
            _ => debug_assert!(false, "all codes have the same dtype"),
        }
        Self { noise: wide + u128::from(noise), mismatches }
    }
}

/// Returns the number of bits that hold every value between `min`, which is at most 0, and `max`, which is at
/// least 0.
pub(crate) fn required(min: i128, max: i128, signed: bool) -> u32 {
    match (signed, min < 0) {
        // The longer of the two as one number: a negative number is as long as its complement.
        (true, true) => required_bits(max | !min, signed),
        (false, true) => required_bits(min, signed),
        (_, false) => required_bits(max, signed),
    }
}

/// Returns the bin of the time axis that contains a cycle of the layer.
pub(crate) fn timeline_bin(layer: &MacLayer, cycle: u64) -> usize {
    let bin = cycle * TIMELINE_BINS as u64 / layer.timing.cycles.max(1);
    (bin as usize).min(TIMELINE_BINS - 1)
}

#[cfg(test)]
mod tests {
    use guardbit_graph::DType;
    use proptest::prelude::*;
    use proptest::test_runner::TestRng;

    use super::*;

    /// Returns codes of `dtype`, of which every fifth differs. There are more than counters of a byte can
    /// hold.
    fn codes(rng: &mut TestRng, dtype: DType, channels: usize) -> [Vec<i32>; 2] {
        let exact: Vec<i32> =
            (0..channels * 1100).map(|_| rng.random_range(dtype.min()..=dtype.max())).collect();
        let other = |&code: &i32| {
            if rng.random_range(0..5) == 0 { rng.random_range(dtype.min()..=dtype.max()) } else { code }
        };
        let simulated = exact.iter().map(other).collect();
        [exact, simulated]
    }

    /// Every other channel differs at every pixel, so that no channel is mistaken for another.
    fn check(dtype: DType, channels: usize, zero_point: i32, rng: &mut TestRng) {
        let [exact, mut simulated] = codes(rng, dtype, channels);
        for (index, code) in simulated.iter_mut().enumerate().filter(|(index, _)| index % channels % 2 == 1) {
            *code = if exact[index] == dtype.min() { dtype.max() } else { dtype.min() };
        }
        let mut expected = SquaredError::default();
        let mut mismatches = vec![0; channels];
        for (index, (&exact, &simulated)) in exact.iter().zip(&simulated).enumerate() {
            let [exact, simulated] = [exact, simulated].map(|code| i64::from(code) - i64::from(zero_point));
            expected.add(exact, simulated);
            mismatches[index % channels] += u32::from(exact != simulated);
        }
        let [exact, simulated] = [exact, simulated].map(|codes| Codes::within(dtype, &codes));
        let found = Differences::new(channels, &exact, &simulated);
        assert_eq!(signal(&exact, zero_point), expected.signal, "{dtype:?} {channels} {zero_point}");
        assert_eq!(found.noise, expected.noise, "{dtype:?} {channels}");
        assert_eq!(found.mismatches, mismatches, "{dtype:?} {channels}");
    }

    #[test]
    fn codes_are_compared_one_by_one() {
        let mut rng = TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
        for channels in [1, 3, 8, 12, 16, 63, 64, 65, 100] {
            for (dtype, zero_points) in [
                (DType::Int8, &[-128, -1, 0, 127, 300][..]),
                (DType::UInt8, &[0, 255, -7]),
                (DType::Int16, &[0, -32768, 40_000]),
                (DType::Int32, &[0]),
            ] {
                zero_points.iter().for_each(|&zero_point| check(dtype, channels, zero_point, &mut rng));
            }
        }
    }
}
