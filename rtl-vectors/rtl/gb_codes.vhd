-- Codes of the choices that generics make, and what follows from an overflow mode; made by rtl-vectors/src/hdl/codes.rs from guardbit's enums.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

package gb_codes is
    -- Overflow modes.
    constant MODE_WRAP : natural := 0;
    constant MODE_SATURATE : natural := 1;
    constant MODE_SATURATE_SYMMETRIC : natural := 2;
    constant MODE_SATURATE_ZERO : natural := 3;
    constant MODE_STICKY : natural := 4;
    constant MODE_OBSERVE : natural := 5;
    constant MODE_TRAP : natural := 6;

    -- Roundings.
    constant ROUND_FLOOR : natural := 0;
    constant ROUND_TOWARD_ZERO : natural := 1;
    constant ROUND_HALF_UP : natural := 2;
    constant ROUND_HALF_DOWN : natural := 3;
    constant ROUND_HALF_AWAY : natural := 4;
    constant ROUND_HALF_TO_ZERO : natural := 5;
    constant ROUND_HALF_EVEN : natural := 6;
    constant ROUND_HALF_ODD : natural := 7;

    -- Kinds of levels.
    constant REDUCE_SERIAL : natural := 0;
    constant REDUCE_TREE : natural := 1;

    -- Requantization schemes.
    constant SCHEME_DOUBLE : natural := 0;
    constant SCHEME_SINGLE : natural := 1;
    constant SCHEME_AWAY : natural := 2;
    constant SCHEME_EVEN : natural := 3;
    constant SCHEME_FLOAT64_AWAY : natural := 6;

    -- Whether the lower rail is the negative of the upper one.
    function is_symmetric(mode : natural) return boolean;
    -- Whether a register that has overflowed ignores further values of the run.
    function is_sticky(mode : natural) return boolean;
    -- Whether the value stays exact.
    function is_exact(mode : natural) return boolean;

    -- What a register holds of a value beyond its rails. exact: the value; wrapped: its low bits; rail: the one that it
    -- crossed; min and max: both of them.
    function beyond(mode : natural; exact, wrapped, rail, min, max : signed(63 downto 0)) return signed;
end package;

package body gb_codes is
    function is_symmetric(mode : natural) return boolean is
    begin
        return mode = MODE_SATURATE_SYMMETRIC;
    end function;

    function is_sticky(mode : natural) return boolean is
    begin
        return mode = MODE_STICKY;
    end function;

    function is_exact(mode : natural) return boolean is
    begin
        return mode = MODE_OBSERVE or mode = MODE_TRAP;
    end function;

    function beyond(mode : natural; exact, wrapped, rail, min, max : signed(63 downto 0)) return signed is
        constant zero : signed(63 downto 0) := (others => '0');
    begin
        case mode is
            when MODE_WRAP => return wrapped;
            when MODE_SATURATE => return rail;
            when MODE_SATURATE_SYMMETRIC => return rail;
            when MODE_SATURATE_ZERO => return zero;
            when MODE_STICKY => return rail;
            when MODE_OBSERVE => return exact;
            when MODE_TRAP => return exact;
            when others =>
                assert false report "there is no such overflow mode" severity failure;
                return zero;
        end case;
    end function;
end package body;
