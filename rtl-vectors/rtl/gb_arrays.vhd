-- Systolic arrays: the same parameters, ports and timing as gb_os_array.sv and gb_ws_array.sv, which describe them.
-- Choices by gb_codes. Registers are 64 bits wide here; what they hold fits the level's width.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.gb_codes.all;
use work.gb_pkg.all;

package gb_array_pkg is
    -- A register: what it holds, whether sticky saturation has hit a rail, and what it hands over.
    type sum_t is record
        value : word_t;
        stuck : boolean;
        leaving : word_t;
    end record;

    -- A level or the multiplier's register.
    type level_t is record
        bits, is_signed, mode, hand_over, shift, round : natural;
    end record;

    function product(a, w : signed; level : level_t) return word_t;

    -- One addition of a serial level.
    function add(held : word_t; stuck : boolean; x : word_t; level : level_t) return sum_t;
end package;

package body gb_array_pkg is
    function product(a, w : signed; level : level_t) return word_t is
    begin
        return round_shift(fit(times(a, w), level.bits, level.is_signed, level.mode).value, level.shift, level.round);
    end function;

    function add(held : word_t; stuck : boolean; x : word_t; level : level_t) return sum_t is
        variable result : sum_t := (value => held, stuck => stuck and is_sticky(level.mode), leaving => held);
        variable fitted : fit_t;
    begin
        if not result.stuck then
            if level.hand_over = 1 then
                result.value := held + x;
            else
                fitted := fit(held + x, level.bits, level.is_signed, level.mode);
                result.value := fitted.value;
                result.stuck := fitted.high = '1' or fitted.low = '1';
            end if;
        end if;
        result.leaving := result.value;
        if level.hand_over = 1 then
            result.leaving := fit(result.value, level.bits, level.is_signed, level.mode).value;
        end if;
        result.leaving := round_shift(result.leaving, level.shift, level.round);
        return result;
    end function;
end package body;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.gb_pkg.all;
use work.gb_array_pkg.all;

entity gb_os_array is
    generic (
        ROWS, COLS, A_W, B_W, OUT_W : positive;
        P, ACC : level_t
    );
    port (
        clk, rst_n : in std_logic;
        in_valid, in_first, in_last : in std_logic;
        in_a : in std_logic_vector(ROWS * A_W - 1 downto 0);
        in_w : in std_logic_vector(COLS * B_W - 1 downto 0);
        out_valid : out std_logic_vector(COLS - 1 downto 0);
        out_sum : out std_logic_vector(COLS * OUT_W - 1 downto 0);
        tile_first, adds_last : out std_logic
    );
end entity;

architecture rtl of gb_os_array is
    -- What passes from element to element: index 0 is the input of the first one.
    type step_t is record
        valid, first, last : std_logic;
        a : signed(A_W - 1 downto 0);
    end record;
    constant NO_STEP : step_t := ('0', '0', '0', (others => '0'));
    type steps_t is array (0 to ROWS - 1, 0 to ROWS + COLS) of step_t;
    type weights_t is array (0 to ROWS + COLS, 0 to COLS - 1) of signed(B_W - 1 downto 0);
    type cells_t is array (0 to ROWS, 0 to COLS - 1) of word_t;
    type flags_t is array (0 to ROWS - 1, 0 to COLS - 1) of boolean;
    type counts_t is array (0 to COLS - 1) of natural;

    -- Signals are what leaves the array; what moves within it is in variables, which simulators change in less time.
    signal last_adds : std_logic := '0';
    signal draining : std_logic_vector(COLS - 1 downto 0) := (others => '0');
    signal drained : words_t(0 to COLS - 1) := (others => (others => '0'));
