//! Operations that an accelerator can run.

use std::sync::LazyLock;

use guardbit_graph::{Mac, Op};

/// Names of the operations that are multiply-accumulate layers, which is the default of `offload`.
pub static MAC_OPERATIONS: LazyLock<Vec<&str>> = LazyLock::new(|| names(|mac| mac == Mac::Weighted));

/// Names of all operations that an accelerator can run: MAC layers, and sums with weights of 1.
pub static OPERATIONS: LazyLock<Vec<&str>> = LazyLock::new(|| names(|_| true));

fn names(wanted: impl Fn(Mac) -> bool) -> Vec<&'static str> {
    Op::KINDS.iter().filter(|kind| kind.mac.is_some_and(&wanted)).map(|kind| kind.name).collect()
}
