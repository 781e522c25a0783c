//! The third stage of the reader: from the operators of a file to operations of the graph.

mod kit;
mod ops;

use guardbit_graph::{Graph, plain_name};

use self::kit::{Network, OperatorReader};
use self::ops::{Elements, Reader};
use super::parse::{self, Operator, OperatorPlace, TfliteError};

pub use kit::{Profile, TFLITE_POLICY, UnknownProfile};
pub(crate) use ops::operators;

/// Returns the graph of a network called `name`, with the rounding of a runtime profile.
pub(crate) fn recognise(
    network: parse::Network<'_>,
    name: &str,
    profile: Profile,
) -> Result<Graph, TfliteError> {
    let parse::Network {
        tensors, inputs, operators, outputs, computed, states, damage, names, budget, ..
    } = network;
    let mut network = Network::new(name, profile, tensors, names, budget);
    for &tensor in inputs.iter().chain(operators.iter().flat_map(|operator| &operator.outputs)) {
        network.name(tensor);
    }
    for input in inputs {
        network.add_input(input)?;
    }
    for state in &states {
        network.add_state(state)?;
    }
    let mut computed = computed.into_iter().peekable();
    for operator in &operators {
        while let Some((left_out, outcome)) =
            computed.next_if(|(left_out, _)| left_out.index < operator.index)
        {
            network.record(&left_out, outcome);
        }
        add_operator(&mut network, operator)?;
    }
    damage.map_or(Ok(()), Err)?;
    for (left_out, outcome) in computed {
        network.record(&left_out, outcome);
    }
    for state in &states {
        network.carry(state)?;
    }
    network.finish(&outputs)
}

fn add_operator<'a>(network: &mut Network<'a>, operator: &Operator<'a>) -> Result<(), TfliteError> {
    let place = operator.place();
    let Some(&output) = operator.outputs.first() else {
        return Err(TfliteError::Operator { place, problem: "has no output".into() });
    };
    let Some((read, elements)) = ops::find(place.name) else {
        return Err(unsupported(operator, network.name(output)));
    };
    let types = operator.outputs.iter().map(|&output| network.file_tensor(output).output_type());
    let types = types.collect::<Result<Vec<_>, _>>()?;
    let known = network.profile.check(place.name, &types[0]);
    known.map_err(|problem| TfliteError::Operator { place: place.clone(), problem })?;
    let inputs = operator.inputs()?;
    if elements == Elements::Codes {
        let tensors = inputs.iter().filter_map(|input| input.tensor());
        check_codes(network, tensors.chain(operator.outputs.iter().copied()), &place)?;
    }
    let from = network.node_count();
    let mut reader = OperatorReader {
        network,
        place: place.clone(),
        operator,
        inputs,
        output: &types[0],
        outputs: &types,
    };
    let nodes = match read {
        Reader::One(read) => {
            reader.expect_outputs(1)?;
            vec![read(&mut reader)?]
        }
        Reader::Several(read) => read(&mut reader)?,
    };
    if let Some(twice) = operator.twice {
        return Err(TfliteError::written_twice(Some(place), &network.name(twice)));
    }
    for ((&output, ty), node) in operator.outputs.iter().zip(types).zip(nodes) {
        network.add_node(output, ty, node, &place)?;
    }
    let outcome = network.outcome(from);
    network.record(operator, outcome);
    Ok(())
}

/// Fails if an operator on codes reads or computes real values.
fn check_codes(
    network: &mut Network<'_>,
    tensors: impl Iterator<Item = usize>,
    place: &OperatorPlace,
) -> Result<(), TfliteError> {
    for index in tensors {
        if network.file_tensor(index).is_real()? {
            let tensor = network.name(index);
            return Err(TfliteError::FloatOperator { place: place.clone(), tensor });
        }
    }
    Ok(())
}

fn unsupported(operator: &Operator<'_>, output: String) -> TfliteError {
    let name = match parse::describe(operator.builtin) {
        name if operator.builtin == parse::CUSTOM => format!("{name} `{}`", plain_name(operator.custom)),
        name => name,
    };
    TfliteError::UnsupportedOperator { index: operator.index, operator: name, output }
}
