//! What a layer did, counted over all dot products and samples.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{MacLayer, Register};
use guardbit_num::required_bits;

use crate::codes::{Codes, Packed};
use crate::dot::{DotEvent, DotOutcome, LevelOutcome};
use crate::event::{Event, FirstEvents};
use crate::fast::Kernels;
use crate::options::{Options, StatsLevel};

/// Bins of a required-bits histogram: index = bits.
pub const HISTOGRAM_BINS: usize = 66;
/// Bins of the time axis of a layer.
pub const TIMELINE_BINS: usize = 64;

/// What a layer did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerStats {
    /// Dot products run.
    pub dots: u64,
    /// Per level, innermost first.
    pub levels: Vec<LevelStats>,
    /// Per output channel.
    pub channels: Vec<ChannelErrors>,
    /// Of the output against the exact network.
    pub output_error: SquaredError,
    /// Earliest cycle of an event within one inference.
    pub first_event_cycle: Option<u64>,
    /// Events per [`TIMELINE_BINS`]th part of the layer's cycles.
    pub timeline: Vec<u64>,
    /// Events per processing element, row by row.
    pub heat_map: Vec<u64>,
    /// The first events.
    pub events: Vec<Event>,
    first_events: FirstEvents,
}

/// What a level did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelStats {
    /// Per output channel.
    pub channels: Vec<ChannelLevel>,
    /// Dot products by the bits that their final sums need.
    pub required_final: [u64; HISTOGRAM_BINS],
    /// Dot products by the bits that their prefixes need.
    pub required_prefix: [u64; HISTOGRAM_BINS],
}

/// Counts of one output channel at one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelLevel {
    /// Additions.
    pub adds: u64,
    /// Events above the greatest value.
    pub events_high: u64,
    /// Events below the least value.
    pub events_low: u64,
    /// Dot products with an event.
    pub outputs_touched: u64,
    /// Dot products with a final sum that does not fit.
    pub persistent: u64,
    /// Dot products with a prefix, but no final sum, that does not fit.
    pub transient: u64,
    /// Least of 0 and all unbounded prefixes.
    pub min_prefix: i128,
    /// Greatest of 0 and all unbounded prefixes.
    pub max_prefix: i128,
    /// Bits that hold every final sum.
    pub required_final: u32,
    /// Bits that hold every prefix.
    pub required_prefix: u32,
}

/// Counts of one output channel over the whole datapath.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelErrors {
    /// Dot products.
    pub dots: u64,
    /// Dot products whose delivered sum is not the exact one.
    pub wrong: u64,
    /// Wrong ones whose output code is right all the same.
    pub harmless: u64,
    /// Sum of `|delivered - exact|`.
    pub sum_abs_err: u128,
    /// Greatest `|delivered - exact|`.
    pub max_abs_err: u128,
    /// Output codes that differ from the exact network.
    pub output_mismatch: u64,
    /// Products that did not fit.
    pub product_events: u64,
    /// Biases, or sums with them, that did not fit.
    pub bias_events: u64,
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
    /// Notes one code beside the exact one.
    pub fn add(&mut self, exact: i32, simulated: i32, zero_point: i32) {
        let value = i128::from(exact) - i128::from(zero_point);
        let error = i128::from(exact) - i128::from(simulated);
        self.signal += (value * value) as u128;
        self.noise += (error * error) as u128;
    }

    /// Adds another one.
    pub fn merge(&mut self, other: Self) {
        self.signal += other.signal;
        self.noise += other.noise;
    }

    /// Signal to quantization noise in dB; infinite where nothing differs.
    pub fn sqnr_db(self) -> f64 {
        if self.noise == 0 {
            return f64::INFINITY;
        }
        10.0 * (self.signal as f64 / self.noise as f64).log10()
    }
}

impl ChannelLevel {
    /// Nothing counted yet.
    pub(crate) fn new() -> Self {
        Self {
            adds: 0,
            events_high: 0,
            events_low: 0,
            outputs_touched: 0,
            persistent: 0,
            transient: 0,
            min_prefix: 0,
            max_prefix: 0,
            required_final: 1,
            required_prefix: 1,
        }
    }

    /// Events in both directions.
    pub fn events(&self) -> u64 {
        self.events_high + self.events_low
    }

