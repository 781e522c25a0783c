//! Distributions of the sums of a level.

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::LayerBounds;
use guardbit_hwmodels::{Level, MacLayer, Program, Register};
use guardbit_sim::LevelSums;
use serde::Serialize;

use crate::Width;
use crate::tables::{SumRow, register};

/// Greatest number of bins within a register's range.
const BINS: i128 = 64;
/// Greatest width, in bits, of a range that is divided into bins: all edges, including those beyond the
/// range, fit 64 bits.
const MOST_BITS: u32 = 62;

/// Bins of equal width over the range of a register and half of it on either side. Values further out are
/// counted in one bin below and one bin above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SumBins {
    /// Least value of the first bin.
    pub low: i128,
    /// Number of values per bin.
    pub width: i128,
    /// Number of bins, without the bin below and the bin above.
    pub count: usize,
}

/// Kind of sums that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumKind {
    /// Final sum of every run.
    Final,
    /// Least prefix of every dot product, including 0.
    MinPrefix,
    /// Greatest prefix of every dot product, including 0.
    MaxPrefix,
}

/// Sums of one level with unlimited widths, by output channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SumHistogram {
    /// Index of the layer over all operations of the graph.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Short name of the layer.
    pub name: String,
    /// Name of the level.
    pub level: String,
    /// Width of the level.
    pub bits: Width,
    /// Range of the level's register, or of the proved width for a level without a limited register.
    pub range: (i128, i128),
    /// Bins of the histogram.
    pub bins: SumBins,
    /// Counts by kind, then by output channel: the bin below, the bins, the bin above.
    pub counts: [Vec<Vec<u64>>; 3],
}

impl SumBins {
    /// Returns the bins for a register.
    fn new(bits: u32, signed: bool) -> Self {
        let span = 1i128 << bits.min(MOST_BITS);
        let width = (span / BINS).max(1);
        let low = if signed { -span } else { -span / 2 };
        Self { low, width, count: (2 * span / width) as usize }
    }

    /// Returns the index of a value's bin; the bin below has index 0.
    fn place(&self, value: i128) -> usize {
        let place = (value - self.low).div_euclid(self.width) + 1;
        place.clamp(0, self.count as i128 + 1) as usize
    }

    /// Returns the least value of each bin, followed by the end of the last bin.
    pub fn edges(&self) -> Vec<i128> {
        (0..=self.count as i128).map(|bin| self.low + bin * self.width).collect()
    }
}

impl SumKind {
    /// All kinds, in the order of [`SumHistogram::counts`].
    pub const ALL: [Self; 3] = [Self::Final, Self::MinPrefix, Self::MaxPrefix];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::MinPrefix => "min_prefix",
            Self::MaxPrefix => "max_prefix",
        }
    }
}

impl SumHistogram {
    /// Returns empty histograms for every level of the accelerated layers, in order of execution.
    pub fn all(program: &Program) -> Vec<Self> {
        program.mac_layers().flat_map(|layer| Self::of_layer(&program.graph, layer)).collect()
    }

    fn of_layer(graph: &Graph, layer: &MacLayer) -> Vec<Self> {
        let bounds = LayerBounds::new(graph, layer);
        let one = |(index, level): (usize, &Level)| {
            let (bits, signed) = match level.register {
                Register::Fixed { format, .. } => (format.bits(), format.is_signed()),
                Register::Auto => (bounds.proved_bits(index), true),
            };
            let end = 1i128 << bits;
            let channels = layer.dots.window.channels();
            let bins = SumBins::new(bits, signed);
            Self {
                index: layer.node.index(),
                layer: layer.name.clone(),
                name: layer.short_name.clone(),
                level: level.name.clone(),
                bits: register(level.register).0,
                range: if signed { (-end / 2, end / 2 - 1) } else { (0, end - 1) },
                bins,
                counts: [(); 3].map(|()| vec![vec![0; bins.count + 2]; channels]),
            }
        };
        layer.datapath.levels.iter().enumerate().map(one).collect()
    }

    /// Counts the sums of one dot product of output channel `channel` at this level.
    pub fn add(&mut self, channel: usize, sums: &LevelSums) {
        let [finals, least, greatest] = &mut self.counts;
        sums.finals.iter().for_each(|&sum| finals[channel][self.bins.place(sum)] += 1);
        least[channel][self.bins.place(sums.min_prefix)] += 1;
        greatest[channel][self.bins.place(sums.max_prefix)] += 1;
    }

    /// Returns the counts summed over all channels.
    pub fn total(&self, kind: SumKind) -> Vec<u64> {
        let mut total = vec![0; self.bins.count + 2];
        for channel in &self.counts[kind as usize] {
            total.iter_mut().zip(channel).for_each(|(all, count)| *all += count);
        }
        total
    }

    /// Returns the rows of `sum_histograms.csv`: the non-empty bins.
    pub(crate) fn rows(&self) -> impl Iterator<Item = SumRow> {
        let SumBins { low, width, count } = self.bins;
        let kinds = SumKind::ALL.into_iter().zip(&self.counts);
        let channels = kinds.flat_map(|(kind, channels)| channels.iter().enumerate().map(move |c| (kind, c)));
        channels.flat_map(move |(kind, (channel, counts))| {
            let filled = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
            filled.map(move |(bin, &found)| SumRow {
                index: self.index,
                layer: self.layer.clone(),
                level: self.level.clone(),
                channel,
                sums: kind.name().into(),
                low: (bin > 0).then(|| low + (bin as i128 - 1) * width),
                high: (bin <= count).then(|| low + bin as i128 * width - 1),
                count: found,
            })
        })
    }
}
