-- Streams the tiles of array/ through gb_array (VHDL-2008), compares every sum that leaves it and measures cycles.
-- Prints the first mismatches and ends with a line RESULT, and with a failure if anything differs or was not compared.
-- Generics, set with -gNAME=VALUE: cycles 0 does not check cycles, quick 1 stops at the first mismatch.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use std.textio.all;
use work.tb_array_params.all;

entity tb_array is
    generic (
        cycles : integer := 1;
        quick  : integer := 0
    );
end entity;

architecture bench of tb_array is
    -- Cycles after the last beat in which the array is watched.
    constant WATCHED : natural := 2 * (ROWS + COLS) + 16;

    type memory_t is array (natural range <>) of std_logic_vector;
    type counts_t is array (natural range <>) of integer;

    -- On the heap: simulators limit their stack.
    type memory_ptr is access memory_t;

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

    signal clk, rst_n : std_logic := '0';
    signal stop : boolean := false;
    signal in_ctrl : std_logic_vector(5 downto 0) := (others => '0');
    signal in_a : std_logic_vector(ROWS * A_W - 1 downto 0) := (others => '0');
    signal in_w : std_logic_vector(COLS * W_W - 1 downto 0) := (others => '0');
    signal out_valid : std_logic_vector(COLS - 1 downto 0);
    signal out_sum : std_logic_vector(COLS * SUM_W - 1 downto 0);
    signal tile_first, adds_last : std_logic;
begin
    clk <= not clk after 5 ns when not stop;

    dut : entity work.gb_array
        port map (
            clk => clk, rst_n => rst_n, in_valid => in_ctrl(0), in_first => in_ctrl(1), in_last => in_ctrl(2),
            in_load => in_ctrl(3), in_start => in_ctrl(4), in_done => in_ctrl(5), in_a => in_a, in_w => in_w,
            out_valid => out_valid, out_sum => out_sum, tile_first => tile_first, adds_last => adds_last
        );

    bench : process
        variable stim_a, stim_w, ctrl, exp_sum, exp_mask : memory_ptr;
        variable cycle, first_tile, second_tile, first_end, last_end, last_out : integer := -1;
        variable checked, mismatches, tiles : natural := 0;
        variable at : counts_t(0 to COLS - 1) := (others => 0);
        variable expected, got : std_logic_vector(SUM_W - 1 downto 0);

        impure function place(col : natural) return string is
        begin
            return " column=" & integer'image(col) & " cycle=" & integer'image(cycle) & " word=" & integer'image(at(col));
        end function;

        procedure note(what : string) is
        begin
            mismatches := mismatches + 1;
            if mismatches <= SHOWN then
                report "MISMATCH kind=" & what severity note;
            end if;
        end procedure;

        procedure compare is
        begin
            cycle := cycle + 1;
            if tile_first = '1' then
                if tiles = 0 then
                    first_tile := cycle;
                elsif tiles = 1 then
                    second_tile := cycle;
                end if;
                tiles := tiles + 1;
            end if;
            if adds_last = '1' and cycle < REAL_BEATS then
                if first_end < 0 then
                    first_end := cycle;
                end if;
                last_end := cycle;
            end if;
            for col in 0 to COLS - 1 loop
                if out_valid(col) = '1' then
                    if at(col) < REAL_WORDS then
                        last_out := cycle;
                    end if;
                    if at(col) >= WORDS then
                        note("extra" & place(col));
                    elsif exp_mask(at(col))(col) = '1' then
                        checked  := checked + 1;
                        expected := exp_sum(at(col))((col + 1) * SUM_W - 1 downto col * SUM_W);
                        got      := out_sum((col + 1) * SUM_W - 1 downto col * SUM_W);
                        if got /= expected then
                            note("sum" & place(col) & " expected=" & to_hstring(expected) & " got=" & to_hstring(got));
                        end if;
                    end if;
                    at(col) := at(col) + 1;
                elsif out_valid(col) /= '0' then
                    note("valid" & place(col));
                end if;
            end loop;
        end procedure;
    begin
        load(stim_a, "array/stim_a.mem", BEATS, ROWS * A_W);
        load(stim_w, "array/stim_w.mem", BEATS, COLS * W_W);
        load(ctrl, "array/ctrl.mem", BEATS, 6);
        load(exp_sum, "array/exp_sum.mem", WORDS, COLS * SUM_W);
        load(exp_mask, "array/exp_mask.mem", WORDS, COLS);

        for i in 1 to 2 + ROWS + COLS loop
            wait until rising_edge(clk);
        end loop;
        wait for 2 ns;
        rst_n <= '1';
        for beat in 0 to BEATS + WATCHED - 1 loop
            exit when quick /= 0 and mismatches /= 0;
            wait until rising_edge(clk);
            wait for 1 ns;
            in_ctrl <= (others => '0');
            if beat < BEATS then
                in_ctrl <= ctrl(beat);
                in_a    <= stim_a(beat);
                in_w    <= stim_w(beat);
            end if;
            wait until falling_edge(clk);
            compare;
        end loop;
        if quick = 0 or mismatches = 0 then
            for col in 0 to COLS - 1 loop
                if at(col) /= WORDS then
                    note("count" & place(col) & " expected=" & integer'image(WORDS) & " got=" & integer'image(at(col)));
                end if;
            end loop;
            if cycles /= 0 and last_out + 1 /= EXPECTED_CYCLES then
                note("cycles column=0 cycle=" & integer'image(last_out) & " word=0 expected=" & integer'image(EXPECTED_CYCLES)
                    & " got=" & integer'image(last_out + 1));
            end if;
            if checked /= COMPARED then
                note("count column=0 cycle=" & integer'image(cycle) & " word=0 expected=" & integer'image(COMPARED)
                    & " got=" & integer'image(checked));
            end if;
        end if;
        report "RESULT checked=" & integer'image(checked) & " mismatches=" & integer'image(mismatches)
            & " cycles=" & integer'image(last_out + 1) & " tiles=" & integer'image(tiles)
            & " preload=" & integer'image(first_tile) & " fill=" & integer'image(first_end - first_tile)
            & " period=" & integer'image(second_tile - first_tile) & " drain=" & integer'image(last_out - last_end);
        assert mismatches = 0 report "vectors differ" severity failure;
        stop <= true;
        wait;
    end process;
end architecture;
