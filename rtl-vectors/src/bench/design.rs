//! `gb_dut.sv`: the reference modules put together with the layer's parameters.

use std::fmt::Write;

use crate::manifest::{LevelInfo, Manifest, Stage};
use crate::text::comment;

/// Signed width of a level's register.
pub(super) fn acc_width(level: &LevelInfo) -> u32 {
    level.acc_bits + u32::from(!level.acc_signed)
}

/// Number of an overflow mode in the RTL.
pub(crate) fn mode(stage: &Stage) -> u32 {
    match stage.overflow.as_deref() {
        Some("wrap") => 0,
        Some("saturate") | None => 1,
        Some("saturate_symmetric") => 2,
        Some("saturate_zero") => 3,
        Some("sticky") => 4,
        // `observe` and `trap`
        Some(_) => 5,
    }
}

/// Number of a rounding in the RTL.
pub(super) fn round(stage: &Stage) -> usize {
    let names = [
        "floor",
        "toward_zero",
        "half_up",
        "half_down",
        "half_away",
        "half_to_zero",
        "half_even",
        "half_odd",
    ];
    names.iter().position(|name| *name == stage.round).unwrap_or(0)
}

fn fit(stage: &Stage) -> String {
    format!(
        ".BITS({}), .IS_SIGNED({}), .MODE({}), .SHIFT({}), .ROUND({})",
        stage.bits.unwrap_or(0),
        u8::from(stage.signed),
        mode(stage),
        stage.shift,
        round(stage)
    )
}

