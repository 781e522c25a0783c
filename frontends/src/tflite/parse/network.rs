//! The description of a file.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use guardbit_graph::FileOutcome;

use super::budget::Budget;
use super::builtin;
use super::error::{OperatorPlace, TfliteError};
use super::flatbuffer::{Field, FlatbufferError, Table, Vector};
use super::names::Names;
use super::options::Options;
use super::schema::{self, Model, SubGraph};
use super::tensor::Tensor;
use super::variables::{Assignment, CALL_ONCE, VAR_HANDLE, Variable, assignments, indices, variable};

/// The network of a file. Tensors are identified by their index in it.
#[derive(Debug)]
pub(crate) struct Network<'a> {
    /// The tensors that inputs, outputs and operators refer to.
    pub tensors: HashMap<usize, Tensor<'a>>,
    pub inputs: Vec<usize>,
    /// Operators in the order in which they run, up to the first that cannot be read.
    pub operators: Vec<Operator<'a>>,
    pub outputs: Vec<usize>,
    /// Removed operators with their outcome.
    pub computed: Vec<(Operator<'a>, FileOutcome)>,
    /// Assignments to variables in the subgraphs that CALL_ONCE runs, by subgraph index.
    pub initializations: HashMap<usize, Result<Vec<Assignment<'a>>, TfliteError>>,
    /// The values carried from step to step of a stream. Empty before variables are resolved.
    pub states: Vec<State<'a>>,
    /// The error of the next operator, or of the outputs.
    pub damage: Option<TfliteError>,
    /// The names of all tensors.
    pub names: Names,
    /// The number of values that the file may still expand to.
    pub budget: Budget,
}

/// A tensor that holds a value of the previous step of a stream.
#[derive(Debug)]
pub(crate) struct State<'a> {
    pub tensor: usize,
    /// The tensor that holds its codes in the next step.
    pub next: Input,
    /// Its codes in the first step, if the file defines them.
    pub initial: Option<Tensor<'a>>,
    /// The name of its variable.
    pub variable: String,
    /// The operator that reads it.
    pub place: OperatorPlace,
}

/// One step of a network.
#[derive(Debug)]
pub(crate) struct Operator<'a> {
    /// Its index in the file.
    pub index: usize,
    /// Its number in the schema.
    pub builtin: i32,
    /// Its name if it is a custom operator.
    pub custom: &'a str,
    pub outputs: Vec<usize>,
    inputs: Result<Vec<Input>, TfliteError>,
    /// The number of the options in the schema, and their table.
    options: Result<(u8, Option<Table<'a>>), FlatbufferError>,
    /// An output that is an input of the network, or was read or written before.
    pub twice: Option<usize>,
}

/// An operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// An absent operand.
    Absent,
    /// A constant that neither an input nor an earlier operator has written.
    Constant(usize),
    /// A tensor that an input or an earlier operator has written.
    Written(usize),
    /// A tensor that is neither a constant nor written before.
    Unwritten(usize),
}

impl Input {
    /// Returns the tensor, if there is one.
    pub fn tensor(self) -> Option<usize> {
        match self {
            Self::Absent => None,
            Self::Constant(tensor) | Self::Written(tensor) | Self::Unwritten(tensor) => Some(tensor),
        }
    }
}

impl<'a> Operator<'a> {
    /// Returns the operator for errors.
    pub fn place(&self) -> OperatorPlace {
        OperatorPlace { index: self.index, name: builtin::name(self.builtin) }
    }

    /// Returns its operands.
    pub fn inputs(&self) -> Result<&[Input], TfliteError> {
        self.inputs.as_deref().map_err(TfliteError::clone)
    }

    /// Returns the operator with other operands.
    pub fn reading(self, inputs: Vec<Input>) -> Self {
        Self { inputs: Ok(inputs), ..self }
    }

    /// Returns the variable of a VAR_HANDLE.
    pub fn variable(&self) -> Result<Variable, TfliteError> {
        variable(&self.options(VAR_HANDLE)?)
    }

