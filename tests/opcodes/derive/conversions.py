"""Conversions: exact values, rounded or cut once."""

import random
from fractions import Fraction

import ieee
from floats import edges, near_one
from ieee import BF16, F16, F32, F64
from integers import clamp, mask, signed
from table import Table

FLOATS = {"f16": F16, "f32": F32, "f64": F64}


def build():
    t = Table("Conversions between integers, floats and narrow floats.")
    integers(t)
    to_integers(t)
    from_integers(t)
    floats(t)
    rounding(t)
    narrow(t)
    packs(t)
    return t


def integers(t):
    values = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
    for source in ("s8", "u8", "s16", "u16", "s32", "u32"):
        bits = int(source[1:])
        rows = []
        for a in dict.fromkeys(mask(v, bits) for v in values):
            read = signed(a, bits) if source[0] == "s" else a
            rows.append(((a,), (mask(read, 16), mask(read, 32), mask(read, 64), mask(signed(read, 8), 32))))
        t.case(f"cvt from {source}", "extended by the source's sign; cvt.s8 keeps 8 bits and extends them to the register",
               f"cvt.s16.{source} %d, %a;\ncvt.s32.{source} %e, %a;\ncvt.u64.{source} %f, %a;\ncvt.s8.{source} %g, %a;",
               f"a:{source}", "d:b16 e:b32 f:b64 g:b32", rows)
    why = 'manual, cvt: ".sat limits the result to MININT..MAXINT of the destination"'
    for source, to in (("s32", "u8"), ("s32", "s8"), ("s32", "u16"), ("s32", "s16"), ("u32", "s32"), ("s64", "s32"),
                       ("u64", "u32"), ("s32", "u32"), ("s64", "u64")):
        bits, width = int(source[1:]), int(to[1:])
        low, high = (0, (1 << width) - 1) if to[0] == "u" else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        rows = []
        for a in dict.fromkeys(mask(v, bits) for v in (0, 5, -5, 127, 128, 255, 256, -129, 1 << 31, (1 << 31) - 1, 1 << 40, -1)):
            read = signed(a, bits) if source[0] == "s" else a
            register = max(width, 16)
            rows.append(((a,), (mask(clamp(read, low, high), register),)))
        t.case(f"cvt.sat.{to}.{source}", why, f"cvt.sat.{to}.{source} %d, %a;", f"a:{source}", f"d:b{max(width, 16)}", rows)


def to_integers(t):
    r = random.Random(3)
    halves = [Fraction(n, 2) for n in (0, 1, -1, 2, 3, -3, 4, 5, -5, 7)]
    for name, f in FLOATS.items():
        values = [f.round(v) for v in halves] + [near_one(f, r) for _ in range(2)]
        values += [f.inf, f.sign | f.inf, f.max, f.sign | f.max, 1, f.sign]
        if f is not F16:
            values += [f.round(Fraction(v)) for v in (2**31 - 1, 2**31, -(2**31), 2**32, 2**63, -(2**63), 2**64, 3e9)]
        for to in ("s32", "u32", "s64", "u64", "s16", "u8"):
            width = int(to[1:])
            low, high = (0, (1 << width) - 1) if to[0] == "u" else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
            modes = ("rni", "rzi", "rmi", "rpi")
            rows = []
            for a in dict.fromkeys(values):
                if f.is_inf(a):
                    results = [mask(low if f.negative(a) else high, max(width, 16))] * 4
                else:
                    results = [mask(clamp(ieee.to_integer(f.value(a), m), low, high), max(width, 16)) for m in modes]
                rows.append(((a,), tuple(results)))
            code = "\n".join(f"cvt.{m}.{to}.{name} %{d}, %a;" for m, d in zip(modes, "defg"))
            register = max(width, 16)
            t.case(f"cvt to {to} from {name}", "rounded in the direction asked for, then limited to the range (manual, cvt)",
                   code, f"a:{name}", " ".join(f"{d}:b{register}" for d in "defg"), rows)
    why = ("manual, cvt: NaN gives 0 if the source is no .f64 and the destination no 64-bit integer,\n"
           "else the bit pattern with only the top bit set")
    t.case("cvt of NaN to integers", why,
           "cvt.rzi.s32.f32 %d, %a;\ncvt.rzi.u32.f32 %e, %a;\ncvt.rzi.s64.f32 %f, %a;\ncvt.rzi.u64.f32 %g, %a;",
           "a:f32", "d:b32 e:b32 f:b64 g:b64", [(("nan",), (0, 0, 1 << 63, 1 << 63))])
    t.case("cvt of an f64 NaN to integers", why,
           "cvt.rzi.s32.f64 %d, %a;\ncvt.rzi.u32.f64 %e, %a;\ncvt.rzi.s64.f64 %f, %a;\ncvt.rzi.u64.f64 %g, %a;",
           "a:f64", "d:b32 e:b32 f:b64 g:b64", [(("nan",), (1 << 31, 1 << 31, 1 << 63, 1 << 63))])
    t.case("cvt.ftz to an integer", "manual: .ftz flushes a subnormal input, so rounding up gives 0, not 1",
           "cvt.rpi.s32.f32 %d, %a;\ncvt.rpi.ftz.s32.f32 %e, %a;", "a:f32", "d:s32 e:s32",
           [((1,), (1, 0)), ((F32.least_normal,), (1, 1))])


