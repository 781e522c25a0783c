// Compares a requantizer, module GB_REQUANT with the ports of requant_reference, with the reference: for every sum that the
// layer leads to, with each multiplier of the bundle. A run that compares all of them is a proof for these multipliers,
// not for any other.
// Prints the first difference of each multiplier, and ends with a line RESULT and, if anything differs, $fatal.
`timescale 1ns / 1ps
`ifndef GB_REQUANT
`define GB_REQUANT requant_reference
`endif
module tb_requant;
    import requant_params::*;

    // Comparisons of a run, unless +most=N says otherwise.
    localparam longint MOST = 64'd1 << 26;

    logic signed [MULT_W-1:0] stim_mult [0:tb_params::DOTS-1];
    logic signed [7:0] stim_exp [0:tb_params::DOTS-1];

    logic signed [IN_W-1:0] x;
    logic signed [MULT_W-1:0] mult;
    logic signed [7:0] expo;
    logic signed [CODE_W-1:0] expected, got;
    requant_reference u_reference (.x(x), .mult(mult), .expo(expo), .code(expected));
    `GB_REQUANT u_dut (.x(x), .mult(mult), .expo(expo), .code(got));

    longint most, compared, multipliers, all, differences, value;
    logic is_known, differs;
    initial begin
        $readmemh("stim_mult.mem", stim_mult);
        $readmemh("stim_exp.mem", stim_exp);
        if ($value$plusargs("most=%d", most) == 0) most = MOST;
        if (IS_THERE == 0) begin
            $display("RESULT the reference design does not compute this scheme");
            $finish;
        end
        for (int dot = 0; dot < tb_params::DOTS; dot = dot + 1) begin
            is_known = 1'b0;
            for (int other = 0; other < dot; other = other + 1)
                is_known = is_known || (stim_mult[other] == stim_mult[dot] && stim_exp[other] == stim_exp[dot]);
            if (!is_known) all = all + 1;
            if (!is_known && compared + X_MAX - X_MIN < most) begin
                multipliers = multipliers + 1;
                mult = stim_mult[dot];
                expo = stim_exp[dot];
                differs = 1'b0;
                for (value = X_MIN; value <= X_MAX && !differs; value = value + 1) begin
                    x = IN_W'(value);
                    #1;
                    compared = compared + 1;
                    if (got !== expected) begin
                        differs = 1'b1;
                        differences = differences + 1;
                        $display("DIFFERENCE x=%0d mult=%0d exp=%0d expected=%0d got=%0d", x, mult, expo, expected, got);
                    end
                end
            end
        end
        $display("RESULT compared=%0d sums=%0d..%0d multipliers=%0d of=%0d differences=%0d", compared, X_MIN, X_MAX, multipliers,
            all, differences);
        if (multipliers == 0) $fatal(1, "no multiplier was compared over all sums: raise +most");
        if (differences != 0) $fatal(1, "requantizers differ");
        $finish;
    end
endmodule
