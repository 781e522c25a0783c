//! Access to the lower stages alone, for fuzzing. How much of them a full read uses depends on the operators of a
//! file.

use guardbit_graph::FileOutcome;

use super::normalise;
use super::parse::{self, Field, Input, Options, Tensor, TfliteError};

/// The shape and the values of a list.
pub type List = (Vec<usize>, Vec<i64>);

/// Parses a file, reads every part of its description, and returns all errors.
pub fn parse(file: &[u8]) -> Vec<TfliteError> {
    let network = match parse::parse(file) {
        Ok(network) => network,
        Err(error) => return vec![error],
    };
    let mut wrong: Vec<_> = network.damage.into_iter().collect();
    for tensor in network.tensors.values() {
        wrong.extend(read(tensor).err());
        wrong.extend(tensor.integers().err());
        wrong.extend(tensor.narrow().err());
    }
    for operator in &network.operators {
        let known = |input: &Input| input.tensor().is_none_or(|tensor| network.tensors.contains_key(&tensor));
        match operator.inputs() {
            Ok(inputs) => assert!(inputs.iter().all(known), "an operand is described"),
            Err(error) => wrong.push(error),
        }
        assert!(operator.outputs.iter().all(|output| network.tensors.contains_key(output)));
        // At most one number is that of the operator's options.
        let options = (0..=u8::MAX).find_map(|number| operator.options(number).ok());
        wrong.extend(options.and_then(|options| every_field(&options).err()));
    }
    wrong
}

fn read(tensor: &Tensor<'_>) -> Result<(), TfliteError> {
    tensor.is_real()?;
    tensor.output_type()?;
    if let Some(data) = tensor.data()? {
        tensor.values(data)?;
    }
    Ok(())
}

fn every_field(options: &Options<'_>) -> Result<(), TfliteError> {
    for slot in 0..16 {
        let field = Field(slot, "field");
        options.scalar::<f32>(field, 0.0)?;
        options.flag(field, false)?;
        options.size(field, 0)?;
        options.padding(field)?;
        options.activation(field)?;
        options.integers(field)?;
    }
    Ok(())
}

/// Returns the lists that are computed from a file.
///
/// # Errors
/// [`TfliteError`] with the problem of the file as a whole.
pub fn normalise(file: &[u8]) -> Result<Vec<List>, TfliteError> {
    let mut network = parse::parse(file)?;
    normalise::normalise(&mut network);
    let mut computed = Vec::new();
    let constants = network.computed.iter().filter(|(_, outcome)| *outcome == FileOutcome::Constant);
    let outputs = constants.flat_map(|(operator, _)| &operator.outputs);
    for tensor in outputs.map(|tensor| &network.tensors[tensor]) {
        let values = tensor.integers()?;
        computed.push((tensor.ty()?.shape.clone(), values.expect("a computed list is a constant")));
    }
    Ok(computed)
}