    /// Returns the subgraph that a CALL_ONCE runs.
    pub fn initialization(&self) -> Result<usize, TfliteError> {
        self.options(CALL_ONCE)?.size(Field(0, "CallOnceOptions.init_subgraph_index"), 0)
    }

    /// Returns the options, which must have number `expected` in the schema.
    pub fn options(&self, expected: u8) -> Result<Options<'a>, TfliteError> {
        let (place, (found, table)) = (self.place(), self.options.clone()?);
        if ![0, expected].contains(&found) {
            let problem = format!("has options of type {found}, expected {expected}");
            return Err(TfliteError::Operator { place, problem });
        }
        Ok(Options { table, place })
    }
}

/// Returns the network in `file`.
pub(crate) fn parse(file: &[u8]) -> Result<Network<'_>, TfliteError> {
    if file.get(4..8) != Some(Model::IDENTIFIER) {
        return Err(TfliteError::Identifier);
    }
    let model = Model::root(file)?;
    let version = model.version()?;
    if version != Model::VERSION {
        return Err(TfliteError::Version { version });
    }
    let subgraphs = model.subgraphs()?;
    let Some(subgraph) = subgraphs.get(0)? else {
        return Err(TfliteError::Subgraphs { count: 0 });
    };
    let mut walk = Walk {
        file,
        model,
        subgraph: SubGraph(subgraph),
        budget: Budget::for_file(file.len()),
        tensors: HashMap::new(),
        written: HashSet::new(),
        read: HashSet::new(),
        names: Names::default(),
    };
    walk.reserve_names()?;
    let inputs = walk.inputs()?;
    let (mut operators, mut outputs) = (Vec::new(), Vec::new());
    let read = walk.operators(&mut operators).and_then(|()| walk.outputs(&mut outputs));
    let initializations = walk.initializations(&operators)?;
    if subgraphs.len() != 1 + initializations.keys().filter(|&&index| index != 0).count() {
        return Err(TfliteError::Subgraphs { count: subgraphs.len() });
    }
    let Walk { tensors, names, budget, .. } = walk;
    let (computed, states, damage) = (Vec::new(), Vec::new(), read.err());
    Ok(Network {
        tensors,
        inputs,
        operators,
        outputs,
        computed,
        initializations,
        states,
        damage,
        names,
        budget,
    })
}

/// The state while a file is read.
struct Walk<'a> {
    file: &'a [u8],
    model: Model<'a>,
    subgraph: SubGraph<'a>,
    budget: Budget,
    tensors: HashMap<usize, Tensor<'a>>,
    /// The tensors that inputs and operators have written so far.
    written: HashSet<usize>,
    /// The constants that operators have read so far.
    read: HashSet<usize>,
    names: Names,
}

impl<'a> Walk<'a> {
    /// Reads the description of the tensor at `index` of the file.
    fn tensor(&mut self, index: i32) -> Result<usize, TfliteError> {
        let missing = TfliteError::Index { what: "tensor", index: index.into() };
        let Ok(index) = usize::try_from(index) else { return Err(missing) };
        if !self.tensors.contains_key(&index) {
            let tensor = self.subgraph.tensor(index)?.ok_or(missing)?;
            let stored = tensor.name()?;
            self.budget.spend(stored.len())?;
            let (name, renamed) = self.names.give(stored, index);
            let tensor = Tensor::read(self.file, self.model, tensor, name, renamed, &mut self.budget);
            self.tensors.insert(index, tensor);
        }
        Ok(index)
    }

    /// Gives inputs and outputs of operators their names before any constant can take them.
    fn reserve_names(&mut self) -> Result<(), TfliteError> {
        for index in indices(self.subgraph.inputs()?) {
            self.tensor(index)?;
        }
        let operators = self.subgraph.operators()?;
        let mut index = 0;
        while let Some(table) = operators.get(index)? {
            for output in indices(schema::Operator(table).outputs()?) {
                self.budget.spend(1)?;
                self.tensor(output)?;
            }
            index += 1;
        }
        Ok(())
    }

