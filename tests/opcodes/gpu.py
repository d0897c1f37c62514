"""Runs the tables on a GPU through the driver: `python3 tests/opcodes/gpu.py [NAME]`; needs libcuda and nothing else.

Prints each case whose results differ from the table, and counts. Cases that expect a fault, that say `host`, `plain` or
a target that the GPU has not are left out: a fault would end the process's use of the GPU.
"""

import ctypes
import math
import pathlib
import re
import struct
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).parent / "derive"))

import ieee  # noqa: E402

TABLES = pathlib.Path(__file__).parent / "tables"
FORMATS = {"f16": ieee.F16, "bf16": ieee.BF16, "f32": ieee.F32, "f64": ieee.F64}


def width(kind):
    if kind in FORMATS:
        return FORMATS[kind].width
    return {"pred": 1, "f16x2": 32, "bf16x2": 32}.get(kind) or int(kind[1:])


def value(kind, text):
    """Bits, or None for anything, or "nan"."""
    if text == "?":
        return None
    if kind in ("f16x2", "bf16x2") and "," in text:
        low, high = (value(kind[:-2], part) for part in text.split(","))
        low, high = (FORMATS[kind[:-2]].nan if v == "nan" else v for v in (low, high))
        return low | high << 16
    if text.startswith("0x"):
        return int(text, 16)
    if kind in FORMATS:
        f = FORMATS[kind]
        if text == "nan":
            return "nan"
        if text in ("inf", "-inf"):
            return f.inf | (f.sign if text[0] == "-" else 0)
        return f.round(Fraction(text), "rn", text[0] == "-")
    return int(text) & ((1 << width(kind)) - 1)


def values(kind, text):
    result = []
    for word in text.split():
        if ".." in word:
            first, rest = word.split("..")
            last, _, step = rest.partition("/")
            step = int(step or 1)
            result += [value(kind, str(v)) for v in range(int(first), int(last) + (1 if step > 0 else -1), step)]
        elif "*" in word:
            one, count = word.split("*")
            result += [value(kind, one)] * int(count)
        else:
            result.append(value(kind, word))
    return result


class Case:
    def __init__(self, name):
        self.name, self.target, self.skip = name, "sm_80", False
        self.ins, self.outs, self.module, self.body = [], [], [], []
        self.threads, self.blocks, self.shared = 0, 1, 0
        self.given, self.expected, self.memory, self.after = {}, {}, [], None
        self.within = None

    def line(self, line):
        if line.startswith("||"):
            return self.module.append(line[2:])
        if line.startswith("|"):
            return self.body.append(line[1:])
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word == "why":
            return None
        if word in ("fault", "strict", "plain", "host"):
            self.skip = True
        elif word == "target":
            self.target = rest
        elif word in ("in", "out"):
            registers = [tuple(w.split(":")) for w in rest.split()]
            self.ins, self.outs = (registers, self.outs) if word == "in" else (self.ins, registers)
        elif word in ("threads", "blocks", "shared"):
            setattr(self, word, int(rest))
        elif word == "within":
            self.within = rest
        elif word == "bug":
            pass
        elif word == "memory":
            found = values("b32", rest.lstrip("=->").strip())
            if rest.startswith("="):
                self.memory = found
            else:
                self.after = (self.after or []) + found
        elif rest.startswith("= "):
            self.given.setdefault(word, []).extend(values(dict(self.ins)[word], rest[2:]))
        elif rest.startswith("-> ") and word in dict(self.outs):
            self.expected.setdefault(word, []).extend(values(dict(self.outs)[word], rest[3:]))
        else:
            left, right = line.split("->")
            self.threads += 1
            for table, registers, words in ((self.given, self.ins, left), (self.expected, self.outs, right)):
                for (name, kind), text in zip(registers, words.split(), strict=True):
                    table.setdefault(name, []).append(value(kind, text))
        return None

    def ptx(self):
        """The same kernel as `kernel.rs` writes."""
        out = [f".version {'7.8' if self.target == 'sm_80' else '8.2'}", f".target {self.target}", ".address_size 64"]
        out += self.module
        out += [".visible .entry opcode(.param .u64 in, .param .u64 out, .param .u64 memory)", "{",
                ".reg .b64 %mem, %in, %out; .reg .b32 %index, %flag;"]
        for name, kind in dict(self.ins + self.outs).items():
            register = {"pred": ".pred", "f32": ".f32", "f64": ".f64"}.get(kind) or f".b{max(width(kind), 16)}"
            out.append(f".reg {register} %{name};")
        out.append("""ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %mem, [memory];
cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out; cvta.to.global.u64 %mem, %mem;
{ .reg .b32 %block, %size, %thread; .reg .b64 %offset;
mov.u32 %block, %ctaid.x; mov.u32 %size, %ntid.x; mov.u32 %thread, %tid.x;
mad.lo.u32 %index, %block, %size, %thread; mul.wide.u32 %offset, %index, 8;
add.u64 %in, %in, %offset; add.u64 %out, %out, %offset; }""")
        stride = self.threads * self.blocks * 8
        for index, (name, kind) in enumerate(self.ins):
            at = f"[%in+{index * stride}]"
            out.append(f"ld.global.b32 %flag, {at}; setp.ne.u32 %{name}, %flag, 0;" if kind == "pred"
                       else f"ld.global.b{max(width(kind), 16)} %{name}, {at};")
        out += self.body
        for index, (name, kind) in enumerate(self.outs):
            at = f"[%out+{index * stride}]"
            out.append(f"selp.b32 %flag, 1, 0, %{name}; st.global.b32 {at}, %flag;" if kind == "pred"
                       else f"st.global.b{max(width(kind), 16)} {at}, %{name};")
        return "\n".join([*out, "ret;", "}", ""])

    def agrees(self, kind, expected, got):
        got &= (1 << width(kind)) - 1
        f = FORMATS.get(kind)
        if expected is None or got == expected:
            return True
        if expected == "nan":
            return f is not None and f.is_nan(got)
        if f is None or self.within is None or any(f.is_nan(x) or f.is_inf(x) for x in (expected, got)):
            return False
        wanted, number = float(f.value(expected)), float(f.value(got))
        amount, unit = self.within.split()
        amount = 2.0 ** float(amount[2:]) if amount.startswith("2^") else float(amount)
        if unit == "abs":
            return abs(wanted - number) <= amount
        if unit == "rel":
            return abs(wanted - number) <= amount * abs(wanted)
        exponent = max(math.floor(math.log2(abs(wanted))) if wanted else -2000, 1 - f.bias)
        return abs(wanted - number) <= amount * 2.0 ** (exponent - f.m)


