-- Replays the vectors of this folder against gb_mac and gb_output (VHDL-2008) and compares every accumulator, flag, sum
-- and output. Prints the first mismatches and ends with a line FAILED that lists the cases that differ (places in
-- cases.txt), a line RESULT, and with a failure if anything differs or was not compared.
--
-- Generics, set with -gNAME=VALUE: latency 0 does not check latencies; acc_latency, idle, idle_max, resets and seed are
-- those of tb.sv. A seed gives the same run as there.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use std.textio.all;
use work.gb_pkg.all;
use work.tb_params.all;

entity tb is
    generic (
        latency  : integer := 1;
        acc_latency : integer := -1;
        idle     : integer := 0;
        idle_max : integer := 64;
        resets   : integer := 0;
        seed     : integer := 1
    );
end entity;

architecture bench of tb is
    -- Of a control word: the first of the bits that end a run, and of those that mark lanes in use.
    constant RUN_LAST : natural := 2;
    constant KEEP     : natural := RUN_LAST + LEVELS;
    -- Cycles after which nothing is under way in a design.
    constant DRAIN    : natural := 64;

    type memory_t is array (natural range <>) of std_logic_vector;
    type counts_t is array (natural range <>) of integer;

    -- On the heap: simulators limit their stack.
    type memory_ptr is access memory_t;
    type counts_ptr is access counts_t;
    type memories_t is array (natural range <>) of memory_ptr;

    -- Reads the words of a file of hexadecimal digits.
    procedure load(variable memory : inout memory_ptr; name : string; words, bits : natural) is
        file source : text open read_mode is name;
        variable word : std_logic_vector(bits - 1 downto 0);
        variable l : line;
        variable ok : boolean;
    begin
        memory := new memory_t(0 to words - 1)(bits - 1 downto 0);
        for i in 0 to words - 1 loop
            readline(source, l);
            hread(l, word, ok);
            assert ok report name & " does not read" severity failure;
            memory(i) := word;
        end loop;
    end procedure;

    signal clk, rst_n, in_valid, in_clear, sum_valid : std_logic := '0';
    signal stop : boolean := false;
    signal in_run_last, updated : std_logic_vector(LEVELS - 1 downto 0) := (others => '0');
    signal in_keep : std_logic_vector(LANES - 1 downto 0) := (others => '0');
    signal in_a : std_logic_vector(LANES * A_SLOT - 1 downto 0) := (others => '0');
    signal in_w : std_logic_vector(LANES * W_SLOT - 1 downto 0) := (others => '0');
    signal in_bias : signed(63 downto 0) := (others => '0');
    signal acc : words_t(0 to LEVELS - 1);
    signal flags : std_logic_vector(4 * LEVELS - 1 downto 0);
    signal sum : signed(63 downto 0);
    -- From a delivered sum to its code.
    signal out_sum, out_bias, out_mult, out_code : signed(63 downto 0) := (others => '0');
    signal out_exp : signed(7 downto 0) := (others => '0');
    -- For waveforms, which hold no arrays of vectors: what the design shows and what is expected, as it is compared.
    signal shown_acc, golden_acc : std_logic_vector(64 * LEVELS - 1 downto 0) := (others => '0');
    signal golden_flags : std_logic_vector(4 * LEVELS - 1 downto 0) := (others => '0');
    signal golden_sum : std_logic_vector(SUM_W - 1 downto 0) := (others => '0');
    signal golden_code : std_logic_vector(CODE_W - 1 downto 0) := (others => '0');
    signal differs : std_logic := '0';
