//! Files of the folder `formal`: the requantizer of the bundle, the values that it gets, and the properties of a design with
//! valid and ready.

use guardbit_hwmodels::bounds::Range;

use super::parameters::Parameters;
use super::stream;
use super::unit::{Port, declared};
use crate::manifest::{BiasAt, Manifest};
use crate::reach::{Reach, format};

/// Returns `requant_reference.sv`: the reference's requantizer with the parameters of the bundle.
pub(super) fn requantizer(manifest: &Manifest) -> String {
    let arithmetic = &manifest.arithmetic;
    let requantize = &arithmetic.requantize;
    let mut all = Parameters::default();
    all.number("IN_W", arithmetic.bias.register.port_bits)
        .number("OUT_W", requantize.out_bits)
        .number("MULT_W", requantize.mult_bits)
        .number("SCHEME", requantize.scheme.code())
        .number("ZERO_POINT", requantize.zero_point)
        .number("CLAMP_MIN", requantize.clamp_min)
        .number("CLAMP_MAX", requantize.clamp_max);
    let ports = [
        ("input ", arithmetic.bias.register.port_bits, "x"),
        ("input ", requantize.mult_bits, "mult"),
        ("input ", 8, "expo"),
        ("output", requantize.out_bits, "code"),
    ];
    let ports: Vec<String> = ports
        .iter()
        .map(|(direction, bits, name)| format!("{direction} logic signed [{}:0] {name}", bits - 1))
        .collect();
    format!(
        "// The requantizer of this bundle, with the ports that a design of your own has; made by guardbit from the manifest.
module requant_reference (
{}
);
    gb_requant #(
{}    ) u_requant (
        .x(x), .mult(mult), .expo(expo), .code(code)
    );
endmodule
",
        declared(&ports),
        all.of_instance(),
    )
}

/// Returns `formal/requant_params.sv`: the widths of a requantizer, and the range of what it gets.
pub(super) fn requantizer_range(manifest: &Manifest) -> String {
    let arithmetic = &manifest.arithmetic;
    let reach = Reach::new(arithmetic, manifest.layer.terms);
    let sums = reach.bias.or_else(|| reach.levels.last().map(|level| level.out)).unwrap_or(Range::ZERO);
    let register = format(&arithmetic.bias.register).filter(|_| arithmetic.bias.at == BiasAt::POST);
    let range = register.map_or(sums, |(format, mode)| {
        let (min, max) = mode.fit_range(sums.min, sums.max, format);
        Range { min, max }
    });
    let mut all = Parameters::default();
    all.number("IN_W", arithmetic.bias.register.port_bits)
        .number("CODE_W", arithmetic.requantize.out_bits)
        .number("MULT_W", arithmetic.requantize.mult_bits)
        .flag("IS_THERE", arithmetic.requantize.in_rtl);
    format!(
        "// What tb_requant.sv knows of this bundle; made by guardbit from the manifest.
package requant_params;
{}    // All sums that operands and biases of the layer lead to lie within.
    localparam longint X_MIN = 64'sd0 + ({});
    localparam longint X_MAX = 64'sd0 + ({});
endpackage
",
        all.of_package(),
        range.min,
        range.max,
    )
}

/// Returns `formal/properties.sv`: what holds of valid and ready in every cycle, bound to the design of tb_stream.sv.
pub(super) fn properties(manifest: &Manifest) -> String {
    let [before, after] = stream::ports(manifest);
    let inputs: Vec<String> =
        before.iter().chain(&after).map(|port| Port { output: false, ..port.clone() }.declared()).collect();
    let names = |ports: &[Port], none: &[&str]| {
        let names = ports.iter().map(|port| port.name.as_str()).filter(|name| !none.contains(name));
        names.collect::<Vec<_>>().join(", ")
    };
    let beat = names(&before, &["clk", "rst_n", "in_valid", "in_ready"]);
    let result = names(&after, &["out_valid", "out_ready"]);
    let last = manifest.arithmetic.levels.len() - 1;
    format!(
        "// Properties of a design with valid and ready: an offer stays until it is taken, no result is lost and none comes
// twice. `make properties` checks them in every cycle of the replay; `bind` connects them to the design. A formal tool
// reads them too: it may assume those that begin with `in_`. Made by guardbit from the manifest.
/* verilator lint_off DECLFILENAME */
module gb_stream_properties (
{}
);
    // Cycles without a stall in which a dot product that has ended gives its result.
    localparam int PATIENCE = 64;
    logic ends, taken;
    assign ends  = in_valid && in_ready && in_run_last[{last}];
    assign taken = out_valid && out_ready;
    // Dot products that have ended and whose results are not taken, and cycles without any.
    int unsigned due, waited;
    always_ff @(posedge clk) begin
        if (!rst_n) begin
            due    <= 0;
            waited <= 0;
        end else begin
            due    <= due + 32'(ends) - 32'(taken);
            waited <= (due == 0 || out_valid) ? 0 : waited + 1;
        end
    end

    in_stays: assert property (@(posedge clk) disable iff (!rst_n)
        in_valid && !in_ready |=> in_valid && $stable({{{beat}}}))
        else $error(\"a beat changed or went while it waited\");
    out_stays: assert property (@(posedge clk) disable iff (!rst_n)
        out_valid && !out_ready |=> out_valid && $stable({{{result}}}))
        else $error(\"a result changed or went while it waited\");
    out_is_due: assert property (@(posedge clk) disable iff (!rst_n)
        out_valid |-> due != 0 || ends)
        else $error(\"a result came twice, or without a dot product\");
    out_comes: assert property (@(posedge clk) disable iff (!rst_n)
        waited < PATIENCE)
        else $error(\"a result was lost\");
    out_is_reset: assert property (@(posedge clk)
        !rst_n |=> !out_valid)
        else $error(\"a result is valid after a reset\");
endmodule

bind gb_stream_dut gb_stream_properties u_properties (.*);
",
        declared(&inputs),
    )
}
