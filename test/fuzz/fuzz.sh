#!/bin/bash
# Fuzzes each decoder with test/fuzz/NAME_fuzz.c for FUZZ_SECONDS (10), on top of the seeds in test/fuzz/corpus/NAME.
# timeout: 2400
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

seconds=${FUZZ_SECONDS:-10}
fuzz=$build/fuzz

# can_fuzz: clang links its libFuzzer.
can_fuzz() {
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *b, unsigned long n) { return b == 0 && n == 1; }' \
        > "$SCRATCH/x.c"
    clang -fsanitize=fuzzer,address -o "$SCRATCH/x" "$SCRATCH/x.c" > "$SCRATCH/why" 2>&1
}

targets=$(find test/fuzz -name '*_fuzz.c' | sort)
[ -n "$targets" ] || skip_all "there are no fuzz targets"
command -v clang > "$SCRATCH/which" || skip_all "clang is not installed; 'make deps' installs it"
can_fuzz || skip_all "clang cannot link libFuzzer: $(head -n 1 "$SCRATCH/why"); 'make deps' installs libclang-rt-14-dev"

# fuzz_one NAME: what it said goes to NAME.said, its status to NAME.status.
fuzz_one() {
    local name=$1 seeds=()
    mkdir -p "$SCRATCH/$name" "$SCRATCH/$name.found"
    [ ! -d "test/fuzz/corpus/$name" ] || seeds=("test/fuzz/corpus/$name")
    "$fuzz/test/fuzz/${name}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="$SCRATCH/$name.found/" "$SCRATCH/$name" ${seeds[@]+"${seeds[@]}"} > "$SCRATCH/$name.said" 2>&1
    echo $? > "$SCRATCH/$name.status"
}

# One for each CPU at a time.
for target in $targets; do
    name=$(basename "$target" _fuzz.c)
    if ! make --no-print-directory -j2 CC=clang BUILD="$fuzz" SANITIZE=address,undefined,fuzzer-no-link \
        CFLAGS='-O1 -g' "$fuzz/test/fuzz/${name}_fuzz" > "$SCRATCH/$name.built" 2>&1; then
        not_ok "$name: the fuzz target builds" "$(tail -n 20 "$SCRATCH/$name.built")"
        continue
    fi
    while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do
        wait -n
    done
    fuzz_one "$name" &
done
wait

for target in $targets; do
    name=$(basename "$target" _fuzz.c)
    if [ ! -e "$SCRATCH/$name.status" ]; then
        continue # it did not build
    elif [ "$(cat "$SCRATCH/$name.status")" = 0 ]; then
        inputs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$SCRATCH/$name.said")
        ok "$name: $inputs inputs in $seconds s, no crash, no leak"
    else
        not_ok "$name: no crash and no leak in $seconds s" "$(tail -n 30 "$SCRATCH/$name.said")" \
            "the input, base64: $(find "$SCRATCH/$name.found" -type f -exec base64 -w 0 {} \; | head -c 4000)"
    fi
done

done_testing