begin
    flat : for level in 0 to LEVELS - 1 generate
        shown_acc(64 * level + 63 downto 64 * level) <= std_logic_vector(acc(level));
    end generate;

    clk <= not clk after 5 ns when not stop;

    dut : entity work.gb_mac
        generic map (
            LANES => LANES, LEVELS => LEVELS, A_W => A_W, A_SLOT => A_SLOT, W_W => W_W, W_SLOT => W_SLOT,
            PRELOAD => PRELOAD,
            P_BITS => P_BITS, P_SIGNED => P_SIGNED, P_MODE => P_MODE, P_SHIFT => P_SHIFT, P_ROUND => P_ROUND,
            REDUCE => REDUCE, BITS => BITS, IS_SIGNED => IS_SIGNED, MODE => MODE,
            HAND_OVER => HAND_OVER, SHIFT => SHIFT, ROUND => ROUND
        )
        port map (
            clk => clk, rst_n => rst_n, in_valid => in_valid, in_clear => in_clear, in_run_last => in_run_last,
            in_keep => in_keep, in_a => in_a, in_w => in_w, in_bias => in_bias, acc => acc, updated => updated,
            flags => flags, sum_valid => sum_valid, sum => sum
        );

    -- Bias and multiplier of the dot product that a sum belongs to come from the bench, so the MAC may take any time.
    requantizer : entity work.gb_output
        generic map (
            POST => POST, BIAS_BITS => BIAS_BITS, BIAS_SIGNED => BIAS_SIGNED, BIAS_MODE => BIAS_MODE, SCHEME => SCHEME,
            ZERO_POINT => ZERO_POINT, CLAMP_MIN => CLAMP_MIN, CLAMP_MAX => CLAMP_MAX
        )
        port map (sum => out_sum, bias => out_bias, mult => out_mult, expo => out_exp, code => out_code);

    bench : process
        variable ctrl, a, w, biases, mults, exps, mask, exp_flags, exp_sum, exp_out : memory_ptr;
        -- The expected accumulators of every level.
        variable exp_acc : memories_t(0 to LEVELS - 1);

        variable cycle, beat, gap, mismatches, sums, due, checked : natural := 0;
        variable dot, first_in, first_last, acc_seen, sum_seen, first_dot : integer := -1;
        -- Per level: the beat that it shows next, and the values compared.
        variable at, seen : counts_t(0 to LEVELS - 1) := (others => 0);
        variable held : words_t(0 to LEVELS - 1) := (others => (others => '0'));
        variable dot_of_word : counts_ptr := new counts_t'(0 to OUTS => 0);
        variable random : natural := seed mod 65536 + 1;
        variable resets_left : integer := resets;
        variable next_reset, kind, first_beat, pause, quiet, resetting, in_reset, drained, drawn : integer := 0;
        -- Beats that a reset is about to drop; -1 if none is under way.
        variable extra : integer := -1;
        variable is_paused : boolean := false;
        variable gaps_inside, gaps_between : counts_t(0 to 4) := (others => 0);
        variable done_resets : counts_t(0 to 2) := (others => 0);
        variable is_reset_due : boolean;
        variable flag_level : integer;
        -- Per level: the last beat after which its sticky flag is set.
        variable last_flag : counts_t(0 to LEVELS - 1) := (others => -1);
        -- Cases that differ, by a beat or an output word of theirs.
        variable wrong_beat : counts_ptr := new counts_t'(0 to BEATS => 0);
        variable wrong_word : counts_ptr := new counts_t'(0 to OUTS => 0);
        -- The last beat within a dot product; -1 if each is one beat.
        variable last_within : integer := -1;

        -- Numbers from 0 to below - 1, in the order of tb.sv.
        impure function draw(below : positive) return natural is
        begin
            random := (random * 75 + 74) mod 65537;
            return (random mod 65536) mod below;
        end function;

        -- As often one or two cycles as several or many.
        procedure draw_cycles is
            constant MOST : positive := maximum(idle_max, 1);
            variable few, many : natural;
        begin
            pause := draw(4);
            few   := draw(5);
            many  := draw(MOST);
            if pause < 2 then
                pause := pause + 1;
            elsif pause = 2 then
                pause := 3 + few;
            else
                pause := 8 + many;
            end if;
            pause := minimum(pause, MOST);
        end procedure;

        impure function is_end(b : natural) return boolean is
        begin
            return ctrl(b)(0) = '1' and ctrl(b)(KEEP - 1) = '1';
        end function;

        impure function is_start(b : natural) return boolean is
        begin
            return ctrl(b)(0) = '1' and ctrl(b)(1) = '1';
        end function;

        -- Counts a mismatch; returns whether to print it.
        impure function noted return boolean is
        begin
            mismatches := mismatches + 1;
            differs <= '1';
            return mismatches <= SHOWN;
        end function;

        procedure beat_differs(b : natural) is
        begin
            wrong_beat(minimum(b, BEATS)) := 1;
        end procedure;

        procedure word_differs(word : natural) is
        begin
            wrong_word(minimum(word, OUTS)) := 1;
        end procedure;

        -- The cases that differ.
        impure function failed return string is
            file cases : text open read_mode is "cases.txt";
            variable source, told : line;
            variable from, beats_here, out_word : integer;
            variable place : natural := 0;
            variable is_wrong : boolean;
        begin
            write(told, string'("FAILED"));
            while not endfile(cases) loop
                readline(cases, source);
                read(source, from);
                read(source, beats_here);
                read(source, out_word);
                is_wrong := false;
                if out_word >= 0 then
                    is_wrong := wrong_word(out_word) = 1;
                end if;
                for b in from to from + beats_here - 1 loop
                    is_wrong := is_wrong or wrong_beat(b) = 1;
                end loop;
                if is_wrong then
                    write(told, ' ');
                    write(told, place);
                end if;
                place := place + 1;
            end loop;
            return told.all;
        end function;

        -- The operands of a beat: activation * weight of every lane in use.
        procedure operands(of_beat : natural; text_line : inout line) is
            variable comma : boolean := false;
        begin
            write(text_line, string'(" operands="));
            for lane in 0 to LANES - 1 loop
                if ctrl(of_beat)(KEEP + lane) = '1' then
                    if comma then
                        write(text_line, ',');
                    end if;
                    write(text_line, to_integer(signed(a(of_beat)(lane * A_SLOT + A_W - 1 downto lane * A_SLOT))));
                    write(text_line, '*');
                    write(text_line, to_integer(signed(w(of_beat)(lane * W_SLOT + W_W - 1 downto lane * W_SLOT))));
                    comma := true;
                end if;
            end loop;
        end procedure;

        -- The case that a beat belongs to, or that gives an output word (where of_beat is below 0), as cases.txt has it,
        -- with operands: those of the beat, or of the last one.
        impure function described(of_beat, word : integer) return string is
            file cases : text open read_mode is "cases.txt";
            variable source, told : line;
            variable from, beats_here, out_word : integer;
            variable c : character;
            variable ok : boolean;
        begin
            while not endfile(cases) loop
                readline(cases, source);
                read(source, from);
                read(source, beats_here);
                read(source, out_word);
                if (of_beat >= 0 and of_beat < from + beats_here) or (of_beat < 0 and out_word = word) then
                    write(told, string'(" case="));
                    loop
                        read(source, c, ok);
                        exit when not ok;
                        if c /= ' ' then
                            write(told, c);
                        end if;
                    end loop;
                    if of_beat >= 0 then
                        operands(of_beat, told);
                    else
                        operands(from + beats_here - 1, told);
                    end if;
                    return told.all;
                end if;
            end loop;
            return "";
        end function;

        impure function place(level : natural) return string is
        begin
            return " level=" & integer'image(level) & " cycle=" & integer'image(cycle);
        end function;

        -- Skips the beats in which a level does nothing.
        procedure next_beat(level : natural) is
        begin
            while at(level) < BEATS loop
                exit when mask(at(level))(level) = '1';
                at(level) := at(level) + 1;
            end loop;
        end procedure;

        procedure compare_level(level : natural) is
            variable want, got : std_logic_vector(ACC_BITS(level) - 1 downto 0);
            variable want_flags, got_flags : std_logic_vector(3 downto 0);
        begin
            if updated(level) = '1' then
                next_beat(level);
                if acc_seen < 0 then
                    acc_seen := cycle;
                end if;
                if at(level) >= BEATS then
                    if noted then
                        report "MISMATCH kind=extra" & place(level) & " beat=" & integer'image(BEATS) severity note;
                    end if;
                else
                    seen(level) := seen(level) + 1;
                    want := exp_acc(level)(at(level));
                    got := std_logic_vector(acc(level)(got'range));
                    want_flags := exp_flags(at(level))(4 * level + 3 downto 4 * level);
                    got_flags := flags(4 * level + 3 downto 4 * level);
                    golden_acc(64 * level + 63 downto 64 * level) <= std_logic_vector(resize(signed(want), 64));
                    if IS_SIGNED(level) = 0 then
                        golden_acc(64 * level + 63 downto 64 * level) <= std_logic_vector(resize(unsigned(want), 64));
                    end if;
                    golden_flags(4 * level + 3 downto 4 * level) <= want_flags;
                    if got /= want then
                        beat_differs(at(level));
                        if noted then
                            report "MISMATCH kind=acc" & place(level) & " beat=" & integer'image(at(level))
                                & " expected=" & to_hstring(want) & " got=" & to_hstring(got)
                                & described(at(level), -1) severity note;
                        end if;
                    end if;
                    if got_flags /= want_flags then
                        beat_differs(at(level));
                        if noted then
                            report "MISMATCH kind=flags" & place(level) & " beat=" & integer'image(at(level))
                                & " expected=" & to_hstring(want_flags) & " got=" & to_hstring(got_flags)
                                & described(at(level), -1) severity note;
                        end if;
                    end if;
                end if;
                at(level) := at(level) + 1;
            elsif updated(level) /= '0' or acc(level) /= held(level) then
                beat_differs(at(level));
                if noted then
                    report "MISMATCH kind=hold" & place(level) & " beat=" & integer'image(at(level))
                        & " expected=" & to_hstring(held(level)) & " got=" & to_hstring(acc(level))
                        & described(minimum(at(level), BEATS - 1), -1) severity note;
                end if;
            end if;
            held(level) := acc(level);
        end procedure;

        -- From the second cycle of a reset on, nothing is held and nothing is valid.
        procedure compare_reset is
            constant NONE : std_logic_vector(4 * LEVELS - 1 downto 0) := (others => '0');
        begin
            for level in 0 to LEVELS - 1 loop
                held(level) := (others => '0');
                if acc(level) /= 0 or updated(level) /= '0' or flags /= NONE or sum_valid /= '0' then
                    if noted then
                        report "MISMATCH kind=reset" & place(level) & " beat=" & integer'image(beat)
                            & " expected=0 got=" & to_hstring(acc(level)) & " updated=" & to_string(updated)
                            & " flags=" & to_hstring(flags) & " sum_valid=" & to_string(sum_valid) severity note;
                    end if;
                end if;
            end loop;
        end procedure;

        procedure compare_output is
            variable dot_here : natural;
        begin
            if sum_valid = '1' then
                if sum_seen < 0 then
                    sum_seen := cycle;
                end if;
                if sums >= OUTS then
                    if noted then
                        report "MISMATCH kind=extra_sum" & place(LEVELS - 1) & " word=" & integer'image(sums) severity note;
                    end if;
                else
                    golden_sum  <= exp_sum(sums);
                    golden_code <= exp_out(sums);
                    if std_logic_vector(sum(SUM_W - 1 downto 0)) /= exp_sum(sums) then
                        word_differs(sums);
                        if noted then
                            report "MISMATCH kind=sum" & place(LEVELS - 1) & " word=" & integer'image(sums)
                                & " expected=" & to_hstring(exp_sum(sums)) & " got=" & to_hstring(sum(SUM_W - 1 downto 0))
                                & described(-1, sums) severity note;
                        end if;
                    end if;
                    dot_here := dot_of_word(sums);
                    out_sum  <= resize(sum(SUM_W - 1 downto 0), 64);
                    out_bias <= resize(signed(biases(dot_here)), 64);
                    out_mult <= resize(signed(mults(dot_here)), 64);
                    out_exp  <= signed(exps(dot_here));
                    wait for 1 ns;
                    if CHECK_OUT = 1 and std_logic_vector(out_code(CODE_W - 1 downto 0)) /= exp_out(sums) then
                        word_differs(sums);
                        if noted then
                            report "MISMATCH kind=out" & place(LEVELS - 1) & " word=" & integer'image(sums)
                                & " expected=" & to_hstring(exp_out(sums)) & " got=" & to_hstring(out_code(CODE_W - 1 downto 0))
                                & described(-1, sums) severity note;
                        end if;
                    end if;
                end if;
                sums := sums + 1;
            elsif sum_valid /= '0' then
                if noted then
                    report "MISMATCH kind=sum_valid" & place(LEVELS - 1) & " beat=" & integer'image(beat)
                        & " got=" & to_string(sum_valid) severity note;
                end if;
            end if;
        end procedure;

        procedure compare_all is
        begin
            differs <= '0';
            for level in 0 to LEVELS - 1 loop
                compare_level(level);
            end loop;
            compare_output;
        end procedure;

        -- A cycle without a beat: no other input matters.
        procedure no_beat is
            variable noise : std_logic := '0';
        begin
            in_valid <= '0';
            in_clear <= '0';
            drawn := draw(2);
            if drawn = 1 then
                in_clear <= '1';
            end if;
            drawn := draw(2);
            if drawn = 1 then
                noise := '1';
            end if;
            in_run_last <= (others => '1');
            in_keep     <= (others => '1');
            in_a        <= (others => noise);
            in_w        <= (others => noise);
            gap := gap + 1;
        end procedure;

        procedure send is
            variable bin : natural;
        begin
            in_valid    <= ctrl(beat)(0);
            in_clear    <= ctrl(beat)(1);
            in_run_last <= ctrl(beat)(KEEP - 1 downto RUN_LAST);
            in_keep     <= ctrl(beat)(KEEP + LANES - 1 downto KEEP);
            in_a        <= a(beat);
            in_w        <= w(beat);
            if ctrl(beat)(0) = '1' then
                bin := gap;
                if gap > 7 then
                    bin := 4;
                elsif gap > 2 then
                    bin := 3;
                end if;
                gap := 0;
                if first_in < 0 then
                    first_in := cycle;
                end if;
                if is_start(beat) then
                    gaps_between(bin) := gaps_between(bin) + 1;
                    first_beat := beat;
                    first_dot  := dot;
                    dot := dot + 1;
                else
                    gaps_inside(bin) := gaps_inside(bin) + 1;
                end if;
                if is_end(beat) then
                    due := due + 1;
                    if first_last < 0 then
                        first_last := cycle;
                    end if;
                end if;
            else
                gap := gap + 1;
            end if;
            if dot >= 0 then
                in_bias <= resize(signed(biases(dot)), 64);
            end if;
            beat := beat + 1;
            is_paused := false;
        end procedure;

        -- Everything that was sent must have been compared by now.
        procedure check_drained is
        begin
            for level in 0 to LEVELS - 1 loop
                next_beat(level);
                if at(level) < beat then
                    beat_differs(at(level));
                    if noted then
                        report "MISMATCH kind=missing" & place(level) & " beat=" & integer'image(at(level))
                            & described(at(level), -1) severity note;
                    end if;
                end if;
            end loop;
            if sums /= due then
                word_differs(sums);
                if noted then
                    report "MISMATCH kind=missing_sum" & place(LEVELS - 1) & " word=" & integer'image(sums)
                        & " expected=" & integer'image(due) & " got=" & integer'image(sums) severity note;
                end if;
            end if;
        end procedure;

        -- The level whose overflow the next reset follows: in turn, from the last one on, of those that overflow in the beat
        -- before or later. -1 if there is none.
        impure function next_flag return integer is
            variable candidate : natural;
        begin
            for turn in 0 to LEVELS - 1 loop
                candidate := (LEVELS - 1 + done_resets(2) + turn) mod LEVELS;
                if last_flag(candidate) >= beat - 1 then
                    return candidate;
                end if;
            end loop;
            return -1;
        end function;

        -- Whether the beat at hand is a place for the next kind of reset: 0 between dot products, 1 within one, 2 after an
        -- overflow.
        procedure look_for_reset is
        begin
            is_reset_due := false;
            if resets_left > 0 and beat >= next_reset and beat > 0 and ctrl(beat)(0) = '1' then
                case kind is
                    when 0 => is_reset_due := is_start(beat);
                    when 1 =>
                        if beat > last_within then
                            kind := 2;
                        else
                            is_reset_due := not is_start(beat);
                        end if;
                    when others =>
                        flag_level := next_flag;
                        if flag_level < 0 then
                            kind := 0;
                        else
                            is_reset_due := exp_flags(beat - 1)(4 * flag_level + 3) = '1';
                        end if;
                end case;
            end if;
        end procedure;

        -- Back to the first beat of the dot product; what was compared of it does not count.
        procedure send_again is
        begin
            beat := first_beat;
            dot  := first_dot;
            for level in 0 to LEVELS - 1 loop
                while at(level) > first_beat loop
                    at(level) := at(level) - 1;
                    if mask(at(level))(level) = '1' then
                        seen(level) := seen(level) - 1;
                    end if;
                end loop;
            end loop;
        end procedure;

        -- Whether the next of the beats that a reset drops is one of the dot product at hand, before its end.
        impure function drops_beat return boolean is
        begin
            if extra <= 0 or beat >= BEATS then
                return false;
            end if;
            return not is_end(beat) and (not is_start(beat) or beat = first_beat);
        end function;

        -- What the design gets in this cycle. A reset waits until the design is idle, lets a few beats enter that it must
        -- drop, and sends the dot product again.
        procedure next_cycle is
        begin
            if resetting > 0 then
                no_beat;
                -- Beats during a reset must have no effect, the last one above all.
                drawn := draw(2);
                if (resetting > 1 and drawn = 1) or resetting = 2 then
                    in_valid <= '1';
                end if;
                resetting := resetting - 1;
                if resetting = 0 then
                    rst_n <= '1';
                    send_again;
                end if;
            elsif quiet > 0 then
                no_beat;
                quiet := quiet - 1;
                if quiet = 0 then
                    check_drained;
                    extra := draw(3);
                    -- A reset after an overflow finds its sticky flag set, which the next dot product would clear.
                    if kind = 2 then
                        extra := 0;
                    end if;
                    -- A reset between dot products drops beats of the next one.
                    if is_start(beat) then
                        first_beat := beat;
                        first_dot  := dot;
                    end if;
                end if;
            elsif extra >= 0 then
                if drops_beat then
                    send;
                    extra := extra - 1;
                else
                    no_beat;
                    rst_n <= '0';
                    drawn := draw(4);
                    resetting := 3 + drawn;
                    extra := -1;
                    done_resets(kind) := done_resets(kind) + 1;
                    kind := (kind + 1) mod 3;
                    resets_left := resets_left - 1;
                    next_reset  := next_reset + BEATS / (resets_left + 1) / 2;
                end if;
            elsif pause > 0 then
                no_beat;
                pause := pause - 1;
            elsif beat < BEATS then
                look_for_reset;
                if is_reset_due then
                    no_beat;
                    quiet := DRAIN;
                else
                    drawn := draw(100);
                    if drawn < idle and not is_paused and ctrl(beat)(0) = '1' then
                        draw_cycles;
                        no_beat;
                        pause := pause - 1;
                        is_paused := true;
                    else
                        send;
                    end if;
                end if;
            else
                no_beat;
                drained := drained + 1;
            end if;
        end procedure;

        procedure count(what : string; level, expected, found : integer) is
            variable is_shown : boolean;
        begin
            if expected /= found then
                -- Never hidden by other mismatches.
                is_shown := noted;
                report "MISMATCH kind=count" & place(level) & " what=" & what & " expected="
                    & integer'image(expected) & " got=" & integer'image(found) severity note;
            end if;
        end procedure;

        procedure check_latency(what : string; found : integer) is
            variable expected : integer := ACC_LATENCY;
        begin
            if acc_latency < 0 then
                expected := CONTRACT_LATENCY;
            end if;
            if (latency /= 0 or acc_latency >= 0) and expected /= found then
                if noted then
                    report "MISMATCH kind=" & what & place(0) & " beat=0 expected=" & integer'image(expected)
                        & " got=" & integer'image(found) severity note;
                end if;
            end if;
        end procedure;

        impure function listed(counts : counts_t) return string is
            variable l : line;
        begin
            for i in counts'range loop
                if i > counts'low then
                    write(l, ',');
                end if;
                write(l, counts(i));
            end loop;
            return l.all;
        end function;
    begin
        load(ctrl, "ctrl.mem", BEATS, KEEP + LANES);
        load(a, "stim_a.mem", BEATS, LANES * A_SLOT);
        load(w, "stim_w.mem", BEATS, LANES * W_SLOT);
        load(biases, "stim_bias.mem", DOTS, BIAS_W);
        load(mults, "stim_mult.mem", DOTS, MULT_W);
        load(exps, "stim_exp.mem", DOTS, 8);
        load(mask, "mask.mem", BEATS, LEVELS);
        load(exp_flags, "exp_flags.mem", BEATS, 4 * LEVELS);
        for level in 0 to LEVELS - 1 loop
            load(exp_acc(level), acc_file(level), BEATS, ACC_BITS(level));
        end loop;
        for b in 0 to BEATS - 1 loop
            if ctrl(b)(0) = '1' and not is_start(b) then
                last_within := b;
            end if;
        end loop;
        for level in 0 to LEVELS - 1 loop
            for b in 0 to BEATS - 1 loop
                if exp_flags(b)(4 * level + 3) = '1' then
                    last_flag(level) := b;
                end if;
            end loop;
        end loop;
        load(exp_sum, "exp_sum.mem", OUTS, SUM_W);
        load(exp_out, "exp_out.mem", OUTS, CODE_W);

        for b in 0 to BEATS - 1 loop
            if is_start(b) then
                dot := dot + 1;
            end if;
            if is_end(b) then
                dot_of_word(sums) := dot;
                sums := sums + 1;
            end if;
        end loop;
        dot  := -1;
        sums := 0;
        for i in 1 to 4 loop
            wait until falling_edge(clk);
            if i > 2 then
                compare_reset;
            end if;
        end loop;
        rst_n <= '1';
        while drained <= DRAIN loop
            next_cycle;
            wait until falling_edge(clk);
            cycle := cycle + 1;
            if rst_n = '1' then
                in_reset := 0;
                compare_all;
            else
                in_reset := in_reset + 1;
                if in_reset > 1 then
                    compare_reset;
                end if;
            end if;
        end loop;
        check_drained;
        checked := sums + CHECK_OUT * sums;
        for level in 0 to LEVELS - 1 loop
            checked := checked + seen(level);
            count("acc", level, COMPARED(level), seen(level));
        end loop;
        count("sum", LEVELS - 1, OUTS, sums);
        check_latency("latency", acc_seen - first_in);
        check_latency("sum_latency", sum_seen - first_last);
        if mismatches > 0 then
            report failed severity note;
        end if;
        report "RESULT checked=" & integer'image(checked) & " mismatches=" & integer'image(mismatches)
            & " cycles=" & integer'image(cycle) & " acc_latency=" & integer'image(acc_seen - first_in)
            & " sum_latency=" & integer'image(sum_seen - first_last) & " outputs=" & integer'image(CHECK_OUT)
            & " acc=" & listed(seen) & " sum=" & integer'image(sums) & " out=" & integer'image(sums)
            & " gap_inside=" & listed(gaps_inside) & " gap_between=" & listed(gaps_between)
            & " reset=" & listed(done_resets) & " random=" & integer'image(random);
        assert mismatches = 0 report "vectors differ" severity failure;
        stop <= true;
        wait;
    end process;
end architecture;
