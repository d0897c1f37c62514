"""Floating-point arithmetic that is rounded exactly once, and comparison: by the definition in `ieee`."""

import random

import ieee
from ieee import BF16, F16, F32, F64
from table import Table

MODES = ("rn", "rz", "rm", "rp")
IEEE = "IEEE 754: the exact result, rounded once"


def edges(f):
    one = f.bias << f.m
    return [0, f.sign, one, f.sign | one, f.inf, f.sign | f.inf, f.nan, 1, f.least_normal, f.least_normal - 1,
            f.sign | f.least_normal, f.max, one + 1, one - 1, one | 1 << (f.m - 1)]


def near_one(f, r):
    """Numbers whose exponents are close, so that roundings matter."""
    exponent = f.bias + r.randint(-3, 3)
    return r.getrandbits(1) << (f.width - 1) | exponent << f.m | r.getrandbits(f.m)


def rows_of(f, count, function, n=7, seed=1, close=4):
    r = random.Random(seed)
    given = [tuple(r.choice(edges(f)) for _ in range(count)) for _ in range(n)]
    given += [tuple(near_one(f, r) for _ in range(count)) for _ in range(close)]
    return [(g, function(*g)) for g in dict.fromkeys(given)]


def build():
    t = Table("Floating point: what IEEE 754 rounds exactly, .ftz and .sat, min and max, comparison and selection.")
    for f in (F32, F64):
        for mode in MODES:
            exact(t, f, mode)
    flushing(t)
    min_max(t)
    signs(t)
    comparison(t)
    selection(t)
    return t


def exact(t, f, mode):
    ty, seed = f.name, len(mode) + ord(mode[1])
    for op in (ieee.add, ieee.sub, ieee.mul, ieee.div):
        name = f"{op.__name__}.{mode}.{ty}"
        rows = rows_of(f, 2, lambda a, b: (op(f, a, b, mode),), seed=seed + len(name))
        t.case(name, IEEE, f"{name} %d, %a, %b;", f"a:{ty} b:{ty}", f"d:{ty}", rows)
    rows = rows_of(f, 3, lambda a, b, c: (ieee.fma(f, a, b, c, mode),), seed=seed + 5)
    one, tiny = f.bias << f.m, 1
    rows += [((one, one, c), (ieee.fma(f, one, one, c, mode),)) for c in (tiny, f.sign | tiny, f.sign | one)]
    t.case(f"fma.{mode}.{ty}", "IEEE 754: a * b + c, rounded once", f"fma.{mode}.{ty} %d, %a, %b, %c;",
           f"a:{ty} b:{ty} c:{ty}", f"d:{ty}", rows)
    rows = rows_of(f, 1, lambda a: (ieee.div(f, one, a, mode), ieee.sqrt(f, a, mode)), seed=seed + 6)
    t.case(f"rcp, sqrt.{mode}.{ty}", IEEE, f"rcp.{mode}.{ty} %d, %a;\nsqrt.{mode}.{ty} %e, %a;", f"a:{ty}",
           f"d:{ty} e:{ty}", rows)


def flushed(operation, *operands):
    """.ftz: subnormal operands and results become zeros of their sign."""
    return F32.flush(operation(F32, *(F32.flush(x) for x in operands)))


