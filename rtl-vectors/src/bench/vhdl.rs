//! `tb.vhd`: the bench for GHDL. It reads the same files and compares accumulators, flags and sums.

use std::fmt::Write;

use super::SHOWN;
use super::design::{mode, round};
use crate::manifest::{Manifest, Stage};
use crate::text::file_part;

/// The bench.
pub(crate) fn tb(manifest: &Manifest) -> String {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let (levels, lanes) = (&arithmetic.levels, interface.lanes);
    let count = levels.len();
    let vector = |value: &dyn Fn(usize) -> usize| {
        let values: Vec<_> = (0..count).map(|i| format!("{i} => {}", value(i))).collect();
        format!("({})", values.join(", "))
    };
    let stage = |i: usize| -> &Stage { &levels[i].stage };
    let mut compare = String::new();
    for (index, level) in levels.iter().enumerate() {
        let _ = write!(
            compare,
            "
    compare_{index} : process (clk)
        file accs : text open read_mode is \"exp_acc_{name}.mem\";
        file masks : text open read_mode is \"mask.mem\";
        file expected_flags : text open read_mode is \"exp_flags.mem\";
        variable l : line;
        variable word : std_logic_vector({top} downto 0);
        variable mask_word : std_logic_vector({top_level} downto 0);
        variable flag_word : std_logic_vector({top_flag} downto 0);
        variable beat : integer := -1;
        variable ok : boolean;
        variable bad : natural := 0;
        variable seen : natural := 0;
    begin
        if falling_edge(clk) then
            if updated({index}) = '1' then
                loop
                    exit when endfile(masks);
                    readline(masks, l);
                    hread(l, mask_word, ok);
                    assert ok report \"mask.mem does not read\" severity failure;
                    readline(accs, l);
                    hread(l, word, ok);
                    assert ok report \"exp_acc_{name}.mem does not read\" severity failure;
                    readline(expected_flags, l);
                    hread(l, flag_word, ok);
                    assert ok report \"exp_flags.mem does not read\" severity failure;
                    beat := beat + 1;
                    exit when mask_word({index}) = '1';
                end loop;
                seen := seen + 1;
                if std_logic_vector(acc({index})({top} downto 0)) /= word or flags({flag_high} downto {flag_low}) /= flag_word({flag_high} downto {flag_low}) then
                    if shown.again then
                        report \"MISMATCH kind=acc level={index} cycle=\" & integer'image(cycle) & \" beat=\" & integer'image(beat)
                            & \" expected=\" & to_hstring(word) & \" got=\" & to_hstring(std_logic_vector(acc({index})({top} downto 0)))
                            & \" expected_flags=\" & to_hstring(flag_word({flag_high} downto {flag_low}))
                            & \" got_flags=\" & to_hstring(flags({flag_high} downto {flag_low})) & of_beat(beat) severity note;
                    end if;
                    bad := bad + 1;
                end if;
                mismatches({index}) <= bad;
                checked({index}) <= seen;
            end if;
        end if;
    end process;
",
            name = file_part(&level.name),
            top = level.acc_bits - 1,
            top_level = count - 1,
            top_flag = 4 * count - 1,
            flag_high = 4 * index + 3,
            flag_low = 4 * index,
        );
    }
    let sum_top = levels[count - 1].stage.port_bits - 1;
    let adds = manifest.cases.iter().filter(|c| c.out_word.is_some()).count();
    format!(
        "-- Replays the vectors of this folder against gb_mac (VHDL-2008). Prints the first {shown} mismatches and ends with a line
-- RESULT.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use std.textio.all;
use work.gb_pkg.all;

entity tb is
end entity;

architecture bench of tb is
    constant LEVELS : positive := {count};
    type counts_t is array (0 to LEVELS) of natural;
    signal clk, rst_n, in_valid, in_clear, sum_valid, stop : std_logic := '0';
    signal in_run_last, updated : std_logic_vector(LEVELS - 1 downto 0) := (others => '0');
    signal in_keep : std_logic_vector({top_lane} downto 0) := (others => '0');
    signal in_a : std_logic_vector({top_a} downto 0) := (others => '0');
    signal in_w : std_logic_vector({top_w} downto 0) := (others => '0');
    signal in_bias : signed(63 downto 0) := (others => '0');
    signal acc : words_t(0 to LEVELS - 1);
    signal flags : std_logic_vector(4 * LEVELS - 1 downto 0);
    signal sum : signed(63 downto 0);
    signal cycle : natural := 0;
    signal mismatches, checked : counts_t := (others => 0);

    -- Whether one more mismatch is to be printed, of all that processes find.
    type shown_t is protected
        impure function again return boolean;
    end protected;
    type shown_t is protected body
        variable printed : natural := 0;
        impure function again return boolean is
        begin
            printed := printed + 1;
            return printed <= {shown};
        end function;
    end protected body;
    shared variable shown : shown_t;

    -- The case that a beat belongs to, or that gives an output word (where beat is below 0), as cases.txt has it.
    procedure find_case(beat, word : integer; last_beat : out integer; id : inout line) is
        file cases : text;
        variable l : line;
        variable first_beat, beats, out_word : integer;
        variable c : character;
        variable ok : boolean;
    begin
        file_open(cases, \"cases.txt\", read_mode);
        last_beat := -1;
        while not endfile(cases) loop
            readline(cases, l);
            read(l, first_beat);
            read(l, beats);
            read(l, out_word);
            if (beat >= 0 and beat < first_beat + beats) or (beat < 0 and out_word = word) then
                last_beat := first_beat + beats - 1;
                loop
                    read(l, c, ok);
                    exit when not ok;
                    if c /= ' ' then
                        write(id, c);
                    end if;
                end loop;
                exit;
            end if;
        end loop;
        file_close(cases);
    end procedure;

    -- The operands of a beat: activation * weight of every lane in use.
    procedure operands(beat : natural; text_line : inout line) is
        file as, ws, ctrls : text;
        variable l_a, l_w, l_c : line;
        variable a : std_logic_vector({top_a} downto 0);
        variable w : std_logic_vector({top_w} downto 0);
        variable ctrl : std_logic_vector({top_ctrl} downto 0);
        variable comma : boolean := false;
    begin
        file_open(as, \"stim_a.mem\", read_mode);
        file_open(ws, \"stim_w.mem\", read_mode);
        file_open(ctrls, \"ctrl.mem\", read_mode);
        for i in 0 to beat loop
            readline(as, l_a);
            readline(ws, l_w);
            readline(ctrls, l_c);
        end loop;
        hread(l_a, a);
        hread(l_w, w);
        hread(l_c, ctrl);
        file_close(as);
        file_close(ws);
        file_close(ctrls);
        for lane in 0 to {top_lane} loop
            if ctrl({keep} + lane) = '1' then
                if comma then
                    write(text_line, ',');
                end if;
                write(text_line, integer'image(to_integer(signed(a(lane * {slot_a} + {a} - 1 downto lane * {slot_a})))) & \"*\"
                    & integer'image(to_integer(signed(w(lane * {slot_w} + {w} - 1 downto lane * {slot_w})))));
                comma := true;
            end if;
        end loop;
    end procedure;

    impure function described(beat, word : integer) return string is
        variable id, products : line;
        variable last_beat : integer;
    begin
        find_case(beat, word, last_beat, id);
        if last_beat < 0 then
            return \"\";
        end if;
        if beat < 0 then
            operands(last_beat, products);
        else
            operands(beat, products);
        end if;
        return \" case=\" & id.all & \" operands=\" & products.all;
    end function;

    impure function of_beat(beat : natural) return string is
    begin
        return described(beat, -1);
    end function;

    -- Of a finished dot product: the operands of its last beat.
    impure function of_word(word : natural) return string is
    begin
        return described(-1, word);
    end function;
begin
    clk <= not clk after 5 ns when stop = '0';

    dut : entity work.gb_mac
        generic map (
            LANES => {lanes}, LEVELS => LEVELS, A_W => {a}, A_SLOT => {slot_a}, W_W => {w}, W_SLOT => {slot_w},
            TREE => {tree}, PRELOAD => {preload},
            P_BITS => {p_bits}, P_SIGNED => {p_signed}, P_MODE => {p_mode}, P_SHIFT => {p_shift}, P_ROUND => {p_round},
            BITS => {bits}, IS_SIGNED => {is_signed}, MODE => {modes},
            HAND_OVER => {hand_over}, SHIFT => {shifts}, ROUND => {rounds}
        )
        port map (
            clk => clk, rst_n => rst_n, in_valid => in_valid, in_clear => in_clear, in_run_last => in_run_last,
            in_keep => in_keep, in_a => in_a, in_w => in_w, in_bias => in_bias, acc => acc, updated => updated,
            flags => flags, sum_valid => sum_valid, sum => sum
        );

    drive : process
        file ctrls : text open read_mode is \"ctrl.mem\";
        file as : text open read_mode is \"stim_a.mem\";
        file ws : text open read_mode is \"stim_w.mem\";
        file biases : text open read_mode is \"stim_bias.mem\";
        variable l : line;
        variable ctrl : std_logic_vector({top_ctrl} downto 0);
        variable a : std_logic_vector({top_a} downto 0);
        variable w : std_logic_vector({top_w} downto 0);
        variable bias : std_logic_vector({top_bias} downto 0);
        variable ok : boolean;
        variable total, bad : natural;
    begin
        for i in 1 to 4 loop
            wait until falling_edge(clk);
        end loop;
        rst_n <= '1';
        while not endfile(ctrls) loop
            readline(ctrls, l);
            hread(l, ctrl, ok);
            assert ok report \"ctrl.mem does not read\" severity failure;
            readline(as, l);
            hread(l, a, ok);
            assert ok report \"stim_a.mem does not read\" severity failure;
            readline(ws, l);
            hread(l, w, ok);
            assert ok report \"stim_w.mem does not read\" severity failure;
            if ctrl(0) = '1' and ctrl(1) = '1' then
                readline(biases, l);
                hread(l, bias, ok);
                assert ok report \"stim_bias.mem does not read\" severity failure;
                in_bias <= resize(signed(bias), 64);
            end if;
            in_valid <= ctrl(0);
            in_clear <= ctrl(1);
            in_run_last <= ctrl({top_run} downto 2);
            in_keep <= ctrl({top_ctrl} downto {keep});
            in_a <= a;
            in_w <= w;
            wait until falling_edge(clk);
            cycle <= cycle + 1;
        end loop;
        in_valid <= '0';
        for i in 1 to 8 loop
            wait until falling_edge(clk);
        end loop;
        total := 0;
        bad := 0;
        for i in 0 to LEVELS loop
            total := total + checked(i);
            bad := bad + mismatches(i);
        end loop;
        if checked(LEVELS) /= {adds} then
            bad := bad + 1;
            report \"MISMATCH kind=count level={last} cycle=\" & integer'image(cycle) & \" word=\" & integer'image(checked(LEVELS));
        end if;
        report \"RESULT checked=\" & integer'image(total) & \" mismatches=\" & integer'image(bad) & \" cycles=\" & integer'image(cycle)
            & \" outputs=0 vhdl=1\";
        assert bad = 0 report \"vectors differ\" severity failure;
        stop <= '1';
        wait;
    end process;
{compare}
    compare_sum : process (clk)
        file sums : text open read_mode is \"exp_sum.mem\";
        variable l : line;
        variable word : std_logic_vector({sum_top} downto 0);
        variable ok : boolean;
        variable bad, seen : natural := 0;
    begin
        if falling_edge(clk) then
            if sum_valid = '1' then
                ok := not endfile(sums);
                if ok then
                    readline(sums, l);
                    hread(l, word, ok);
                end if;
                if not ok or std_logic_vector(sum({sum_top} downto 0)) /= word then
                    if shown.again then
                        report \"MISMATCH kind=sum level={last} cycle=\" & integer'image(cycle) & \" word=\" & integer'image(seen)
                            & \" expected=\" & to_hstring(word) & \" got=\" & to_hstring(std_logic_vector(sum({sum_top} downto 0))) & of_word(seen) severity note;
                    end if;
                    bad := bad + 1;
                end if;
                seen := seen + 1;
                mismatches(LEVELS) <= bad;
                checked(LEVELS) <= seen;
            end if;
        end if;
    end process;
end architecture;
",
        shown = SHOWN,
        top_lane = lanes - 1,
        top_a = lanes * interface.activation_slot as usize - 1,
        top_w = lanes * interface.weight_slot as usize - 1,
        top_bias = arithmetic.bias.input_bits - 1,
        top_ctrl = 1 + count + lanes,
        top_run = 1 + count,
        keep = 2 + count,
        last = count - 1,
        a = arithmetic.activation.bits,
        w = arithmetic.weight.bits,
        slot_a = interface.activation_slot,
        slot_w = interface.weight_slot,
        tree = u8::from(levels[0].reduce == "tree"),
        preload = u8::from(arithmetic.bias.at == "preload"),
        p_bits = arithmetic.product.bits.unwrap_or(0),
        p_signed = u8::from(arithmetic.product.signed),
        p_mode = mode(&arithmetic.product),
        p_shift = arithmetic.product.shift,
        p_round = round(&arithmetic.product),
        bits = vector(&|i| stage(i).bits.unwrap_or(0) as usize),
        is_signed = vector(&|i| stage(i).signed.into()),
        modes = vector(&|i| mode(stage(i)) as usize),
        hand_over = vector(&|i| (levels[i].check == "hand_over").into()),
        shifts = vector(&|i| stage(i).shift as usize),
        rounds = vector(&|i| round(stage(i))),
    )
}
