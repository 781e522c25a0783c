-- One MAC unit: products, an optional adder tree over the lanes, serial levels, one within the other.
--
-- A generic per level (index 0 innermost), choices by gb_codes. The same timing as gb_unit.sv: products are registered, then accumulators.
-- Registers are 64 bits wide here; what they hold fits the level's width.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.gb_codes.all;
use work.gb_pkg.all;

entity gb_mac is
    generic (
        LANES     : positive;
        LEVELS    : positive;
        A_W       : positive;
        A_SLOT    : positive;
        W_W       : positive;
        W_SLOT    : positive;
        PRELOAD   : natural;
        P_BITS    : natural;
        P_SIGNED  : natural;
        P_MODE    : natural;
        P_SHIFT   : natural;
        P_ROUND   : natural;
        REDUCE    : integer_vector;
        BITS      : integer_vector;
        IS_SIGNED : integer_vector;
        MODE      : integer_vector;
        HAND_OVER : integer_vector;
        SHIFT     : integer_vector;
        ROUND     : integer_vector
    );
    port (
        clk         : in  std_logic;
        rst_n       : in  std_logic;
        in_valid    : in  std_logic;
        in_clear    : in  std_logic;
        in_run_last : in  std_logic_vector(LEVELS - 1 downto 0);
        in_keep     : in  std_logic_vector(LANES - 1 downto 0);
        in_a        : in  std_logic_vector(LANES * A_SLOT - 1 downto 0);
        in_w        : in  std_logic_vector(LANES * W_SLOT - 1 downto 0);
        in_bias     : in  signed(63 downto 0);
        acc         : out words_t(0 to LEVELS - 1);
        updated     : out std_logic_vector(LEVELS - 1 downto 0);
        flags       : out std_logic_vector(4 * LEVELS - 1 downto 0);
        sum_valid   : out std_logic;
        sum         : out signed(63 downto 0)
    );
end entity;

architecture rtl of gb_mac is
    signal valid1    : std_logic := '0';
    signal clear1    : std_logic := '0';
    signal run_last1 : std_logic_vector(LEVELS - 1 downto 0);
    signal keep1     : std_logic_vector(LANES - 1 downto 0);
    signal bias1     : word_t;
    signal product1  : words_t(0 to LANES - 1);
    signal reg       : words_t(0 to LEVELS - 1);
    signal fresh     : std_logic_vector(LEVELS - 1 downto 0);
    signal stuck     : std_logic_vector(LEVELS - 1 downto 0);
    signal sticky    : std_logic_vector(LEVELS - 1 downto 0);
