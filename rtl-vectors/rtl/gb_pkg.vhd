-- Integers of a run-time width for gb_mac: fits and roundings on 64 bits.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.gb_codes.all;

package gb_pkg is
    subtype word_t is signed(63 downto 0);
    type words_t is array (natural range <>) of word_t;
    type fit_t is record
        value : word_t;
        high  : std_logic;
        low   : std_logic;
    end record;

    -- The product of two operands.
    function times(a, w : signed) return word_t;

    -- mode: the overflow mode, by gb_codes. A sticky one saturates here. bits = 0: everything passes.
    function fit(x : word_t; bits : natural; is_signed : natural; mode : natural) return fit_t;

    -- kind: the rounding, by gb_codes.
    function round_shift(x : word_t; shift : natural; kind : natural) return word_t;
end package;

package body gb_pkg is
    function times(a, w : signed) return word_t is
    begin
        -- Simulators multiply integers, which have 32 bits, in a tenth of the time of vectors.
        if a'length + w'length <= 32 then
            return to_signed(to_integer(a) * to_integer(w), 64);
        end if;
        return resize(a * w, 64);
    end function;

    function fit(x : word_t; bits : natural; is_signed : natural; mode : natural) return fit_t is
        constant one   : word_t := to_signed(1, 64);
        variable top   : natural;
        variable max   : word_t;
        variable min   : word_t;
        variable wrapped, rail : word_t;
        variable is_within : boolean;
        variable result : fit_t := (value => x, high => '0', low => '0');
    begin
        if bits = 0 then
            return result;
        end if;
        top := bits - is_signed;
        -- Nearly all sums are within: simulators compare their upper bits in much less time than numbers.
        is_within := is_signed = 1 or x(63) = '0';
        for bit in top to 62 loop
            is_within := is_within and x(bit) = x(63);
        end loop;
        if is_within and not is_symmetric(mode) then
            return result;
        end if;
        max := shift_left(one, top) - one;
        min := (others => '0');
        if is_signed = 1 then
            min := -max - one;
            if is_symmetric(mode) then
                min := -max;
            end if;
        end if;
        if x > max then
            result.high := '1';
            rail := max;
        elsif x < min then
            result.low := '1';
            rail := min;
        else
            return result;
        end if;
        wrapped := resize(x(bits - 1 downto 0), 64);
        if is_signed = 0 then
            wrapped := signed(resize(unsigned(x(bits - 1 downto 0)), 64));
        end if;
        result.value := beyond(mode, x, wrapped, rail, min, max);
        return result;
    end function;

    function round_shift(x : word_t; shift : natural; kind : natural) return word_t is
        variable quotient : word_t;
        variable rest     : word_t;
        variable half     : word_t;
        variable up       : boolean;
    begin
        if shift = 0 then
            return x;
        end if;
        quotient := shift_right(x, shift);
        rest     := x - shift_left(quotient, shift);
        half     := shift_left(to_signed(1, 64), shift - 1);
        if kind = ROUND_FLOOR then
            up := false;
        elsif kind = ROUND_TOWARD_ZERO then
            up := x < 0 and rest /= 0;
        elsif rest /= half then
            up := rest > half;
        else
            case kind is
                when ROUND_HALF_UP => up := true;
                when ROUND_HALF_DOWN => up := false;
                when ROUND_HALF_AWAY => up := x >= 0;
                when ROUND_HALF_TO_ZERO => up := x < 0;
                when ROUND_HALF_EVEN => up := quotient(0) = '1';
                when ROUND_HALF_ODD => up := quotient(0) = '0';
                when others => assert false report "there is no such rounding" severity failure;
            end case;
        end if;
        if up then
            return quotient + 1;
        end if;
        return quotient;
    end function;
end package body;
