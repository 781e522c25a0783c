-- Integers of a run-time width for gb_mac: fits and roundings on 64 bits.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

package gb_pkg is
    subtype word_t is signed(63 downto 0);
    type words_t is array (natural range <>) of word_t;
    type fit_t is record
        value : word_t;
        high  : std_logic;
        low   : std_logic;
    end record;

    -- mode: 0 wrap, 1 saturate, 2 saturate_symmetric, 3 saturate_zero, 4 sticky (saturates here), 5 observe and trap.
    -- bits = 0: everything passes.
    function fit(x : word_t; bits : natural; is_signed : natural; mode : natural) return fit_t;

    -- kind: 0 floor, 1 toward_zero, 2 half_up, 3 half_down, 4 half_away, 5 half_to_zero, 6 half_even, 7 half_odd.
    function round_shift(x : word_t; shift : natural; kind : natural) return word_t;
end package;

package body gb_pkg is
    function fit(x : word_t; bits : natural; is_signed : natural; mode : natural) return fit_t is
        constant one   : word_t := to_signed(1, 64);
        variable top   : natural;
        variable max   : word_t;
        variable min   : word_t;
        variable result : fit_t := (value => x, high => '0', low => '0');
    begin
        if bits = 0 then
            return result;
        end if;
        top := bits - is_signed;
        max := shift_left(one, top) - one;
        min := (others => '0');
        if is_signed = 1 then
            min := -max - one;
            if mode = 2 then
                min := -max;
            end if;
        end if;
        if x > max then
            result.high := '1';
        elsif x < min then
            result.low := '1';
        else
            return result;
        end if;
        case mode is
            when 0 =>
                if is_signed = 1 then
                    result.value := resize(x(bits - 1 downto 0), 64);
                else
                    result.value := signed(resize(unsigned(x(bits - 1 downto 0)), 64));
                end if;
            when 3 => result.value := (others => '0');
            when 5 => null;
            when others =>
                result.value := min;
                if result.high = '1' then
                    result.value := max;
                end if;
        end case;
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
        if kind = 0 then
            up := false;
        elsif kind = 1 then
            up := x < 0 and rest /= 0;
        elsif rest /= half then
            up := rest > half;
        else
            case kind is
                when 2 => up := true;
                when 3 => up := false;
                when 4 => up := x >= 0;
                when 5 => up := x < 0;
                when 6 => up := quotient(0) = '1';
                when others => up := quotient(0) = '0';
            end case;
        end if;
        if up then
            return quotient + 1;
        end if;
        return quotient;
    end function;
end package body;
