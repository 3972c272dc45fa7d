#!/bin/bash
# Starts from C, from Rust with 1 GiB of heap and from Go with many threads, side by side: the medians of several rounds,
# and their ratios to C. COUNT starts a round, ROUNDS rounds, each program after each other one in turn.
#
#   capi/benchmark/start.sh PREFIX [COUNT [ROUNDS]]      PREFIX as of tools/bazel run //:install
#
# With FIFO=1 (root) before everything else that runs on the machine.
set -euo pipefail
prefix=$(readlink -f "$1") count=${2:-500} rounds=${3:-9}
here=$(readlink -f "$(dirname "$0")/..")
out=$(mktemp -d)
trap 'chmod -R u+w "$out" && rm -rf "$out"' EXIT
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
gcc -std=gnu11 -O2 -o "$out/c" "$here/benchmark/start.c" $(pkg-config --cflags --libs berth) "-Wl,-rpath,$prefix/lib"
rustc --edition 2021 -O --crate-type rlib --crate-name berth_sys -L "native=$prefix/lib" -l dylib=berth \
  -o "$out/libberth_sys.rlib" "$here/rust/berth-sys/src/lib.rs"
rustc --edition 2021 -O --crate-type rlib --crate-name berth --extern "berth_sys=$out/libberth_sys.rlib" \
  -o "$out/libberth.rlib" "$here/rust/berth/src/lib.rs"
rustc --edition 2021 -O --crate-name start --extern "berth=$out/libberth.rlib" -L "dependency=$out" \
  -L "$prefix/lib" -C "link-arg=-Wl,-rpath,$prefix/lib" -o "$out/rust" "$here/benchmark/start.rs"
(
  export HOME=$out GOCACHE=$out/cache GOPATH=$out/path GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-mod=mod GOTELEMETRY=off
  export CGO_LDFLAGS=-Wl,-rpath,$prefix/lib
  cd "$here/go" && go build -o "$out/go" ./benchmark/start
)
first=()
[ -z "${FIFO:-}" ] || first=(chrt --fifo 1)
for ((round = 0; round < rounds; ++round)); do
  for program in c rust go; do "${first[@]}" "$out/$program" "$count" "$out/state" >>"$out/$program.ns"; done
done
middle() { sort -n "$out/$1.ns" | sed -n "$((rounds / 2 + 1))p"; }
c=$(middle c)
for program in c rust go; do
  ns=$(middle "$program")
  awk -v p="$program" -v n="$ns" -v c="$c" 'BEGIN { printf "%-5s %7.1f us  %.2f of C\n", p, n / 1000, n / c }'
done
