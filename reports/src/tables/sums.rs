//! `sum_histograms.csv`: distributions of sums.

use super::table::table;

table! {
    "sum_histograms.csv"
    /// One bin of the sums of one output channel at one level, with unlimited widths. A bin is a 64th of the
    /// register's range (for `auto`, the range of the width that the weights prove). Bins extend half of that
    /// range beyond it on either side. Empty bins have no row.
    SumRow {
        /// Index of the layer over all operations of the graph.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Name of the level.
        level: String,
        /// Output channel.
        channel: usize,
        /// What is counted. final: the final sum of every run. min_prefix, max_prefix: the least and the greatest of 0 and all prefixes of each
        /// dot product.
        sums: String,
        /// Least value of the bin; blank for the bin below all others.
        low: Option<i128> ["units of the level"],
        /// Greatest value of the bin; blank for the bin above all others.
        high: Option<i128> ["units of the level"],
        /// Sums in it.
        count: u64,
    }
}
