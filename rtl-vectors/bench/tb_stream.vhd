-- Replays the vectors of this folder against gb_stream_dut (VHDL-2008), a design that takes beats and gives results by valid
-- and ready, and compares every sum and code. Also fails if a result changes or goes while it waits, if one is lost or comes
-- twice, and if one is valid in a reset. Prints the first mismatches. Ends with a line FAILED that lists the cases that
-- differ (places in cases.txt), a line RESULT, and with a failure if anything differs or was not compared.
--
-- Generics, set with -gNAME=VALUE: idle, idle_max, stall, resets and seed are those of tb_stream.sv. A seed
-- gives the same run as there.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use std.textio.all;
use work.tb_params.all;

entity tb_stream is
    generic (
        idle     : integer := 0;
        idle_max : integer := 64;
        stall    : integer := 0;
        resets   : integer := 0;
        seed     : integer := 1
    );
end entity;

architecture bench of tb_stream is
    -- Of a control word: the first of the bits that end a run, and of those that mark lanes in use.
    constant RUN_LAST : natural := 2;
    constant KEEP     : natural := RUN_LAST + LEVELS;
    -- Cycles after the last result in which none may follow, and cycles without progress after which the run ends.
    constant DRAIN    : natural := 64;
    constant PATIENCE : natural := 4096;

    type memory_t is array (natural range <>) of std_logic_vector;
    type counts_t is array (natural range <>) of integer;

    -- On the heap: simulators limit their stack.
    type memory_ptr is access memory_t;
    type counts_ptr is access counts_t;

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

    signal clk, rst_n, in_valid, in_clear, out_ready : std_logic := '0';
    signal in_ready, out_valid : std_logic;
    signal stop : boolean := false;
    signal in_run_last : std_logic_vector(LEVELS - 1 downto 0) := (others => '0');
    signal in_keep : std_logic_vector(LANES - 1 downto 0) := (others => '0');
    signal in_a : std_logic_vector(LANES * A_SLOT - 1 downto 0) := (others => '0');
    signal in_w : std_logic_vector(LANES * W_SLOT - 1 downto 0) := (others => '0');
    signal in_bias : signed(BIAS_W - 1 downto 0) := (others => '0');
    signal in_mult : signed(MULT_W - 1 downto 0) := (others => '0');
    signal in_exp : signed(7 downto 0) := (others => '0');
    signal sum : signed(SUM_W - 1 downto 0);
    signal out_code : signed(CODE_W - 1 downto 0);
    -- For waveforms: what is expected, as it is compared.
    signal golden_sum : std_logic_vector(SUM_W - 1 downto 0) := (others => '0');
    signal golden_code : std_logic_vector(CODE_W - 1 downto 0) := (others => '0');
    signal differs : std_logic := '0';