    /// Counts of several channels together.
    pub fn merge(&mut self, other: &Self) {
        self.adds += other.adds;
        self.events_high += other.events_high;
        self.events_low += other.events_low;
        self.outputs_touched += other.outputs_touched;
        self.persistent += other.persistent;
        self.transient += other.transient;
        self.min_prefix = self.min_prefix.min(other.min_prefix);
        self.max_prefix = self.max_prefix.max(other.max_prefix);
        self.required_final = self.required_final.max(other.required_final);
        self.required_prefix = self.required_prefix.max(other.required_prefix);
    }

    fn record_events(&mut self, seen: &LevelOutcome) {
        self.events_high += seen.events_high;
        self.events_low += seen.events_low;
        self.outputs_touched += u64::from(seen.touched());
    }

    fn record_prefixes(&mut self, seen: &LevelOutcome) {
        self.transient += u64::from(seen.transient());
        self.min_prefix = self.min_prefix.min(seen.min_prefix);
        self.max_prefix = self.max_prefix.max(seen.max_prefix);
    }
}

/// What one dot product did over the whole datapath.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DotErrors {
    /// Delivered less exact sum.
    pub error: i128,
    /// Whether the output code is right all the same.
    pub harmless: bool,
    /// Whether the bias, or the sum with it, did not fit.
    pub bias_events: u64,
}

impl ChannelErrors {
    fn record(&mut self, dot: DotErrors) {
        self.bias_events += dot.bias_events;
        if dot.error != 0 {
            let error = dot.error.unsigned_abs();
            self.wrong += 1;
            self.harmless += u64::from(dot.harmless);
            self.sum_abs_err += error;
            self.max_abs_err = self.max_abs_err.max(error);
        }
    }

    /// Counts of several channels together.
    pub fn merge(&mut self, other: &Self) {
        self.dots += other.dots;
        self.wrong += other.wrong;
        self.harmless += other.harmless;
        self.sum_abs_err += other.sum_abs_err;
        self.max_abs_err = self.max_abs_err.max(other.max_abs_err);
        self.output_mismatch += other.output_mismatch;
        self.product_events += other.product_events;
        self.bias_events += other.bias_events;
    }
}

impl LevelStats {
    fn new(channels: usize) -> Self {
        Self {
            channels: vec![ChannelLevel::new(); channels],
            required_final: [0; HISTOGRAM_BINS],
            required_prefix: [0; HISTOGRAM_BINS],
        }
    }

    /// All channels together.
    pub fn total(&self) -> ChannelLevel {
        let mut total = ChannelLevel::new();
        self.channels.iter().for_each(|channel| total.merge(channel));
        total
    }

    fn merge(&mut self, other: &Self) {
        self.channels.iter_mut().zip(&other.channels).for_each(|(a, b)| a.merge(b));
        self.required_final.iter_mut().zip(&other.required_final).for_each(|(a, b)| *a += b);
        self.required_prefix.iter_mut().zip(&other.required_prefix).for_each(|(a, b)| *a += b);
    }

    fn record(&mut self, channel: usize, seen: &LevelOutcome, signed: bool, stats: StatsLevel) {
        let counts = &mut self.channels[channel];
        counts.adds += seen.adds;
        counts.persistent += u64::from(seen.persistent);
        if stats.counts_events() {
            counts.record_events(seen);
        }
        if !stats.counts_prefixes() {
            return;
        }
        let final_bits = required(seen.min_final, seen.max_final, signed);
        let prefix_bits = required(seen.min_prefix, seen.max_prefix, signed);
        counts.record_prefixes(seen);
        counts.required_final = counts.required_final.max(final_bits);
        counts.required_prefix = counts.required_prefix.max(prefix_bits);
        self.required_final[final_bits.min(HISTOGRAM_BINS as u32 - 1) as usize] += 1;
        self.required_prefix[prefix_bits.min(HISTOGRAM_BINS as u32 - 1) as usize] += 1;
    }
}