def from_integers(t):
    values = [0, 1, -1, 2**24 + 1, 2**24 + 3, 2**25 + 2, 2**31 - 1, -(2**31), 2**32 - 1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1]
    modes = ("rn", "rz", "rm", "rp")
    for source in ("s32", "u32", "s64", "u64", "s16", "u8"):
        bits = int(source[1:])
        for name, f in FLOATS.items():
            rows = []
            for a in dict.fromkeys(mask(v, bits) for v in values):
                read = signed(a, bits) if source[0] == "s" else a
                rows.append(((a,), tuple(f.round(Fraction(read), m) for m in modes)))
            code = "\n".join(f"cvt.{m}.{name}.{source} %{d}, %a;" for m, d in zip(modes, "defg"))
            t.case(f"cvt to {name} from {source}", "IEEE 754: the integer, rounded once", code, f"a:{source}",
                   " ".join(f"{d}:{name}" for d in "defg"), rows)


def floats(t):
    r = random.Random(4)
    for source, f in FLOATS.items():
        for to, g in FLOATS.items():
            if source == to:
                continue
            values = edges(f) + [near_one(f, r) for _ in range(3)]
            if f.width > g.width:
                # where the narrow format overflows, underflows and ties
                values += [f.round(g.value(g.max) * Fraction(1 + k, 1)) for k in (0, 1)]
                values += [f.round(g.value(1) * Fraction(k, 4)) for k in (1, 2, 3, 5, 6)]
                modes = ("rn", "rz", "rm", "rp") if g is F32 else ("rn", "rz")
                code = "\n".join(f"cvt.{m}.{to}.{source} %{d}, %a;" for m, d in zip(modes, "defg"))
                rows = [((a,), tuple(ieee.convert(f, g, a, m) for m in modes)) for a in dict.fromkeys(values)]
                outs = " ".join(f"{d}:{to}" for _, d in zip(modes, "defg"))
                t.case(f"cvt to {to} from {source}", "IEEE 754: rounded once", code, f"a:{source}", outs, rows)
            else:
                rows = [((a,), (ieee.convert(f, g, a),)) for a in dict.fromkeys(values)]
                t.case(f"cvt to {to} from {source}", "exact", f"cvt.{to}.{source} %d, %a;", f"a:{source}", f"d:{to}", rows)
    rows = [((a,), (F32.flush(ieee.convert(F64, F32, a)),)) for a in
            (F64.round(F32.value(1)), F64.round(-F32.value(5)), F64.round(F32.value(F32.least_normal)))]
    t.case("cvt.rn.ftz.f32.f64", "manual: .ftz flushes subnormal results of type .f32", "cvt.rn.ftz.f32.f64 %d, %a;",
           "a:f64", "d:f32", rows)
    values = edges(F64) + [F64.round(Fraction(1, 3)), F64.round(Fraction(5, 2))]
    rows = [((a,), (ieee.saturate(F32, ieee.convert(F64, F32, a)),)) for a in values]
    t.case("cvt.rn.sat.f32.f64", "manual: .sat limits to [0, 1], NaN becomes 0", "cvt.rn.sat.f32.f64 %d, %a;", "a:f64", "d:f32", rows)
    rows = [((a,), (ieee.saturate(F32, a),)) for a in edges(F32)]
    t.case("cvt.sat.f32.f32", "manual: .sat limits to [0, 1], NaN becomes 0", "cvt.sat.f32.f32 %d, %a;", "a:f32", "d:f32", rows)


