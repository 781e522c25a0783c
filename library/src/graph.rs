//! The network: tensors, operations with their exact meaning, patches and passes.
//!
//! ```
//! use guardbit::Network;
//!
//! let network = Network::load("../examples/digits/digits_int8.tflite")?;
//! let graph = network.graph();
//! for (id, node) in graph.nodes_with_ids() {
//!     println!("{} {} {:?}", graph.short_name(id), node.op.name(), graph.tensor(node.output).ty.shape);
//! }
//! # Ok::<(), guardbit::Error>(())
//! ```

pub use guardbit_graph::*;
