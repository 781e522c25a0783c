//! Variables, which a network keeps from one invocation to the next, and their initial values.

use guardbit_graph::plain_name;

use super::budget::Budget;
use super::error::{OperatorPlace, TfliteError};
use super::flatbuffer::{Field, Vector};
use super::options::Options;
use super::schema::{self, Model, SubGraph};
use super::tensor::Tensor;
use super::{builtin, describe};

/// The identifier of a variable in all subgraphs of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Variable {
    container: String,
    pub name: String,
}

/// The initial value of a variable.
#[derive(Debug)]
pub(crate) struct Assignment<'a> {
    pub variable: Variable,
    pub value: Tensor<'a>,
}

/// Numbers of the options in the schema.
pub(super) const CALL_ONCE: u8 = 103;
pub(super) const VAR_HANDLE: u8 = 111;

/// Returns the variable of the options of a VAR_HANDLE.
pub(super) fn variable(options: &Options<'_>) -> Result<Variable, TfliteError> {
    let text = |slot, name| options.text(Field(slot, name)).map(str::to_owned);
    Ok(Variable {
        container: text(0, "VarHandleOptions.container")?,
        name: text(1, "VarHandleOptions.shared_name")?,
    })
}

/// Returns the assignments of subgraph `index`, which the operator `place` runs once before all others.
pub(super) fn assignments<'a>(
    file: &'a [u8],
    model: Model<'a>,
    index: usize,
    place: &OperatorPlace,
    budget: &mut Budget,
) -> Result<Vec<Assignment<'a>>, TfliteError> {
    let fail = |problem: String| TfliteError::Operator { place: place.clone(), problem };
    if index == 0 {
        return Err(fail("runs subgraph 0, the network itself".into()));
    }
    let missing = TfliteError::Index { what: "subgraph", index: index as i64 };
    let subgraph = SubGraph(model.subgraphs()?.get(index)?.ok_or(missing)?);
    if indices(subgraph.inputs()?).chain(indices(subgraph.outputs()?)).next().is_some() {
        return Err(fail(format!("runs subgraph {index}, which has inputs or outputs")));
    }
    let mut handles: Vec<(i32, Variable)> = Vec::new();
    let mut assignments = Vec::new();
    let operators = subgraph.operators()?;
    let mut number = 0;
    while let Some(table) = operators.get(number)? {
        let stored = schema::Operator(table);
        let opcode = stored.opcode_index()?;
        let code = model.operator_code(opcode as usize)?;
        let code = code.ok_or(TfliteError::Index { what: "operator code", index: opcode.into() })?;
        let builtin = code.builtin()?;
        let inputs: Vec<i32> = indices(stored.inputs()?).take(3).collect();
        let outputs: Vec<i32> = indices(stored.outputs()?).take(2).collect();
        // Every assignment searches the handles before it.
        budget.spend(1 + inputs.len() + outputs.len() + handles.len())?;
        let here = |problem: &str| fail(format!("runs subgraph {index}, whose operator {number} {problem}"));
        match (builtin::name(builtin), &inputs[..], &outputs[..]) {
            ("VAR_HANDLE", [], &[output]) => {
                let (found, table) = stored.options()?;
                if ![0, VAR_HANDLE].contains(&found) {
                    return Err(here(&format!("has options of type {found}, expected {VAR_HANDLE}")));
                }
                handles.push((output, variable(&Options { table, place: place.clone() })?));
            }
            ("ASSIGN_VARIABLE", &[handle, value], []) => {
                let named = handles.iter().rev().find(|(output, _)| *output == handle);
                let (_, variable) =
                    named.ok_or_else(|| here("assigns to something that is not a variable"))?;
                let missing = TfliteError::Index { what: "tensor", index: value.into() };
                let at = usize::try_from(value).map_err(|_| missing.clone())?;
                let tensor = subgraph.tensor(at)?.ok_or(missing)?;
                let name = tensor.name()?;
                budget.spend(name.len())?;
                let value = Tensor::read(file, model, tensor, plain_name(name).into(), None, budget);
                if value.data()?.is_none() {
                    return Err(here("assigns a tensor that is not a constant"));
                }
                budget.spend(value.stored_values())?;
                assignments.push(Assignment { variable: variable.clone(), value });
            }
            ("VAR_HANDLE" | "ASSIGN_VARIABLE", ..) => {
                return Err(here("has the wrong number of inputs or outputs"));
            }
            _ => {
                let problem =
                    format!("is {}; only assignments of constants are supported there", describe(builtin));
                return Err(here(&problem));
            }
        }
        number += 1;
    }
    Ok(assignments)
}

/// Returns the indices of tensors that a file lists.
pub(super) fn indices(vector: Option<Vector<'_, i32>>) -> impl Iterator<Item = i32> {
    vector.into_iter().flat_map(|v| v.iter())
}
