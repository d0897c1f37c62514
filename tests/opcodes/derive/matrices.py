"""mma.sync, ldmatrix, stmatrix, movmatrix: the manual's layout of fragments, and integer products.

`place` functions give row and column of element i of a lane, as the manual's formulas do (groupID = lane / 4,
threadID_in_group = lane % 4).
"""

import random
from fractions import Fraction

from ieee import BF16, F16, F32, F64
from integers import clamp, mask, signed
from table import Table


def build():
    t = Table("Matrices: fragments as the manual lays them out, small integers so that every sum is exact.")
    floats(t)
    integers(t)
    return t


def split(lane):
    return lane // 4, lane % 4


# element i of a lane -> (row, column) of A; then of B; then of C and D
def c_place(lane, i):
    g, tig = split(lane)
    return (g if i < 2 else g + 8), tig * 2 + i % 2


def shape_16bit(k):
    def a(lane, i):
        g, tig = split(lane)
        row = g if i % 4 < 2 else g + 8
        return row, tig * 2 + i % 2 + (8 if i >= 4 else 0)

    def b(lane, i):
        g, tig = split(lane)
        return tig * 2 + i % 2 + (8 if i >= 2 else 0), g

    return a, b, k // 2, k // 4


def shape_tf32(k):
    def a(lane, i):
        g, tig = split(lane)
        return g + 8 * (i % 2), tig + (4 if i >= 2 else 0)

    def b(lane, i):
        g, tig = split(lane)
        return tig + 4 * i, g

    return a, b, k // 2, k // 4


