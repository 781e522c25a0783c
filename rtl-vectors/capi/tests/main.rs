//! Tests of the C interface: one program, with a module per file.

#[path = "../../tests/common/mod.rs"]
mod common;
mod discriminate;
mod header;
mod hostile;
mod model;
mod native;
mod tile;
