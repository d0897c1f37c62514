#!/usr/bin/env bash
# Runs the CUDA device without a GPU: its own tests, and every case of the device suite, through `cust`, on the libcuda.so
# that build.sh makes. Arguments go to the device suite.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/shim/build.sh
export CUDA_LIBRARY_PATH=$PWD/target/shim LD_LIBRARY_PATH=$PWD/target/shim/lib64
cargo test --features cuda --lib -- backend::cuda pool
SCOPED_GPU_REQUIRE=cuda:0 cargo test --features cuda --test devices -- cuda:0 "$@"
SCOPED_GPU_SHIM_DEVICES=3 cargo test --features cuda --test cuda
