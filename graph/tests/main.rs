//! Tests of `graph`: one program, a module per file.

mod common;
mod composite;
mod cut;
mod dots;
mod effort;
mod errors;
mod float32;
mod float_dots;
mod litert_ops;
mod lookup;
mod passes;
mod pattern;
mod semantics;
mod shapes;
mod states;
