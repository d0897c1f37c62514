//! PTX as text: reading it, checking it and lowering it to what a device runs.
