#!/usr/bin/env bash
# Builds the library and lays it out as a toolkit does, for linking and for running:  eval "$(tests/shim/build.sh)"
# --release as argument makes kernels run faster and the build slower.
set -euo pipefail
cd "$(dirname "$0")/../.."

profile=debug
[ "${1:-}" = --release ] && profile=release
cargo build -p scoped-gpu-shim "$@" >&2
built=${CARGO_TARGET_DIR:-target}
into=$built/shim/lib64
rm -rf "$into"
mkdir -p "$into"
cp "$built/$profile/libcuda.so" "$into/libcuda.so.1"
ln -sf libcuda.so.1 "$into/libcuda.so"
into=$(cd "$into" && pwd)

echo "export CUDA_LIBRARY_PATH=${into%/lib64}"
echo "export LD_LIBRARY_PATH=$into\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
