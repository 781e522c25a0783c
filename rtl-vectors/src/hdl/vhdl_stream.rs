//! VHDL of a MAC unit that takes beats and gives results by valid and ready: the reference design behind such ports and behind
//! AXI4-Stream, and the adapters that connect it, or a design of the user, to the bench.

use super::parameters::Parameters;
use super::stream::{DEPTH, ports};
use super::transfer::{self, Part};
use super::unit::{Port, output_parameters, sum_width, vhdl_unit_parameters};
use crate::manifest::Manifest;
use crate::profile::DutProfile;

const LIBRARIES: &str = "library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
";

/// Returns the type of a port.
fn typed(port: &Port) -> String {
    match (port.bits, port.signed) {
        (None, _) => "std_logic".into(),
        (Some(bits), true) => format!("signed({} downto 0)", bits - 1),
        (Some(bits), false) => format!("std_logic_vector({} downto 0)", bits - 1),
    }
}

/// Returns the declaration of an entity.
fn entity(name: &str, ports: &[String]) -> String {
    let ports: Vec<String> = ports.iter().map(|port| format!("        {port}")).collect();
    format!("entity {name} is\n    port (\n{}\n    );\nend entity;\n", ports.join(";\n"))
}

/// Returns the ports with valid and ready, declared.
fn stream_ports(manifest: &Manifest) -> Vec<String> {
    let declared =
        |port: &Port| format!("{} : {} {}", port.name, if port.output { "out" } else { "in" }, typed(port));
    ports(manifest).iter().flatten().map(declared).collect()
}

/// Returns lines of associations with names on both sides.
fn connected<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let all: Vec<String> = pairs.map(|(formal, actual)| format!("{formal} => {actual}")).collect();
    let lines: Vec<String> = all.chunks(4).map(|line| format!("            {}", line.join(", "))).collect();
    lines.join(",\n")
}

/// Returns the values of generics.
fn generics(parameters: &Parameters) -> String {
    let all = parameters.of_vhdl_instance();
    let lines: Vec<String> = all.chunks(6).map(|line| format!("            {}", line.join(", "))).collect();
    lines.join(",\n")
}

/// Returns `gb_stream.vhd`: `gb_mac` and `gb_output` with valid and ready.
pub(super) fn design(manifest: &Manifest) -> String {
    let (arithmetic, depth) = (&manifest.arithmetic, DEPTH);
    let requantize = &arithmetic.requantize;
    let waits = [
        ("biases", arithmetic.bias.input_bits),
        ("mults", requantize.mult_bits),
        ("exps", 8),
        ("sums", sum_width(manifest)),
        ("codes", requantize.out_bits),
    ];
    let types = waits.map(|(name, bits)| {
        format!("    type {name}_t is array (0 to DEPTH - 1) of signed({} downto 0);\n", bits - 1)
    });
    let signals =
        waits.map(|(name, _)| format!("    signal {name} : {name}_t := (others => (others => '0'));\n"));
    format!(
        "-- gb_mac and gb_output with valid and ready: a beat enters in a cycle with in_valid and in_ready, a result leaves in one
-- with out_valid and out_ready. A beat is accepted while results of all dot products under way have room. A reset drops
-- everything. Made by guardbit from the manifest.
{LIBRARIES}use work.gb_pkg.all;

{}
architecture rtl of gb_stream is
    constant DEPTH : positive := {depth};
    -- Bias, multiplier and exponent of a dot product wait for its sum; sum and code wait until they are taken.
{}{}    -- Dot products that have ended, sums that have come, and results that were taken. A pointer has a bit more than its
    -- memory, so that equal pointers mean that it is empty.
    subtype pointer_t is unsigned({} downto 0);
    -- `code_at` is one cycle late: a code takes a cycle more than its sum, as in SystemVerilog.
    signal last_at, sum_at, code_at, out_at : pointer_t := (others => '0');
    signal is_ready, is_shown, accepted, taken, ends, sum_valid : std_logic;
    signal unit_sum, unit_bias, unit_mult, unit_code : word_t;
    signal unit_exp : signed(7 downto 0);

    function place(pointer : pointer_t) return natural is
    begin
        return to_integer(pointer) mod DEPTH;
    end function;
begin
    is_ready  <= '0' when last_at - out_at = DEPTH else '1';
    is_shown  <= '0' when code_at = out_at else '1';
    in_ready  <= is_ready;
    out_valid <= is_shown;
    accepted  <= in_valid and is_ready;
    taken     <= is_shown and out_ready;
    ends      <= accepted and in_run_last({});
    sum       <= sums(place(out_at));
    out_code  <= codes(place(out_at));

    u_mac : entity work.gb_mac
        generic map (
{}
        )
        port map (
            clk => clk, rst_n => rst_n, in_valid => accepted, in_clear => in_clear, in_run_last => in_run_last,
            in_keep => in_keep, in_a => in_a, in_w => in_w, in_bias => resize(in_bias, 64), acc => open,
            updated => open, flags => open, sum_valid => sum_valid, sum => unit_sum
        );

    unit_bias <= resize(biases(place(sum_at)), 64);
    unit_mult <= resize(mults(place(sum_at)), 64);
    unit_exp  <= exps(place(sum_at));
    u_output : entity work.gb_output
        generic map (
{}
        )
        port map (sum => unit_sum, bias => unit_bias, mult => unit_mult, expo => unit_exp, code => unit_code);

    process (clk)
    begin
        if rising_edge(clk) then
            if ends = '1' then
                last_at <= last_at + 1;
                biases(place(last_at)) <= in_bias;
                mults(place(last_at))  <= in_mult;
                exps(place(last_at))   <= in_exp;
            end if;
            code_at <= sum_at;
            if sum_valid = '1' then
                sum_at <= sum_at + 1;
                sums(place(sum_at))  <= unit_sum({} downto 0);
                codes(place(sum_at)) <= unit_code({} downto 0);
            end if;
            if taken = '1' then
                out_at <= out_at + 1;
            end if;
            if rst_n = '0' then
                last_at <= (others => '0');
                sum_at  <= (others => '0');
                code_at <= (others => '0');
                out_at  <= (others => '0');
            end if;
        end if;
    end process;
end architecture;
",
        entity("gb_stream", &stream_ports(manifest)),
        types.concat(),
        signals.concat(),
        depth.ilog2(),
        arithmetic.levels.len() - 1,
        generics(&vhdl_unit_parameters(manifest)),
        generics(&output_parameters(manifest)),
        sum_width(manifest) - 1,
        requantize.out_bits - 1,
    )
}

