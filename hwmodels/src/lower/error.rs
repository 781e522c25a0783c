//! Errors of lowering.

use guardbit_graph::MAX_ELEMENTS;
use guardbit_num::MultiplierError;

use super::Host;
use crate::HwError;

/// Error: the accelerator cannot run a graph.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// An override names a layer that does not exist.
    #[error("`layers` names `{name}`, which is not a layer of the network{}", suggestion(near))]
    UnknownLayer {
        /// Name or index in `layers`.
        name: String,
        /// Index and short name of layers with a similar name.
        near: Vec<(usize, String)>,
    },
    /// An override has a number that is the name of one layer and the index of another.
    #[error(
        "`layers` names `{name}`, which is ambiguous: the name of `{by_name}` and the index of `{by_index}`"
    )]
    AmbiguousLayer {
        /// Number in `layers`.
        name: String,
        /// Short name of the layer with this name.
        by_name: String,
        /// Short name of the layer with this index.
        by_index: String,
    },
    /// An override names a node that the accelerator does not run.
    #[error("`layers` names `{name}`, but this {op} runs on the host: {reason}")]
    HostLayer {
        /// Name or index in `layers`.
        name: String,
        /// Name of the operation.
        op: &'static str,
        /// Reason why it runs on the host.
        reason: Host,
    },
    /// The overrides of a layer by its name and by its index are inconsistent.
    #[error("{source}")]
    Together {
        /// Underlying error.
        source: HwError,
    },
    /// The unit does not multiply the operands of a layer.
    #[error(
        "layer `{layer}` has {operand} of {format}, which `{unit}` does not multiply: \
         `float_accumulation.{key}` is {accepted}"
    )]
    Operands {
        /// Name of the layer.
        layer: String,
        /// Activations or weights, or their block scales.
        operand: &'static str,
        /// Format of the operand.
        format: &'static str,
        /// Name of the accelerator.
        unit: Box<str>,
        /// The key that refuses it.
        key: &'static str,
        /// What the key accepts.
        accepted: Box<str>,
    },
    /// Products that the unit adds exactly have scales of different blocks.
    #[error(
        "layer `{layer}` has block scales that differ within groups of {group} input channels, which \
         `float_accumulation.group_terms` adds before it scales"
    )]
    Groups {
        /// Name of the layer.
        layer: String,
        /// Products of a group.
        group: usize,
    },
    /// A requantization multiplier is out of range.
    #[error("layer `{layer}`, whose datapath drops {shift} bits: {source}")]
    Multiplier {
        /// Name of the layer.
        layer: String,
        /// Number of bits that the datapath drops and the multiplier must restore.
        shift: u32,
        /// Underlying error.
        source: MultiplierError,
    },
    /// A layer has too many products.
    #[error(
        "layer `{layer}` has {channels} output channels of {cells} products each; expected at most \
         {MAX_ELEMENTS} products in total"
    )]
    TooManyProducts {
        /// Name of the layer.
        layer: String,
        /// Number of output channels.
        channels: usize,
        /// Cells of the window, as rows x columns x channels.
        cells: String,
    },
    /// There is no permutation for the products of a layer.
    #[error(
        "layer `{layer}` adds {terms} products, but `reduction_order` has no permutation of this length \
         for it, only for: {given}"
    )]
    NoPermutation {
        /// Name of the layer.
        layer: String,
        /// Number of its products.
        terms: usize,
        /// Available permutations with their lengths.
        given: String,
    },
    /// The cycles of an operation on the host overflow their counter.
    #[error("layer `{layer}` takes more than 2^53 cycles of the accelerator's clock on the host")]
    TooManyHostCycles {
        /// Name of the operation.
        layer: String,
    },
    /// The cycles of a layer overflow their counter.
    #[error("layer `{layer}` takes more than 2^53 cycles on this accelerator")]
    TooManyCycles {
        /// Name of the layer.
        layer: String,
    },
}

