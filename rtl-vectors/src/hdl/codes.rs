//! Parts of the reference RTL that list the simulator's choices, generated from its enums.

use std::fmt::Write;

use guardbit_hwmodels::Reduce;
use guardbit_num::{Overflow, Rounding};

use crate::arithmetic::RTL_SCHEMES;

const MADE: &str = "made by rtl-vectors/src/hdl/codes.rs from guardbit's enums";

/// List: its description, the prefix of its names, and names with codes.
type List = (&'static str, &'static str, Vec<(&'static str, u32)>);

fn lists() -> [List; 4] {
    [
        ("Overflow modes", "MODE", Overflow::ALL.iter().map(|m| (m.name(), m.code())).collect()),
        ("Roundings", "ROUND", Rounding::ALL.iter().map(|r| (r.name(), r.code())).collect()),
        ("Kinds of levels", "REDUCE", Reduce::ALL.iter().map(|r| (r.name(), r.code())).collect()),
        ("Requantization schemes", "SCHEME", RTL_SCHEMES.iter().map(|s| (s.name(), s.code())).collect()),
    ]
}

/// Property of some overflow modes.
type Property = (&'static str, &'static str, fn(Overflow) -> bool);

const PROPERTIES: [Property; 3] = [
    ("SYMMETRIC", "the lower rail is the negative of the upper one", Overflow::is_symmetric),
    ("STICKY", "a register that has overflowed ignores further values of the run", Overflow::latches),
    ("EXACT", "the value stays exact", Overflow::keeps_exact),
];

fn constants(line: impl Fn(&str, u32) -> String, comment: &str) -> String {
    lists().iter().fold(String::new(), |mut text, (what, prefix, names)| {
        let _ = writeln!(text, "\n    {comment} {what}.");
        for (name, code) in names {
            text += &line(&format!("{prefix}_{}", name.to_uppercase()), *code);
        }
        text
    })
}

/// Returns `gb_codes.sv`.
pub(super) fn package() -> String {
    let mut text = format!(
        "// Codes of the choices that parameters make; {MADE}.\npackage gb_codes;\n    // No design needs them all.\n    \
         /* verilator lint_off UNUSEDPARAM */\n"
    );
    text += &constants(|name, code| format!("    localparam int {name} = {code};\n"), "//");
    text += "\n    // What is true of an overflow mode: bit MODE.\n";
    for (name, what, holds) in PROPERTIES {
        let bits: u32 = Overflow::ALL.iter().filter(|m| holds(**m)).map(|m| 1 << m.code()).sum();
        let _ = writeln!(text, "    localparam logic [31:0] {name} = 32'h{bits:08x}; // {what}");
    }
    text + "\n    /* verilator lint_on UNUSEDPARAM */\nendpackage\n"
}

/// Returns `gb_overflow.sv`.
pub(super) fn overflow() -> String {
    let mut text = format!(
        "// What a register holds of a value beyond its rails: a branch per overflow mode. Combinational.
// exact: the value; wrapped: its low bits; rail: the rail that it crossed; min and max: both rails. {}.
module gb_overflow #(
    parameter int W = 18,
    parameter int MODE = gb_codes::MODE_SATURATE
) (
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic signed [W-1:0] exact,
    input  logic signed [W-1:0] wrapped,
    input  logic signed [W-1:0] rail,
    input  logic signed [W-1:0] min,
    input  logic signed [W-1:0] max,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic signed [W-1:0] y
);
    /* verilator lint_off UNUSEDPARAM */
    localparam logic signed [W-1:0] zero = {{W{{1'b0}}}};
    /* verilator lint_on UNUSEDPARAM */

    generate
",
        MADE.replace("made", "Made")
    );
    text += "        ";
    for mode in Overflow::ALL {
        let (name, hdl) = (mode.name(), mode.hdl());
        let _ = write!(
            text,
            "if (MODE == gb_codes::MODE_{}) begin : g_{name}\n            assign y = {hdl};\n        end else ",
            name.to_uppercase()
        );
    }
    text + &nothing_else("overflow mode", "MODE", &["y"])
}

/// Returns the end of a chain of branches and of its module. Any unknown code stops a simulation.
fn nothing_else(what: &str, parameter: &str, outputs: &[&str]) -> String {
    let unknown: String =
        outputs.iter().map(|output| format!("            assign {output} = 'x;\n")).collect();
    format!(
        "begin : g_unknown
{unknown}`ifndef SYNTHESIS
            initial $fatal(1, \"there is no {what} %0d\", {parameter});
`endif
        end
    endgenerate
endmodule
"
    )
}

/// Returns `gb_reduce.sv`.
pub(super) fn reduce() -> String {
    let mut text = format!(
        "// One accumulation level of any kind: the module of its kind, all of which have these parameters and ports.
// {}.
//
// clear: the run starts anew with this value, from init. run_last: it ends with this value; y is what the next level gets
// then. keep: lanes in use, from lane 0 on. acc, high, low and sticky are registered; updated says when they are new.
module gb_reduce #(
    parameter int REDUCE = gb_codes::REDUCE_SERIAL,
    parameter int LANES = 1,
    parameter int IN_W = 17,
    parameter int ACC_W = 14,
    parameter int BITS = 14,
    parameter int IS_SIGNED = 1,
    parameter int MODE = gb_codes::MODE_SATURATE,
    parameter int HAND_OVER = 0,
    parameter int SHIFT = 0,
    parameter int ROUND = gb_codes::ROUND_FLOOR,
    parameter int OUT_W = 14,
    parameter int INIT_W = 2
) (
    input  logic                         clk,
    input  logic                         rst_n,
    input  logic                         clear,
    input  logic                         valid,
    input  logic                         run_last,
    input  logic        [     LANES-1:0] keep,
    input  logic        [LANES*IN_W-1:0] x,
    input  logic signed [    INIT_W-1:0] init,
    output logic signed [     OUT_W-1:0] y,
    output logic signed [     ACC_W-1:0] acc,
    output logic                         updated,
    output logic                         high,
    output logic                         low,
    output logic                         sticky
);
    generate
",
        MADE.replace("made", "Made")
    );
    text += "        ";
    for kind in Reduce::ALL {
        let _ = write!(
            text,
            "if (REDUCE == gb_codes::REDUCE_{}) begin : g_{}
            {} #(
                .LANES(LANES), .IN_W(IN_W), .ACC_W(ACC_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE),
                .HAND_OVER(HAND_OVER), .SHIFT(SHIFT), .ROUND(ROUND), .OUT_W(OUT_W), .INIT_W(INIT_W)
            ) u_level (
                .clk(clk), .rst_n(rst_n), .clear(clear), .valid(valid), .run_last(run_last), .keep(keep), .x(x),
                .init(init), .y(y), .acc(acc), .updated(updated), .high(high), .low(low), .sticky(sticky)
            );
        end else ",
            kind.name().to_uppercase(),
            kind.name(),
            kind.module()
        );
    }
    text + &nothing_else("kind of level", "REDUCE", &["y", "acc", "updated", "high", "low", "sticky"])
}

/// Returns `gb_codes.vhd`.
pub(super) fn vhdl_package() -> String {
    let mut text = format!(
        "-- Codes of the choices that generics make, and what follows from an overflow mode; {MADE}.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

package gb_codes is"
    );
    text += &constants(|name, code| format!("    constant {name} : natural := {code};\n"), "--");
    text += "\n";
    for (name, what, _) in PROPERTIES {
        let _ = writeln!(
            text,
            "    -- Whether {what}.\n    function is_{}(mode : natural) return boolean;",
            name.to_lowercase()
        );
    }
    text += "
    -- What a register holds of a value beyond its rails. exact: the value; wrapped: its low bits; rail: the one that it
    -- crossed; min and max: both of them.
    function beyond(mode : natural; exact, wrapped, rail, min, max : signed(63 downto 0)) return signed;
end package;

package body gb_codes is
";
    for (name, _, holds) in PROPERTIES {
        let _ = writeln!(
            text,
            "    function is_{}(mode : natural) return boolean is\n    begin\n        return {};\n    end function;\n",
            name.to_lowercase(),
            Overflow::ALL
                .iter()
                .filter(|m| holds(**m))
                .map(|m| format!("mode = MODE_{}", m.name().to_uppercase()))
                .collect::<Vec<_>>()
                .join(" or ")
        );
    }
    text += "    function beyond(mode : natural; exact, wrapped, rail, min, max : signed(63 downto 0)) return signed is
        constant zero : signed(63 downto 0) := (others => '0');
    begin
        case mode is
";
    for mode in Overflow::ALL {
        let _ =
            writeln!(text, "            when MODE_{} => return {};", mode.name().to_uppercase(), mode.hdl());
    }
    text + "            when others =>
                assert false report \"there is no such overflow mode\" severity failure;
                return zero;
        end case;
    end function;
end package body;
"
}
