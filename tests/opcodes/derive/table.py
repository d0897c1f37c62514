"""Writes a table: cases with their reason, and rows whose values a function computes."""

import ieee

FORMATS = {"f16": ieee.F16, "bf16": ieee.BF16, "f32": ieee.F32, "f64": ieee.F64}


class Table:
    def __init__(self, title):
        self.lines = [f"# {title}", "# Written by `python3 tests/opcodes/derive`; do not edit."]

    def case(self, name, why, code, ins, outs, rows, extra=()):
        """`rows` are pairs of tuples of bit patterns (or texts that stand as they are)."""
        self.lines += ["", f"case {name}"] + [f"why  {line}" for line in why.split("\n")]
        self.lines += list(extra)
        if ins:
            self.lines.append("in   " + ins)
        self.lines.append("out  " + outs)
        self.lines += [f"|    {line}" for line in code.split("\n")]
        kinds = [[w.split(":")[1] for w in part.split()] for part in (ins, outs)]
        for given, expected in rows:
            left = " ".join(show(k, v) for k, v in zip(kinds[0], given, strict=True))
            right = " ".join(show(k, v, True) for k, v in zip(kinds[1], expected, strict=True))
            self.lines.append(f"{left} -> {right}")

    def lanes(self, name, why, code, ins, outs, given, expected, extra=()):
        """A case of one warp: a list of 32 values for each register."""
        self.lines += ["", f"case {name}"] + [f"why  {line}" for line in why.split("\n")]
        self.lines += list(extra)
        self.lines += ["in   " + ins, "out  " + outs]
        self.lines += [f"|    {line}" for line in code.split("\n")]
        self.lines.append("threads 32")
        for words, lists, arrow in ((ins, given, "="), (outs, expected, "->")):
            for word, values in zip(words.split(), lists, strict=True):
                register, kind = word.split(":")
                shown = " ".join(show(kind, v) for v in values)
                self.lines.append(f"{register} {arrow} {shown}")

    def write(self, path):
        path.write_text("\n".join(self.lines) + "\n")


def show(kind, value, result=False):
    if isinstance(value, str):
        return value
    if kind in FORMATS:
        return show_float(FORMATS[kind], value, result)
    if kind[0] == "s":
        width = int(kind[1:])
        value &= (1 << width) - 1
        return str(value - (1 << width) if value >> (width - 1) else value) if abs_small(value, width) else hex(value)
    if kind[0] == "u" and value < 1 << 20:
        return str(value)
    return str(value) if value < 10 else hex(value)


def abs_small(value, width):
    return value < 1 << 15 or value >= (1 << width) - (1 << 15)


def show_float(f, bits, result):
    if f.is_nan(bits):
        return "nan" if result or bits == f.nan else hex(bits)
    if f.is_inf(bits):
        return "-inf" if f.negative(bits) else "inf"
    if f.is_zero(bits):
        return "-0.0" if f.negative(bits) else "0.0"
    if f.is_subnormal(bits):
        return hex(bits)
    exact = float(f.value(bits))
    digits = {"f16": (3, 5), "bf16": (2, 4), "f32": (6, 9), "f64": (6, 17)}[f.name]
    for precision in range(1, digits[1] + 1):
        text = f"{exact:.{precision}g}"
        if f.name == "bf16":
            # decimal bf16 must be exact as binary32
            back = ieee.F32.round(ieee.Fraction(text))
            if back == bits << 16:
                return text if any(c in text for c in ".e") else text + ".0"
        elif f.round(ieee.Fraction(text)) == bits:
            return text if any(c in text for c in ".e") else text + ".0"
    return hex(bits)