impl LowerError {
    /// Returns a stable identifier of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownLayer { .. } => "guardbit::lower::unknown_layer",
            Self::AmbiguousLayer { .. } => "guardbit::lower::ambiguous_layer",
            Self::HostLayer { .. } => "guardbit::lower::host_layer",
            Self::Together { source } => source.code(),
            Self::Operands { .. } => "guardbit::lower::operands",
            Self::Groups { .. } => "guardbit::lower::groups",
            Self::Multiplier { .. } => "guardbit::lower::multiplier",
            Self::TooManyProducts { .. } => "guardbit::lower::too_many_products",
            Self::NoPermutation { .. } => "guardbit::lower::no_permutation",
            Self::TooManyHostCycles { .. } | Self::TooManyCycles { .. } => "guardbit::lower::too_many_cycles",
        }
    }

    /// Returns a hint on how to resolve the error.
    pub fn help(&self) -> &'static str {
        match self {
            Self::UnknownLayer { .. } => {
                "use the short name of a layer, its full name (the name of its output tensor), or its \
                 index over all operations; `guardbit inspect` prints them"
            }
            Self::AmbiguousLayer { .. } => "write the short name of the layer",
            Self::HostLayer { .. } => "add the operation to `offload`, or remove the override",
            Self::Together { .. } => {
                "overrides of a layer by name and by index are combined: change one of them"
            }
            Self::Operands { key: "operands", format: "e4m3" | "e5m2", accepted, .. }
                if accepted.contains("fnuz") =>
            {
                "quantize the float network with `--weights e4m3fnuz --activations e4m3fnuz`; or choose an accelerator \
                 whose unit takes this format, e.g. `hopper-wgmma-e4m3`"
            }
            Self::Operands { key: "operands", format: "e4m3fnuz" | "e5m2fnuz", accepted, .. }
                if accepted.split(", ").any(|own| own == "e4m3") =>
            {
                "quantize the float network with `--weights e4m3 --activations e4m3`; or choose an accelerator whose unit \
                 takes this format, e.g. `cdna3-mfma-fp8`"
            }
            Self::Operands { key: "operands", .. } => {
                "choose an accelerator whose unit takes this format, e.g. with `guardbit hw list`; quantize the network \
                 to a listed format; or add the format to `float_accumulation.operands`"
            }
            Self::Operands { .. } => {
                "choose an accelerator whose unit takes these scales: `blackwell-mxf8f6f4` or `blackwell-mxf4` for \
                 ue8m0, `blackwell-nvf4` for ue4m3"
            }
            Self::Groups { .. } => {
                "divide the input channels of both operands into blocks of a multiple of `group_terms` elements, or lower \
                 `group_terms`"
            }
            Self::Multiplier { .. } => {
                "the scales of the model differ too much, or the datapath drops more bits (`shift`) than \
                 the multiplier can compensate"
            }
            Self::TooManyProducts { .. } => {
                "the window is larger than the input, so parts of it read only padding: use a smaller \
                 window, or leave out the operation from `offload`"
            }
            Self::NoPermutation { .. } => {
                "add one under the layer's name or its number of products, or choose another walk for the \
                 layer: `layers: {NAME: {reduction_order.walk: forward}}`"
            }
            Self::TooManyHostCycles { .. } => {
                "`host.ops_per_cycle` and `host.bytes_per_cycle` are per cycle of `host.clock_mhz`: use \
                 larger values"
            }
            Self::TooManyCycles { .. } => {
                "`memory.sram_bytes_per_cycle`, `memory.accumulator_bytes_per_cycle` and \
                 `memory.dram_bytes_per_cycle` are bytes per cycle: use larger values"
            }
        }
    }
}

/// Returns `: did you mean ...`, or an empty text if no name is similar.
fn suggestion(near: &[(usize, String)]) -> String {
    let names: Vec<_> = near.iter().map(|(index, name)| format!("`{name}` ({index})")).collect();
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(", ")) }
}