def shape_packed(k, per_register):
    """8-bit (4 in a register) and 4-bit (8 in a register) elements."""
    n = per_register

    def a(lane, i):
        g, tig = split(lane)
        row = g if (i // n) % 2 == 0 else g + 8
        return row, tig * n + i % n + (4 * n if i >= 2 * n else 0)

    def b(lane, i):
        g, tig = split(lane)
        return tig * n + i % n + (4 * n if i >= n else 0), g

    return a, b, k // 2, k // 4


def pack(values, width):
    """Elements of a lane into 32-bit registers, first element in the low bits."""
    per = 32 // width
    return [sum(mask(v, width) << (width * j) for j, v in enumerate(values[i:i + per])) for i in range(0, len(values), per)]


def product(A, B, C, m, n, k):
    return [[sum(A[r][i] * B[i][c] for i in range(k)) + C[r][c] for c in range(n)] for r in range(m)]


def matrix(r, rows, columns, low, high):
    return [[r.randint(low, high) for _ in range(columns)] for _ in range(rows)]


def emit(t, name, why, instruction, a_regs, b_regs, c_regs, d_regs, kind, extra=()):
    """Registers are lists (by register) of 32 values; `kind` is the type of the accumulators in C and D."""
    groups, words, given = [], [], []
    for letter, registers, ty in (("a", a_regs, "b32"), ("b", b_regs, "b32"), ("c", c_regs, kind)):
        if kind == "f64":
            ty = "f64"
        groups.append("{" + ", ".join(f"%{letter}{i}" for i in range(len(registers))) + "}")
        words += [f"{letter}{i}:{ty}" for i in range(len(registers))]
        given += registers
    d = "{" + ", ".join(f"%d{i}" for i in range(len(d_regs))) + "}"
    outs = " ".join(f"d{i}:{kind}" for i in range(len(d_regs)))
    t.lanes(name, why, f"{instruction} {d}, {', '.join(groups)};", " ".join(words), outs, given, d_regs, extra)


def by_register(place, matrix_of, count, width, encode):
    lanes = []
    for lane in range(32):
        values = []
        for i in range(count):
            row, column = place(lane, i)
            values.append(encode(matrix_of[row][column]))
        lanes.append(pack(values, width) if width < 64 else values)
    return [list(column) for column in zip(*lanes)]


WHY = "manual, mma: D = A * B + C, with the fragments' layout of this shape"


def floats(t):
    r = random.Random(20)
    as_bits = lambda f: lambda v: f.round(Fraction(v))
    for name, f, width, shape, ks in (("f16", F16, 16, shape_16bit, (8, 16)), ("bf16", BF16, 16, shape_16bit, (8, 16)),
                                      ("tf32", F32, 32, shape_tf32, (4, 8))):
        for k in ks:
            a, b, na, nb = shape(k)
            A, B, C = matrix(r, 16, k, -9, 9), matrix(r, k, 8, -9, 9), matrix(r, 16, 8, -99, 99)
            D = product(A, B, C, 16, 8, k)
            regs = (by_register(a, A, na, width, as_bits(f)), by_register(b, B, nb, width, as_bits(f)))
            for accumulator in ("f32", "f16") if name == "f16" else ("f32",):
                g, gw, kind = (F32, 32, "f32") if accumulator == "f32" else (F16, 16, "b32")
                c, d = (by_register(c_place, M, 4, gw, as_bits(g)) for M in (C, D))
                emit(t, f"mma m16n8k{k} {name}, {accumulator} sums", WHY,
                     f"mma.sync.aligned.m16n8k{k}.row.col.{accumulator}.{name}.{name}.{accumulator}", *regs, c, d, kind)
    A, B, C = matrix(r, 8, 4, -9, 9), matrix(r, 4, 8, -9, 9), matrix(r, 8, 8, -99, 99)
    D = product(A, B, C, 8, 8, 4)
    encode = as_bits(F64)
    a = by_register(lambda lane, i: split(lane), A, 1, 64, encode)
    b = by_register(lambda lane, i: split(lane)[::-1], B, 1, 64, encode)
    c, d = (by_register(c_place, M, 2, 64, encode) for M in (C, D))
    emit(t, "mma m8n8k4 f64", WHY, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", a, b, c, d, "f64")


def integers(t):
    r = random.Random(21)
    for width, per, ks in ((8, 4, (16, 32)), (4, 8, (32, 64))):
        for k in ks:
            for a_sign, b_sign in (("s", "s"), ("u", "s"), ("u", "u"), ("s", "u")):
                a, b, na, nb = shape_packed(k, per)
                span = lambda s: (-(1 << (width - 1)), (1 << (width - 1)) - 1) if s == "s" else (0, (1 << width) - 1)
                A, B = matrix(r, 16, k, *span(a_sign)), matrix(r, k, 8, *span(b_sign))
                C = matrix(r, 16, 8, -100000, 100000)
                D = product(A, B, C, 16, 8, k)
                plain = lambda v: v
                emit(t, f"mma m16n8k{k} {a_sign}{width} by {b_sign}{width}", WHY,
                     f"mma.sync.aligned.m16n8k{k}.row.col.s32.{a_sign}{width}.{b_sign}{width}.s32",
                     by_register(a, A, na, width, plain), by_register(b, B, nb, width, plain),
                     by_register(c_place, C, 4, 32, plain), by_register(c_place, D, 4, 32, plain), "s32")
    A, B = matrix(r, 16, 16, -128, 127), matrix(r, 16, 8, -128, 127)
    C = [[(1 << 31) - 1 if (i + j) % 2 else -(1 << 31) for j in range(8)] for i in range(16)]
    D = [[clamp(v, -(1 << 31), (1 << 31) - 1) for v in row] for row in product(A, B, C, 16, 8, 16)]
    a, b, na, nb = shape_packed(16, 4)
    plain = lambda v: v
    emit(t, "mma m16n8k16 s8 satfinite", "manual, mma: .satfinite clamps the sum to MIN_INT32..MAX_INT32, without it wraps",
         "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32", by_register(a, A, na, 8, plain),
         by_register(b, B, nb, 8, plain), by_register(c_place, C, 4, 32, plain), by_register(c_place, D, 4, 32, plain), "s32")
    A, B, C = matrix(r, 8, 16, -128, 127), matrix(r, 16, 8, -128, 127), matrix(r, 8, 8, -999, 999)
    D = product(A, B, C, 8, 8, 16)
    emit(t, "mma m8n8k16 s8", WHY, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
         by_register(lambda lane, i: (lane // 4, lane % 4 * 4 + i), A, 4, 8, plain),
         by_register(lambda lane, i: (lane % 4 * 4 + i, lane // 4), B, 4, 8, plain),
         by_register(c_place, C, 2, 32, plain), by_register(c_place, D, 2, 32, plain), "s32")
