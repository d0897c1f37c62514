"""Integer arithmetic: Python's unbounded integers, cut to the width."""

import random

from table import Table


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def mask(value, bits):
    return value & ((1 << bits) - 1)


def operands(bits, count, n=5, seed=1):
    """Edges of the range in every combination with themselves, then random ones."""
    r = random.Random(seed)
    edges = [0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, 7, mask(-3, bits)]
    rows = [tuple(r.choice(edges) for _ in range(count)) for _ in range(n)]
    rows += [tuple(r.getrandbits(bits) for _ in range(count)) for _ in range(n)]
    return list(dict.fromkeys(rows))


def clamp(value, low, high):
    return max(low, min(high, value))


def build():
    t = Table("Integer arithmetic: add, sub, mul, mad, div, rem, abs, neg, min, max, sad, carry chains, dot products.")

    def read(ty, value):
        bits = int(ty[1:])
        return signed(value, bits) if ty[0] == "s" else mask(value, bits)

    def binary(op, ty, f, why, out=None, name=None, skip=lambda a, b: False, extra=()):
        bits, out = int(ty[1:]), out or ty
        rows = [((a, b), (mask(f(read(ty, a), read(ty, b)), int(out[1:])),))
                for a, b in operands(bits, 2, seed=len(op) + bits) if not skip(read(ty, a), read(ty, b))]
        t.case(name or f"{op}.{ty}", why, f"{op}.{ty} %d, %a, %b;", f"a:{ty} b:{ty}", f"d:{out}", rows, extra)

    wrap = "the exact result modulo 2^width"
    for ty in "u16 s16 u32 s32 u64 s64".split():
        bits = int(ty[1:])
        binary("add", ty, lambda a, b: a + b, wrap)
        binary("sub", ty, lambda a, b: a - b, wrap)
        binary("mul.lo", ty, lambda a, b: a * b, "low half of the exact product")
        binary("mul.hi", ty, lambda a, b: (a * b) >> bits, "high half of the exact product")
        if bits < 64:
            binary("mul.wide", ty, lambda a, b: a * b, "the exact product", out=f"{ty[0]}{bits * 2}")
        low = -(1 << (bits - 1))
        quotient = lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        odd = lambda a, b: b == 0 or (a == low and b == -1)
        binary("div", ty, quotient, "the exact quotient, towards zero", skip=odd)
        binary("rem", ty, lambda a, b: a - b * quotient(a, b), "a - b * (a / b), so the sign of a", skip=odd)
        binary("min", ty, min, "the lesser by the type's sign")
        binary("max", ty, max, "the greater by the type's sign")
        rows = [(r, (mask(read(ty, r[0]) * read(ty, r[1]) + read(ty, r[2]), bits),)) for r in operands(bits, 3)]
        t.case(f"mad.lo.{ty}", "a * b + c modulo 2^width", f"mad.lo.{ty} %d, %a, %b, %c;",
               f"a:{ty} b:{ty} c:{ty}", f"d:{ty}", rows)
        rows = [(r, (mask(((read(ty, r[0]) * read(ty, r[1])) >> bits) + read(ty, r[2]), bits),))
                for r in operands(bits, 3)]
        t.case(f"mad.hi.{ty}", "high half of a * b, plus c, modulo 2^width", f"mad.hi.{ty} %d, %a, %b, %c;",
               f"a:{ty} b:{ty} c:{ty}", f"d:{ty}", rows)
        rows = [(r, (mask(read(ty, r[2]) + abs(read(ty, r[0]) - read(ty, r[1])), bits),)) for r in operands(bits, 3)]
        t.case(f"sad.{ty}", "manual, sad: c + |a - b|", f"sad.{ty} %d, %a, %b, %c;",
               f"a:{ty} b:{ty} c:{ty}", f"d:{ty}", rows)
        if ty[0] == "s":
            rows = [((a,), (mask(abs(signed(a, bits)), bits), mask(-a, bits))) for (a,) in operands(bits, 1)]
            t.case(f"abs and neg.{ty}", "two's complement: the smallest number is its own negative",
                   f"abs.{ty} %d, %a;\nneg.{ty} %e, %a;", f"a:{ty}", f"d:{ty} e:{ty}", rows)
    for ty in "u16 s16 u32 s32".split():
        bits, wide = int(ty[1:]), f"{ty[0]}{int(ty[1:]) * 2}"
        rows = [((a, b, c), (mask(read(ty, a) * read(ty, b) + c, bits * 2),))
                for (a, b), (c,) in zip(operands(bits, 2), operands(bits * 2, 1, seed=4))]
        t.case(f"mad.wide.{ty}", "a * b + c with a c of twice the width", f"mad.wide.{ty} %d, %a, %b, %c;",
               f"a:{ty} b:{ty} c:{wide}", f"d:{wide}", rows)

    low, high = -(1 << 31), (1 << 31) - 1
    saturates = 'manual, add: ".sat limits result to MININT..MAXINT (no overflow) for the size of the operation"'
    binary("add.sat", "s32", lambda a, b: clamp(a + b, low, high), saturates)
    binary("sub.sat", "s32", lambda a, b: clamp(a - b, low, high), saturates)
    rows = [(r, (mask(clamp(((signed(r[0], 32) * signed(r[1], 32)) >> 32) + signed(r[2], 32), low, high), 32),))
            for r in operands(32, 3, n=14, seed=9)]
    rows += [((0x7fffffff, 0x7fffffff, 0x7fffffff), (0x7fffffff,)), ((0x80000000, 0x7fffffff, 0x80000000), (0x80000000,))]
    t.case("mad.hi.sat.s32", "high half of the product plus c, limited to the range", "mad.hi.sat.s32 %d, %a, %b, %c;",
           "a:s32 b:s32 c:s32", "d:s32", rows)

    for ty in ("s32", "u32"):
        low24 = (lambda v: signed(v, 24)) if ty == "s32" else (lambda v: mask(v, 24))
        why = "manual, mul24: low 24 bits of each operand, 48-bit product; .lo its bits 0..31, .hi its bits 16..47"
        rows = [(r, (mask(low24(r[0]) * low24(r[1]), 32), mask((low24(r[0]) * low24(r[1])) >> 16, 32)))
                for r in operands(32, 2, seed=5)]
        t.case(f"mul24.{ty}", why, f"mul24.lo.{ty} %d, %a, %b;\nmul24.hi.{ty} %e, %a, %b;",
               f"a:{ty} b:{ty}", f"d:{ty} e:{ty}", rows)
        rows = [(r, (mask(low24(r[0]) * low24(r[1]) + r[2], 32), mask(((low24(r[0]) * low24(r[1])) >> 16) + r[2], 32)))
                for r in operands(32, 3, seed=6)]
        t.case(f"mad24.{ty}", why, f"mad24.lo.{ty} %d, %a, %b, %c;\nmad24.hi.{ty} %e, %a, %b, %c;",
               f"a:{ty} b:{ty} c:{ty}", f"d:{ty} e:{ty}", rows)
    rows = [(r, (mask(clamp(((signed(r[0], 24) * signed(r[1], 24)) >> 16) + signed(r[2], 32), low, high), 32),))
            for r in operands(32, 3, seed=7)]
    rows.append(((0x7fffff, 0x7fffff, 0x7fffffff), (0x7fffffff,)))
    t.case("mad24.hi.sat.s32", "as mad24.hi, limited to the range", "mad24.hi.sat.s32 %d, %a, %b, %c;",
           "a:s32 b:s32 c:s32", "d:s32", rows)

    carries(t)
    dots(t)
    halves(t)
    return t


