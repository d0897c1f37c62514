#!/usr/bin/env bash
# Builds the library in release and lays it out as a toolkit does, for linking and for running.
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --release -p scoped-gpu-shim "$@" >&2
built=${CARGO_TARGET_DIR:-target}
into=$built/shim/lib64
mkdir -p "$into"
cp "$built/release/libcuda.so" "$into/libcuda.so.1"
ln -sf libcuda.so.1 "$into/libcuda.so"
into=$(cd "$into" && pwd)

echo "export CUDA_LIBRARY_PATH=${into%/lib64}"
echo "export LD_LIBRARY_PATH=$into\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
