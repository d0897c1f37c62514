#!/usr/bin/env bash
# Prints the path of a ptxas: the one that SCOPED_GPU_PTXAS names, the one on PATH, or the newest of PyPI, which is
# downloaded once (47 MB, no GPU needed) and kept in the target folder. Prints nothing, and says why on standard error,
# where none is to be had.
set -uo pipefail
cd "$(dirname "$0")/../.."

found=${SCOPED_GPU_PTXAS:-$(command -v ptxas || true)}
if [ -z "$found" ]; then
    into=${CARGO_TARGET_DIR:-$PWD/target}/ptxas
    ptxas() { find "$into" -path '*/bin/ptxas' -type f 2>/dev/null | head -n 1; }
    if [ -z "$(ptxas)" ]; then
        # only wheels: nothing of the package runs here
        python3 -m pip install --quiet --no-input --no-deps --only-binary :all: --target "$into" \
            --timeout 15 --retries 1 nvidia-cuda-nvcc >&2 || true
    fi
    found=$(ptxas)
fi
if [ -n "$found" ] && "$found" --version >/dev/null 2>&1; then
    echo "$found"
else
    echo 'no ptxas: none is on PATH or in SCOPED_GPU_PTXAS, and pip could not bring one' >&2
fi