def flushing(t):
    why = 'manual: ".ftz flushes subnormal inputs and results to sign-preserving zero"'
    sub = [1, F32.sign | 1, F32.least_normal - 1, F32.least_normal, F32.sign | F32.least_normal]
    half = 0x3F000000
    for op in ("add", "sub", "mul", "div"):
        function = getattr(ieee, op)
        pairs = [(a, b) for a in sub for b in (half, sub[0], sub[3], F32.inf)]
        pairs.append((F32.least_normal + 1, F32.sign | F32.least_normal))
        rows = [((a, b), (flushed(function, a, b), function(F32, a, b))) for a, b in pairs]
        t.case(f"{op}.rn.ftz.f32 against {op}.rn.f32", why,
               f"{op}.rn.ftz.f32 %d, %a, %b;\n{op}.rn.f32 %e, %a, %b;", "a:f32 b:f32", "d:f32 e:f32", rows)
    triples = [(half, F32.least_normal, 0), (0x3F800000, 1, 0), (half, half, 1), (half, half, F32.sign | 1),
               (F32.least_normal, half, F32.sign | 1)]
    rows = [(g, (flushed(ieee.fma, *g), ieee.fma(F32, *g))) for g in triples]
    t.case("fma.rn.ftz.f32 against fma.rn.f32", why, "fma.rn.ftz.f32 %d, %a, %b, %c;\nfma.rn.f32 %e, %a, %b, %c;",
           "a:f32 b:f32 c:f32", "d:f32 e:f32", rows)
    why = 'manual: ".sat limits result to [0.0, 1.0]; NaN results are flushed to +0.0f"'
    for op in ("add", "mul"):
        function = getattr(ieee, op)
        rows = rows_of(F32, 2, lambda a, b: (ieee.saturate(F32, function(F32, a, b)),), n=12, seed=40)
        t.case(f"{op}.rn.sat.f32", why, f"{op}.rn.sat.f32 %d, %a, %b;", "a:f32 b:f32", "d:f32", rows)
    rows = rows_of(F32, 3, lambda a, b, c: (ieee.saturate(F32, ieee.fma(F32, a, b, c)),), n=12, seed=41)
    t.case("fma.rn.sat.f32", why, "fma.rn.sat.f32 %d, %a, %b, %c;", "a:f32 b:f32 c:f32", "d:f32", rows)
    t.case("add.sat: NaN becomes +0", why, "add.rn.sat.f32 %d, %a, %b;", "a:f32 b:f32", "d:b32",
           [((F32.inf, F32.inf | F32.sign), (0,)), ((F32.nan, 0), (0,)), ((F32.sign, F32.sign), (0,))])


def order(f, bits):
    """A key that orders numbers, -0 before +0."""
    return -(bits & ~f.sign) - 1 if f.negative(bits) else bits


def pick(f, larger, a, b, nan=False):
    if f.is_nan(a) or f.is_nan(b):
        if nan or (f.is_nan(a) and f.is_nan(b)):
            return f.nan
        return b if f.is_nan(a) else a
    return (max if larger else min)(a, b, key=lambda x: order(f, x))


