"""Writes the derived tables: `python3 tests/opcodes/derive`."""

import pathlib

import approximate
import bits
import conversions
import floats
import halves
import integers
import matrices

TABLES = {
    "integer": integers,
    "bits": bits,
    "float": floats,
    "approximate": approximate,
    "half": halves,
    "convert": conversions,
    "mma": matrices,
}

for name, module in TABLES.items():
    module.build().write(pathlib.Path(__file__).parent.parent / "tables" / f"{name}.txt")
