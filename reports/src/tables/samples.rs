//! `samples.csv`: the events of every sample.

use super::table::table;
use guardbit_sim::EventCounts;

table! {
    "samples.csv"
    /// The events of one sample, over all accelerated layers. No rows with `--stats` `none` and `values`. `sample_events.npz` has
    /// them layer by layer.
    SampleRow {
        /// Index of the sample.
        sample: usize,
        /// Overflow events of accumulation levels.
        events: u64 ["events"],
        /// Products that did not fit.
        product_events: u64 ["products"],
        /// Biases, or sums of the bias adder, that did not fit.
        bias_events: u64 ["events"],
        /// Accelerated layers with at least one of these events.
        layers_touched: usize ["layers"],
    }
}

impl SampleRow {
    /// Returns the row of sample `sample`, whose accelerated layers have the events `layers`.
    pub fn new(sample: usize, layers: impl IntoIterator<Item = EventCounts>) -> Self {
        let mut row = Self { sample, events: 0, product_events: 0, bias_events: 0, layers_touched: 0 };
        for layer in layers {
            row.events += layer.levels;
            row.product_events += layer.products;
            row.bias_events += layer.biases;
            row.layers_touched += usize::from(layer != EventCounts::default());
        }
        row
    }
}
