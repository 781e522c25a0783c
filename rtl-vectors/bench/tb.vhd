-- Replays the vectors of this folder against gb_mac (VHDL-2008). Prints the first mismatches and ends with a line RESULT.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use std.textio.all;
use work.gb_pkg.all;
use work.tb_params.all;

entity tb is
end entity;

architecture bench of tb is
    -- Of a control word: the first of the bits that end a run, and of those that mark lanes in use.
    constant RUN_LAST : natural := 2;
    constant KEEP     : natural := RUN_LAST + LEVELS;

    subtype ctrl_t is std_logic_vector(KEEP + LANES - 1 downto 0);
    subtype a_t is std_logic_vector(LANES * A_SLOT - 1 downto 0);
    subtype w_t is std_logic_vector(LANES * W_SLOT - 1 downto 0);
    -- Per level, and of the delivered sums.
    type counts_t is array (0 to LEVELS) of natural;

    signal clk, rst_n, in_valid, in_clear, sum_valid, stop : std_logic := '0';
    signal in_run_last, updated : std_logic_vector(LEVELS - 1 downto 0) := (others => '0');
    signal in_keep : std_logic_vector(LANES - 1 downto 0) := (others => '0');
    signal in_a : a_t := (others => '0');
    signal in_w : w_t := (others => '0');
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
            return printed <= SHOWN;
        end function;
    end protected body;
    shared variable prints : shown_t;

    -- The next word of a file of hexadecimal digits.
    procedure next_word(file words : text; name : string; word : out std_logic_vector) is
        variable l : line;
        variable value : std_logic_vector(word'length - 1 downto 0);
        variable ok : boolean;
    begin
        readline(words, l);
        hread(l, value, ok);
        assert ok report name & " does not read" severity failure;
        word := value;
    end procedure;

    -- The case that a beat belongs to, or that gives an output word (where beat is below 0), as cases.txt has it.
    procedure find_case(beat, word : integer; last_beat : out integer; id : inout line) is
        file cases : text;
        variable l : line;
        variable first_beat, beats, out_word : integer;
        variable c : character;
        variable ok : boolean;
    begin
        file_open(cases, "cases.txt", read_mode);
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
        variable a : a_t;
        variable w : w_t;
        variable ctrl : ctrl_t;
        variable comma : boolean := false;
    begin
        file_open(as, "stim_a.mem", read_mode);
        file_open(ws, "stim_w.mem", read_mode);
        file_open(ctrls, "ctrl.mem", read_mode);
        for i in 0 to beat loop
            next_word(as, "stim_a.mem", a);
            next_word(ws, "stim_w.mem", w);
            next_word(ctrls, "ctrl.mem", ctrl);
        end loop;
        file_close(as);
        file_close(ws);
        file_close(ctrls);
        for lane in 0 to LANES - 1 loop
            if ctrl(KEEP + lane) = '1' then
                if comma then
                    write(text_line, ',');
                end if;
                write(text_line, integer'image(to_integer(signed(a(lane * A_SLOT + A_W - 1 downto lane * A_SLOT)))) & "*"
                    & integer'image(to_integer(signed(w(lane * W_SLOT + W_W - 1 downto lane * W_SLOT)))));
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
            return "";
        end if;
        if beat < 0 then
            operands(last_beat, products);
        else
            operands(beat, products);
        end if;
        return " case=" & id.all & " operands=" & products.all;
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

    drive : process
        file ctrls : text open read_mode is "ctrl.mem";
        file as : text open read_mode is "stim_a.mem";
        file ws : text open read_mode is "stim_w.mem";
        file biases : text open read_mode is "stim_bias.mem";
        variable ctrl : ctrl_t;
        variable a : a_t;
        variable w : w_t;
        variable bias : std_logic_vector(BIAS_W - 1 downto 0);
        variable total, bad : natural;
    begin
        for i in 1 to 4 loop
            wait until falling_edge(clk);
        end loop;
        rst_n <= '1';
        while not endfile(ctrls) loop
            next_word(ctrls, "ctrl.mem", ctrl);
            next_word(as, "stim_a.mem", a);
            next_word(ws, "stim_w.mem", w);
            if ctrl(0) = '1' and ctrl(1) = '1' then
                next_word(biases, "stim_bias.mem", bias);
                in_bias <= resize(signed(bias), 64);
            end if;
            in_valid <= ctrl(0);
            in_clear <= ctrl(1);
            in_run_last <= ctrl(KEEP - 1 downto RUN_LAST);
            in_keep <= ctrl(KEEP + LANES - 1 downto KEEP);
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
        if checked(LEVELS) /= OUTS then
            bad := bad + 1;
            report "MISMATCH kind=count level=" & integer'image(LEVELS - 1) & " cycle=" & integer'image(cycle)
                & " word=" & integer'image(checked(LEVELS));
        end if;
        report "RESULT checked=" & integer'image(total) & " mismatches=" & integer'image(bad) & " cycles=" & integer'image(cycle)
            & " outputs=0 vhdl=1";
        assert bad = 0 report "vectors differ" severity failure;
        stop <= '1';
        wait;
    end process;

    compare_levels : for level in 0 to LEVELS - 1 generate
        constant BITS_HERE : positive := ACC_BITS(level);
    begin
        compare : process (clk)
            file accs : text open read_mode is acc_file(level);
            file masks : text open read_mode is "mask.mem";
            file expected_flags : text open read_mode is "exp_flags.mem";
            variable word, got : std_logic_vector(BITS_HERE - 1 downto 0);
            variable mask_word : std_logic_vector(LEVELS - 1 downto 0);
            variable flag_word : std_logic_vector(4 * LEVELS - 1 downto 0);
            variable want_flags, got_flags : std_logic_vector(3 downto 0);
            variable beat : integer := -1;
            variable bad : natural := 0;
            variable seen : natural := 0;
        begin
            if falling_edge(clk) then
                if updated(level) = '1' then
                    loop
                        exit when endfile(masks);
                        next_word(masks, "mask.mem", mask_word);
                        next_word(accs, acc_file(level), word);
                        next_word(expected_flags, "exp_flags.mem", flag_word);
                        beat := beat + 1;
                        exit when mask_word(level) = '1';
                    end loop;
                    seen := seen + 1;
                    got := std_logic_vector(acc(level)(BITS_HERE - 1 downto 0));
                    want_flags := flag_word(4 * level + 3 downto 4 * level);
                    got_flags := flags(4 * level + 3 downto 4 * level);
                    if got /= word or got_flags /= want_flags then
                        if prints.again then
                            report "MISMATCH kind=acc level=" & integer'image(level) & " cycle=" & integer'image(cycle)
                                & " beat=" & integer'image(beat) & " expected=" & to_hstring(word) & " got=" & to_hstring(got)
                                & " expected_flags=" & to_hstring(want_flags) & " got_flags=" & to_hstring(got_flags)
                                & of_beat(beat) severity note;
                        end if;
                        bad := bad + 1;
                    end if;
                    mismatches(level) <= bad;
                    checked(level) <= seen;
                end if;
            end if;
        end process;
    end generate;

    compare_sum : process (clk)
        file sums : text open read_mode is "exp_sum.mem";
        variable word, got : std_logic_vector(SUM_W - 1 downto 0);
        variable ok : boolean;
        variable bad, seen : natural := 0;
    begin
        if falling_edge(clk) then
            if sum_valid = '1' then
                ok := not endfile(sums);
                if ok then
                    next_word(sums, "exp_sum.mem", word);
                end if;
                got := std_logic_vector(sum(SUM_W - 1 downto 0));
                if not ok or got /= word then
                    if prints.again then
                        report "MISMATCH kind=sum level=" & integer'image(LEVELS - 1) & " cycle=" & integer'image(cycle)
                            & " word=" & integer'image(seen) & " expected=" & to_hstring(word) & " got=" & to_hstring(got)
                            & of_word(seen) severity note;
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