def rounding(t):
    """Floats to integral floats of the same type."""
    for name, f in FLOATS.items():
        rows = []
        for value in [Fraction(n, 4) for n in (0, 1, 2, 3, 5, 6, -1, -2, -3, -6, 10)]:
            a = f.round(value)
            results = []
            for m in ("rni", "rzi", "rmi", "rpi"):
                results.append(f.round(Fraction(ieee.to_integer(value, m)), "rn", value < 0))
            rows.append(((a,), tuple(results)))
        rows += [((a,), (a,) * 4) for a in (f.inf, f.sign, f.max, f.nan)]
        code = "\n".join(f"cvt.{m}.{name}.{name} %{d}, %a;" for m, d in zip(("rni", "rzi", "rmi", "rpi"), "defg"))
        t.case(f"cvt.rni, rzi, rmi, rpi.{name}.{name}", "IEEE 754's roundToIntegral: a zero keeps the sign of the operand",
               code, f"a:{name}", " ".join(f"{d}:{name}" for d in "defg"), rows)


def narrow(t):
    r = random.Random(6)
    values = edges(F32) + [near_one(F32, r) for _ in range(4)] + [0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x477FF000, 0x477FEFFF]
    for name, g, target in (("f16", F16, []), ("bf16", BF16, [])):
        relu = lambda x, g=g: 0 if g.negative(x) and not g.is_nan(x) else x
        rows = []
        for a in dict.fromkeys(values):
            near, cut = (ieee.convert(F32, g, a, m) for m in ("rn", "rz"))
            if g.is_nan(near):
                rows.append(((a,), (near, cut, near)))
            else:
                rows.append(((a,), (near, cut, relu(near))))
        t.case(f"cvt to {name} from f32: rn, rz, relu", "IEEE 754; manual: .relu clamps negative results to 0, NaN to canonical NaN",
               f"cvt.rn.{name}.f32 %d, %a;\ncvt.rz.{name}.f32 %e, %a;\ncvt.rn.relu.{name}.f32 %f, %a;",
               "a:f32", f"d:{name} e:{name} f:{name}", rows, target)
        pairs = [(values[i], values[-1 - i]) for i in range(len(values)) if not any(F32.is_nan(values[j]) for j in (i, -1 - i))]
        rows = []
        for a, b in pairs:
            high, low = ieee.convert(F32, g, a), ieee.convert(F32, g, b)
            rows.append(((a, b), (low | high << 16,)))
        t.case(f"cvt.rn.{name}x2.f32 packs a above b", "manual, cvt: a goes to the upper half, b to the lower",
               f"cvt.rn.{name}x2.f32 %d, %a, %b;", "a:f32 b:f32", "d:b32", rows)
    rows = [((a,), (ieee.convert(BF16, F32, a),)) for a in edges(BF16)]
    t.case("cvt.f32.bf16", "exact", "cvt.f32.bf16 %d, %a;", "a:bf16", "d:f32", rows, ["target sm_90"])
    rows = []
    tf32 = ieee.Format("tf32", 8, 10)
    for a in values:
        if F32.is_nan(a) or F32.is_inf(a):
            continue
        away = ieee.convert(F32, tf32, a, "rna") << 13
        rows.append(((a,), (away,)))
    t.case("cvt.rna.tf32.f32", "the nearest number of 10 fraction bits, ties away from zero; 13 zero bits below",
           "cvt.rna.tf32.f32 %d, %a;", "a:f32", "d:b32", rows)


def packs(t):
    for ty, width, low, high in (("s16", 16, -32768, 32767), ("u16", 16, 0, 65535)):
        rows = []
        for a, b in ((1, 2), (-1, 70000), (-40000, 40000), (-70000, -5), (32767, -32768)):
            rows.append(((a, b), (mask(clamp(b, low, high), width) | mask(clamp(a, low, high), width) << 16,)))
        t.case(f"cvt.pack.sat.{ty}.s32", "manual, cvt.pack: both limited to the range, a in the upper half",
               f"cvt.pack.sat.{ty}.s32 %d, %a, %b;", "a:s32 b:s32", "d:b32", rows)
    for ty, low, high in (("s8", -128, 127), ("u8", 0, 255)):
        rows = []
        for a, b, c in ((1, 2, 0x11223344), (-1, 300, 0xAABBCCDD), (-200, 127, 0)):
            rows.append(((a, b, c), (mask(clamp(b, low, high), 8) | mask(clamp(a, low, high), 8) << 8 | mask(c, 16) << 16,)))
        t.case(f"cvt.pack.sat.{ty}.s32.b32", "manual, cvt.pack: two bytes below, the low half of c above them",
               f"cvt.pack.sat.{ty}.s32.b32 %d, %a, %b, %c;", "a:s32 b:s32 c:b32", "d:b32", rows)
