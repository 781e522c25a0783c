//! HDL of the whole array: `gb_array.sv`, which instantiates one of the arrays with the layer's parameters,
//! and the parameters of its bench.

use guardbit_hwmodels::Check;

use super::parameters::{Parameters, SHOWN};
use crate::array::{corner_gap, is_output_stationary, sum_bits};
use crate::manifest::{ArrayInfo, LevelInfo, Manifest, RegisterInfo};
use crate::text::comment;

/// Returns `gb_array.sv`, which has equal ports for every array.
pub(crate) fn design(manifest: &Manifest, info: &ArrayInfo) -> String {
    let arithmetic = &manifest.arithmetic;
    let (a, w, sum) = (arithmetic.activation.bits, arithmetic.weight.bits, sum_bits(arithmetic));
    let mut all = Parameters::default();
    all.number("ROWS", info.rows)
        .number("COLS", info.cols)
        .number("A_W", a)
        .number("B_W", w)
        .shifted_register("P_", &arithmetic.product)
        .number("P_W", arithmetic.product.port_bits);
    let levels = &arithmetic.levels;
    let module = if is_output_stationary(info) {
        "gb_os_array"
    } else {
        all.number("DEPTH", info.tiles.iter().map(|tile| tile.pixels).max().unwrap_or(1));
        level(&mut all, "C_", "C_W", &levels[0]);
        "gb_ws_array"
    };
    level(&mut all, "", "OUT_W", &levels[levels.len() - 1]);
    format!(
        "// The {} x {} array ({}) of {} with its parameters; made by guardbit from the accelerator file.
// in_last is used where sums stay; in_load, in_start and in_done where weights stay.
module gb_array (
    input  logic clk,
    input  logic rst_n,
    input  logic in_valid,
    input  logic in_first,
    input  logic in_last,
    input  logic in_load,
    input  logic in_start,
    input  logic in_done,
    input  logic [{}:0] in_a,
    input  logic [{}:0] in_w,
    output logic [{}:0] out_valid,
    output logic [{}:0] out_sum,
    output logic tile_first,
    output logic adds_last
);
    {module} #(
{}    ) u_array (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_first(in_first), .in_last(in_last), .in_load(in_load),
        .in_start(in_start), .in_done(in_done), .in_a(in_a), .in_w(in_w), .out_valid(out_valid), .out_sum(out_sum),
        .tile_first(tile_first), .adds_last(adds_last)
    );
endmodule
",
        info.rows,
        info.cols,
        info.dataflow,
        comment(&manifest.source.accelerator),
        info.rows * a as usize - 1,
        info.cols * w as usize - 1,
        info.cols - 1,
        info.cols * sum as usize - 1,
        all.of_instance(),
    )
}

fn level(all: &mut Parameters, prefix: &str, port: &str, info: &LevelInfo) {
    all.number(&format!("{prefix}ACC_W"), info.acc_bits + u32::from(!info.acc_signed))
        .shifted_register(prefix, &info.register)
        .flag(&format!("{prefix}HAND_OVER"), info.check == Check::HandOver)
        .number(port, info.register.port_bits);
}

