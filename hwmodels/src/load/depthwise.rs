//! Checks which mappings of groups an array supports.

use super::KeyPath;
use super::check::Violation;
use crate::{Accelerator, Dataflow, Depthwise, TimingConvention};

/// Returns an error if the array, or the timing convention, does not support the mapping.
pub(super) fn check(accelerator: Accelerator) -> Result<Accelerator, Violation> {
    let mapping = accelerator.array.depthwise;
    let of = |key: &[&str], message: String, help: &str| Violation {
        code: "guardbit::hw::depthwise",
        keys: vec![KeyPath::keys(&["array", "depthwise"]), KeyPath::keys(key)],
        message,
        help: help.into(),
    };
    if mapping != Depthwise::ByKind && accelerator.timing.convention == TimingConvention::EthosU {
        return Err(of(
            &["timing", "convention"],
            format!("`array.depthwise` is {mapping}, but `timing.convention: ethos_u` uses its own mapping"),
            "leave out `array.depthwise`",
        ));
    }
    let dataflow = accelerator.dataflow;
    let has = match mapping {
        Depthwise::ByKind | Depthwise::Serial => true,
        Depthwise::BlockDiagonal => dataflow != Dataflow::Vector,
        Depthwise::OwnInputs => !dataflow.moves_sums(),
    };
    if has {
        return Ok(accelerator);
    }
    let message = match mapping {
        Depthwise::BlockDiagonal => {
            "`array.depthwise` is block_diagonal, but a vector engine cannot use a block-diagonal matrix"
        }
        _ => {
            "`array.depthwise` is own_inputs, but with this `dataflow` the columns of the array share their \
             activations"
        }
    };
    Err(of(
        &["dataflow"],
        message.into(),
        "block_diagonal is for systolic arrays, own_inputs for output_stationary and vector; serial and \
         by_kind work with every dataflow",
    ))
}
