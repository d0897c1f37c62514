"""Writes the derived tables: `python3 tests/opcodes/derive`."""

import pathlib

import approximate
import bits
import floats
import integers

TABLES = {"integer": integers, "bits": bits, "float": floats, "approximate": approximate}

for name, module in TABLES.items():
    module.build().write(pathlib.Path(__file__).parent.parent / "tables" / f"{name}.txt")
