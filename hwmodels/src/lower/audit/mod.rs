//! Reports what lowering does to a network, node by node.

mod file;

use std::fmt;

use guardbit_graph::{DType, Finish, Graph, Op};

use super::{Placement, partition, residency};
use crate::{BiasPlace, LowerError, MacLayer, OutputFit, Packing, Program, Residency, Step, ZeroPoint};

/// Step at which a decision was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditStep {
    /// Reading the file.
    Frontend,
    /// Deciding what runs where.
    Partition,
    /// Making the datapath of a layer explicit.
    Lowering,
}

/// Outcome of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Equal to the model.
    Kept,
    /// Different from the model.
    Changed,
    /// Omitted.
    Dropped,
    /// Computed while the file was read, as a constant.
    Folded,
    /// Merged into another operation.
    Merged,
    /// Run on the host, exactly, in integers.
    Host,
    /// Run on the host, in floating point.
    Float,
}

/// Decision about a node or a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Step at which it was made.
    pub step: AuditStep,
    /// Index of the node over all operations; `None` for a tensor, or for a node of the file without a node
    /// of its own.
    pub node: Option<usize>,
    /// Short name of the node, name of the tensor, or name of a node of the file.
    pub name: String,
    /// Outcome of the decision.
    pub outcome: Outcome,
    /// Description and reason.
    pub what: String,
}

impl fmt::Display for AuditStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Frontend => "frontend",
            Self::Partition => "partition",
            Self::Lowering => "lowering",
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::Changed => "changed",
            Self::Dropped => "dropped",
            Self::Folded => "folded",
            Self::Merged => "merged",
            Self::Host => "host",
            Self::Float => "float",
        })
    }
}

/// Returns what became of every node of the file, and where its reader deviated from the file.
pub fn audit_frontend(graph: &Graph) -> Vec<Decision> {
    let of_note = |note: &guardbit_graph::Note| Decision {
        step: AuditStep::Frontend,
        node: None,
        name: note.tensor.clone(),
        outcome: Outcome::Changed,
        what: note.text.clone(),
    };
    let notes = graph.notes().iter().map(of_note);
    file::audit(graph).into_iter().chain(notes).collect()
}

/// Returns where every node runs and why, and where its layer's datapath differs from the model.
///
/// # Errors
/// [`LowerError`] under the conditions of [`partition`].
pub fn audit_lowering(program: &Program) -> Result<Vec<Decision>, LowerError> {
    let graph = &program.graph;
    let places = partition(graph, &program.accelerator)?;
    let mut all = Vec::new();
    for ((id, node), place) in graph.nodes_with_ids().zip(places) {
        let mut add = |step, outcome, what: String| {
            let (node, name) = (Some(id.index()), graph.short_name(id).to_owned());
            all.push(Decision { step, node, name, outcome, what });
        };
        let (outcome, what) = placed(graph, &node.op, node.output, place);
        add(AuditStep::Partition, outcome, what);
        if let Step::Float(layer) = &program.steps[id.index()] {
            let [x, w] = [&layer.dots.activations, &layer.dots.weights].map(|operand| operand.format);
            let what = format!("products of {x} and {w}: {}", layer.accumulation);
            add(AuditStep::Lowering, Outcome::Changed, what);
        }
        if let Some(layer) = program.mac_layer(id) {
            lowered(layer).into_iter().for_each(|(outcome, what)| add(AuditStep::Lowering, outcome, what));
            resident(program, layer)
                .into_iter()
                .for_each(|what| add(AuditStep::Lowering, Outcome::Kept, what));
        }
    }
    Ok(all)
}

