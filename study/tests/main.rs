//! Tests of studies: one program, a module per file.

mod arguments;
mod arithmetic;
mod axes;
mod bottlenecks;
mod costs;
mod explore;
mod explore_values;
mod host;
mod identity;
mod limits;
#[path = "../../quantize/tests/networks/mod.rs"]
mod networks;
mod quantize;
mod ranges;
mod schema;
mod shards;
mod trace;
mod widths;
