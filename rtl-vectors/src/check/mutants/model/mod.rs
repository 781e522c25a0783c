//! Models of the reference RTL of a MAC unit and of arrays with their faults: what `rtl/gb_unit.sv`, `rtl/gb_os_array.sv`,
//! `rtl/gb_ws_array.sv` and their modules hold after every clock edge. They share no code with the reference engine, whose results they must reproduce without a fault.

mod array;
mod bench;
mod law;
mod requant;
mod twist;
mod unit;