def min_max(t):
    number = 'manual: "if one input is NaN, the result is the other; +0.0 > -0.0"'
    for f, target in ((F32, "sm_80"), (F64, "sm_80"), (F16, "sm_80"), (BF16, "sm_80")):
        ty = f.name
        for larger in (False, True):
            op = "max" if larger else "min"
            zeros = [((0, f.sign), (pick(f, larger, 0, f.sign),)), ((f.sign, 0), (pick(f, larger, 0, f.sign),))]
            rows = zeros + rows_of(f, 2, lambda a, b: (pick(f, larger, a, b),), n=10, seed=50)
            t.case(f"{op}.{ty} prefers the number, and -0 is below +0", number, f"{op}.{ty} %d, %a, %b;",
                   f"a:{ty} b:{ty}", f"d:{ty}", rows)
            if f is F64:
                continue
            rows = zeros + rows_of(f, 2, lambda a, b: (pick(f, larger, a, b, True),), n=10, seed=51)
            t.case(f"{op}.NaN.{ty}", 'manual: ".NaN: the result is NaN if either input is"', f"{op}.NaN.{ty} %d, %a, %b;",
                   f"a:{ty} b:{ty}", f"d:{ty}", rows)

            def xorsign(a, b):
                sign = (a ^ b) & f.sign
                chosen = pick(f, larger, a & ~f.sign, b & ~f.sign)
                return (f.nan if f.is_nan(chosen) else sign | chosen,)

            rows = rows_of(f, 2, xorsign, n=10, seed=52)
            rows = [r for r in rows if not any(f.is_nan(x) for x in r[0])]
            t.case(f"{op}.xorsign.abs.{ty}", "manual: the lesser or greater magnitude, with the xor of the signs",
                   f"{op}.xorsign.abs.{ty} %d, %a, %b;", f"a:{ty} b:{ty}", f"d:{ty}", rows, ["target sm_90"])
        canonical = {16: "0x7fff", 32: "0x7fffffff", 64: "?"}[f.width]
        if f is not F64:
            t.case(f"min, max.{ty} of two NaN give the canonical NaN",
                   'manual: "if both inputs are NaN the result is canonical NaN"',
                   f"min.{ty} %d, %a, %b;\nmax.{ty} %e, %a, %b;", f"a:b{f.width} b:b{f.width}",
                   f"d:b{f.width} e:b{f.width}", [((hex(f.sign | f.inf | 5), hex(f.inf | 1)), (canonical, canonical))])
    sub = [1, F32.sign | 1, 0, F32.sign, F32.least_normal, F32.nan]
    rows = [((a, b), tuple(pick(F32, g, F32.flush(a), F32.flush(b)) for g in (False, True))) for a in sub for b in sub]
    t.case("min, max.ftz.f32", "manual: .ftz flushes subnormal inputs, then they compare as zeros",
           "min.ftz.f32 %d, %a, %b;\nmax.ftz.f32 %e, %a, %b;", "a:f32 b:f32", "d:f32 e:f32", rows)
    one, two, three = 0x3F800000, 0x40000000, 0x40400000
    rows = []
    for a, b, c in ((one, three, two), (F32.nan, one, two), (F32.nan, F32.nan, two), (0, F32.sign, 0)):
        rows.append(((a, b, c), tuple(pick(F32, g, pick(F32, g, a, b), c) for g in (False, True))))
    t.case("min, max of three f32", "manual: as min and max of two, twice", "min.f32 %d, %a, %b, %c;\nmax.f32 %e, %a, %b, %c;",
           "a:f32 b:f32 c:f32", "d:f32 e:f32", rows, ["target sm_100"])


def signs(t):
    for f in (F32, F64):
        ty = f.name
        finite = [x for x in edges(f) if not f.is_nan(x)]
        rows = [((a,), (a & ~f.sign, a ^ f.sign)) for a in finite]
        t.case(f"abs, neg.{ty}", "the sign bit alone", f"abs.{ty} %d, %a;\nneg.{ty} %e, %a;", f"a:{ty}", f"d:{ty} e:{ty}", rows)
        rows = [((a, b), (b & ~f.sign | a & f.sign,)) for a in finite for b in finite[:6]]
        t.case(f"copysign.{ty}", "manual, copysign: the sign of a, the magnitude of b", f"copysign.{ty} %d, %a, %b;",
               f"a:{ty} b:{ty}", f"d:{ty}", rows[:24])

        def properties(a):
            nan, inf, zero, sub = f.is_nan(a), f.is_inf(a), f.is_zero(a), f.is_subnormal(a)
            return tuple(int(x) for x in (not nan and not inf, inf, not nan, nan, not (nan or inf or zero or sub), sub))

        names = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
        code = "\n".join(f"testp.{name}.{ty} %{r}, %a;" for name, r in zip(names, "defghi"))
        rows = [((a,), properties(a)) for a in edges(f) if not f.is_zero(a)]
        t.case(f"testp.{ty}", "IEEE 754's classes", code, f"a:{ty}", " ".join(f"{r}:pred" for r in "defghi"), rows)
    rows = [((a,), (F32.flush(a & ~F32.sign), F32.flush(a ^ F32.sign))) for a in (1, F32.sign | 1, 0x3F800000)]
    t.case("abs, neg.ftz.f32", 'manual: ".ftz flushes subnormal inputs to sign-preserving zero"',
           "abs.ftz.f32 %d, %a;\nneg.ftz.f32 %e, %a;", "a:f32", "d:f32 e:f32", rows)


