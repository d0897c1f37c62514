"""Bit fields: the pseudo-code of the manual, transcribed."""

import random

from integers import mask, operands, signed
from table import Table


def build():
    t = Table("Bits: logic, shifts, fields, counts, permutations.")
    logic(t)
    shifts(t)
    counts(t)
    fields(t)
    permutations(t)
    return t


def logic(t):
    for bits in (16, 32, 64):
        b = f"b{bits}"
        rows = [((x, y), (x & y, x | y, x ^ y, mask(~x, bits), int(x == 0))) for x, y in operands(bits, 2)]
        t.case(f"and, or, xor, not, cnot.{b}", "bit by bit; cnot is C's `!`",
               f"and.{b} %d, %a, %b;\nor.{b} %e, %a, %b;\nxor.{b} %f, %a, %b;\nnot.{b} %g, %a;\ncnot.{b} %h, %a;",
               f"a:{b} b:{b}", f"d:{b} e:{b} f:{b} g:{b} h:{b}", rows)
    rows = [((x, y), (x & y, x | y, x ^ y, 1 - x)) for x in (0, 1) for y in (0, 1)]
    t.case("and, or, xor, not of predicates", "truth table",
           "and.pred %d, %a, %b;\nor.pred %e, %a, %b;\nxor.pred %f, %a, %b;\nnot.pred %g, %a;",
           "a:pred b:pred", "d:pred e:pred f:pred g:pred", rows)
    table = random.Random(5)
    for lut in (0x80, 0x96, 0xE8, 0xCA, 0x3C, 0x01):
        rows = []
        for a, b, c in operands(32, 3, n=4, seed=lut):
            d = sum(((lut >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1)) & 1) << i for i in range(32))
            rows.append(((a, b, c), (d,)))
        t.case(f"lop3.b32 {lut:#04x}", "manual, lop3: bit (a,b,c) of the table, at each position",
               f"lop3.b32 %d, %a, %b, %c, {lut:#x};", "a:b32 b:b32 c:b32", "d:b32", rows)
    rows = []
    for q in (0, 1):
        for a, b, c in ((0xFF, 0x0F, 0xF0), (0, 5, 6), (7, 7, 7)):
            d = a & b & c
            rows.append(((a, b, c, q), (d, int(d != 0 or q))))
    t.case("lop3.or with a predicate", "manual, lop3.BoolOp: p = (d != 0) BoolOp q",
           "lop3.or.b32 %d|%p, %a, %b, %c, 0x80, %q;", "a:b32 b:b32 c:b32 q:pred", "d:b32 p:pred", rows,
           ["target sm_90"])


AMOUNTS = (0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200, 0x80000000, 0xFFFFFFFF)


def shifts(t):
    for bits in (16, 32, 64):
        rows = []
        for a in (mask(0x9234567890ABCDEF >> (64 - bits), bits), mask(0x71, bits)):
            for n in AMOUNTS:
                rows.append(((a, n), (mask(a << min(n, bits), bits), a >> min(n, bits),
                                      mask(signed(a, bits) >> min(n, bits), bits))))
        t.case(f"shl, shr of {bits} bits clamp the amount",
               'manual, shl: "Shift amounts greater than the register width N are clamped to N"',
               f"shl.b{bits} %d, %a, %n;\nshr.u{bits} %e, %a, %n;\nshr.s{bits} %f, %a, %n;",
               f"a:b{bits} n:u32", f"d:b{bits} e:b{bits} f:b{bits}", rows)
    for mode, amount in (("clamp", lambda n: min(n, 32)), ("wrap", lambda n: n & 31)):
        rows = []
        for a, b in ((0x12345678, 0x9ABCDEF0), (0x80000001, 0x7FFFFFFE)):
            for n in AMOUNTS:
                pair = b << 32 | a
                rows.append(((a, b, n), (mask((pair << amount(n)) >> 32, 32), mask(pair >> amount(n), 32))))
        t.case(f"shf.{mode}", "manual, shf: the 64 bits b:a; left keeps the upper word, right the lower",
               f"shf.l.{mode}.b32 %d, %a, %b, %n;\nshf.r.{mode}.b32 %e, %a, %b, %n;",
               "a:b32 b:b32 n:u32", "d:b32 e:b32", rows)


def bfind(a, bits, is_signed):
    if is_signed and a >> (bits - 1):
        a = mask(~a, bits)
    return a.bit_length() - 1


