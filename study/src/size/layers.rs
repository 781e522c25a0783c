//! What is known of every layer.

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::{
    LayerBounds, Range, Witness, bias_adder_range, network_sums, operand_range, weight_operand_range,
};
use guardbit_hwmodels::{MacLayer, Program, Register};
use guardbit_num::MAX_BITS;
use guardbit_sim::LayerStats;

/// A layer with all that is known of its widths.
pub(super) struct SizedLayer<'a> {
    pub layer: &'a MacLayer,
    pub bounds: LayerBounds,
    /// Ranges through the network: per channel and level.
    pub ranges: Vec<Vec<Range>>,
    /// Per level.
    pub witnesses: Vec<Option<Witness>>,
    /// Per level: bits of the final sums and of the prefixes of the samples, per channel.
    pub data: Vec<Vec<DataBits>>,
    /// Per level the least width within the budget, with everything else wide.
    pub alone: Vec<Option<u32>>,
    /// The same of the last level per channel; empty where it is not known.
    pub channel_budgets: Vec<Option<u32>>,
    /// Per level the widths at which the network as a whole is within the budget; none for a level that is not
    /// searched.
    pub together: Option<Vec<Option<u32>>>,
}

/// Bits that the samples need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DataBits {
    pub finals: u32,
    pub prefixes: u32,
}

impl<'a> SizedLayer<'a> {
    pub fn all(program: &'a Program, measured: &[Option<LayerStats>]) -> Vec<Self> {
        let mut sums = network_sums(program);
        let one = |(layer, stats): (&'a MacLayer, &LayerStats)| {
            let bounds = LayerBounds::new(&program.graph, layer);
            let levels = layer.datapath.levels.len();
            let proved = || bounds.channels.iter().map(|channel| channel.proved().to_vec()).collect();
            Self {
                layer,
                ranges: sums[layer.node.index()].take().unwrap_or_else(proved),
                witnesses: (0..levels)
                    .map(|level| Witness::of_level(&program.graph, layer, &bounds, level))
                    .collect(),
                bounds,
                data: stats
                    .levels
                    .iter()
                    .map(|level| level.channels.iter().map(data_bits).collect())
                    .collect(),
                alone: vec![None; levels],
                channel_budgets: Vec::new(),
                together: None,
            }
        };
        program
            .mac_layers()
            .filter_map(|layer| Some((layer, measured[layer.node.index()].as_ref()?)))
            .map(one)
            .collect()
    }

    /// Index of the level that sums the whole dot product.
    pub fn last(&self) -> usize {
        self.layer.datapath.levels.len() - 1
    }

    /// Whether some activation makes a product that its register does not hold.
    pub fn products_may_overflow(&self, graph: &Graph) -> bool {
        let product = self.layer.datapath.product;
        let Register::Fixed { format, overflow } = product.register else { return false };
        let (low, high) = overflow.limits(format);
        let weights = match self.layer.dots.streams_weights() {
            true => Some(weight_operand_range(graph, self.layer)),
            false => {
                let weights = self.layer.weights.iter().flatten();
                weights.map(|&weight| Range::point(weight)).reduce(Range::hull)
            }
        };
        let products = operand_range(graph, self.layer).times(weights.unwrap_or(Range::ZERO));
        !Range::new(low, high).contains(products.shift_right(product.shift, product.round))
    }

    /// Whether some activations make a sum with its bias that the adder behind the last level does not hold.
    pub fn biases_may_overflow(&self, graph: &Graph) -> bool {
        let Register::Fixed { format, overflow } = self.layer.datapath.bias.register else { return false };
        let (low, high) = overflow.limits(format);
        let sums = self.ranges.iter().map(|channel| channel[self.last()]);
        let biased = bias_adder_range(graph, self.layer, sums);
        biased.is_some_and(|biased| !Range::new(low, high).contains(biased))
    }

    /// Whether no register of a level's kind holds all its sums: those of a level without a sign may be negative.
    pub fn is_out_of_reach(&self, level: usize) -> bool {
        !self.layer.packing.gives_register(level) && self.range_bits(level) > MAX_BITS
    }

    /// Proved bits of one level: by weights and ranges.
    pub fn range_bits(&self, level: usize) -> u32 {
        let bits = |channel: &Vec<Range>| channel[level].bits(self.bounds.signed[level]);
        self.ranges.iter().map(bits).max().unwrap_or(1)
    }

    /// Bits of a level that no search narrows: proved by weights (or types, where weights are activations) alone, since behind levels that overflow ranges through
    /// the network do not hold, or those of an adder that lanes share.
    pub fn unsearched_bits(&self, level: usize) -> u32 {
        match self.layer.datapath.levels[level].register {
            Register::Fixed { format, .. } if self.layer.packing.gives_register(level) => format.bits(),
            _ => self.bounds.proved_bits(level),
        }
    }

    /// Bits that the samples need at one level, over all channels.
    pub fn data_bits(&self, level: usize) -> DataBits {
        let widest = |a: DataBits, b: &DataBits| DataBits {
            finals: a.finals.max(b.finals),
            prefixes: a.prefixes.max(b.prefixes),
        };
        self.data[level].iter().fold(DataBits { finals: 1, prefixes: 1 }, widest)
    }
}

fn data_bits(channel: &guardbit_sim::ChannelLevel) -> DataBits {
    DataBits { finals: channel.required_final, prefixes: channel.required_prefix }
}
