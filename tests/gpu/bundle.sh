#!/usr/bin/env bash
# Packs what is run on a GPU into a folder that needs a driver and nothing else: no Rust, no toolkit, no network.
#
#     tests/gpu/bundle.sh [FOLDER]        (default: target/gpu)
#
# Copy the folder to the machine and start FOLDER/run.sh there: it runs each part with a time limit and prints one table.
# Linking needs a libcuda.so; tests/shim/build.sh makes one where no driver is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-target/gpu}
rm -rf "$folder"
mkdir -p "$folder/tests/devices"

# build NAME CARGO-ARGUMENTS…: builds one program and puts it into the folder under NAME.
build() {
    local name=$1 program
    shift
    program=$(cargo "$@" --features cuda --message-format=json 2>"$folder/build.log" |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1) || true
    [ -n "$program" ] || { cat "$folder/build.log" >&2; exit 1; }
    cp "$program" "$folder/$name"
    strip --strip-debug "$folder/$name" 2>/dev/null || true
    echo "$name: $(du -h "$folder/$name" | cut -f 1)"
}

build devices test --no-run --test devices
build cuda test --no-run --test cuda
build launches test --no-run --test launches
build bench_cuda bench --no-run --bench cuda
build bench_checked bench --no-run --bench checked
build denoise build --release --example denoise
cargo build --release -p scoped-gpu-compare 2>"$folder/build.log"
cp target/release/scoped-gpu-compare "$folder/compare"
rm "$folder/build.log"
cp -r tests/devices/messages "$folder/tests/devices/"
mkdir -p "$folder/tests/corpus" "$folder/tests/opcodes" "$folder/ptx" "$folder/examples/data"
cp -r tests/corpus/. "$folder/tests/corpus/"
mkdir -p "$folder/tests/bounds"
cp tests/bounds/expected.txt "$folder/tests/bounds/"
cp -r tests/opcodes/tables "$folder/tests/opcodes/"
cp ptx/*.ptx "$folder/ptx/"
cp examples/data/camera.png "$folder/examples/data/"
cp tests/gpu/run.sh "$folder/run.sh"
git rev-parse HEAD >"$folder/COMMIT"
du -sh "$folder"
