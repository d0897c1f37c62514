"""IEEE 754 arithmetic on bit patterns with exact fractions: decode, compute exactly, round once.

Nothing here knows how the host device computes; it is the definition, done slowly.
"""

from fractions import Fraction
from math import isqrt


class Format:
    def __init__(self, name, exponent_bits, fraction_bits):
        self.name = name
        self.e, self.m = exponent_bits, fraction_bits
        self.width = 1 + exponent_bits + fraction_bits
        self.bias = (1 << (exponent_bits - 1)) - 1
        self.sign = 1 << (self.width - 1)
        self.inf = ((1 << exponent_bits) - 1) << fraction_bits
        self.max = self.inf - 1
        self.nan = self.sign - 1
        self.least_normal = 1 << fraction_bits

    def is_nan(self, bits):
        return bits & ~self.sign > self.inf

    def is_inf(self, bits):
        return bits & ~self.sign == self.inf

    def is_zero(self, bits):
        return bits & ~self.sign == 0

    def is_subnormal(self, bits):
        return 0 < bits & ~self.sign < self.least_normal

    def negative(self, bits):
        return bits & self.sign != 0

    def flush(self, bits):
        return bits & self.sign if self.is_subnormal(bits) else bits

    def value(self, bits):
        """The exact value of a finite number."""
        exponent = (bits & ~self.sign) >> self.m
        fraction = bits & (self.least_normal - 1)
        if exponent:
            magnitude = Fraction(self.least_normal + fraction) * Fraction(2) ** (exponent - self.bias - self.m)
        else:
            magnitude = Fraction(fraction) * Fraction(2) ** (1 - self.bias - self.m)
        return -magnitude if self.negative(bits) else magnitude

    def round(self, value, mode="rn", zero_negative=False):
        """The number nearest to an exact value in direction `mode`; a zero gets the sign asked for."""
        if value == 0:
            return self.sign if zero_negative else 0
        negative = value < 0
        magnitude = -value if negative else value
        sign = self.sign if negative else 0
        # exponent of the leading bit
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if Fraction(2) ** exponent > magnitude:
            exponent -= 1
        exponent = max(exponent, 1 - self.bias)
        units = magnitude / Fraction(2) ** (exponent - self.m)
        whole, rest = divmod(units.numerator, units.denominator)
        rest = Fraction(rest, units.denominator)
        up = {
            "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1),
            "rna": rest >= Fraction(1, 2),
            "rz": False,
            "rm": rest > 0 and negative,
            "rp": rest > 0 and not negative,
        }[mode]
        whole += 1 if up else 0
        # `whole` carries the implicit bit: adding it to the field below moves up a binade by itself
        bits = ((exponent + self.bias - 1) << self.m) + whole
        if bits >= self.inf:
            toward_zero = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
            bits = self.max if toward_zero else self.inf
        return sign | bits


F16, BF16 = Format("f16", 5, 10), Format("bf16", 8, 7)
F32, F64 = Format("f32", 8, 23), Format("f64", 11, 52)


def add(f, a, b, mode="rn"):
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_inf(a) or f.is_inf(b):
        if f.is_inf(a) and f.is_inf(b) and a != b:
            return f.nan
        return a if f.is_inf(a) else b
    total = f.value(a) + f.value(b)
    # an exact zero is +0, in direction -inf it is -0; two zeros of one sign keep it
    same = f.is_zero(a) and f.is_zero(b) and f.negative(a) == f.negative(b)
    negative = f.negative(a) if same else mode == "rm"
    return f.round(total, mode, negative)


def sub(f, a, b, mode="rn"):
    return f.nan if f.is_nan(b) else add(f, a, b ^ f.sign, mode)


def mul(f, a, b, mode="rn"):
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    sign = (a ^ b) & f.sign
    if f.is_inf(a) or f.is_inf(b):
        return f.nan if f.is_zero(a) or f.is_zero(b) else sign | f.inf
    return f.round(f.value(a) * f.value(b), mode, sign != 0)


def fma(f, a, b, c, mode="rn"):
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return f.nan
    sign = (a ^ b) & f.sign
    if f.is_inf(a) or f.is_inf(b):
        if f.is_zero(a) or f.is_zero(b):
            return f.nan
        return f.nan if f.is_inf(c) and c & f.sign != sign else sign | f.inf
    if f.is_inf(c):
        return c
    product = f.value(a) * f.value(b)
    same = product == 0 and f.is_zero(c) and (sign != 0) == f.negative(c)
    negative = sign != 0 if same else mode == "rm"
    return f.round(product + f.value(c), mode, negative)


def div(f, a, b, mode="rn"):
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    sign = (a ^ b) & f.sign
    if f.is_inf(a):
        return f.nan if f.is_inf(b) else sign | f.inf
    if f.is_inf(b):
        return sign
    if f.is_zero(b):
        return f.nan if f.is_zero(a) else sign | f.inf
    return f.round(f.value(a) / f.value(b), mode, sign != 0)


def sqrt(f, a, mode="rn"):
    if f.is_nan(a):
        return f.nan
    if f.is_zero(a):
        return a
    if f.negative(a):
        return f.nan
    if f.is_inf(a):
        return a
    value, scale = f.value(a), 1400
    scaled = value * 4**scale
    whole = isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(whole) ** 2 == scaled
    # where the root is irrational, anything strictly between whole and whole + 1 rounds like it
    root = Fraction(whole) if exact else Fraction(2 * whole + 1, 2)
    return f.round(root / Fraction(2) ** scale, mode)


def convert(source, to, a, mode="rn"):
    if source.is_nan(a):
        return to.nan
    sign = to.sign if source.negative(a) else 0
    if source.is_inf(a):
        return sign | to.inf
    return to.round(source.value(a), mode, sign != 0)


def saturate(f, bits):
    """[0, 1], NaN and -0 become +0."""
    if f.is_nan(bits) or f.negative(bits):
        return 0
    one = f.round(Fraction(1))
    return min(bits, one)


def to_integer(value, mode):
    """An exact value to an integer in direction `mode` (rni, rzi, rmi, rpi)."""
    floor = value.numerator // value.denominator
    rest = value - floor
    if mode == "rmi":
        return floor
    if mode == "rpi":
        return floor + (rest > 0)
    if mode == "rzi":
        return floor + (rest > 0 and value < 0)
    return floor + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor & 1))


def f32(number):
    """Bits of a Python float that binary32 rounds to."""
    return F32.round(Fraction(number)) if number or str(number)[0] != "-" else F32.sign


def f64(number):
    return F64.round(Fraction(number))