ORDERED = {
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
}


def compare(f, op, a, b):
    unordered = f.is_nan(a) or f.is_nan(b)
    if op == "num":
        return int(not unordered)
    if op == "nan":
        return int(unordered)
    if unordered:
        return int(op.endswith("u"))
    key = lambda x: float("-inf") if x == f.inf | f.sign else float("inf") if f.is_inf(x) else f.value(x)
    return int(ORDERED[op[:2]](key(a), key(b)))


def comparison(t):
    for f in (F32, F64, F16, BF16):
        ty = f.name
        one = f.bias << f.m
        pairs = [(0, f.sign), (one, one), (one, one + 1), (f.sign | one, one), (f.inf, f.max), (f.inf, f.inf),
                 (f.nan, one), (one, f.nan), (f.nan, f.nan), (1, 0)]
        for ops in (("eq", "ne", "lt", "le", "gt", "ge"), ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")):
            code = "\n".join(f"setp.{op}.{ty} %{r}, %a, %b;" for op, r in zip(ops, "defghijk"))
            outs = " ".join(f"{r}:pred" for _, r in zip(ops, "defghijk"))
            rows = [((a, b), tuple(compare(f, op, a, b) for op in ops)) for a, b in pairs]
            kind = "ordered" if len(ops) == 6 else "unordered"
            t.case(f"setp.{ty}, {kind} comparisons",
                   "manual, setp: ordered comparisons are false if an operand is NaN, those with u are true",
                   code, f"a:{ty} b:{ty}", outs, rows, ["target sm_90"] if f is BF16 else [])
    for ty in "s16 u16 s32 u32 s64 u64".split():
        bits = int(ty[1:])
        values = [0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
        read = lambda v: v - (1 << bits) if ty[0] == "s" and v >> (bits - 1) else v
        ops = ("eq", "ne", "lt", "le", "gt", "ge")
        code = "\n".join(f"setp.{op}.{ty} %{r}, %a, %b;" for op, r in zip(ops, "defghi"))
        rows = [((a, b), tuple(int(ORDERED[op](read(a), read(b))) for op in ops)) for a in values for b in values]
        t.case(f"setp.{ty}", "comparison by the type's sign", code, f"a:{ty} b:{ty}",
               " ".join(f"{r}:pred" for r in "defghi"), rows)
    ops = ("lo", "ls", "hi", "hs")
    code = "\n".join(f"setp.{op}.u32 %{r}, %a, %b;" for op, r in zip(ops, "defg"))
    rows = [((a, b), (int(a < b), int(a <= b), int(a > b), int(a >= b))) for a in (0, 1, 2**32 - 1) for b in (0, 1, 2**31)]
    t.case("setp.lo, ls, hi, hs.u32", "manual, setp: the unsigned names of lt, le, gt, ge", code, "a:u32 b:u32",
           "d:pred e:pred f:pred g:pred", rows)
    for op, f in (("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y)):
        rows = [((a, b, c), (f(int(a < b), c), f(1 - int(a < b), c), f(int(a < b), 1 - c)))
                for a, b in ((1, 2), (2, 1)) for c in (0, 1)]
        t.case(f"setp.lt.{op} with two destinations and a negated predicate",
               "manual, setp: p = (a CmpOp b) BoolOp c; q = !(a CmpOp b) BoolOp c",
               f"setp.lt.{op}.s32 %p|%q, %a, %b, %c;\nsetp.lt.{op}.s32 %r, %a, %b, !%c;", "a:s32 b:s32 c:pred",
               "p:pred q:pred r:pred", rows)
    rows = [((1, 0), (0, 1)), ((F32.sign | 1, 1), (1, 0))]
    t.case("setp.ftz.f32 compares subnormals as zeros", 'manual: ".ftz flushes subnormal inputs to sign-preserving zero"',
           "setp.gt.ftz.f32 %p, %a, %b;\nsetp.gt.f32 %q, %a, %b;\nsetp.eq.ftz.f32 %p, %a, %b;", "a:f32 b:f32",
           "p:pred q:pred", [((1, 0), (1, 1)), ((F32.sign | 1, 1), (1, 0)), ((F32.least_normal, 0), (0, 1))])
    rows = [((a, b), (0xFFFFFFFF if a < b else 0, "1.0" if a < b else "0.0"))
            for a, b in ((1, 2), (2, 1), (2, 2))]
    t.case("set.lt to u32 and f32", "manual, set: 0xffffffff or 1.0f where the comparison holds, else 0",
           "set.lt.u32.s32 %d, %a, %b;\nset.lt.f32.s32 %e, %a, %b;", "a:s32 b:s32", "d:b32 e:f32", rows)
    rows = [((a, b, c), (0xFFFFFFFF if compare(F32, "gt", a, b) & c else 0,))
            for a, b in ((0x40000000, 0x3F800000), (F32.nan, 0)) for c in (0, 1)]
    t.case("set.gt.and from f32", "manual, set: (a CmpOp b) BoolOp c", "set.gt.and.u32.f32 %d, %a, %b, %c;",
           "a:f32 b:f32 c:pred", "d:b32", rows)
    t.case("setp and set of f16x2 work on each half", "manual, setp: p from the lower half, q from the upper",
           "setp.lt.f16x2 %p|%q, %a, %b;\nset.lt.f16x2.f16x2 %d, %a, %b;\nset.lt.u32.f16x2 %e, %a, %b;",
           "a:f16x2 b:f16x2", "p:pred q:pred d:f16x2 e:b32",
           [(("1.0,5.0", "2.0,3.0"), (1, 0, "1.0,0.0", 0xFFFF)), (("nan,-1.0", "2.0,0.0"), (0, 1, "0.0,1.0", 0xFFFF0000))])


def selection(t):
    t.case("selp of each width", "manual, selp: a if the predicate holds, else b",
           "selp.b32 %d, %a, %b, %p;\nselp.b64 %e, %f, %g, %p;\nselp.f32 %h, 0f3F800000, 0f40000000, %p;\nselp.u32 %i, 7, 9, %p;",
           "a:b32 b:b32 f:b64 g:b64 p:pred", "d:b32 e:b64 h:f32 i:u32",
           [((1, 2, 3, 4, 1), (1, 3, "1.0", 7)), ((1, 2, 3, 4, 0), (2, 4, "2.0", 9))])
    t.case("slct.s32 selects by the sign of an integer", "manual, slct: a if c >= 0, else b",
           "slct.b32.s32 %d, %a, %b, %c;\nslct.u64.s32 %e, 7, 9, %c;", "a:b32 b:b32 c:s32", "d:b32 e:u64",
           [((1, 2, 0), (1, 7)), ((1, 2, 5), (1, 7)), ((1, 2, -1), (2, 9)), ((1, 2, 1 << 31), (2, 9))])
    rows = [((1, 2, c), (d, e)) for c, d, e in (
        (0, 1, 1), (F32.sign, 1, 1), (F32.sign | 1, 2, 1), (F32.inf, 1, 1), (F32.sign | F32.inf, 2, 2), (F32.nan, 2, 2))]
    t.case("slct.f32: -0 counts as 0, NaN selects b, .ftz makes subnormals zeros",
           'manual, slct: "negative zero equals zero"; "if operand c is NaN, operand b is selected"',
           "slct.b32.f32 %d, %a, %b, %c;\nslct.ftz.b32.f32 %e, %a, %b, %c;", "a:b32 b:b32 c:f32", "d:b32 e:b32", rows)