def counts(t):
    for bits in (32, 64):
        rows = [((a,), (bin(a).count("1"), bits - a.bit_length(), int(f"{a:0{bits}b}"[::-1], 2)))
                for (a,) in operands(bits, 1, n=14)]
        t.case(f"popc, clz, brev of {bits} bits", "counted on the binary digits; clz of 0 is the width",
               f"popc.b{bits} %d, %a;\nclz.b{bits} %e, %a;\nbrev.b{bits} %f, %a;",
               f"a:b{bits}", f"d:u32 e:u32 f:b{bits}", rows)
        for sign in "us":
            rows = []
            for (a,) in operands(bits, 1, n=14):
                top = bfind(a, bits, sign == "s")
                rows.append(((a,), (mask(top, 32), mask(bits - 1 - top if top >= 0 else -1, 32))))
            t.case(f"bfind.{sign}{bits}",
                   'manual, bfind: "returns 0xffffffff if no non-sign bit is found"; shiftamt: the shift that moves it to the top',
                   f"bfind.{sign}{bits} %d, %a;\nbfind.shiftamt.{sign}{bits} %e, %a;", f"a:b{bits}", "d:b32 e:b32", rows)


def bfe(a, position, length, bits, is_signed):
    """The manual's loop."""
    msb = bits - 1
    if not is_signed or length == 0:
        sbit = 0
    else:
        sbit = a >> min(position + length - 1, msb) & 1
    d = 0
    for i in range(msb + 1):
        bit = a >> (position + i) & 1 if i < length and position + i <= msb else sbit
        d |= bit << i
    return d


def bfi(a, b, position, length, bits):
    f = b
    i = 0
    while i < length and position + i <= bits - 1:
        f = f & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
        i += 1
    return f


PLACES = [(0, 0), (0, 8), (4, 8), (28, 4), (28, 10), (31, 1), (32, 4), (0, 32), (0, 33), (3, 0), (60, 4), (60, 10),
          (63, 1), (64, 3), (0, 64), (0, 200), (200, 8), (255, 255)]


def fields(t):
    for bits in (32, 64):
        for sign in "us":
            rows = []
            for a in (mask(0xF23456789ABCDEF1 >> (64 - bits), bits), mask(0x7123456789ABCDE2 >> (64 - bits), bits)):
                for p, n in PLACES:
                    rows.append(((a, p, n), (bfe(a, p, n, bits, sign == "s"),)))
            t.case(f"bfe.{sign}{bits}", "manual, bfe: its pseudo-code, for positions and lengths within 0..255",
                   f"bfe.{sign}{bits} %d, %a, %p, %n;", f"a:b{bits} p:u32 n:u32", f"d:b{bits}", rows)
        rows = []
        for a, b in ((mask(0xAAAAAAAAAAAAAAAA, bits), 0), (mask(0x123456789ABCDEF0, bits), mask(-1, bits))):
            for p, n in PLACES:
                rows.append(((a, b, p, n), (bfi(a, b, p, n, bits),)))
        t.case(f"bfi.b{bits}", "manual, bfi: its pseudo-code, for positions and lengths within 0..255",
               f"bfi.b{bits} %d, %a, %b, %p, %n;", f"a:b{bits} b:b{bits} p:u32 n:u32", f"d:b{bits}", rows)
    rows = [((0x12345678, 0x100, 8), (bfe(0x12345678, 0, 8, 32, False),)),
            ((0x12345678, 4, 0x108), (bfe(0x12345678, 4, 8, 32, False),))]
    t.case("bfe.u32 takes the low 8 bits of position and length", 'manual, bfe: "pos = b & 0xff; len = c & 0xff"',
           "bfe.u32 %d, %a, %p, %n;", "a:b32 p:u32 n:u32", "d:b32", rows)
    a = 0x0123456789ABCDEF
    t.case("bfe.u64 and bfi.b64 take position and length whole",
           "a GPU's: the manual's 8 bits hold for 32-bit operands only",
           "bfe.u64 %d, %a, %p, %n;\nbfi.b64 %e, 0xff, %a, %p, %n;", "a:b64 p:u32 n:u32", "d:b64 e:b64",
           [((a, 0x100, 8), (0, a)), ((a, 4, 0x108), (a >> 4, bfi(0xFF, a, 4, 0x108, 64)))])
    for mode in ("clamp", "wrap"):
        rows = []
        for a, b in [(0, 0), (0, 8), (4, 8), (31, 1), (31, 5), (32, 4), (0, 32), (0, 40), (36, 8), (200, 200)]:
            p, n = (min(a, 32), min(b, 32)) if mode == "clamp" else (a & 31, b & 31)
            rows.append(((a, b), (mask(((1 << n) - 1) << p, 32),)))
        t.case(f"bmsk.{mode}", "manual, bmsk: b ones from position a; .clamp at 32, .wrap modulo 32",
               f"bmsk.{mode}.b32 %d, %a, %b;", "a:u32 b:u32", "d:b32", rows)
        for sign in "us":
            rows = []
            for a in (0x89ABCDEF, 0x7FF0):
                for n in (0, 1, 4, 8, 16, 31, 32, 40, 0xFFFFFFFF):
                    m = min(n, 32) if mode == "clamp" else n & 31
                    low = mask(a, m)
                    d = 0 if m == 0 else mask(signed(low, m), 32) if sign == "s" else low
                    rows.append(((a, n), (d,)))
            t.case(f"szext.{mode}.{sign}32", "manual, szext: extends the low b bits by sign or zero",
                   f"szext.{mode}.{sign}32 %d, %a, %n;", "a:b32 n:u32", "d:b32", rows)
    fns(t)


