"""binary16 and bfloat16 arithmetic, single and in pairs: computed exactly, rounded once."""

import math
from fractions import Fraction

import ieee
from floats import rows_of
from ieee import BF16, F16, F32
from table import Table


def build():
    t = Table("Half precision: f16, f16x2, bf16, bf16x2.")
    for f in (F16, BF16):
        ty = f.name
        target = [] if f is F16 else ["target sm_90"]
        for op in ("add", "sub", "mul"):
            function = getattr(ieee, op)
            rows = rows_of(f, 2, lambda a, b: (function(f, a, b),), n=9, seed=60 + len(op))
            t.case(f"{op}.rn.{ty}", "IEEE 754: the exact result, rounded once", f"{op}.rn.{ty} %d, %a, %b;",
                   f"a:{ty} b:{ty}", f"d:{ty}", rows, target)
            each = [((a, b), d[0]) for (a, b), d in rows if not f.is_nan(d[0])]
            pairs = []
            for (low, d), (high, e) in zip(each, each[1:] + each[:1]):
                pairs.append(((low[0] | high[0] << 16, low[1] | high[1] << 16), (d | e << 16,)))
            t.case(f"{op}.rn.{ty}x2", "each half on its own", f"{op}.rn.{ty}x2 %d, %a, %b;", "a:b32 b:b32", "d:b32", pairs, target)
        rows = rows_of(f, 3, lambda a, b, c: (ieee.fma(f, a, b, c),), n=9, seed=70)
        t.case(f"fma.rn.{ty}", "IEEE 754: rounded once, not after the product", f"fma.rn.{ty} %d, %a, %b, %c;",
               f"a:{ty} b:{ty} c:{ty}", f"d:{ty}", rows)

        def relu(*operands):
            result = ieee.fma(f, *operands)
            return (0 if f.negative(result) and not f.is_nan(result) else result,)

        rows = rows_of(f, 3, relu, n=9, seed=71)
        t.case(f"fma.rn.relu.{ty}", "manual: .relu clamps a negative result to 0; NaN to canonical NaN",
               f"fma.rn.relu.{ty} %d, %a, %b, %c;", f"a:{ty} b:{ty} c:{ty}", f"d:{ty}", rows)
        finite = [0, f.sign, 1, f.sign | 1, f.bias << f.m, f.inf, f.sign | f.max]
        rows = [((a,), (a & ~f.sign, a ^ f.sign)) for a in finite]
        t.case(f"abs, neg.{ty}", "the sign bit alone", f"abs.{ty} %d, %a;\nneg.{ty} %e, %a;", f"a:{ty}", f"d:{ty} e:{ty}", rows)
        sign2, one = f.sign | f.sign << 16, f.bias << f.m
        rows = [((a,), (a & ~sign2, a ^ sign2)) for a in (0, sign2, one | (f.sign | one) << 16, (f.sign | 5) | f.inf << 16)]
        t.case(f"abs, neg.{ty}x2", "the sign bits alone", f"abs.{ty}x2 %d, %a;\nneg.{ty}x2 %e, %a;", "a:b32", "d:b32 e:b32", rows)
        two = (f.bias + 1) << f.m
        pair = one | two << 16
        t.case(f"min, max.{ty}x2", "each half on its own", f"min.{ty}x2 %d, %a, %b;\nmax.{ty}x2 %e, %a, %b;", "a:b32 b:b32",
               "d:b32 e:b32", [((pair, two | one << 16), (one | one << 16, two | two << 16)),
                               ((f.nan | one << 16, one | f.nan << 16), (one | one << 16, one | one << 16)),
                               ((0 | f.sign << 16, f.sign), (f.sign | f.sign << 16, 0))])
    f = F16
    flush = lambda op, a, b: f.flush(op(f, f.flush(a), f.flush(b)))
    rows = [((a, b), (flush(ieee.add, a, b), flush(ieee.mul, a, b)))
            for a, b in ((1, 0), (f.sign | 1, f.sign), (f.least_normal + 1, f.sign | f.least_normal),
                         (f.least_normal, 0x3800), (0x3C00, 0x0200))]
    t.case("add, mul.rn.ftz.f16", "manual: .ftz flushes subnormal inputs and results to sign-preserving zero",
           "add.rn.ftz.f16 %d, %a, %b;\nmul.rn.ftz.f16 %e, %a, %b;", "a:f16 b:f16", "d:f16 e:f16", rows)
    rows = [((a, b), (ieee.saturate(f, ieee.add(f, a, b)),)) for a, b in
            ((0x3800, 0x3A00), (0x3400, 0x3400), (f.sign | 0x3C00, 0x3800), (f.nan, 0), (f.inf, 0))]
    t.case("add.rn.sat.f16", "manual: .sat limits to [0, 1], NaN becomes +0", "add.rn.sat.f16 %d, %a, %b;", "a:f16 b:f16", "d:f16", rows)
    approximate(t)
    return t


def approximate(t):
    def rounded(f, x):
        return f.round(Fraction(x), "rn", x < 0)

    points = [Fraction(n, 8) for n in (-24, -13, -5, -1, 3, 9, 17, 31)]
    for f, ex2, tanh, target in ((F16, "2^-9.9 rel", "2^-10.987 abs", []), (BF16, "2^-7 rel", "2^-8 rel", ["target sm_90"])):
        ty = f.name
        ftz = ".ftz" if f is BF16 else ""
        rows = [((f.round(p),), (rounded(f, 2.0 ** float(p)),)) for p in points]
        rows += [((f.inf,), (f.inf,)), ((f.sign | f.inf,), (0,)), ((f.nan,), (f.nan,)), ((0,), (f.bias << f.m,))]
        t.case(f"ex2.approx{ftz}.{ty}", f"maximum error {ex2}, beside one rounding of the expected value", f"ex2.approx{ftz}.{ty} %d, %a;",
               f"a:{ty}", f"d:{ty}", rows, [f"within {'2^-9' if f is F16 else '2^-6.5'} rel", *target])
        rows = [((f.round(p),), (rounded(f, math.tanh(float(p))),)) for p in points]
        rows += [((f.inf,), (f.bias << f.m,)), ((f.sign | f.inf,), (f.sign | f.bias << f.m,)), ((f.nan,), (f.nan,))]
        t.case(f"tanh.approx.{ty}", f"maximum error {tanh}, beside one rounding of the expected value", f"tanh.approx.{ty} %d, %a;",
               f"a:{ty}", f"d:{ty}", rows, [f"within {'2^-10' if f is F16 else '2^-7'} abs", *target])
