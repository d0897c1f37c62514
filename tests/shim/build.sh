#!/usr/bin/env bash
# Builds a libcuda.so out of the host device, for machines without an NVIDIA driver, into target/shim/lib64. Programs
# with the feature `cuda` link against it and run on it; the last lines say which two variables that takes.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --package scoped-gpu-shim
folder=$PWD/target/shim
mkdir -p "$folder/lib64"
cp target/debug/libcuda.so "$folder/lib64/libcuda.so"
ln -sf libcuda.so "$folder/lib64/libcuda.so.1"
echo "export CUDA_LIBRARY_PATH=$folder         # to link"
echo "export LD_LIBRARY_PATH=$folder/lib64     # to run, where no driver is installed"