    fn inputs(&mut self) -> Result<Vec<usize>, TfliteError> {
        let mut inputs = Vec::new();
        for index in indices(self.subgraph.inputs()?) {
            let tensor = self.tensor(index)?;
            if !self.written.insert(tensor) {
                return Err(TfliteError::written_twice(None, &self.tensors[&tensor].name));
            }
            inputs.push(tensor);
        }
        Ok(inputs)
    }

    fn operators(&mut self, read: &mut Vec<Operator<'a>>) -> Result<(), TfliteError> {
        let tables = self.subgraph.operators()?;
        while let Some(table) = tables.get(read.len())? {
            read.push(self.operator(read.len(), schema::Operator(table))?);
        }
        Ok(())
    }

    fn operator(&mut self, index: usize, stored: schema::Operator<'a>) -> Result<Operator<'a>, TfliteError> {
        let opcode = stored.opcode_index()?;
        let code = self.model.operator_code(opcode as usize)?;
        let code = code.ok_or(TfliteError::Index { what: "operator code", index: opcode.into() })?;
        let builtin = code.builtin()?;
        let (inputs, outputs) = (stored.inputs(), stored.outputs()?);
        // A file may list an operator many times.
        let operands = inputs.as_ref().ok().and_then(Option::as_ref).map_or(0, Vector::len);
        self.budget.spend(1 + operands + outputs.map_or(0, |o| o.len()))?;
        let mut operator = Operator {
            index,
            builtin,
            custom: if builtin == builtin::CUSTOM { code.custom()? } else { "" },
            inputs: inputs
                .map_err(TfliteError::from)
                .and_then(|inputs| indices(inputs).map(|index| self.operand(index)).collect()),
            outputs: Vec::new(),
            options: stored.options(),
            twice: None,
        };
        for output in indices(outputs) {
            let output = self.tensor(output)?;
            self.budget.spend(self.tensors[&output].scales())?;
            if self.read.contains(&output) || !self.written.insert(output) {
                operator.twice.get_or_insert(output);
            }
            operator.outputs.push(output);
        }
        Ok(operator)
    }

    /// Returns the kind of operand that the tensor at `index` is for an operator that reads it now.
    fn operand(&mut self, index: i32) -> Result<Input, TfliteError> {
        if index < 0 {
            return Ok(Input::Absent);
        }
        let index = self.tensor(index)?;
        if self.written.contains(&index) {
            return Ok(Input::Written(index));
        }
        let tensor = &self.tensors[&index];
        if matches!(tensor.data(), Ok(None)) {
            return Ok(Input::Unwritten(index));
        }
        if self.read.insert(index) {
            self.budget.spend(tensor.stored_values())?;
        }
        Ok(Input::Constant(index))
    }

    /// Returns the assignments of the subgraphs that CALL_ONCE runs. A missing subgraph is an error of its operator.
    fn initializations(
        &mut self,
        operators: &[Operator<'a>],
    ) -> Result<HashMap<usize, Result<Vec<Assignment<'a>>, TfliteError>>, TfliteError> {
        let count = self.model.subgraphs()?.len();
        let mut found = HashMap::new();
        for operator in operators.iter().filter(|operator| operator.place().name == "CALL_ONCE") {
            let index = operator.initialization()?;
            if index >= count {
                return Err(TfliteError::Index { what: "subgraph", index: index as i64 });
            }
            if let Entry::Vacant(entry) = found.entry(index) {
                let (file, model) = (self.file, self.model);
                entry.insert(assignments(file, model, index, &operator.place(), &mut self.budget));
            }
        }
        Ok(found)
    }

    fn outputs(&mut self, read: &mut Vec<usize>) -> Result<(), TfliteError> {
        for index in indices(self.subgraph.outputs()?) {
            self.budget.spend(1)?;
            read.push(self.tensor(index)?);
        }
        Ok(())
    }
}
