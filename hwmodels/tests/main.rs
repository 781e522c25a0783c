//! Tests of accelerator models: one program, with a module per file.

mod bounds;
mod constants;
mod costs;
mod errors;
mod ethos_u;
mod extremes;
mod float_presets;
mod limits;
mod lint;
mod lint_values;
mod load;
mod lower;
mod order;
mod residency;
mod resolved;
mod timing;
