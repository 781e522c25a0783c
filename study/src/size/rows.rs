//! Tables of a sizing.

use guardbit_hwmodels::bounds::ChannelBounds;
use guardbit_hwmodels::{MacLayer, Program, Register};
use guardbit_num::{MAX_BITS, MIN_BITS};
use guardbit_reports::{DesignLevel, Fraction, SizeChannelRow, SizeLevelRow, SizeRateRow, SizeRow, Width};
use guardbit_sim::{HISTOGRAM_BINS, LayerStats};

use super::area::Synthesis;
use super::cost::Cost;
use super::layers::SizedLayer;
use super::sizing::of_layers;
use crate::StudyError;

/// Returns the rows of `size.csv`.
pub(super) fn layers(
    program: &Program,
    layers: &[SizedLayer<'_>],
    recommended: &Program,
    synthesis: Option<&Synthesis>,
) -> Result<Vec<SizeRow>, StudyError> {
    layers.iter().map(|layer| layer_row(program, layer, recommended, synthesis)).collect()
}

fn layer_row(
    program: &Program,
    sized: &SizedLayer<'_>,
    recommended: &Program,
    synthesis: Option<&Synthesis>,
) -> Result<SizeRow, StudyError> {
    let (layer, last) = (sized.layer, sized.last());
    let widened = recommended.mac_layer(layer.node).unwrap_or(layer);
    let cost = Cost::of(widened);
    let area = synthesis.map(|synthesis| synthesis.layer(&program.graph, widened)).transpose()?.flatten();
    let widest =
        |bits: fn(&ChannelBounds) -> Option<u32>| sized.bounds.channels.iter().filter_map(bits).max();
    // A width that exists only for some channels is not a width of the layer.
    let a2q_plus: Option<Vec<u32>> = sized.bounds.channels.iter().map(|channel| channel.a2q_plus).collect();
    let a2q_plus = a2q_plus.and_then(|bits| bits.into_iter().max());
    let data = sized.data_bits(last);
    Ok(SizeRow {
        index: layer.node.index(),
        layer: layer.name.clone(),
        name: layer.short_name.clone(),
        op: layer.op.into(),
        terms: layer.order.len(),
        channels: sized.bounds.channels.len(),
        bits_type: sized.bounds.type_bits(last),
        bits_weights: sized.bounds.weight_bits(last),
        bits_a2q: widest(|channel| channel.a2q),
        bits_a2q_plus: a2q_plus,
        bits_data_final: data.finals,
        bits_data_prefix: data.prefixes,
        bits_budget: sized.alone[last],
        bits_range: sized.range_bits(last),
        bits_a2q_type: widest(|channel| channel.a2q_type),
        bits_recommended: width(widened.datapath.levels[last].register),
        adder_bits: cost.adder_bits,
        register_bits: cost.register_bits,
        psum_bytes: cost.psum_bytes,
        lut: area.map(|area| area.lut),
        ff: area.map(|area| area.ff),
    })
}

/// Returns the rows of `size_channels.csv`.
pub(super) fn channels(layers: &[SizedLayer<'_>]) -> Vec<SizeChannelRow> {
    layers
        .iter()
        .flat_map(|sized| (0..sized.bounds.channels.len()).map(move |c| channel_row(sized, c)))
        .collect()
}

fn channel_row(sized: &SizedLayer<'_>, channel: usize) -> SizeChannelRow {
    let (layer, last) = (sized.layer, sized.last());
    let (bounds, signed) = (&sized.bounds.channels[channel], sized.bounds.signed[last]);
    let data = sized.data[last][channel];
    SizeChannelRow {
        index: layer.node.index(),
        layer: layer.name.clone(),
        name: layer.short_name.clone(),
        op: layer.op.into(),
        terms: layer.order.len(),
        channel,
        bits_type: bounds.by_type[last].bits(signed),
        bits_weights: bounds.by_weights.as_ref().map(|sums| sums[last].bits(signed)),
        bits_a2q: bounds.a2q,
        bits_a2q_plus: bounds.a2q_plus,
        bits_data_final: data.finals,
        bits_data_prefix: data.prefixes,
        bits_budget: sized.channel_budgets.get(channel).copied().flatten(),
        bits_range: sized.ranges[channel][last].bits(signed),
        bits_a2q_type: bounds.a2q_type,
        min_sum: bounds.by_weights.as_ref().map(|sums| sums[last].min),
        max_sum: bounds.by_weights.as_ref().map(|sums| sums[last].max),
    }
}

/// Returns the rows of `size_levels.csv`.
pub(super) fn levels(layers: &[SizedLayer<'_>], recommended: &Program) -> Vec<SizeLevelRow> {
    let mut rows = Vec::new();
    for sized in layers {
        let widened = recommended.mac_layer(sized.layer.node);
        rows.extend((0..=sized.last()).map(|level| level_row(sized, widened, level)));
    }
    rows
}

fn level_row(sized: &SizedLayer<'_>, widened: Option<&MacLayer>, index: usize) -> SizeLevelRow {
    let level = &sized.layer.datapath.levels[index];
    let data = sized.data_bits(index);
    let overflow = match level.register {
        Register::Auto => None,
        Register::Fixed { overflow, .. } => Some(overflow.name().to_owned()),
    };
    SizeLevelRow {
        index: sized.layer.node.index(),
        layer: sized.layer.name.clone(),
        name: sized.layer.short_name.clone(),
        level: level.name.clone(),
        bits: width(level.register),
        overflow,
        bits_type: sized.bounds.type_bits(index),
        bits_weights: sized.bounds.weight_bits(index),
        bits_range: sized.range_bits(index),
        bits_data_final: data.finals,
        bits_data_prefix: data.prefixes,
        bits_recommended: width(widened.unwrap_or(sized.layer).datapath.levels[index].register),
        bits_budget: sized.alone[index],
    }
}

/// Returns the widest recommended register of every level, for hardware that runs all layers.
pub(super) fn design(levels: &[SizeLevelRow]) -> Vec<DesignLevel> {
    let mut design: Vec<DesignLevel> = Vec::new();
    for row in levels {
        match design.iter_mut().find(|known| known.level == row.level) {
            Some(known) => known.bits = known.bits.max(row.bits_recommended),
            None => design.push(DesignLevel { level: row.level.clone(), bits: row.bits_recommended }),
        }
    }
    design
}

/// Returns the rows of `size_rates.csv`: for every level, from the narrowest register to the width that holds
/// every prefix.
pub(super) fn rates(program: &Program, measured: &[Option<LayerStats>]) -> Vec<SizeRateRow> {
    let mut pooled: Vec<(&str, [[u64; HISTOGRAM_BINS]; 2])> = Vec::new();
    for (layer, stats) in of_layers(program, measured) {
        for (level, seen) in layer.datapath.levels.iter().zip(&stats.levels) {
            let at = pooled.iter().position(|(name, _)| *name == level.name).unwrap_or_else(|| {
                pooled.push((&level.name, [[0; HISTOGRAM_BINS]; 2]));
                pooled.len() - 1
            });
            for (pooled, counts) in pooled[at].1.iter_mut().zip([&seen.required_final, &seen.required_prefix])
            {
                pooled.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
    }
    pooled.iter().flat_map(|(level, counts)| rates_of_level(level, counts)).collect()
}

fn rates_of_level(level: &str, [finals, prefixes]: &[[u64; HISTOGRAM_BINS]; 2]) -> Vec<SizeRateRow> {
    let dots = finals.iter().sum();
    let most = prefixes.iter().rposition(|&count| count > 0).unwrap_or(0) as u32;
    let beyond = |counts: &[u64], bits: u32| counts[bits as usize + 1..].iter().sum::<u64>();
    let row = |bits| {
        let (out_of_range_final, out_of_range_prefix) = (beyond(finals, bits), beyond(prefixes, bits));
        let transient = out_of_range_prefix - out_of_range_final;
        SizeRateRow {
            bits,
            dots,
            out_of_range_final,
            out_of_range_prefix,
            rate_final: Fraction::of(out_of_range_final, dots),
            rate_prefix: Fraction::of(out_of_range_prefix, dots),
            level: level.to_owned(),
            transient,
            rate_transient: Fraction::of(transient, dots),
        }
    };
    (MIN_BITS..=most.clamp(MIN_BITS, MAX_BITS)).map(row).collect()
}

fn width(register: Register) -> Width {
    match register {
        Register::Auto => Width::Auto,
        Register::Fixed { format, .. } => Width::Bits(format.bits()),
    }
}
