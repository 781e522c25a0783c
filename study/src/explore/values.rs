//! Decides which designs provably have equal values.
//!
//! Values follow from each layer's datapath and its inputs. A register that never overflows is equivalent to
//! one that holds everything, so its width makes no difference. A register never overflows if it holds every
//! sum of the layer's real weights for any input. It also never overflows if it holds all sums that occur on
//! the samples, provided that nothing before it (including products) is affected by overflow. A wrapping
//! register needs to hold only final sums. If this holds for all registers, the design equals the one with
//! accumulators that hold everything.

use guardbit_graph::{Graph, NodeId};
use guardbit_hwmodels::bounds::LayerBounds;
use guardbit_hwmodels::{Check, Level, MacLayer, Packing, Program, Register};
use guardbit_num::{MAX_BITS, Overflow};
use guardbit_sim::{ChannelLevel, LevelStats};

use super::outcome::Outcome;
use super::plan::Plan;
use super::shape::LayerShape;
use crate::Identity;
use crate::execute::Executed;

/// Identification of a design's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Values {
    /// Key; designs with equal keys have equal values.
    pub key: Identity,
    /// Whether the values equal those of accumulators that hold everything.
    pub is_exact: bool,
}

/// Register requirements of designs that differ only in widths.
pub(super) struct Measured {
    layers: Vec<(NodeId, Vec<Need>)>,
    /// Outcome of accumulators that hold everything.
    pub outcome: Outcome,
}

/// Bits required by one level of one layer.
#[derive(Debug, Clone, Copy)]
struct Need {
    /// Bits for any activations.
    proved: u32,
    /// Bits for the activations of the samples: final sums, and all prefixes.
    finals: u32,
    prefixes: u32,
}

impl Measured {
    /// Creates the requirements from a run of `program` with accumulators that hold everything.
    pub fn new(program: &Program, executed: &Executed) -> Self {
        let need = |layer: &MacLayer| {
            let bounds = LayerBounds::new(&program.graph, layer);
            let stats = executed.layers[layer.node.index()].as_ref();
            let levels = stats.map_or(&[][..], |stats| &stats.levels);
            // Sums are counted over exact products; they give no information if products overflow.
            let exact =
                stats.is_some_and(|stats| stats.channels.iter().all(|channel| channel.product_events == 0));
            let widest = |bits: &dyn Fn(&ChannelLevel) -> u32, level: &LevelStats| match exact {
                true => level.channels.iter().map(bits).max().unwrap_or(1),
                false => MAX_BITS + 1,
            };
            let one = |(index, level): (usize, &LevelStats)| Need {
                proved: bounds.proved_bits(index),
                finals: widest(&|channel| channel.required_final, level),
                prefixes: widest(&|channel| channel.required_prefix, level),
            };
            (layer.node, levels.iter().enumerate().map(one).collect())
        };
        Self {
            layers: program.mac_layers().map(need).collect(),
            outcome: Outcome::from(&executed.verdict.score),
        }
    }

    /// Returns the identification of the values of a design with this structure.
    pub fn values(&self, plan: &Plan, shapes: &[LayerShape]) -> Values {
        let (lifted, is_exact) = self.lifted(&plan.subject.graph, shapes);
        Values { key: plan.values_key(&format!("{lifted:?}")), is_exact }
    }

    /// Returns the design with every register that never overflows widened to the maximum, and whether that
    /// covers all registers.
    fn lifted(&self, graph: &Graph, shapes: &[LayerShape]) -> (Vec<LayerShape>, bool) {
        let mut lifted = shapes.to_vec();
        // Whether each tensor is unaffected by overflow.
        let mut undisturbed = vec![true; graph.tensors().len()];
        for (node, own) in graph.nodes_with_ids() {
            let read = own.inputs.iter().flatten().all(|tensor| undisturbed[tensor.index()]);
            let Some(shape) = lifted.iter_mut().find(|shape| shape.node == node) else {
                undisturbed[own.output.index()] = read;
                continue;
            };
            let needs =
                self.layers.iter().find(|(other, _)| *other == node).map_or(&[][..], |(_, needs)| needs);
            let mut whole = shape.packing == Packing::None;
            let exact_products = shape.datapath.product.register == Register::Auto;
            for (level, need) in shape.datapath.levels.iter_mut().zip(needs) {
                // The proof assumes exact products. After a level that overflows, nothing is known about the
                // sums.
                let proved = if exact_products { need.proved } else { MAX_BITS + 1 };
                whole &= Need { proved, ..*need }.is_met(level, read);
                level.register = if whole { Register::Auto } else { level.register };
            }
            whole &= needs.len() == shape.datapath.levels.len();
            undisturbed[own.output.index()] = read && whole;
        }
        let auto = |level: &Level| level.register == Register::Auto;
        let all = lifted.iter().flat_map(|shape| &shape.datapath.levels).all(auto);
        (lifted, all)
    }
}

impl Need {
    /// Returns whether the register of a level never overflows, or its overflow makes no difference.
    fn is_met(&self, level: &Level, undisturbed: bool) -> bool {
        let Register::Fixed { format, overflow } = level.register else { return true };
        // Symmetric saturation has one value less.
        let room = format.bits() - u32::from(overflow.is_symmetric());
        let bits = match (overflow, undisturbed) {
            (Overflow::Observe, _) => return true,
            // Modulo arithmetic: the final sum is correct whatever overflowed before.
            (Overflow::Wrap, true) if level.check == Check::EachAdd => self.finals,
            (_, true) => self.prefixes,
            (_, false) => MAX_BITS + 1,
        };
        bits.min(self.proved) <= room
    }
}
