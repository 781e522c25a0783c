//! Result of lowering: one step per node, with the datapath of every accelerated layer made explicit.

use std::sync::Arc;

use guardbit_graph::{
    CodeRange, DotProducts, FloatDots, Graph, KernelPosition, NodeId, TensorId, WeightCodes,
};
use guardbit_num::Requantizer;

use crate::timing::{HostTime, LayerTiming, Widths, bits_of_kib};
use crate::{Accelerator, Datapath, FloatAccumulation, Host, Packing, Weights, ZeroPoint};

/// Graph lowered onto an accelerator.
#[derive(Debug, Clone)]
pub struct Program {
    /// The graph.
    pub graph: Arc<Graph>,
    /// The accelerator.
    pub accelerator: Accelerator,
    /// One step per node of the graph, in order of execution.
    pub steps: Vec<Step>,
    /// Activations that stay on the chip, in the order in which they are produced.
    pub residents: Vec<Resident>,
}

/// Activation tensor that stays in the SRAM of activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    /// The tensor.
    pub tensor: TensorId,
    /// Layer that produces it.
    pub from: NodeId,
    /// Last layer on the accelerator that reads it.
    pub until: NodeId,
    /// Size in bits.
    pub bits: u128,
    /// Whether it is stored outside too, because the host reads it or it is an output of the network.
    pub is_stored: bool,
}

/// Execution of one node.
#[derive(Debug, Clone)]
pub enum Step {
    /// On the host, exactly, for the given reason.
    Host(Host),
    /// On the accelerator.
    Mac(Box<MacLayer>),
    /// On the accelerator, in floating point.
    Float(Box<FloatMacLayer>),
}

/// Layer on the accelerator.
#[derive(Debug, Clone)]
pub struct MacLayer {
    /// The node.
    pub node: NodeId,
    /// Name of the layer, which is that of its output tensor.
    pub name: String,
    /// Unique short name.
    pub short_name: String,
    /// Name of the operation.
    pub op: &'static str,
    /// Its dot products.
    pub dots: DotProducts,
    /// Datapath on which it runs, with the layer's own overrides.
    pub datapath: Datapath,
    /// Window cells in the order of addition, as flat `[row, column, channel]` indices.
    pub order: Vec<usize>,
    /// Weight operands of the multiplier: `[out channel][k]` in the order of addition; all 1 for pools, empty
    /// if the weights are activations ([`with_weights`](Self::with_weights)). Programs that are lowered by one
    /// [`Lowering`](crate::Lowering) share them.
    pub weights: Weights,
    /// Bias per output channel at unit 1, including folded zero-point terms; `None` if nothing is added.
    pub bias: Option<Vec<i128>>,
    /// Factor of the sum of all activation codes (including padding) that is added exactly, per output
    /// channel: `-zw` under `fold`, otherwise 0.
    pub input_sum_factor: Vec<i64>,
    /// Factor of the sum of all weight codes of a dot product that is added exactly: `-zx` under `fold` if
    /// the weights are activations, otherwise 0.
    pub weight_sum_factor: i64,
    /// Requantizers per output channel for sums in the unit at the end of the datapath. Empty for pools.
    pub requantizers: Vec<Requantizer>,
    /// Requantizers per output channel for sums in unit 1. Empty for pools.
    pub exact_requantizers: Vec<Requantizer>,
    /// Range of the output's codes.
    pub output_range: CodeRange,
    /// Packing of lanes that share one adder.
    pub packing: Packing,
    /// Bits of its codes and constants.
    pub widths: Widths,
    /// Cycle and place of every addition.
    pub timing: LayerTiming,
}