impl LayerStats {
    /// Nothing counted yet.
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
        }
    }

    /// Nothing counted yet, in the same shape, for samples from `first` on.
    pub(crate) fn empty_part(&self, first: usize) -> Self {
        let channels = self.channels.len();
        Self {
            dots: 0,
            levels: vec![LevelStats::new(channels); self.levels.len()],
            channels: vec![ChannelErrors::default(); channels],
            output_error: SquaredError::default(),
            // Later ones make no difference: nobody need look for them.
            first_event_cycle: self.first_event_cycle,
            timeline: vec![0; self.timeline.len()],
            heat_map: vec![0; self.heat_map.len()],
            events: Vec::new(),
            first_events: self.first_events.empty_part(first),
        }
    }

    /// All channels together.
    pub fn total(&self) -> ChannelErrors {
        let mut total = ChannelErrors::default();
        self.channels.iter().for_each(|channel| total.merge(channel));
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
        let harmless = outcome.code == outcome.exact_code;
        channel.record(DotErrors { error: outcome.error, harmless, bias_events: outcome.bias_events });
        let levels = self.levels.iter_mut().zip(&layer.datapath.levels).zip(&outcome.levels);
        for ((stats, level), seen) in levels {
            let signed = match level.register {
                Register::Auto => true,
                Register::Fixed { format, .. } => format.is_signed(),
            };
            stats.record(out.c, seen, signed, options.stats);
        }
        if options.stats.counts_events() {
            self.place_events(layer, sample, out, &outcome.events, options);
        }
    }

    /// Counts dot products that every channel has `per_channel` of, of `terms` additions each at the only level.
    pub(crate) fn count_dots(&mut self, per_channel: u64, terms: u64, options: &Options) {
        self.dots += per_channel * self.channels.len() as u64;
        self.channels.iter_mut().for_each(|channel| channel.dots += per_channel);
        if options.stats.counts() {
            self.levels[0].channels.iter_mut().for_each(|channel| channel.adds += per_channel * terms);
        }
    }

    /// Counts additions at one level, of which every channel has `per_channel`.
    pub(crate) fn count_adds(&mut self, level: usize, per_channel: u64) {
        self.levels[level].channels.iter_mut().for_each(|channel| channel.adds += per_channel);
    }

    /// Counts products of output channel `channel` that did not fit.
    pub(crate) fn count_product_events(&mut self, channel: usize, events: u64) {
        self.channels[channel].product_events += events;
    }

    /// Notes what a dot product of output channel `channel` did over the whole datapath.
    pub(crate) fn record_errors(&mut self, channel: usize, errors: DotErrors) {
        self.channels[channel].record(errors);
    }

    /// Notes what a dot product did at one level. `signed` is the level's signedness.
    pub(crate) fn record_level(
        &mut self,
        level: usize,
        channel: usize,
        seen: &LevelOutcome,
        signed: bool,
        stats: StatsLevel,
    ) {
        self.levels[level].record(channel, seen, signed, stats);
    }

    /// Adds counts of output channel `channel` at the only level, and over the whole datapath.
    pub(crate) fn add_channel(&mut self, channel: usize, seen: &ChannelLevel, errors: &ChannelErrors) {
        self.levels[0].channels[channel].merge(seen);
        self.channels[channel].merge(errors);
    }

    /// Adds dot products by the bits that their final sums, and their prefixes, need at the only level.
    pub(crate) fn add_required(&mut self, [finals, prefixes]: &[[u64; HISTOGRAM_BINS]; 2]) {
        let level = &mut self.levels[0];
        level.required_final.iter_mut().zip(finals).for_each(|(a, b)| *a += b);
        level.required_prefix.iter_mut().zip(prefixes).for_each(|(a, b)| *a += b);
    }

    /// Whether events of `sample` may be among those that are listed.
    pub(crate) fn wants_events(&self, sample: usize) -> bool {
        self.first_events.wants(sample)
    }

    /// Whether an event at `cycle` would be earlier than all before.
    pub(crate) fn would_be_first(&self, cycle: u64) -> bool {
        self.first_event_cycle.is_none_or(|first| cycle < first)
    }

    /// Places the events of one dot product in one processing element: `parts` says how many there are up to the
    /// end of each part of the layer's time, in order.
    pub(crate) fn place_counted(&mut self, element: usize, parts: impl Iterator<Item = (usize, u64)>) {
        let mut before = 0;
        for (bin, until) in parts {
            self.timeline[bin] += until - before;
            before = until;
        }
        self.heat_map[element] += before;
    }

    /// Notes that an event happened at `cycle`.
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
        let wants = self.first_events.wants(sample);
        let cols = layer.timing.array.cols;
        for (sequence, event) in events.iter().enumerate() {
            let place = layer.timing.place(out, event.k, event.level);
            self.note_first(place.cycle);
            if options.places_all() {
                self.timeline[timeline_bin(layer, place.cycle)] += 1;
                self.heat_map[place.row * cols + place.col] += 1;
            }
            if wants {
                self.first_events.push(Event {
                    sample,
                    place,
                    out,
                    level: event.level,
                    k: event.k,
                    run: event.run,
                    held: event.held,
                    addend: event.addend,
                    direction: event.direction,
                    sequence,
                });
            }
        }
    }

    /// Adds another part's counts.
    pub(crate) fn merge(&mut self, other: Self) {
        self.dots += other.dots;
        self.levels.iter_mut().zip(&other.levels).for_each(|(a, b)| a.merge(b));
        self.channels.iter_mut().zip(&other.channels).for_each(|(a, b)| a.merge(b));
        self.output_error.merge(other.output_error);
        self.first_event_cycle = match (self.first_event_cycle, other.first_event_cycle) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.timeline.iter_mut().zip(&other.timeline).for_each(|(a, b)| *a += b);
        self.heat_map.iter_mut().zip(&other.heat_map).for_each(|(a, b)| *a += b);
        self.first_events.merge(other.first_events);
    }

    /// Adds what a sample's output codes were found to be: the [`signal`] of the exact ones, and how they differ.
    pub(crate) fn add_outputs(&mut self, signal: u64, differences: Option<&Differences>) {
        self.output_error.signal += u128::from(signal);
        let Some(differences) = differences else { return };
        self.output_error.noise += u128::from(differences.noise);
        for (channel, &mismatches) in self.channels.iter_mut().zip(&differences.mismatches) {
            channel.output_mismatch += u64::from(mismatches);
        }
    }

    /// Sorts what was kept.
    pub(crate) fn finish(&mut self) {
        self.events = std::mem::take(&mut self.first_events).into_sorted();
    }
}