begin
    acc <= reg;

    products : process (clk)
        variable a : signed(A_W - 1 downto 0);
        variable w : signed(W_W - 1 downto 0);
        variable fitted : fit_t;
    begin
        if rising_edge(clk) then
            valid1    <= in_valid and rst_n;
            clear1    <= in_valid and in_clear and rst_n;
            run_last1 <= in_run_last;
            keep1     <= in_keep;
            bias1     <= in_bias;
            for lane in 0 to LANES - 1 loop
                a := signed(in_a(lane * A_SLOT + A_W - 1 downto lane * A_SLOT));
                w := signed(in_w(lane * W_SLOT + W_W - 1 downto lane * W_SLOT));
                fitted := fit(times(a, w), P_BITS, P_SIGNED, P_MODE);
                product1(lane) <= round_shift(fitted.value, P_SHIFT, P_ROUND);
            end loop;
        end if;
    end process;

    accumulators : process (clk)
        variable node        : words_t(0 to LANES - 1);
        variable count, half : natural;
        variable value       : word_t;
        variable valid       : std_logic;
        variable held        : word_t;
        variable is_stuck    : std_logic;
        variable start       : std_logic;
        variable high, low   : std_logic;
        variable fitted      : fit_t;
        variable node_bits   : natural;
        variable add_bits    : natural;
        variable out_bits    : natural;
    begin
        if rising_edge(clk) then
            sum_valid <= '0';
            updated   <= (others => '0');
            if rst_n = '0' then
                fresh  <= (others => '1');
                stuck  <= (others => '0');
                sticky <= (others => '0');
                reg    <= (others => (others => '0'));
                flags  <= (others => '0');
            else
                value := product1(0);
                valid := valid1;
                for level in 0 to LEVELS - 1 loop
                    high := '0';
                    low  := '0';
                    -- Where the level checks: at every addition, or when its result leaves.
                    add_bits := BITS(level);
                    out_bits := 0;
                    if HAND_OVER(level) = 1 then
                        add_bits := 0;
                        out_bits := BITS(level);
                    end if;
                    if REDUCE(level) = REDUCE_TREE then
                        -- Adjacent pairs, round after round; an odd last value passes up unchanged.
                        node_bits := add_bits;
                        node  := product1;
                        count := 0;
                        for lane in 0 to LANES - 1 loop
                            if keep1(lane) = '1' then
                                count := count + 1;
                            end if;
                        end loop;
                        while count > 1 loop
                            half := count / 2;
                            for pair in 0 to half - 1 loop
                                fitted := fit(node(2 * pair) + node(2 * pair + 1), node_bits, IS_SIGNED(0), MODE(0));
                                node(pair) := fitted.value;
                                high := high or fitted.high;
                                low  := low or fitted.low;
                            end loop;
                            if count mod 2 = 1 then
                                node(half) := node(count - 1);
                                half := half + 1;
                            end if;
                            count := half;
                        end loop;
                        fitted := fit(node(0), out_bits, IS_SIGNED(0), MODE(0));
                        high   := high or fitted.high;
                        low    := low or fitted.low;
                        value  := round_shift(fitted.value, SHIFT(0), ROUND(0));
                        if valid = '1' then
                            reg(0)     <= value;
                            updated(0) <= '1';
                            flags(3 downto 0) <= (high or low) & low & high & (high or low);
                        end if;
                    else
                        assert REDUCE(level) = REDUCE_SERIAL report "there is no such level" severity failure;
                        start    := fresh(level) or clear1;
                        held     := reg(level);
                        is_stuck := stuck(level);
                        if start = '1' then
                            held     := (others => '0');
                            is_stuck := '0';
                            if PRELOAD = 1 and level = LEVELS - 1 then
                                fitted   := fit(bias1, add_bits, IS_SIGNED(level), MODE(level));
                                held     := fitted.value;
                                is_stuck := fitted.high or fitted.low;
                            end if;
                        end if;
                        if not is_sticky(MODE(level)) then
                            is_stuck := '0';
                        end if;
                        if is_stuck = '0' then
                            fitted := fit(held + value, add_bits, IS_SIGNED(level), MODE(level));
                            held := fitted.value;
                            high := fitted.high;
                            low  := fitted.low;
                        end if;
                        if valid = '1' then
                            reg(level)     <= held;
                            stuck(level)   <= is_stuck or high or low;
                            fresh(level)   <= run_last1(level);
                            updated(level) <= '1';
                        elsif clear1 = '1' then
                            fresh(level) <= '1';
                        end if;
                        fitted := fit(held, out_bits, IS_SIGNED(level), MODE(level));
                        if run_last1(level) = '1' then
                            high := high or fitted.high;
                            low  := low or fitted.low;
                        end if;
                        value := round_shift(fitted.value, SHIFT(level), ROUND(level));
                        if valid = '1' then
                            sticky(level) <= (sticky(level) and not start) or high or low;
                            flags(4 * level + 3 downto 4 * level) <=
                                ((sticky(level) and not start) or high or low) & low & high & (high or low);
                        end if;
                    end if;
                    valid := valid and run_last1(level);
                end loop;
                sum_valid <= valid;
                sum       <= value;
            end if;
        end if;
    end process;
end architecture;