fn placed(graph: &Graph, op: &Op, output: guardbit_graph::TensorId, place: Placement) -> (Outcome, String) {
    let name = match op {
        Op::Composite(composite) => composite.name(),
        op => op.name(),
    };
    let is_float = |dtype: DType| dtype.name().starts_with("float");
    match place {
        Placement::Accelerator => (Outcome::Kept, format!("{name} runs on the accelerator")),
        Placement::Host(reason) if is_float(graph.tensor(output).ty.dtype) => {
            (Outcome::Float, format!("{name} produces real values: {reason}"))
        }
        Placement::Host(reason) => (Outcome::Host, format!("{name} runs exactly: {reason}")),
    }
}

/// Returns where a layer's output is stored if activations may stay on the chip.
fn resident(program: &Program, layer: &MacLayer) -> Option<String> {
    let graph = &program.graph;
    if program.accelerator_of(layer.node).memory.residency == Residency::None {
        return None;
    }
    let Some(resident) = program.residents.iter().find(|resident| resident.from == layer.node) else {
        let reason = match residency::candidate(program, layer) {
            Some(_) => {
                "it does not fit `memory.activation_kib` together with the other activations that are needed \
                 until its last reader"
            }
            None => "no layer on the accelerator reads it",
        };
        return Some(format!("its output goes to external memory: {reason}"));
    };
    let (until, bytes) = (graph.short_name(resident.until), resident.bits.div_ceil(8));
    let stored = if resident.is_stored {
        ", and is also stored in external memory, for the host or the user"
    } else {
        ""
    };
    Some(format!("its output, {bytes} bytes, stays on the chip until `{until}` has read it{stored}"))
}

/// Returns how the datapath of a layer implements the model's arithmetic.
fn lowered(layer: &MacLayer) -> Vec<(Outcome, String)> {
    use Outcome::{Changed, Kept};
    let path = &layer.datapath;
    let mut all = Vec::new();
    if let Finish::Requantize(stage) = &layer.dots.finish {
        let own = stage.requantize.scheme;
        all.push(match path.requantize.scheme.filter(|scheme| *scheme != own) {
            Some(scheme) => (
                Changed,
                format!(
                    "requantize as {scheme} (`requantize.scheme`) instead of {own}, with the same multipliers"
                ),
            ),
            None => {
                (Kept, format!("requantize {own}, multipliers formed in {}", stage.requantize.rule.name()))
            }
        });
    }
    let zero = layer.dots.input_zero_point;
    all.push(match path.operands.zero_point {
        ZeroPoint::Subtract => (Kept, "zero points are subtracted before the multiplier".into()),
        ZeroPoint::Fold if zero == 0 && !layer.has_side_sums() => (Kept, "all zero points are 0".into()),
        ZeroPoint::Fold => (
            Changed,
            format!(
                "products are of raw codes: the zero points ({zero} of the activations) are added to the bias"
            ),
        ),
    });
    if layer.bias.is_some() {
        all.push(match path.bias.at {
            BiasPlace::Post => (Kept, "the bias is added after the last level".into()),
            BiasPlace::Preload => (Kept, "the bias is the initial value of the last level".into()),
            BiasPlace::PostRequantize => {
                (Changed, "the bias is requantized by itself, so the result is rounded twice".into())
            }
        });
    }
    let dropped = path.unit_shift(path.levels.len());
    if dropped > 0 {
        let what =
            format!("{dropped} low bits of the sums are dropped; the multiplier compensates the shift");
        all.push((Outcome::Dropped, what));
    }
    match path.requantize.output {
        OutputFit::Saturate => {}
        // Pools, means and sums clamp like the model's runtime.
        _ if matches!(layer.dots.finish, Finish::Divide(_)) => {}
        OutputFit::SaturateSymmetric => {
            all.push((
                Changed,
                "codes have a restricted range (`requantize.output: saturate_symmetric`)".into(),
            ));
        }
        OutputFit::Wrap => {
            all.push((
                Changed,
                "codes that do not fit keep their low bits (`requantize.output: wrap`)".into(),
            ));
        }
    }
    if layer.packing != Packing::None {
        all.push((Changed, "neighbouring output channels share an adder (`packing`)".into()));
    }
    all
}