def fns(t):
    def find(value, base, offset):
        """The manual's pseudo-code."""
        if offset == 0:
            return base if value >> base & 1 else 0xFFFFFFFF
        step = 1 if offset > 0 else -1
        pos, count = base, abs(offset)
        while 0 <= pos < 32:
            if value >> pos & 1:
                count -= 1
                if count == 0:
                    return pos
            pos += step
        return 0xFFFFFFFF

    rows = []
    for value in (0xA8, 0xFFFFFFFF, 0, 0x80000001):
        for base, offset in ((0, 0), (3, 0), (0, 1), (0, 2), (5, 1), (5, -1), (5, -2), (31, -1), (31, 1), (0, 33)):
            rows.append(((value, base, mask(offset, 32)), (find(value, base, offset),)))
    t.case("fns.b32", "manual, fns: its pseudo-code", "fns.b32 %d, %a, %b, %n;", "a:b32 b:u32 n:s32", "d:b32", rows)


def permutations(t):
    a, b = 0x33A21180, 0x7766D544
    source = [(b << 32 | a) >> (8 * i) & 0xFF for i in range(8)]
    rows = []
    for selector in (0x3210, 0x7654, 0x5410, 0x0123, 0x8888, 0xB8A9, 0xE, 0xFFFF3210):
        d = 0
        for i in range(4):
            nibble = selector >> (4 * i) & 15
            byte = source[nibble & 7]
            d |= (byte if nibble < 8 else (0xFF if byte & 0x80 else 0)) << (8 * i)
        rows.append(((a, b, selector), (d,)))
    t.case("prmt.b32", "manual, prmt: a byte for each nibble; its top bit replicates the byte's sign",
           "prmt.b32 %d, %a, %b, %c;", "a:b32 b:b32 c:b32", "d:b32", rows)
    modes = {  # the manual's table: selector 0..3 to bytes 3, 2, 1, 0 of the result
        "f4e": [(3, 2, 1, 0), (4, 3, 2, 1), (5, 4, 3, 2), (6, 5, 4, 3)],
        "b4e": [(5, 6, 7, 0), (6, 7, 0, 1), (7, 0, 1, 2), (0, 1, 2, 3)],
        "rc8": [(0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)],
        "ecl": [(3, 2, 1, 0), (3, 2, 1, 1), (3, 2, 2, 2), (3, 3, 3, 3)],
        "ecr": [(0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 0)],
        "rc16": [(1, 0, 1, 0), (3, 2, 3, 2), (1, 0, 1, 0), (3, 2, 3, 2)],
    }
    for mode, picks in modes.items():
        rows = []
        for selector, pick in enumerate(picks):
            d = 0
            for index in pick:
                d = d << 8 | source[index]
            rows.append(((a, b, selector), (d,)))
        t.case(f"prmt.b32.{mode}", "manual, prmt: the table of modes", f"prmt.b32.{mode} %d, %a, %b, %c;",
               "a:b32 b:b32 c:b32", "d:b32", rows)