/// Returns the ports with AXI4-Stream, declared.
fn axis_ports(manifest: &Manifest) -> Vec<String> {
    let [beat, result, user] = transfer::sizes(manifest);
    vec![
        "clk : in std_logic".into(),
        "rst_n : in std_logic".into(),
        "s_axis_tvalid : in std_logic".into(),
        "s_axis_tready : out std_logic".into(),
        format!("s_axis_tdata : in std_logic_vector({} downto 0)", 8 * beat - 1),
        format!("s_axis_tkeep : in std_logic_vector({} downto 0)", beat - 1),
        "s_axis_tlast : in std_logic".into(),
        format!("s_axis_tuser : in std_logic_vector({} downto 0)", user - 1),
        "m_axis_tvalid : out std_logic".into(),
        "m_axis_tready : in std_logic".into(),
        format!("m_axis_tdata : out std_logic_vector({} downto 0)", 8 * result - 1),
    ]
}

/// Returns the lowest `bits` bits of TDATA that hold a part.
fn slice(part: &Part, bits: usize) -> String {
    format!("({} downto {})", 8 * part.first + bits - 1, 8 * part.first)
}

/// Returns the assignment of a value with its sign in all bytes.
fn packed(part: &Part, signal: &str) -> String {
    let value = match part.lane {
        Some(_) => format!("signed({}({} downto {}))", part.port, part.msb(), part.lsb),
        None => part.port.into(),
    };
    let bits = 8 * part.bytes;
    format!("    {signal}{} <= std_logic_vector(resize({value}, {bits}));\n", slice(part, bits))
}

/// Returns the assignment of a port, or its lane, from the bits of TDATA.
fn unpacked(part: &Part, signal: &str) -> String {
    match part.lane {
        // A slot may be wider than its operand: it holds the sign too.
        Some(_) => format!(
            "    {}({} downto {}) <= {signal}{};\n",
            part.port,
            part.lsb + part.slot - 1,
            part.lsb,
            slice(part, part.slot)
        ),
        None => format!("    {} <= signed({signal}{});\n", part.port, slice(part, part.bits)),
    }
}

