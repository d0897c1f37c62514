"""Approximate functions: the special values of the manual's tables, and double precision for the rest."""

import math
import random
from fractions import Fraction

from ieee import F32, F64
from table import Table


def bits32(x):
    return F32.round(Fraction(x), "rn", math.copysign(1, x) < 0) if math.isfinite(x) else (
        F32.nan if math.isnan(x) else F32.inf | (F32.sign if x < 0 else 0))


def number(bits):
    if F32.is_nan(bits):
        return math.nan
    if F32.is_inf(bits):
        return -math.inf if F32.negative(bits) else math.inf
    return float(F32.value(bits)) if not F32.is_zero(bits) else (-0.0 if F32.negative(bits) else 0.0)


def sample(low, high, n=12, seed=1):
    r = random.Random(seed)
    return [bits32(r.uniform(low, high)) for _ in range(n)]


def build():
    t = Table("Approximate functions: within the manual's error of the exact value, exact at special values.")

    def case(op, function, values, within, why):
        rows = [((a,), (bits32(function(number(a))),)) for a in values]
        t.case(op, why, f"{op} %d, %a;", "a:f32", "d:f32", rows, [f"within {within}"])

    def special(op, pairs, why="manual: table of special values"):
        t.case(f"{op}: special values", why, f"{op} %d, %a;", "a:f32", "d:f32", [((a,), (d,)) for a, d in pairs])

    inf, ninf, nan = F32.inf, F32.inf | F32.sign, F32.nan
    tau = 2 * math.pi
    case("sin.approx.f32", math.sin, sample(-tau, tau), "2^-20.5 abs", "maximum absolute error 2^-20.5 in [-2pi, 2pi]")
    case("cos.approx.f32", math.cos, sample(-tau, tau, seed=2), "2^-20.5 abs", "maximum absolute error 2^-20.5 in [-2pi, 2pi]")
    case("ex2.approx.f32", lambda x: 2.0**x, sample(-120, 120, seed=3), "2 ulp", "maximum error 2 ulp")
    case("lg2.approx.f32", math.log2, sample(0.5, 2.0, seed=4), "2^-22 abs", "absolute error 2^-22 in [0.5, 2]")
    case("lg2.approx.f32", math.log2, sample(2.1, 1e30, seed=5), "2^-22 rel", "relative error 2^-22 elsewhere")
    case("rcp.approx.f32", lambda x: 1 / x, sample(-100, 100, seed=6), "1 ulp", "maximum error 1 ulp")
    case("sqrt.approx.f32", math.sqrt, sample(0, 1e6, seed=7), "2^-23 rel", "maximum relative error 2^-23")
    case("rsqrt.approx.f32", lambda x: x**-0.5, sample(0, 1e6, seed=8), "2^-22.9 rel", "maximum relative error 2^-22.9")
    case("tanh.approx.f32", math.tanh, sample(-4, 4, seed=9), "2^-11 rel", "maximum relative error 2^-11")
    for op in ("div.approx.f32", "div.full.f32"):
        rows = [((a, b), (bits32(number(a) / number(b)),))
                for a, b in zip(sample(-1e3, 1e3, seed=10), sample(-50, 50, seed=11))]
        t.case(op, "maximum error 2 ulp for divisors in [2^-126, 2^126]", f"{op} %d, %a, %b;", "a:f32 b:f32", "d:f32",
               rows, ["within 2 ulp"])

    sub, nsub = 1, F32.sign | 1
    one = 0x3F800000
    special("rcp.approx.f32", [(ninf, F32.sign), (F32.sign, ninf), (0, inf), (inf, 0), (nan, nan)])
    special("rcp.approx.ftz.f32", [(ninf, F32.sign), (nsub, ninf), (F32.sign, ninf), (0, inf), (sub, inf), (inf, 0), (nan, nan)])
    special("sqrt.approx.f32", [(ninf, nan), (F32.sign | one, nan), (F32.sign, F32.sign), (0, 0), (inf, inf), (nan, nan)])
    special("sqrt.approx.ftz.f32", [(nsub, F32.sign), (sub, 0), (F32.sign, F32.sign), (inf, inf)])
    special("rsqrt.approx.f32", [(ninf, nan), (F32.sign | one, nan), (F32.sign, ninf), (0, inf), (inf, 0), (nan, nan)])
    special("rsqrt.approx.ftz.f32", [(nsub, ninf), (sub, inf), (F32.sign, ninf), (inf, 0)])
    special("sin.approx.f32", [(ninf, nan), (F32.sign, F32.sign), (0, 0), (inf, nan), (nan, nan)])
    special("sin.approx.ftz.f32", [(nsub, F32.sign), (sub, 0)])
    special("cos.approx.f32", [(ninf, nan), (F32.sign, one), (0, one), (sub, one), (inf, nan), (nan, nan)])
    special("lg2.approx.f32", [(ninf, nan), (F32.sign | one, nan), (F32.sign, ninf), (0, ninf), (one, 0), (inf, inf), (nan, nan)])
    special("lg2.approx.ftz.f32", [(sub, ninf), (nsub, ninf)])
    special("ex2.approx.f32", [(ninf, 0), (F32.sign, one), (0, one), (sub, one), (inf, inf), (nan, nan)])
    special("ex2.approx.ftz.f32", [(sub, one), (nsub, one), (bits32(-127.0), 0), (bits32(-200.0), 0), (bits32(128.0), inf)])
    special("tanh.approx.f32", [(ninf, F32.sign | one), (F32.sign, F32.sign), (0, 0), (inf, one), (nan, nan)])

    def coarse(op, function, values, within, why, cases):
        given = [F64.round(Fraction(x)) for x in values]
        rows = [((a,), (F64.round(Fraction(function(float(F64.value(a))))),)) for a in given]
        t.case(op, why, f"{op} %d, %a;", "a:f64", "d:f64", rows, [f"within {within}"])
        t.case(f"{op}: special values", "manual: table of special values", f"{op} %d, %a;", "a:f64", "d:f64", cases)

    big = F64.inf | F64.sign
    coarse("rcp.approx.ftz.f64", lambda x: 1 / x, [3.0, -0.7, 1e100, 12345.678], "2^-19 rel",
           "manual: a gross approximation of which 20 bits of the fraction are kept",
           [((F64.inf,), (0,)), ((0,), (F64.inf,)), ((F64.sign,), (big,)), ((big,), (F64.sign,)), ((F64.nan,), (F64.nan,)),
            ((1,), (F64.inf,))])
    rsqrt = [((F64.inf,), (0,)), ((0,), (F64.inf,)), ((F64.sign,), (big,)), ((big,), (F64.nan,)), ((F64.nan,), (F64.nan,))]
    coarse("rsqrt.approx.ftz.f64", lambda x: x**-0.5, [3.0, 0.7, 1e100, 12345.678], "2^-19 rel",
           "manual: a gross approximation of which 20 bits of the fraction are kept", [*rsqrt, ((1,), (F64.inf,))])
    coarse("rsqrt.approx.f64", lambda x: x**-0.5, [3.0, 0.7, 1e100, 12345.678, 3.3638296127319336], "2 ulp",
           "CUDA's guide: rsqrt() has at most 1 ulp, and nvcc makes it of this instruction alone", rsqrt)
    return t