def read(path):
    cases = []
    for line in path.read_text().splitlines():
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("case "):
            cases.append(Case(line[5:]))
        else:
            cases[-1].line(line)
    return cases


class Driver:
    """The few driver calls that a launch needs."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuCtxCreate_v2", ctypes.byref(self.context), 0, device)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
        self("cuDeviceGetAttribute", ctypes.byref(minor), 76, device)
        self.capability = major.value * 10 + minor.value

    def __call__(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} answered {code}")

    def upload(self, data):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        self("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(size))
        self("cuMemFree_v2", address)
        return data.raw

    def run(self, case):
        threads = case.threads * case.blocks
        columns = [case.given.get(name, []) for name, _ in case.ins]
        bits = [FORMATS[kind].nan if v == "nan" else v for (_, kind), column in zip(case.ins, columns) for v in column]
        inputs = struct.pack(f"<{len(bits)}Q", *bits) or bytes(8)
        memory = struct.pack(f"<{len(case.memory)}I", *case.memory) or bytes(4)
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), case.ptx().encode())
        self("cuModuleGetFunction", ctypes.byref(function), module, b"opcode")
        size = max(len(case.outs) * threads, 1) * 8
        buffers = [self.upload(data) for data in (inputs, bytes(size), memory)]
        pointers = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.pointer(b), ctypes.c_void_p) for b in buffers))
        self("cuLaunchKernel", function, case.blocks, 1, 1, case.threads, 1, 1, case.shared, None, pointers, None)
        self("cuCtxSynchronize")
        out = struct.unpack(f"<{size // 8}Q", self.download(buffers[1], size))
        after = struct.unpack(f"<{len(memory) // 4}I", self.download(buffers[2], len(memory)))
        self("cuMemFree_v2", buffers[0])
        self("cuModuleUnload", module)
        return out, after

    def differences(self, case):
        out, after = self.run(case)
        threads, found = case.threads * case.blocks, []
        for index, (name, kind) in enumerate(case.outs):
            for thread, expected in enumerate(case.expected.get(name, [])):
                got = out[index * threads + thread]
                if not case.agrees(kind, expected, got):
                    given = {n: case.given[n][thread] for n, _ in case.ins}
                    shown = {n: hex(v) if isinstance(v, int) else v for n, v in given.items()}
                    wanted = hex(expected) if isinstance(expected, int) else expected
                    found.append(f"thread {thread} {shown}: {name} is {got:#x}, the table says {wanted}")
        for index, expected in enumerate(case.after or []):
            if not case.agrees("b32", expected, after[index]):
                found.append(f"memory word {index} is {after[index]:#x}, the table says {expected:#x}")
        return found


def main():
    driver = Driver()
    counts = {"agree": 0, "differ": 0, "refused": 0, "left out": 0}
    for path in sorted(TABLES.glob("*.txt")):
        for case in read(path):
            title = f"{path.stem}: {case.name}"
            if len(sys.argv) > 1 and sys.argv[1] not in title:
                continue
            if case.skip or int(re.sub(r"\D", "", case.target)) > driver.capability:
                counts["left out"] += 1
                continue
            try:
                found = driver.differences(case)
            except RuntimeError as error:
                counts["refused"] += 1
                print(f"{title}: {error}")
                continue
            counts["differ" if found else "agree"] += 1
            if found:
                print(f"{title}: {len(found)} values differ")
                print("\n".join(f"    {line}" for line in found[:8]))
    print(", ".join(f"{count} {name}" for name, count in counts.items()))


main()
