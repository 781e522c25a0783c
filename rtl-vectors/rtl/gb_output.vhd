-- From a sum to an output code: the bias's adder, then round(x * multiplier) + zero point, clamped. Combinational.
--
-- Choices by gb_codes; the same schemes as gb_requant.sv. Any other scheme is not here: the code is the clamped zero
-- point. The multiplier is mult * 2^(expo - 31), under float64_away mult * 2^(expo - 53).
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.gb_codes.all;
use work.gb_pkg.all;

entity gb_output is
    generic (
        POST        : natural;
        BIAS_BITS   : natural;
        BIAS_SIGNED : natural;
        BIAS_MODE   : natural;
        SCHEME      : natural;
        ZERO_POINT  : integer;
        CLAMP_MIN   : integer;
        CLAMP_MAX   : integer
    );
    port (
        sum  : in  word_t;
        bias : in  word_t;
        mult : in  word_t;
        expo : in  signed(7 downto 0);
        code : out word_t
    );
end entity;

architecture rtl of gb_output is
    subtype wide_t is signed(127 downto 0);
    constant ONE : wide_t := to_signed(1, 128);

    function half(shift : natural) return wide_t is
    begin
        if shift = 0 then
            return to_signed(0, 128);
        end if;
        return shift_left(ONE, shift - 1);
    end function;

    -- A size rounded to its leading `bits` bits, ties to even: the significand of a float.
    function float(x : wide_t; bits : natural) return wide_t is
        variable dropped  : natural := 0;
        variable quotient : wide_t;
    begin
        for bit in 0 to 126 loop
            if x(bit) = '1' and bit >= bits then
                dropped := bit + 1 - bits;
            end if;
        end loop;
        quotient := shift_right(x, dropped);
        if quotient(0) = '0' and dropped > 0 then
            return shift_left(shift_right(x + half(dropped) - ONE, dropped), dropped);
        end if;
        return shift_left(shift_right(x + half(dropped), dropped), dropped);
    end function;

    -- The rounded product of sizes, as floats of `bits` bits compute it; away: ties away from zero, otherwise to even.
    function in_floats(x, m : word_t; shift, bits : natural; away : boolean) return wide_t is
        variable product : wide_t;
        variable size    : wide_t;
    begin
        size    := float(resize(abs x, 128), bits);
        product := float(resize(m * size(64 downto 0), 128), bits);
        if not away and shift_right(product, shift)(0) = '0' then
            product := product - ONE;
        end if;
        product := shift_right(product + half(shift), shift);
        if x < 0 then
            return -product;
        end if;
        return product;
    end function;

    function scaled(x, m : word_t; e : integer) return wide_t is
        variable left, right : natural := 0;
        variable moved, high, product : wide_t;
    begin
        if SCHEME = SCHEME_DOUBLE then
            if e > 0 then
                left := e;
            else
                right := -e;
            end if;
            -- The register before the multiplier has 32 bits and does not saturate.
            moved := shift_left(resize(x, 128), left);
            high  := shift_right(resize(moved(31 downto 0), 64) * m + half(31), 31);
            if right > 0 and high < 0 then
                return shift_right(high + half(right) - ONE, right);
            end if;
            return shift_right(high + half(right), right);
        elsif SCHEME = SCHEME_SINGLE or SCHEME = SCHEME_AWAY then
            product := x * m;
            if SCHEME = SCHEME_AWAY and product < 0 then
                product := product - ONE;
            end if;
            return shift_right(product + half(31 - e), 31 - e);
        elsif SCHEME = SCHEME_FLOAT64_AWAY then
            return in_floats(x, m, 53 - e, 53, true);
        elsif SCHEME = SCHEME_EVEN then
            return in_floats(x, m, 31 - e, 24, false);
        end if;
        return to_signed(0, 128);
    end function;
begin
    process (all)
        variable biased : word_t;
        variable fitted : fit_t;
        variable result : wide_t;
    begin
        biased := sum;
        if POST = 1 then
            fitted := fit(sum + bias, BIAS_BITS, BIAS_SIGNED, BIAS_MODE);
            biased := fitted.value;
        end if;
        result := scaled(biased, mult, to_integer(expo)) + ZERO_POINT;
        if result < CLAMP_MIN then
            result := to_signed(CLAMP_MIN, 128);
        elsif result > CLAMP_MAX then
            result := to_signed(CLAMP_MAX, 128);
        end if;
        code <= resize(result, 64);
    end process;
end architecture;