def carries(t):
    """Numbers of several words, added as one."""
    chain = "the words of one 128-bit result; the carry is a hidden register of each thread"
    for op, f in (("add", lambda x, y: x + y), ("sub", lambda x, y: x - y)):
        for bits in (32, 64):
            rows = []
            for r in operands(bits, 4, n=8, seed=bits):
                x, y = r[0] | r[1] << bits, r[2] | r[3] << bits
                whole = f(x, y)
                rows.append((r, (mask(whole, bits), mask(whole >> bits, bits), mask(whole >> 2 * bits, bits))))
            u = f"u{bits}"
            t.case(f"{op}.cc, {op}c.cc, {op}c of {bits} bits", chain,
                   f"{op}.cc.{u} %d, %a, %c;\n{op}c.cc.{u} %e, %b, %q;\n{op}c.{u} %f, 0, 0;",
                   f"a:{u} b:{u} c:{u} q:{u}", f"d:b{bits} e:b{bits} f:b{bits}", rows)
    rows = []
    for a, b, c, e in operands(32, 4, n=10, seed=3):
        whole = a * b + (c | e << 32)
        rows.append(((a, b, c, e), (mask(whole, 32), mask(whole >> 32, 32), mask(whole >> 64, 32))))
    t.case("mad.lo.cc and madc.hi make a product of 64 bits", "a * b + (high:low), with the carry out of 64 bits",
           "mad.lo.cc.u32 %d, %a, %b, %c;\nmadc.hi.cc.u32 %e, %a, %b, %q;\naddc.u32 %f, 0, 0;",
           "a:u32 b:u32 c:u32 q:u32", "d:b32 e:b32 f:b32", rows)
    rows = [((a, b), (mask(a - b, 32), mask(0 if a >= b else -1, 32))) for a, b in operands(32, 2, seed=8)]
    t.case("subc takes the borrow of sub.cc", "0 - 0 - borrow", "sub.cc.u32 %d, %a, %b;\nsubc.u32 %e, 0, 0;",
           "a:u32 b:u32", "d:b32 e:b32", rows)


