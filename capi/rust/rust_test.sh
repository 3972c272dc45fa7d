#!/bin/bash
# Compiles the crates without Cargo, as any build system can, and runs their scenarios and the examples of their docs.
set -euo pipefail
shared=$(readlink -f "$1")
out=$TEST_TMPDIR/rust
mkdir -p "$out"
trap 'rm -rf "$out"' EXIT
cp "$shared" "$out/libberth.so.0"
ln -s libberth.so.0 "$out/libberth.so"
link=(-L "$out" -C "link-arg=-Wl,-rpath,$out")
crates=(--extern "berth=$out/libberth.rlib" -L "dependency=$out")
compile() { rustc --edition 2021 -D warnings "$@"; }

echo "The declarations are those of the header, in memory too."
headers=(capi/berth/*.h)
mkdir "$out/sys"
python3 capi/rust/gen_sys.py --out "$out/sys" "${headers[@]}"
for file in "$out"/sys/*.rs; do diff "$file" "capi/rust/berth-sys/src/$(basename "$file")"; done
compile --crate-type rlib --crate-name berth_sys -L "native=$out" -l dylib=berth -o "$out/libberth_sys.rlib" capi/rust/berth-sys/src/lib.rs
python3 capi/rust/gen_sys.py --layout c "${headers[@]}" >"$out/layout.c"
python3 capi/rust/gen_sys.py --layout rust "${headers[@]}" >"$out/layout.rs"
gcc -std=c11 -Icapi -o "$out/layout_c" "$out/layout.c"
compile "${link[@]}" --extern "berth_sys=$out/libberth_sys.rlib" -o "$out/layout_rust" "$out/layout.rs"
diff <("$out/layout_c") <("$out/layout_rust")

compile --crate-type rlib --crate-name berth --extern "berth_sys=$out/libberth_sys.rlib" -o "$out/libberth.rlib" \
  capi/rust/berth/src/lib.rs
rustdoc --edition 2021 --test --test-args --test-threads=2 "${crates[@]}" --extern "berth_sys=$out/libberth_sys.rlib" \
  "${link[@]}" --crate-name berth capi/rust/berth/src/lib.rs
rustdoc --edition 2021 --test "${crates[@]}" "${link[@]}" docs/c_abi.md
for tests in capi/rust/berth/tests/*.rs capi/rust/adapters/*.rs; do
  [ -e "$tests" ] || continue
  name=$(basename "$tests" .rs)
  compile --test --crate-name "$name" "${link[@]}" "${crates[@]}" -o "$out/$name" "$tests"
  echo "$tests"
  "$out/$name"
done
echo "The example that is a whole program."
compile --crate-name orchestrator "${link[@]}" "${crates[@]}" -o "$out/orchestrator" capi/examples/orchestrator.rs
mkdir "$out/work"
"$out/orchestrator" "$out/state" "$out/work"
