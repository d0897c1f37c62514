#!/usr/bin/env bash
# Runs the parts of a bundle (see bundle.sh) on this machine's first GPU, each with a time limit, and prints one table.
#
#     ./run.sh [OUTPUT-FOLDER [PARTS]]    (default: ./output, and all parts; PARTS is an extended regular expression)
#
# compute-sanitizer is used where it is on PATH or in COMPUTE_SANITIZER.
set -uo pipefail
cd "$(dirname "$0")"
output=${1:-output}
parts=${2:-.}
mkdir -p "$output"
export SCOPED_GPU_REQUIRE=cuda:0 SCOPED_GPU_ROOT=$PWD
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || true)}
table=$output/table.txt
: >"$table"

# part NAME SECONDS PATTERN COMMAND…: runs a part; the last line of its output that matches PATTERN goes to the table.
part() {
    local name=$1 limit=$2 pattern=$3 start=$SECONDS code
    shift 3
    [[ $name =~ $parts ]] || return 0
    timeout "$limit" "$@" >"$output/$name.txt" 2>&1
    code=$?
    printf '%-22s exit %-4s %4s s  %s\n' "$name" "$code" "$((SECONDS - start))" \
        "$(grep -E "$pattern" "$output/$name.txt" | tail -n 1)" >>"$table"
}

# the model test opens some hundred devices, which takes minutes on a GPU, so it has a part of its own
part devices 200 '^test result' ./devices cuda:0 --test-threads 1 --skip model
part devices_threads 200 '^test result' ./devices cuda:0 --skip model
part free_memory 200 '^test result' env SCOPED_GPU_MEMORY=1 ./devices cuda:0 --test-threads 1 --skip model
part model 400 '^test result' ./devices cuda:0::model
part cuda 100 '^test result' ./cuda --test-threads 1
part launches_planted 200 '^test result' ./launches cuda:0::planted
part launches_same 400 '^test result' ./launches cuda:0::same --test-threads 1
part denoise_cuda 60 'time' ./denoise --device cuda:0 --input examples/data/camera.png --output "$output"
[ -f "$output/denoise.png" ] && mv "$output/denoise.png" "$output/denoise_cuda.png"
part denoise_host 120 'time' ./denoise --device host --input examples/data/camera.png --output "$output"
part same_picture 10 '.' sh -c "cmp $output/denoise.png $output/denoise_cuda.png && echo 'the pictures are the same, byte for byte'"
part bench_cuda 200 'launch' ./bench_cuda
part bench_checked 200 'geometric' ./bench_checked
if [ -n "$sanitizer" ]; then
    SCOPED_GPU_ROUNDS=1 part sanitizer_beside 150 'geometric' "$sanitizer" --tool memcheck ./bench_checked
    # Calls that tests want refused (too much memory, PTX of tomorrow) are no errors of a kernel: they are not reported.
    memcheck=("$sanitizer" --tool memcheck --leak-check full --report-api-errors no --print-limit 1000 --error-exitcode 9)
    part memcheck 300 'ERROR SUMMARY' "${memcheck[@]}" ./devices cuda:0 --test-threads 1 --skip model --skip unchecked
    # That it reports what is there: a wild store of an unchecked launch must make it end with 9.
    part memcheck_noticed 60 'ERROR SUMMARY' "${memcheck[@]}" ./devices cuda:0::fault::null_among_ten_pictures_unchecked
else
    echo 'memcheck: compute-sanitizer is not here' >>"$table"
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null
echo "commit $(cat COMMIT 2>/dev/null)"
cat "$table"
