//! Builds the integer network: every unit in its integer form, with the codes of the simulated network.

use std::collections::HashMap;

use guardbit_graph::{Graph, Op, TensorId};

use crate::QuantizeError;
use crate::emit::Emit;
use crate::plan::Unit;
use crate::simulated::{Simulated, emit_unit};

/// Returns the quantized network of a simulated network whose variables are set.
///
/// # Errors
/// [`QuantizeError`] if a scale is out of range.
pub fn realize(simulated: &Simulated<'_>) -> Result<Graph, QuantizeError> {
    let graph = simulated.plan.graph();
    let names = graph.tensors().iter().map(|tensor| tensor.name.as_str());
    let mut network = Network {
        simulated,
        emit: Emit::new(graph.name(), names),
        codes: HashMap::new(),
        reals: HashMap::new(),
        constants: HashMap::new(),
    };
    network.inputs()?;
    for (index, unit) in simulated.plan.units().iter().enumerate() {
        match simulated.variable(unit.output).filter(|_| simulated.is_quantized(index)) {
            Some(codes) => {
                let known = &network.codes;
                let id = emit_unit(simulated, index, &mut network.emit, Some(codes), |id| {
                    known.get(&id).copied()
                })?;
                network.codes.insert(unit.output, id);
            }
            None => network.in_float(unit)?,
        }
    }
    network.finish()
}

struct Network<'s, 'p> {
    simulated: &'s Simulated<'p>,
    emit: Emit,
    /// Codes, and real values, of the float network's tensors.
    codes: HashMap<TensorId, TensorId>,
    reals: HashMap<TensorId, TensorId>,
    constants: HashMap<TensorId, TensorId>,
}

impl Network<'_, '_> {
    /// Adds the inputs; quantized inputs are inputs of codes.
    fn inputs(&mut self) -> Result<(), QuantizeError> {
        let graph = self.simulated.plan.graph();
        for &id in graph.inputs() {
            let tensor = graph.tensor(id);
            match self.simulated.variable(id) {
                Some(codes) => {
                    let ty = codes.ty(&tensor.name, &tensor.ty.shape)?;
                    self.codes.insert(id, self.emit.input(&tensor.name, ty)?);
                }
                None => {
                    self.reals.insert(id, self.emit.input(&tensor.name, tensor.ty.clone())?);
                }
            }
        }
        Ok(())
    }

    /// Adds the nodes of a unit in float, and the codes of its output if they are read.
    fn in_float(&mut self, unit: &Unit) -> Result<(), QuantizeError> {
        let graph = self.simulated.plan.graph();
        let codes = self.simulated.variable(unit.output);
        for &node in &unit.nodes {
            let node = graph.node(node);
            let mut inputs = Vec::new();
            for input in &node.inputs {
                inputs.push(input.map(|id| self.real(id)).transpose()?);
            }
            let mut name = graph.tensor(node.output).name.clone();
            // The codes take the name of the tensor.
            if codes.is_some() && node.output == unit.output {
                name = self.emit.fresh(&name, "float");
            }
            let id = self.emit.float_node(node.op.clone(), &inputs, name)?;
            self.reals.insert(node.output, id);
        }
        if let (Some(codes), Some(&real)) = (codes, self.reals.get(&unit.output)) {
            let name = &graph.tensor(unit.output).name;
            // A pool between codes of one type is one operation of the runtime, which adds the zero point
            // first.
            let last = unit.nodes.last().map(|&node| &graph.node(node).op);
            let inputs: Option<Vec<TensorId>> =
                unit.inputs.iter().map(|id| self.codes.get(id).copied()).collect();
            let pool = matches!(last, Some(Op::FloatAvgPool2d(_)))
                && inputs.is_some_and(|inputs| self.emit.bytes_alike(&inputs, &codes));
            let id = self.emit.quantized(real, name, &codes, pool)?;
            self.codes.insert(unit.output, id);
        }
        Ok(())
    }

    /// Returns the real values of a tensor of the float network; if it has codes, those of the codes.
    fn real(&mut self, id: TensorId) -> Result<TensorId, QuantizeError> {
        if let Some(&codes) = self.codes.get(&id) {
            return self.emit.dequantized(codes);
        }
        if let Some(&real) = self.reals.get(&id).or(self.constants.get(&id)) {
            return Ok(real);
        }
        let tensor = self.simulated.plan.graph().tensor(id);
        let codes = tensor.codes().map_or_else(Vec::new, |codes| codes.to_vec());
        let made = self.emit.constant(tensor.name.clone(), tensor.ty.clone(), codes)?;
        self.constants.insert(id, made);
        Ok(made)
    }

    fn finish(mut self) -> Result<Graph, QuantizeError> {
        let outputs = self.simulated.plan.graph().outputs().to_vec();
        let mut made = Vec::new();
        for id in outputs {
            made.push(match self.codes.get(&id) {
                Some(&codes) => codes,
                None => self.real(id)?,
            });
        }
        self.emit.finish(made)
    }
}