begin
    input : process (all)
    begin
        tile_first <= in_valid and in_first;
        adds_last <= last_adds;
        if ROWS + COLS = 2 then
            adds_last <= in_valid;
        end if;
        for col in 0 to COLS - 1 loop
            out_valid(col) <= draining(col);
            out_sum((col + 1) * OUT_W - 1 downto col * OUT_W) <=
                std_logic_vector(drained(col)(OUT_W - 1 downto 0));
        end loop;
    end process;

    elements : process (clk)
        -- Row r delays its inputs by r registers, and every element by one: `step(r, r + c)` enters element c.
        variable step : steps_t := (others => (others => NO_STEP));
        -- Column c delays its weights by c registers: `weight(c + r, c)` enters row r.
        variable weight : weights_t := (others => (others => (others => '0')));
        variable held, drain : cells_t := (others => (others => (others => '0')));
        variable stuck : flags_t := (others => (others => false));
        variable fresh : flags_t := (others => (others => true));
        variable count : counts_t := (others => 0);
        variable here : step_t;
        variable sum : sum_t;
        variable shifts : boolean;
    begin
        if rising_edge(clk) then
            for row in 0 to ROWS - 1 loop
                step(row, 0) := (in_valid, in_first, in_last, signed(in_a((row + 1) * A_W - 1 downto row * A_W)));
            end loop;
            for col in 0 to COLS - 1 loop
                weight(0, col) := signed(in_w((col + 1) * B_W - 1 downto col * B_W));
            end loop;
            for col in 0 to COLS - 1 loop
                -- From the bottom: a row needs what the row above held before this cycle.
                for row in ROWS - 1 downto 0 loop
                    here := step(row, row + col);
                    shifts := draining(col) = '1' and count(col) < row;
                    if here.valid = '1' and rst_n = '1' then
                        if fresh(row, col) or here.first = '1' then
                            held(row, col) := (others => '0');
                            stuck(row, col) := false;
                        end if;
                        sum := add(held(row, col), stuck(row, col), product(here.a, weight(col + row, col), P), ACC);
                        held(row, col) := sum.value;
                        stuck(row, col) := sum.stuck;
                        fresh(row, col) := here.last = '1';
                    elsif rst_n = '0' then
                        held(row, col) := (others => '0');
                        fresh(row, col) := true;
                    end if;
                    if here.valid = '1' and here.last = '1' then
                        drain(row + 1, col) := sum.leaving;
                    elsif shifts then
                        drain(row + 1, col) := drain(row, col);
                    end if;
                end loop;
                here := step(ROWS - 1, ROWS - 1 + col);
                if here.valid = '1' and here.last = '1' and rst_n = '1' then
                    draining(col) <= '1';
                    count(col) := 0;
                else
                    if count(col) = ROWS - 1 or rst_n = '0' then
                        draining(col) <= '0';
                    end if;
                    count(col) := count(col) + 1;
                end if;
            end loop;
            for place in ROWS + COLS downto 1 loop
                for row in 0 to ROWS - 1 loop
                    step(row, place) := step(row, place - 1);
                    if rst_n = '0' then
                        step(row, place) := NO_STEP;
                    end if;
                end loop;
                for col in 0 to COLS - 1 loop
                    weight(place, col) := weight(place - 1, col);
                end loop;
            end loop;
            last_adds <= step(ROWS - 1, ROWS + COLS - 2).valid;
            for col in 0 to COLS - 1 loop
                drained(col) <= drain(ROWS, col);
            end loop;
        end if;
    end process;
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.gb_pkg.all;
use work.gb_array_pkg.all;

entity gb_ws_array is
    generic (
        ROWS, COLS, DEPTH, A_W, B_W, OUT_W : positive;
        P, CHAIN, ACC : level_t
    );
    port (
        clk, rst_n : in std_logic;
        in_valid, in_first, in_load, in_start, in_done : in std_logic;
        in_a : in std_logic_vector(ROWS * A_W - 1 downto 0);
        in_w : in std_logic_vector(COLS * B_W - 1 downto 0);
        out_valid : out std_logic_vector(COLS - 1 downto 0);
        out_sum : out std_logic_vector(COLS * OUT_W - 1 downto 0);
        tile_first, adds_last : out std_logic
    );
end entity;

architecture rtl of gb_ws_array is
    type step_t is record
        valid, first, start, done : std_logic;
        a : signed(A_W - 1 downto 0);
    end record;
    constant NO_STEP : step_t := ('0', '0', '0', '0', (others => '0'));
    type load_t is record
        load : std_logic;
        w : signed(B_W - 1 downto 0);
    end record;
    constant NO_LOAD : load_t := ('0', (others => '0'));
    type steps_t is array (0 to ROWS - 1, 0 to ROWS + COLS) of step_t;
    type loads_t is array (0 to COLS, 0 to COLS - 1) of load_t;
    type weights_t is array (0 to ROWS - 1, 0 to COLS - 1) of signed(B_W - 1 downto 0);
    type sums_t is array (0 to ROWS, 0 to COLS - 1) of sum_t;
    type memory_t is array (0 to DEPTH - 1, 0 to COLS - 1) of sum_t;
    type counts_t is array (0 to COLS - 1) of natural;
    constant NOTHING : sum_t := ((others => '0'), false, (others => '0'));
