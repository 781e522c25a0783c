//! `sum_histograms.csv`: distributions of sums.

use super::table::table;

table! {
    "sum_histograms.csv"
    /// A row of `sum_histograms.csv`: one bin of the sums of one output channel at one level, with unlimited widths. Bins are
    /// as wide as a 64th of the register's range (of the width that is proved by the weights where it is `auto`) and reach half of that
    /// range beyond it on either side; empty ones have no row.
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
        /// Least value of the bin; blank for what lies below all others.
        low: Option<i128> ["units of the level"],
        /// Greatest value of the bin; blank for what lies above all others.
        high: Option<i128> ["units of the level"],
        /// Sums in it.
        count: u64,
    }
}