def dots(t):
    def parts(value, width, is_signed, count):
        pieces = [mask(value >> (i * width), width) for i in range(count)]
        return [signed(p, width) if is_signed else p for p in pieces]

    for a_ty in ("u32", "s32"):
        for b_ty in ("u32", "s32"):
            kinds = f"{a_ty}.{b_ty}"
            signs = a_ty[0] == "s", b_ty[0] == "s"
            rows = []
            for a, b, c in operands(32, 3, seed=11):
                pairs = zip(parts(a, 8, signs[0], 4), parts(b, 8, signs[1], 4))
                rows.append(((a, b, c), (mask(c + sum(x * y for x, y in pairs), 32),)))
            t.case(f"dp4a.{kinds}", "manual, dp4a: c plus the products of four bytes, signs by each type",
                   f"dp4a.{kinds} %d, %a, %b, %c;", "a:b32 b:b32 c:b32", "d:b32", rows)
            rows = []
            for a, b, c in operands(32, 3, seed=12):
                halves_of_a, bytes_of_b = parts(a, 16, signs[0], 2), parts(b, 8, signs[1], 4)
                low = c + sum(x * y for x, y in zip(halves_of_a, bytes_of_b[:2]))
                high = c + sum(x * y for x, y in zip(halves_of_a, bytes_of_b[2:]))
                rows.append(((a, b, c), (mask(low, 32), mask(high, 32))))
            t.case(f"dp2a.{kinds}", "manual, dp2a: two halves of a with bytes 0, 1 (.lo) or 2, 3 (.hi) of b",
                   f"dp2a.lo.{kinds} %d, %a, %b, %c;\ndp2a.hi.{kinds} %e, %a, %b, %c;",
                   "a:b32 b:b32 c:b32", "d:b32 e:b32", rows)


def halves(t):
    """16-bit integers in pairs."""
    for op, f in (("add", lambda a, b: a + b), ("min", min), ("max", max)):
        for ty in ("u16x2", "s16x2"):
            read = (lambda v: signed(v, 16)) if ty[0] == "s" else (lambda v: mask(v, 16))
            rows = []
            for a, b in operands(32, 2, seed=13):
                each = [mask(f(read(a >> s), read(b >> s)), 16) << s for s in (0, 16)]
                rows.append(((a, b), (each[0] | each[1],)))
            t.case(f"{op}.{ty}", "each half on its own", f"{op}.{ty} %d, %a, %b;", "a:b32 b:b32", "d:b32", rows,
                   ["target sm_90"])
    for op, f in (("min", min), ("max", max)):
        rows = [((a, b), (max(0, f(signed(a, 32), signed(b, 32))),)) for a, b in operands(32, 2, seed=14)]
        t.case(f"{op}.relu.s32", "manual: .relu clamps a negative result to 0", f"{op}.relu.s32 %d, %a, %b;",
               "a:s32 b:s32", "d:s32", rows, ["target sm_90"])