begin
    -- State is in variables, which simulators change in less time than signals. Outputs follow from it and from inputs,
    -- which enter the first element without a register.
    array_of_elements : process (clk, in_valid, in_first, in_start, in_done, in_a)
        -- Row r delays its inputs by r registers, and every element by one: `step(r, r + c)` enters element c.
        variable step : steps_t := (others => (others => NO_STEP));
        -- Column c delays its weights by c registers.
        variable loads : loads_t := (others => (others => NO_LOAD));
        variable loaded, count : counts_t := (others => 0);
        variable next_w, now_w : weights_t := (others => (others => (others => '0')));
        variable sums : sums_t := (others => (others => NOTHING));
        variable memory : memory_t := (others => (others => NOTHING));
        variable here : step_t;
        variable word : natural;

        -- The step that an element gets in this cycle: without registers before it, the input itself.
        impure function entering(row, col : natural) return step_t is
        begin
            if row + col = 0 then
                return (in_valid, in_first, in_start, in_done, signed(in_a(A_W - 1 downto 0)));
            end if;
            return step(row, row + col);
        end function;

        -- The chain of a column with the product of one row.
        impure function chained(row, col : natural) return sum_t is
            constant now : step_t := entering(row, col);
            variable w : signed(B_W - 1 downto 0);
        begin
            w := now_w(row, col);
            if now.valid = '1' and now.first = '1' then
                w := next_w(row, col);
            end if;
            return add(sums(row, col).value, sums(row, col).stuck, product(now.a, w, P), CHAIN);
        end function;

        -- Where the accumulator memory adds, and its sum.
        impure function word_at(col : natural) return natural is
        begin
            if entering(ROWS - 1, col).first = '1' then
                return 0;
            end if;
            return count(col) mod DEPTH;
        end function;

        impure function accumulated(col : natural) return sum_t is
            constant held : sum_t := memory(word_at(col), col);
        begin
            if entering(ROWS - 1, col).start = '1' then
                return add((others => '0'), false, chained(ROWS - 1, col).leaving, ACC);
            end if;
            return add(held.value, held.stuck, chained(ROWS - 1, col).leaving, ACC);
        end function;
    begin
        if rising_edge(clk) then
            for col in 0 to COLS - 1 loop
                loads(0, col) := (in_load, signed(in_w((col + 1) * B_W - 1 downto col * B_W)));
                if entering(ROWS - 1, col).valid = '1' then
                    word := word_at(col);
                    memory(word, col) := accumulated(col);
                    count(col) := word + 1;
                end if;
                -- From the bottom: a row needs what the row above held before this cycle.
                for row in ROWS - 1 downto 0 loop
                    here := entering(row, col);
                    if here.valid = '1' then
                        sums(row + 1, col) := chained(row, col);
                    end if;
                    if here.valid = '1' and here.first = '1' then
                        now_w(row, col) := next_w(row, col);
                    end if;
                    -- Row r takes weights from the r-th cycle of the load on.
                    if loads(col, col).load = '1' and loaded(col) >= row then
                        if row = 0 then
                            next_w(row, col) := loads(col, col).w;
                        else
                            next_w(row, col) := next_w(row - 1, col);
                        end if;
                    end if;
                end loop;
                if rst_n = '0' then
                    loaded(col) := 0;
                elsif loads(col, col).load = '1' then
                    loaded(col) := (loaded(col) + 1) mod ROWS;
                end if;
            end loop;
            for row in 0 to ROWS - 1 loop
                step(row, 0) := (in_valid, in_first, in_start, in_done, signed(in_a((row + 1) * A_W - 1 downto row * A_W)));
                for place in ROWS + COLS downto 1 loop
                    step(row, place) := step(row, place - 1);
                    if rst_n = '0' then
                        step(row, place) := NO_STEP;
                    end if;
                end loop;
            end loop;
            for place in COLS downto 1 loop
                for col in 0 to COLS - 1 loop
                    loads(place, col) := loads(place - 1, col);
                end loop;
            end loop;
        end if;
        tile_first <= in_valid and in_first;
        adds_last <= entering(ROWS - 1, COLS - 1).valid;
        for col in 0 to COLS - 1 loop
            here := entering(ROWS - 1, col);
            out_valid(col) <= here.valid and here.done;
            if (here.valid and here.done) = '1' then
                out_sum((col + 1) * OUT_W - 1 downto col * OUT_W) <=
                    std_logic_vector(accumulated(col).leaving(OUT_W - 1 downto 0));
            end if;
        end loop;
    end process;
end architecture;
