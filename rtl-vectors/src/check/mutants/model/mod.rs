//! Model of the reference RTL of a MAC unit with its faults: what `rtl/gb_unit.sv` and its modules hold after every clock
//! edge. It shares no code with the reference engine, whose results it must reproduce without a fault.

mod bench;
mod law;
mod requant;
mod twist;
mod unit;