/// Sum of the squares of codes less their zero point. Codes have at most 16 bits, and are fewer than 2^28.
pub(crate) fn signal(codes: &Codes, zero_point: i32) -> u64 {
    let (kernels, mut signal) = (Kernels::choose(None), 0);
    match codes.packed() {
        Packed::Bytes(codes) => kernels.signal(codes.get(), zero_point - codes.least, &mut signal),
        Packed::I16(codes) => kernels.signal(codes, zero_point, &mut signal),
        Packed::I32(codes) => kernels.signal(codes, zero_point, &mut signal),
    }
    signal
}

/// How the output codes of one sample differ from the exact network's.
pub(crate) struct Differences {
    /// Sum of the squares.
    noise: u64,
    /// Per output channel.
    mismatches: Vec<u32>,
}

impl Differences {
    /// Compares codes `[pixel][channel]` of one dtype, of at most 16 bits and fewer than 2^28.
    pub fn new(channels: usize, exact: &Codes, simulated: &Codes) -> Self {
        let mut differences = Self { noise: 0, mismatches: vec![0; channels] };
        let Self { noise, mismatches } = &mut differences;
        let kernels = Kernels::choose(None);
        match (exact.packed(), simulated.packed()) {
            (Packed::Bytes(exact), Packed::Bytes(simulated)) => {
                kernels.compare(exact.get(), simulated.get(), mismatches, noise);
            }
            (Packed::I16(exact), Packed::I16(simulated)) => {
                kernels.compare(exact, simulated, mismatches, noise);
            }
            (Packed::I32(exact), Packed::I32(simulated)) => {
                kernels.compare(exact, simulated, mismatches, noise);
            }
            _ => debug_assert!(false, "codes of one dtype"),
        }
        differences
    }
}

/// Bits that hold everything between `min`, which is at most 0, and `max`, which is at least 0.
pub(crate) fn required(min: i128, max: i128, signed: bool) -> u32 {
    match (signed, min < 0) {
        // The longer of the two as one number: a negative one is as long as its complement.
        (true, true) => required_bits(max | !min, signed),
        (false, true) => required_bits(min, signed),
        (_, false) => required_bits(max, signed),
    }
}

/// The part of a layer's time in which a cycle lies.
pub(crate) fn timeline_bin(layer: &MacLayer, cycle: u64) -> usize {
    let bin = cycle * TIMELINE_BINS as u64 / layer.timing.cycles.max(1);
    (bin as usize).min(TIMELINE_BINS - 1)
}
