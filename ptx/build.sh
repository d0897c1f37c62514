#!/bin/sh
# Regenerates every .ptx here from the .cu beside it. Needs nvcc 13.0 on PATH (no GPU):
# an older one knows other targets, a newer one emits a PTX version that a CUDA 13.0 driver refuses.
set -eu
cd "$(dirname "$0")"

nvcc --version | grep -q 'release 13\.0' || {
    echo "build.sh: nvcc 13.0 is needed, found: $(nvcc --version | grep release)" >&2
    exit 1
}

for source in *.cu; do
    name=${source%.cu}
    # Only the demonstration of a fault carries .loc lines: they would break up the other files for a reader.
    case $name in
        shift_off_by_one) line_info=-lineinfo ;;
        *) line_info= ;;
    esac
    # compute_75 is the oldest target that nvcc 13 has. Without -fmad=false it would fuse products into sums.
    nvcc --ptx -arch=compute_75 -fmad=false $line_info -o "$name.ptx" "$source"
    # The debug information names the source by an absolute path of the machine that built it.
    sed -i.bak -E 's|^([[:space:]]*\.file[[:space:]]+[0-9]+ )".*/([^/"]+)"|\1"\2"|' "$name.ptx"
    rm "$name.ptx.bak"
    echo "$name.ptx"
done
