//! Tests of the quantizer: one program, with a module per file.

mod balance;
mod budgets;
mod calibration;
#[path = "../../sim/tests/common/mod.rs"]
mod common;
mod correction;
mod floats;
mod forms;
mod layer_methods;
mod mixed;
mod networks;
mod observed;
mod thresholds;
mod weights;
