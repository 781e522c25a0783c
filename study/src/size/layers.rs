//! Width information of every layer.

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::{
    LayerBounds, Range, Witness, bias_adder_range, network_sums, shifted_product_range,
};
use guardbit_hwmodels::{MacLayer, Program, Register};
use guardbit_num::MAX_BITS;
use guardbit_sim::LayerStats;

/// Layer with all its width information.
pub(super) struct SizedLayer<'a> {
    pub layer: &'a MacLayer,
    pub bounds: LayerBounds,
    /// Ranges propagated through the network, per channel and level.
    pub ranges: Vec<Vec<Range>>,
    /// Witnesses, per level.
    pub witnesses: Vec<Option<Witness>>,
    /// Bits of the final sums and of the prefixes on the samples, per level and channel.
    pub data: Vec<Vec<DataBits>>,
    /// Least width within the budget per level, with everything else wide.
    pub alone: Vec<Option<u32>>,
    /// Least width within the budget of the last level, per channel; empty if unknown.
    pub channel_budgets: Vec<Option<u32>>,
    /// Widths per level at which the network as a whole is within the budget; `None` for a level that is not
    /// searched.
    pub together: Option<Vec<Option<u32>>>,
}

/// Bits that the samples require.
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

    /// Returns the index of the level that sums the whole dot product.
    pub fn last(&self) -> usize {
        self.layer.datapath.levels.len() - 1
    }

    /// Returns whether some activation produces a product that its register does not hold.
    pub fn products_may_overflow(&self, graph: &Graph) -> bool {
        let product = self.layer.datapath.product;
        let Register::Fixed { format, overflow } = product.register else { return false };
        let (low, high) = overflow.limits(format);
        !Range::new(low, high).contains(shifted_product_range(graph, self.layer))
    }

    /// Returns whether some activations produce a sum with bias that the adder after the last level does not
    /// hold.
    pub fn biases_may_overflow(&self, graph: &Graph) -> bool {
        let Register::Fixed { format, overflow } = self.layer.datapath.bias.register else { return false };
        let (low, high) = overflow.limits(format);
        let sums = self.ranges.iter().map(|channel| channel[self.last()]);
        let biased = bias_adder_range(graph, self.layer, sums);
        biased.is_some_and(|biased| !Range::new(low, high).contains(biased))
    }

    /// Returns whether no register of a level's kind holds all its sums: sums of an unsigned level may be
    /// negative.
    pub fn is_out_of_reach(&self, level: usize) -> bool {
        !self.layer.packing.gives_register(level) && self.range_bits(level) > MAX_BITS
    }

    /// Returns the proved bits of one level, by weights and ranges.
    pub fn range_bits(&self, level: usize) -> u32 {
        let bits = |channel: &Vec<Range>| channel[level].bits(self.bounds.signed[level]);
        self.ranges.iter().map(bits).max().unwrap_or(1)
    }

    /// Returns the bits of a level that no search narrows. They are proved by weights alone (or by types, if
    /// weights are activations), because propagated ranges are invalid after a level that overflows. For an
    /// adder that lanes share, its width is returned.
    pub fn unsearched_bits(&self, level: usize) -> u32 {
        match self.layer.datapath.levels[level].register {
            Register::Fixed { format, .. } if self.layer.packing.gives_register(level) => format.bits(),
            _ => self.bounds.proved_bits(level),
        }
    }

    /// Returns the bits that the samples require at one level, over all channels.
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