begin
    clk <= not clk after 5 ns when not stop;

    dut : entity work.gb_stream_dut
        port map (
            clk => clk, rst_n => rst_n, in_valid => in_valid, in_ready => in_ready, in_clear => in_clear,
            in_run_last => in_run_last, in_keep => in_keep, in_a => in_a, in_w => in_w, in_bias => in_bias,
            in_mult => in_mult, in_exp => in_exp, out_valid => out_valid, out_ready => out_ready, sum => sum,
            out_code => out_code
        );

    bench : process
        variable ctrl, a, w, biases, mults, exps, exp_flags, exp_sum, exp_out : memory_ptr;
        -- Beats that were accepted, results that were taken, and results that are due.
        variable cycle, beat, words, due, mismatches, still, drained, in_reset : natural := 0;
        variable dot : integer := -1;
        variable is_waiting, is_accepted, is_paused, is_done : boolean := false;
        variable held_sum : signed(SUM_W - 1 downto 0);
        variable held_code : signed(CODE_W - 1 downto 0);
        -- Per output word: the first beat of its dot product, and the dot products before it.
        variable word_beat, word_dot : counts_ptr := new counts_t'(0 to OUTS => 0);
        variable wrong_word : counts_ptr := new counts_t'(0 to OUTS => 0);
        variable random : natural := seed mod 65536 + 1;
        variable drawn : natural;
        variable gap, pause, stalled, resetting, kind, next_reset, in_wait, out_wait : natural := 0;
        variable resets_left : natural := resets;
        variable is_reset_due : boolean;
        variable gaps_inside, gaps_between : counts_t(0 to 4) := (others => 0);
        variable done_resets : counts_t(0 to 2) := (others => 0);
        variable stalls_in, stalls_out : counts_t(0 to 3) := (others => 0);

        -- Numbers from 0 to below - 1, in the order of tb_stream.sv.
        impure function draw(below : positive) return natural is
        begin
            random := (random * 75 + 74) mod 65537;
            return (random mod 65536) mod below;
        end function;

        -- As often one or two cycles as several or many.
        impure function draw_cycles return natural is
            constant MOST : positive := maximum(idle_max, 1);
            variable cycles, few, many : natural;
        begin
            cycles := draw(4);
            few    := draw(5);
            many   := draw(MOST);
            if cycles < 2 then
                cycles := cycles + 1;
            elsif cycles = 2 then
                cycles := 3 + few;
            else
                cycles := 8 + many;
            end if;
            return minimum(cycles, MOST);
        end function;

        impure function is_end(b : natural) return boolean is
        begin
            return ctrl(b)(0) = '1' and ctrl(b)(KEEP - 1) = '1';
        end function;

        impure function is_start(b : natural) return boolean is
        begin
            return ctrl(b)(0) = '1' and ctrl(b)(1) = '1';
        end function;

        -- Counts a mismatch; returns whether to print it.
        impure function noted(word : natural) return boolean is
        begin
            mismatches := mismatches + 1;
            differs <= '1';
            wrong_word(minimum(word, OUTS)) := 1;
            return mismatches <= SHOWN;
        end function;

        -- The cases that differ.
        impure function failed return string is
            file cases : text open read_mode is "cases.txt";
            variable source, told : line;
            variable from, beats_here, out_word : integer;
            variable place : natural := 0;
        begin
            write(told, string'("FAILED"));
            while not endfile(cases) loop
                readline(cases, source);
                read(source, from);
                read(source, beats_here);
                read(source, out_word);
                if out_word >= 0 then
                    if wrong_word(out_word) = 1 then
                        write(told, ' ');
                        write(told, place);
                    end if;
                end if;
                place := place + 1;
            end loop;
            return told.all;
        end function;

        -- The case that gives an output word, as cases.txt has it.
        impure function described(word : integer) return string is
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
                if out_word = word then
                    write(told, string'(" case="));
                    loop
                        read(source, c, ok);
                        exit when not ok;
                        if c /= ' ' then
                            write(told, c);
                        end if;
                    end loop;
                    return told.all;
                end if;
            end loop;
            return "";
        end function;

        impure function place return string is
        begin
            return " level=" & integer'image(LEVELS - 1) & " cycle=" & integer'image(cycle);
        end function;

        -- Counts a mismatch of an output word, and prints it with what was expected and what came.
        procedure mismatch(what : string; expected, got : string) is
        begin
            if noted(words) then
                report "MISMATCH kind=" & what & place & " word=" & integer'image(words) & " expected=" & expected
                    & " got=" & got & described(words) severity note;
            end if;
        end procedure;

        impure function has_overflowed return boolean is
        begin
            for level in 0 to LEVELS - 1 loop
                if beat > 0 and exp_flags(maximum(beat, 1) - 1)(4 * level + 3) = '1' then
                    return true;
                end if;
            end loop;
            return false;
        end function;

        -- Whether the beat at hand is a place for the next kind of reset: 0 when everything has been taken, 1 within a dot
        -- product, 2 after an overflow.
        procedure look_for_reset is
        begin
            is_reset_due := false;
            if resets_left > 0 and beat >= next_reset and beat > 0 and beat < BEATS then
                case kind is
                    when 0 => is_reset_due := is_start(beat) and words = due;
                    when 1 => is_reset_due := not is_start(beat);
                    when others => is_reset_due := has_overflowed;
                end case;
                -- Not every bundle overflows.
                if kind = 2 and not is_reset_due and beat > next_reset + BEATS / 2 then
                    kind := 0;
                end if;
            end if;
        end procedure;

        -- A cycle without a beat: nothing else matters.
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

        -- Offers the beat at hand, which stays until it is accepted.
        procedure offer is
            variable bin : natural := gap;
        begin
            in_valid    <= '1';
            in_clear    <= ctrl(beat)(1);
            in_run_last <= ctrl(beat)(KEEP - 1 downto RUN_LAST);
            in_keep     <= ctrl(beat)(KEEP + LANES - 1 downto KEEP);
            in_a        <= a(beat);
            in_w        <= w(beat);
            if gap > 7 then
                bin := 4;
            elsif gap > 2 then
                bin := 3;
            end if;
            gap := 0;
            if is_start(beat) then
                gaps_between(bin) := gaps_between(bin) + 1;
                dot := dot + 1;
            else
                gaps_inside(bin) := gaps_inside(bin) + 1;
            end if;
            in_bias <= signed(biases(dot));
            in_mult <= signed(mults(dot));
            in_exp  <= signed(exps(dot));
        end procedure;

        function stall_bin(length : positive) return natural is
        begin
            if length < 3 then
                return length - 1;
            elsif length < 8 then
                return 2;
            end if;
            return 3;
        end function;

        -- What the design gets in this cycle.
        procedure next_cycle is
        begin
            if resetting > 0 then
                resetting := resetting - 1;
                if resetting = 0 then
                    rst_n <= '1';
                end if;
            elsif in_valid = '0' or is_accepted then
                if is_accepted then
                    if is_end(beat) then
                        due := due + 1;
                    end if;
                    beat := beat + 1;
                    is_paused := false;
                end if;
                -- A cycle without a beat is no transfer.
                while beat < BEATS loop
                    exit when ctrl(beat)(0) = '1';
                    beat := beat + 1;
                end loop;
                look_for_reset;
                if is_reset_due then
                    no_beat;
                    rst_n <= '0';
                    drawn := draw(4);
                    resetting := 3 + drawn;
                    done_resets(kind) := done_resets(kind) + 1;
                    kind := (kind + 1) mod 3;
                    resets_left := resets_left - 1;
                    next_reset := next_reset + BEATS / (resets_left + 1) / 2;
                    -- Everything that is under way is lost.
                    beat := word_beat(words);
                    dot  := word_dot(words) - 1;
                    due  := words;
                    is_waiting := false;
                    out_wait   := 0;
                else
                    drawn := draw(100);
                    if beat >= BEATS then
                        no_beat;
                    elsif pause > 0 then
                        no_beat;
                        pause := pause - 1;
                    elsif drawn < idle and not is_paused then
                        pause := draw_cycles;
                        pause := pause - 1;
                        is_paused := true;
                        no_beat;
                    else
                        offer;
                    end if;
                end if;
            end if;
            if stalled > 0 then
                stalled := stalled - 1;
            else
                drawn := draw(100);
                if drawn < stall and beat < BEATS then
                    stalled := draw_cycles;
                end if;
            end if;
            out_ready <= '1';
            if stalled > 0 then
                out_ready <= '0';
            end if;
        end procedure;

        procedure compare is
        begin
            if words >= OUTS or (words >= due and not (is_accepted and is_end(minimum(beat, BEATS - 1)))) then
                mismatch("extra", "none", to_hstring(sum) & "," & to_hstring(out_code));
            else
                golden_sum  <= exp_sum(words);
                golden_code <= exp_out(words);
                if std_logic_vector(sum) /= exp_sum(words) then
                    mismatch("sum", to_hstring(exp_sum(words)), to_hstring(sum));
                end if;
                if CHECK_OUT = 1 and std_logic_vector(out_code) /= exp_out(words) then
                    mismatch("out", to_hstring(exp_out(words)), to_hstring(out_code));
                end if;
                words := words + 1;
            end if;
        end procedure;

        -- What is transferred with the next edge.
        procedure transfer is
            variable is_there : boolean;
        begin
            still := still + 1;
            if (out_valid /= '0' and out_valid /= '1') or (in_ready /= '0' and in_ready /= '1') then
                mismatch("handshake", "0 or 1", to_string(out_valid) & "," & to_string(in_ready));
            end if;
            is_there := out_valid = '1';
            if in_valid = '1' and in_ready = '1' then
                is_accepted := true;
                still := 0;
                if in_wait > 0 then
                    stalls_in(stall_bin(in_wait)) := stalls_in(stall_bin(in_wait)) + 1;
                end if;
                in_wait := 0;
            elsif in_valid = '1' then
                in_wait := in_wait + 1;
            end if;
            if is_waiting and (not is_there or sum /= held_sum or out_code /= held_code) then
                mismatch("unstable", to_hstring(held_sum) & "," & to_hstring(held_code),
                    to_hstring(sum) & "," & to_hstring(out_code) & " out_valid=" & to_string(out_valid));
            end if;
            is_waiting := is_there and out_ready = '0';
            held_sum   := sum;
            held_code  := out_code;
            if is_waiting then
                out_wait := out_wait + 1;
            elsif is_there then
                still := 0;
                if out_wait > 0 then
                    stalls_out(stall_bin(out_wait)) := stalls_out(stall_bin(out_wait)) + 1;
                end if;
                out_wait := 0;
                compare;
            end if;
            if beat >= BEATS and words >= OUTS then
                drained := drained + 1;
                is_done := drained > DRAIN;
            elsif still > PATIENCE then
                mismatch("missing", "a result", "none beat=" & integer'image(beat));
                is_done := true;
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

        variable is_shown : boolean;
    begin
        load(ctrl, "ctrl.mem", BEATS, KEEP + LANES);
        load(a, "stim_a.mem", BEATS, LANES * A_SLOT);
        load(w, "stim_w.mem", BEATS, LANES * W_SLOT);
        load(biases, "stim_bias.mem", DOTS, BIAS_W);
        load(mults, "stim_mult.mem", DOTS, MULT_W);
        load(exps, "stim_exp.mem", DOTS, 8);
        load(exp_flags, "exp_flags.mem", BEATS, 4 * LEVELS);
        load(exp_sum, "exp_sum.mem", OUTS, SUM_W);
        load(exp_out, "exp_out.mem", OUTS, CODE_W);
        for b in 0 to BEATS - 1 loop
            if is_start(b) then
                dot := dot + 1;
                word_beat(words) := b;
                word_dot(words)  := dot;
            end if;
            if is_end(b) then
                words := words + 1;
            end if;
        end loop;
        word_beat(OUTS) := BEATS;
        word_dot(OUTS)  := dot + 1;
        words := 0;
        dot   := -1;
        for i in 1 to 4 loop
            wait until rising_edge(clk);
        end loop;
        -- After what changes with the edge.
        wait for 2 ns;
        rst_n <= '1';
        -- The cycle at hand, in which nothing is sent.
        cycle := 1;
        while not is_done loop
            -- Inputs change a little after the edge; outputs are read a little before the next one.
            wait until rising_edge(clk);
            if rst_n = '1' then
                in_reset := 0;
            else
                in_reset := in_reset + 1;
            end if;
            wait for 1 ns;
            next_cycle;
            wait until falling_edge(clk);
            differs <= '0';
            is_accepted := false;
            cycle := cycle + 1;
            if in_reset > 1 and out_valid /= '0' then
                mismatch("reset", "0", to_string(out_valid));
            end if;
            if in_reset = 0 and rst_n = '1' then
                transfer;
            end if;
        end loop;
        if words /= OUTS then
            -- Never hidden by other mismatches.
            is_shown := noted(words);
            report "MISMATCH kind=count" & place & " what=sum expected=" & integer'image(OUTS) & " got="
                & integer'image(words) severity note;
        end if;
        if mismatches > 0 then
            report failed severity note;
        end if;
        report "RESULT checked=" & integer'image(words + CHECK_OUT * words) & " mismatches=" & integer'image(mismatches)
            & " cycles=" & integer'image(cycle) & " outputs=" & integer'image(CHECK_OUT) & " sum=" & integer'image(words)
            & " out=" & integer'image(words) & " gap_inside=" & listed(gaps_inside) & " gap_between="
            & listed(gaps_between) & " reset=" & listed(done_resets) & " stall_in=" & listed(stalls_in) & " stall_out="
            & listed(stalls_out) & " random=" & integer'image(random);
        assert mismatches = 0 report "vectors differ" severity failure;
        stop <= true;
        wait;
    end process;
end architecture;
