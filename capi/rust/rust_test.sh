#!/bin/bash
# Compiles the crates without Cargo, as any build system can, and runs their scenarios and the examples of their docs.
set -euo pipefail
shared=$(readlink -f "$1")
out=$TEST_TMPDIR/rust
mkdir -p "$out"
trap 'rm -rf "$out"' EXIT
cp "$shared" "$out/libberth.so.0"
ln -s libberth.so.0 "$out/libberth.so"
link=(-L "$out" -l dylib=berth -C "link-arg=-Wl,-rpath,$out")
crates=(--extern "berth=$out/libberth.rlib" -L "dependency=$out")

python3 capi/rust/check_sys.py capi/berth.h capi/rust/berth-sys/src/lib.rs
rustc --edition 2021 -D warnings --crate-type rlib --crate-name berth_sys -o "$out/libberth_sys.rlib" capi/rust/berth-sys/src/lib.rs
rustc --edition 2021 -D warnings --crate-type rlib --crate-name berth --extern "berth_sys=$out/libberth_sys.rlib" \
  -o "$out/libberth.rlib" capi/rust/berth/src/lib.rs
rustc --edition 2021 -D warnings --test --crate-name scenarios "${link[@]}" "${crates[@]}" \
  -o "$out/scenarios" capi/rust/berth/tests/scenarios.rs
# rustdoc knows no -l: the examples that run link the library by its path.
rustdoc --edition 2021 --test --test-args --test-threads=2 "${crates[@]}" --extern "berth_sys=$out/libberth_sys.rlib" \
  -C "link-arg=$out/libberth.so" -C "link-arg=-Wl,-rpath,$out" --crate-name berth capi/rust/berth/src/lib.rs
"$out/scenarios"