/// Returns `gb_axis.vhd`: `gb_stream` with AXI4-Stream.
pub(super) fn axis_design(manifest: &Manifest) -> String {
    let all = ports(manifest);
    let is_bit = |port: &&Port| port.bits.is_some();
    let signals: String = all
        .iter()
        .flatten()
        .filter(is_bit)
        .map(|port| format!("    signal {} : {};\n", port.name, typed(port)))
        .collect();
    let beat = transfer::beat(manifest);
    let assigned: String = beat.iter().map(|part| unpacked(part, "s_axis_tdata")).collect();
    let lanes = beat.iter().filter(|part| part.port == "in_a").enumerate();
    let keep: String =
        lanes.map(|(lane, part)| format!("    in_keep({lane}) <= s_axis_tkeep({});\n", part.first)).collect();
    let results: String =
        transfer::result(manifest).iter().map(|part| packed(part, "m_axis_tdata")).collect();
    let pairs = all.iter().flatten().map(|port| {
        let actual = match port.name.as_str() {
            "in_valid" => "s_axis_tvalid",
            "in_ready" => "s_axis_tready",
            "in_clear" => "s_axis_tuser(0)",
            "out_valid" => "m_axis_tvalid",
            "out_ready" => "m_axis_tready",
            same => same,
        };
        (port.name.as_str(), actual)
    });
    format!(
        "-- gb_stream with AXI4-Stream: the transfers of gb_axis.sv. Made by guardbit from the manifest.
{LIBRARIES}
{}
architecture rtl of gb_axis is
{signals}begin
{assigned}    in_run_last <= s_axis_tuser({} downto 1);
{keep}{results}    u_stream : entity work.gb_stream
        port map (
{}
        );
end architecture;
",
        entity("gb_axis", &axis_ports(manifest)),
        manifest.arithmetic.levels.len(),
        connected(pairs),
    )
}

/// Returns the adapter of a profile with valid and ready: entity `gb_stream_dut` around the entity `gb_stream` or `gb_axis`.
pub(super) fn adapter(manifest: &Manifest, profile: DutProfile) -> String {
    let all = ports(manifest);
    let name = format!("gb_{}", profile.name());
    let (signals, assigned, connections) = match profile {
        DutProfile::Axis => axis_adapter(manifest),
        _ => {
            let same = all.iter().flatten().map(|port| (port.name.as_str(), port.name.as_str()));
            (String::new(), String::new(), connected(same))
        }
    };
    format!(
        "-- An entity {name} for tb_stream.vhd; made by guardbit from the manifest.
{LIBRARIES}
{}
architecture adapter of gb_stream_dut is
{signals}begin
{assigned}    u_dut : entity work.{name}
        port map (
{connections}
        );
end architecture;
",
        entity("gb_stream_dut", &stream_ports(manifest)),
    )
}

/// Returns signals, assignments and associations of the adapter of a design with AXI4-Stream.
fn axis_adapter(manifest: &Manifest) -> (String, String, String) {
    let [beat, result, user] = transfer::sizes(manifest);
    let last = manifest.arithmetic.levels.len() - 1;
    let signals: String = [("s_axis_tdata", 8 * beat), ("s_axis_tkeep", beat), ("s_axis_tuser", user)]
        .into_iter()
        .chain([("m_axis_tdata", 8 * result)])
        .map(|(name, bits)| format!("    signal {name} : std_logic_vector({} downto 0);\n", bits - 1))
        .collect();
    let parts = transfer::beat(manifest);
    let mut assigned: String = parts.iter().map(|part| packed(part, "s_axis_tdata")).collect();
    // A lane that is not in use has no bytes; what follows the lanes always has.
    for part in &parts {
        let value = part.lane.map_or("'1'".into(), |lane| format!("in_keep({lane})"));
        let (first, last) = (part.first, part.first + part.bytes - 1);
        assigned += &format!("    s_axis_tkeep({last} downto {first}) <= (others => {value});\n");
    }
    assigned += "    s_axis_tuser <= in_run_last & in_clear;\n";
    assigned.extend(transfer::result(manifest).iter().map(|part| unpacked(part, "m_axis_tdata")));
    let last = format!("in_run_last({last})");
    let pairs = [
        ("clk", "clk"),
        ("rst_n", "rst_n"),
        ("s_axis_tvalid", "in_valid"),
        ("s_axis_tready", "in_ready"),
        ("s_axis_tdata", "s_axis_tdata"),
        ("s_axis_tkeep", "s_axis_tkeep"),
        ("s_axis_tlast", &last),
        ("s_axis_tuser", "s_axis_tuser"),
        ("m_axis_tvalid", "out_valid"),
        ("m_axis_tready", "out_ready"),
        ("m_axis_tdata", "m_axis_tdata"),
    ];
    (signals, assigned, connected(pairs.into_iter()))
}