/// Returns `gb_array.vhd`, which has equal ports for every array.
pub(super) fn vhdl_design(manifest: &Manifest, info: &ArrayInfo) -> String {
    let arithmetic = &manifest.arithmetic;
    let (a, w, sum) = (arithmetic.activation.bits, arithmetic.weight.bits, sum_bits(arithmetic));
    let level = |info: &RegisterInfo, hand_over: bool| {
        format!(
            "(bits => {}, is_signed => {}, mode => {}, hand_over => {}, shift => {}, round => {})",
            info.bits.unwrap_or(0),
            u8::from(info.signed),
            super::parameters::mode(info),
            u8::from(hand_over),
            info.shift,
            info.round.code()
        )
    };
    let of = |info: &LevelInfo| level(&info.register, info.check == Check::HandOver);
    let levels = &arithmetic.levels;
    let mut generics =
        format!("ROWS => {}, COLS => {}, A_W => {a}, B_W => {w}, OUT_W => {sum}", info.rows, info.cols);
    let (module, ports) = if is_output_stationary(info) {
        ("gb_os_array", "in_last => in_last")
    } else {
        let depth = info.tiles.iter().map(|tile| tile.pixels).max().unwrap_or(1);
        generics += &format!(", DEPTH => {depth},\n            CHAIN => {}", of(&levels[0]));
        ("gb_ws_array", "in_load => in_load, in_start => in_start, in_done => in_done")
    };
    format!(
        "-- The {} x {} array ({}) of {} with its parameters; made by guardbit from the accelerator file.
-- in_last is used where sums stay; in_load, in_start and in_done where weights stay.
library ieee;
use ieee.std_logic_1164.all;

entity gb_array is
    port (
        clk, rst_n : in std_logic;
        in_valid, in_first, in_last, in_load, in_start, in_done : in std_logic;
        in_a : in std_logic_vector({} downto 0);
        in_w : in std_logic_vector({} downto 0);
        out_valid : out std_logic_vector({} downto 0);
        out_sum : out std_logic_vector({} downto 0);
        tile_first, adds_last : out std_logic
    );
end entity;

architecture rtl of gb_array is
begin
    u_array : entity work.{module}
        generic map (
            {generics},
            P => {},
            ACC => {}
        )
        port map (
            clk => clk, rst_n => rst_n, in_valid => in_valid, in_first => in_first, {ports},
            in_a => in_a, in_w => in_w, out_valid => out_valid, out_sum => out_sum,
            tile_first => tile_first, adds_last => adds_last
        );
end architecture;
",
        info.rows,
        info.cols,
        info.dataflow,
        comment(&manifest.source.accelerator),
        info.rows * a as usize - 1,
        info.cols * w as usize - 1,
        info.cols - 1,
        info.cols * sum as usize - 1,
        level(&arithmetic.product, false),
        of(&levels[levels.len() - 1]),
    )
}

/// Returns `tb_array_params.vhd`, the parameters of this bundle's VHDL bench.
pub(super) fn vhdl_parameters(manifest: &Manifest, info: &ArrayInfo) -> String {
    let arithmetic = &manifest.arithmetic;
    let mut all = Parameters::default();
    all.number("ROWS", info.rows)
        .number("COLS", info.cols)
        .number("A_W", arithmetic.activation.bits)
        .number("W_W", arithmetic.weight.bits)
        .number("SUM_W", sum_bits(arithmetic))
        .number("BEATS", info.beats)
        .number("WORDS", info.words)
        .number("EXPECTED_CYCLES", info.cycles.cycles)
        .number("REAL_BEATS", info.real_beats + corner_gap(info))
        .number("REAL_WORDS", info.real_words)
        .number("COMPARED", manifest.compared.array_sum)
        .number("SHOWN", SHOWN);
    format!(
        "-- What the bench of the array knows of this bundle; made by guardbit from the manifest.
package tb_array_params is
{}end package;
",
        all.of_vhdl_package()
    )
}

/// Returns `tb_array_params.sv`, the parameters of this bundle's bench.
pub(super) fn bench_parameters(manifest: &Manifest, info: &ArrayInfo) -> String {
    let arithmetic = &manifest.arithmetic;
    let mut all = Parameters::default();
    all.number("ROWS", info.rows)
        .number("COLS", info.cols)
        .number("A_W", arithmetic.activation.bits)
        .number("W_W", arithmetic.weight.bits)
        .number("SUM_W", sum_bits(arithmetic))
        .number("BEATS", info.beats)
        .number("WORDS", info.words)
        .number("COMPARED", manifest.compared.array_sum)
        .flag("SUMS_STAY", is_output_stationary(info));
    let mut measured = Parameters::default();
    measured
        .number("CYCLES", info.cycles.cycles)
        .number("REAL_BEATS", info.real_beats + corner_gap(info))
        .number("REAL_WORDS", info.real_words)
        .number("SHOWN", SHOWN);
    format!(
        "// What the bench of the array knows of this bundle; made by guardbit from the manifest.
package tb_array_params;
{}
    // What the cycle model says, from the first operand to the last sum. It is measured over tiles with real operands,
    // which come first.
{}endpackage
",
        all.of_package(),
        measured.of_package()
    )
}