/// The design.
pub(crate) fn dut(manifest: &Manifest) -> String {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let levels = &arithmetic.levels;
    let (count, lanes) = (levels.len(), interface.lanes);
    let (a, w) = (arithmetic.activation.bits, arithmetic.weight.bits);
    let product = arithmetic.product.port_bits;
    let bias = &arithmetic.bias;
    let last = &levels[count - 1];
    let sum_w = last.stage.port_bits;
    let out = &arithmetic.requantize;
    let bias_w = bias.input_bits;
    let mut text = format!(
        "// Reference design of one MAC unit for layer {} ({}) on {}.\n\
         // {} product(s) per beat, {} level(s); made by guardbit from the accelerator file.\n",
        manifest.layer.index,
        comment(&manifest.layer.op),
        comment(&manifest.source.accelerator),
        lanes,
        count
    );
    let _ = writeln!(
        text,
        "module gb_dut (
    input  logic clk,
    input  logic rst_n,
    input  logic in_valid,
    input  logic in_clear,
    input  logic [{top_level}:0] in_run_last,
    input  logic [{top_lane}:0] in_keep,
    input  logic [{top_a}:0] in_a,
    input  logic [{top_w}:0] in_w,
    input  logic signed [{top_bias}:0] in_bias,
    input  logic signed [{top_mult}:0] in_mult,
    input  logic signed [7:0] in_exp,",
        top_level = count - 1,
        top_lane = lanes - 1,
        top_a = interface.activation_slot as usize * lanes - 1,
        top_w = interface.weight_slot as usize * lanes - 1,
        top_bias = bias_w - 1,
        top_mult = out.mult_bits - 1,
    );
    for (index, level) in levels.iter().enumerate() {
        let _ = writeln!(
            text,
            "    output logic signed [{}:0] acc_l{index}, // level {}",
            acc_width(level) - 1,
            comment(&level.name)
        );
    }
    let _ = writeln!(
        text,
        "    output logic [{top_level}:0] updated,
    output logic [{top_flag}:0] flags,
    output logic sum_valid,
    output logic signed [{top_sum}:0] sum,
    output logic out_valid,
    output logic signed [{top_out}:0] out_code
);
    // Stage 1: products. Nothing of it is a beat unless valid1.
    logic valid1, clear1;
    logic [{top_level}:0] run_last1;
    logic [{top_lane}:0] keep1;
    logic signed [{top_bias}:0] bias1;
    logic signed [{top_mult}:0] mult1;
    logic signed [7:0] exp1;
    logic [{top_products}:0] product, product1;
    genvar lane;
    generate
        for (lane = 0; lane < {lanes}; lane = lane + 1) begin : g_lane
            logic signed [{top_lane_a}:0] a;
            logic signed [{top_lane_w}:0] w;
            assign a = in_a[lane*{slot_a}+:{a}];
            assign w = in_w[lane*{slot_w}+:{w}];
            gb_product #(.A_W({a}), .B_W({w}), {product_fit}, .OUT_W({product})) u_product (
                .a(a), .b(w), .p(product[lane*{product}+:{product}])
            );
        end
    endgenerate
    always_ff @(posedge clk) begin
        if (!rst_n) begin
            valid1 <= 1'b0;
            clear1 <= 1'b0;
        end else begin
            valid1 <= in_valid;
            clear1 <= in_valid && in_clear;
        end
        run_last1 <= in_run_last;
        keep1     <= in_keep;
        bias1     <= in_bias;
        mult1     <= in_mult;
        exp1      <= in_exp;
        product1  <= product;
    end

    // Stage 2: accumulators.",
        top_level = count - 1,
        top_flag = count * 4 - 1,
        top_sum = sum_w - 1,
        top_out = out.out_bits - 1,
        top_lane = lanes - 1,
        top_bias = bias_w - 1,
        top_mult = out.mult_bits - 1,
        top_products = lanes * product as usize - 1,
        product_fit = fit(&arithmetic.product),
        slot_a = interface.activation_slot,
        slot_w = interface.weight_slot,
        top_lane_a = a - 1,
        top_lane_w = w - 1,
    );
    let mut width = product;
    for (index, level) in levels.iter().enumerate() {
        let port = level.stage.port_bits;
        let (value, valid) = match index {
            0 => (String::new(), "valid1".to_owned()),
            _ => (format!("y{}", index - 1), format!("valid_l{index}")),
        };
        if index > 0 {
            let before = match index {
                1 => "valid1".to_owned(),
                _ => format!("valid_l{}", index - 1),
            };
            let _ = writeln!(
                text,
                "    logic valid_l{index};\n    assign valid_l{index} = {before} && run_last1[{}];",
                index - 1
            );
        }
        let _ = writeln!(
            text,
            "    logic signed [{}:0] y{index};\n    logic high{index}, low{index}, sticky{index};",
            port - 1
        );
        let hand_over = u8::from(level.check == "hand_over");
        if level.reduce == "tree" {
            let _ = writeln!(
                text,
                "    gb_tree #(.LANES({lanes}), .IN_W({width}), {}, .HAND_OVER({hand_over}), .OUT_W({port})) u_l{index} (
        .clk(clk), .rst_n(rst_n), .valid(valid1), .keep(keep1), .x(product1), .y(y{index}),
        .acc(acc_l{index}), .updated(updated[{index}]), .high(high{index}), .low(low{index})
    );
    assign sticky{index} = high{index} || low{index};",
                fit(&level.stage),
            );
        } else {
            let preload = bias.at == "preload" && index + 1 == count;
            let (init_w, init) = if preload { (bias_w, "bias1".into()) } else { (2, "2'sb00".to_owned()) };
            // The lanes' vector is not signed; the only one of a serial level is.
            let x = if index == 0 { "x0".to_owned() } else { value };
            if index == 0 {
                let top = width - 1;
                let _ = writeln!(text, "    logic signed [{top}:0] x0;\n    assign x0 = product1[{top}:0];");
            }
            let _ = writeln!(
                text,
                "    gb_level #(.IN_W({width}), .ACC_W({acc}), {fit}, .HAND_OVER({hand_over}), .OUT_W({port}), .INIT_W({init_w})) u_l{index} (
        .clk(clk), .rst_n(rst_n), .clear(clear1), .valid({valid}), .run_last(run_last1[{index}]), .x({x}), .init({init}),
        .y(y{index}), .acc(acc_l{index}), .updated(updated[{index}]), .high(high{index}), .low(low{index}), .sticky(sticky{index})
    );",
                acc = acc_width(level),
                fit = fit(&level.stage),
            );
        }
        let _ = writeln!(
            text,
            "    assign flags[{}+:4] = {{sticky{index}, low{index}, high{index}, high{index} || low{index}}};\n",
            index * 4
        );
        width = port;
    }
    let top = count - 1;
    let done = if top == 0 { "valid1".to_owned() } else { format!("valid_l{top}") };
    let _ = writeln!(
        text,
        "    // The delivered sum, with what belongs to its dot product.
    logic signed [{top_bias}:0] bias2;
    logic signed [{top_mult}:0] mult2;
    logic signed [7:0] exp2;
    always_ff @(posedge clk) begin
        sum_valid <= rst_n && {done} && run_last1[{top}];
        sum       <= y{top};
        bias2     <= bias1;
        mult2     <= mult1;
        exp2      <= exp1;
    end

    // Stage 3: bias, requantization.
    logic signed [{top_port}:0] biased;",
        top_bias = bias_w - 1,
        top_mult = out.mult_bits - 1,
        top_port = bias.stage.port_bits - 1,
    );
    if bias.at == "post" {
        let wide = sum_w.max(bias_w) + 1;
        let _ = writeln!(
            text,
            "    logic signed [{}:0] with_bias;
    logic bias_high, bias_low;
    assign with_bias = sum + bias2;
    gb_fit #(.IN_W({wide}), .OUT_W({}), .BITS({}), .IS_SIGNED({}), .MODE({})) u_bias (
        .x(with_bias), .y(biased), .high(bias_high), .low(bias_low)
    );",
            wide - 1,
            bias.stage.port_bits,
            bias.stage.bits.unwrap_or(0),
            u8::from(bias.stage.signed),
            mode(&bias.stage),
        );
    } else {
        text += "    assign biased = sum;\n";
    }
    let scheme = match out.scheme.as_str() {
        "single" => 1,
        "away" => 2,
        "float64_away" => 3,
        _ => 0,
    };
    let _ = writeln!(
        text,
        "    logic signed [{top_out}:0] code;
    gb_requant #(
        .IN_W({in_w}), .OUT_W({out_w}), .MULT_W({mult_w}), .SCHEME({scheme}), .ZERO_POINT({zero}), .CLAMP_MIN({min}), .CLAMP_MAX({max})
    ) u_requant (
        .x(biased), .mult(mult2), .expo(exp2), .code(code)
    );
    always_ff @(posedge clk) begin
        out_valid <= rst_n && sum_valid;
        out_code  <= code;
    end
endmodule",
        top_out = out.out_bits - 1,
        in_w = bias.stage.port_bits,
        out_w = out.out_bits,
        mult_w = out.mult_bits,
        zero = out.zero_point,
        min = out.clamp_min,
        max = out.clamp_max,
    );
    text
}