/// Layer of floating-point codes on the accelerator.
#[derive(Debug, Clone)]
pub struct FloatMacLayer {
    /// The node.
    pub node: NodeId,
    /// Name of the layer, which is that of its output tensor.
    pub name: String,
    /// Unique short name.
    pub short_name: String,
    /// Name of the operation.
    pub op: &'static str,
    /// Its dot products.
    pub dots: FloatDots,
    /// Accumulation of the products.
    pub accumulation: FloatAccumulation,
    /// Cells of the window in the order of addition, as flat `[row, column, channel]` indices.
    pub order: Vec<usize>,
    /// Numbers of successive products that are added exactly to one term, if the unit adds groups. The products of a
    /// group share the scales of their blocks.
    pub groups: Option<Vec<usize>>,
    /// Cycles of the layer.
    pub timing: LayerTiming,
}

/// Time of an accelerated layer.
#[derive(Debug, Clone, Copy)]
pub struct TimedLayer<'p> {
    /// The node.
    pub node: NodeId,
    /// Name of the layer, which is that of its output tensor.
    pub name: &'p str,
    /// Unique short name.
    pub short_name: &'p str,
    /// Name of the operation.
    pub op: &'static str,
    /// Cycle and place of every addition.
    pub timing: &'p LayerTiming,
}

impl Program {
    /// Returns the accelerated layers of floating-point codes in order of execution.
    pub fn float_layers(&self) -> impl Iterator<Item = &FloatMacLayer> {
        self.steps.iter().filter_map(|step| match step {
            Step::Float(layer) => Some(layer.as_ref()),
            Step::Host(_) | Step::Mac(_) => None,
        })
    }

    /// Returns the accelerated layers of both kinds with their time, in order of execution.
    pub fn timed_layers(&self) -> impl Iterator<Item = TimedLayer<'_>> {
        self.steps.iter().filter_map(|step| {
            let (node, name, short_name, op, timing) = match step {
                Step::Host(_) => return None,
                Step::Mac(layer) => (layer.node, &layer.name, &layer.short_name, layer.op, &layer.timing),
                Step::Float(layer) => (layer.node, &layer.name, &layer.short_name, layer.op, &layer.timing),
            };
            Some(TimedLayer { node, name, short_name, op, timing })
        })
    }

    /// Returns the accelerated layers of integer codes in order of execution.
    pub fn mac_layers(&self) -> impl Iterator<Item = &MacLayer> {
        self.steps.iter().filter_map(|step| match step {
            Step::Host(_) | Step::Float(_) => None,
            Step::Mac(layer) => Some(layer.as_ref()),
        })
    }

    /// Returns the time of a node on the host; `None` if the accelerator runs it.
    pub fn host_time(&self, node: NodeId) -> Option<HostTime> {
        match &self.steps[node.index()] {
            Step::Host(Host::OfLayer) | Step::Mac(_) | Step::Float(_) => None,
            Step::Host(_) => Some(HostTime::new(&self.accelerator, self.graph.work(node))),
        }
    }

    /// Returns the accelerator of a node with its overrides applied.
    pub fn accelerator_of(&self, node: NodeId) -> &Accelerator {
        let index = node.index().to_string();
        let mut names = [self.graph.short_name(node), self.graph.node_name(node), &index].into_iter();
        let own = names.find_map(|name| {
            self.accelerator.layers.get(name).filter(|_| self.graph.find_node(name) == Ok(node))
        });
        own.unwrap_or(&self.accelerator)
    }

    /// Returns the bits of the activations on the chip while a node runs, including those that wait.
    pub fn resident_bits(&self, node: NodeId) -> u128 {
        let here = self.residents.iter().filter(|resident| (resident.from..=resident.until).contains(&node));
        here.map(|resident| resident.bits).fold(0, u128::saturating_add)
    }

    /// Returns the greatest number of these bits, and the first node with it; `None` if no activations stay.
    pub fn resident_peak(&self) -> Option<(NodeId, u128)> {
        // The size grows only where a tensor is produced.
        let made = self.residents.iter().map(|resident| (resident.from, self.resident_bits(resident.from)));
        made.rev().max_by_key(|(_, bits)| *bits)
    }

    /// Returns the size of the SRAM of activations in bits.
    pub fn activation_sram_bits(&self) -> u128 {
        bits_of_kib(self.accelerator.memory.activation_kib, 1)
    }

    /// Returns the tensors that a layer reads per sample: its activations, and its weights if they are
    /// activations.
    pub fn reads(&self, layer: &MacLayer) -> [Option<TensorId>; 2] {
        let input = |index: usize| self.graph.node(layer.node).inputs.get(index).copied().flatten();
        [input(0), input(1).filter(|_| layer.dots.streams_weights())]
    }

    /// Returns the accelerated layer of a node.
    pub fn mac_layer(&self, node: NodeId) -> Option<&MacLayer> {
        match &self.steps[node.index()] {
            Step::Host(_) | Step::Float(_) => None,
            Step::Mac(layer) => Some(layer),
        }
    }
}

