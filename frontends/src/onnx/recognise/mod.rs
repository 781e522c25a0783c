//! The third stage of the reader: turns operators into nodes of the graph.
//!
//! `ops` has a row per operator, and `kit` holds the building blocks of operators. A file of `ops` does not use
//! another one.

mod finish;
mod inputs;
mod kit;
mod ops;

use guardbit_graph::Graph;

use super::error::OnnxError;
use super::normalise::known::Known;
use super::parse::File;
use super::parse::node::{Node, normalized};
use kit::network::Network;

/// Returns the graph of a normalised network.
///
/// # Errors
/// [`OnnxError`] if something cannot be represented.
pub(super) fn recognise(file: &File, known: &Known, name: &str) -> Result<Graph, OnnxError> {
    let mut network = Network::new(file, known, name);
    inputs::add(&mut network, file)?;
    for index in 0..network.nodes.len() {
        if !network.is_done(index) {
            let node = network.nodes[index];
            network.read_by(node, read)?;
        }
    }
    network.record(file);
    finish::finish(network, file)
}

fn read<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.proto.outputs.iter().all(|output| !network.is_read(output)) {
        return Ok(());
    }
    check_version(network.known.opset, node)?;
    match ops::find(node) {
        Some(read) => read(network, node),
        None => Err(OnnxError::UnsupportedOperator {
            operator: node.operator(),
            node: node.name(),
            supported: ops::supported(),
        }),
    }
}

/// Rejects operators whose form in an older opset differs from the supported one.
fn check_version(opset: i64, node: Node<'_>) -> Result<(), OnnxError> {
    if !normalized(&node.proto.domain).is_empty() {
        return Ok(());
    }
    let since = match node.proto.op.as_str() {
        "Slice" => 10,
        "Upsample" => 9,
        "BatchNormalization" if node.int("spatial", 1) == 0 => 9,
        _ => return Ok(()),
    };
    if opset >= since {
        return Ok(());
    }
    Err(node.error(format!("has the form of opset {opset}; expected opset {since} or newer")))
}
