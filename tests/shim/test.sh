#!/usr/bin/env bash
# Runs the CUDA device without a GPU, on the libcuda.so that build.sh makes: the library's own tests, then the backend's,
# every case of the device suite, what a safe launch promises, and what concerns several devices. Arguments go to the
# device suite.
set -euo pipefail
cd "$(dirname "$0")/../.."
eval "$(tests/shim/build.sh)"
cargo test -p scoped-gpu-shim
cargo test --features cuda --lib -- backend::cuda
SCOPED_GPU_REQUIRE=cuda:0 cargo test --features cuda --test devices -- cuda:0 "$@"
SCOPED_GPU_REQUIRE=cuda:0 SCOPED_GPU_INPUTS=300 cargo test --features cuda --test launches -- cuda:0
SCOPED_GPU_MEMORY=1 SCOPED_GPU_REQUIRE=cuda:0 cargo test --features cuda --test devices -- cuda:0 --test-threads 1 "$@"
SCOPED_GPU_SHIM_DEVICES=3 cargo test --features cuda --test cuda