impl MacLayer {
    /// Returns the output channel whose products share an adder with those of `channel` and are in the low
    /// lane, if there is one. Adjacent channels of a group share an adder; the first of two is the low lane.
    pub fn low_lane(&self, channel: usize) -> Option<usize> {
        let Packing::Dsp48e2Int8x2(_) = self.packing else { return None };
        // Without weights nothing can be packed: each channel reads activations of its own.
        self.dots.weights.as_ref()?;
        let window = &self.dots.window;
        let of_group = window.channels() / window.groups.max(1);
        (channel % of_group.max(1) % 2 == 1).then(|| channel - 1)
    }

    /// Returns whether exact sums of operands are added to the last level's result: under `fold`,
    /// `-zw * sum(x)` and, if the weights are activations, `-zx * sum(w)`.
    pub fn has_side_sums(&self) -> bool {
        // Asked for every output: most layers have no factors to look at.
        self.datapath.operands.zero_point == ZeroPoint::Fold
            && (self.weight_sum_factor != 0 || self.input_sum_factor.iter().any(|&factor| factor != 0))
    }

    /// Returns the operand of `code`, a weight of output channel `channel`.
    pub fn weight_operand(&self, channel: usize, code: i32) -> i32 {
        match (&self.dots.weights, self.datapath.operands.zero_point) {
            (Some(weights), ZeroPoint::Subtract) => code - weights.zero_points[channel],
            _ => code,
        }
    }

    /// Returns the layer of image `image` alone with constant weights, which are taken from `codes`, the
    /// second input of one sample. Geometry and timing remain those of all images.
    pub fn with_weights(&self, codes: &[i32], image: usize) -> Self {
        let mut layer = self.clone();
        let Some(weights) = &mut layer.dots.weights else { return layer };
        let cells: Vec<_> =
            (0..self.order.len()).map(|k| self.dots.window.kernel_position(self.order[k])).collect();
        layer.weights = Weights::new(self.dots.window.channels(), cells.len(), |channel, k| {
            self.weight_operand(channel, codes[weights.index(image, channel, cells[k])])
        });
        let start = weights.index(image, 0, KernelPosition { h: 0, w: 0, c: 0 });
        let of_image = &codes[start..start + self.dots.window.terms() * self.dots.window.channels()];
        weights.codes = WeightCodes::Constant(of_image.into());
        layer
    }

    /// Returns the operand of padding, and the value that is subtracted from every activation code.
    pub fn activation_offset(&self) -> ActivationOffset {
        ActivationOffset::new(self.datapath.operands.zero_point, self.dots.input_zero_point)
    }
}

/// Conversion of an activation code to an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivationOffset {
    /// Value that is subtracted from every code that is read.
    pub subtract: i32,
    /// Operand of a padding cell.
    pub padding: i32,
}

impl ActivationOffset {
    /// Returns the conversion for activations with this zero point.
    pub fn new(handling: ZeroPoint, zero_point: i32) -> Self {
        match handling {
            ZeroPoint::Subtract => Self { subtract: zero_point, padding: 0 },
            ZeroPoint::Fold => Self { subtract: 0, padding: zero_point },
        }
    }
}
