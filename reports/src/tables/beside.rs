//! Describes in words the overflows of registers other than accumulators: products and biases.

use super::sum;
use crate::LayerRow;
use crate::numbers::{grouped, number};

/// Returns one sentence each, without a full stop, on how often products and biases overflowed. Registers
/// without an overflow, or that were not counted, are left out.
pub fn beside_text<'a>(rows: impl IntoIterator<Item = &'a LayerRow> + Clone) -> Vec<String> {
    let times = |count: u64| format!("{} {}", grouped(count), number(count, "time", "times"));
    let products = sum(rows.clone(), |row| row.product_events).filter(|&count| count > 0).map(|count| {
        format!("products overflowed the product register {}; `product.bits` is its width", times(count))
    });
    let biases = sum(rows, |row| row.bias_events).filter(|&count| count > 0).map(|count| {
        format!(
            "sums overflowed the bias adder {}; `bias.bits` is its width, independent of the accumulators; \
             use `--set bias.bits=auto` to avoid this",
            times(count)
        )
    });
    products.into_iter().chain(biases).collect()
}
