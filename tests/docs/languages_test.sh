#!/bin/bash
# Compiles and runs the README's examples in Rust and Go against the shared library.
set -euo pipefail
shared=$(readlink -f "$1")
out=$TEST_TMPDIR/languages
mkdir -p "$out/berth" "$out/go" "$out/hello" "$out/tmp"
trap 'chmod -R u+w "$out" && rm -rf "$out"' EXIT
cp "$shared" "$out/libberth.so.0"
ln -s libberth.so.0 "$out/libberth.so"
export BERTH_STATE_DIR=$out/state

# check NAME COMMAND...: it prints what the session showed, and leaves nothing behind.
check() {
  local name=$1 said
  shift
  said=$("$@")
  printf '%s\n' "$said"
  [[ $said == *"agent: run the tests"* && $said == *"code 0"* ]] || { echo "$name said something else" >&2 && exit 1; }
  [ -z "$(ls "$out/state/sessions")" ] || { echo "$name left a session" >&2 && exit 1; }
}

rust() { rustc --edition 2021 -D warnings "$@"; }
rust --crate-type rlib --crate-name berth_sys -o "$out/libberth_sys.rlib" capi/rust/berth-sys/src/lib.rs
rust --crate-type rlib --crate-name berth --extern "berth_sys=$out/libberth_sys.rlib" -o "$out/libberth.rlib" \
  capi/rust/berth/src/lib.rs
rust -L "$out" -l dylib=berth -C "link-arg=-Wl,-rpath,$out" --extern "berth=$out/libberth.rlib" \
  -L "dependency=$out" -o "$out/hello_rust" docs/examples/hello.rs
check hello.rs "$out/hello_rust"

cp -L capi/berth.h "$out/"
cp -L capi/berth/*.h "$out/berth/"
cp -L capi/go/*.go capi/go/go.mod "$out/go/"
cp -L docs/examples/hello.go "$out/hello/main.go"
cat >"$out/berth.pc" <<END
Name: berth
Description: sessions and processes
Version: 0.1.0
Cflags: -I$out
Libs: -L$out -lberth -Wl,-rpath,$out
END
cat >"$out/hello/go.mod" <<END
module hello

go 1.21

require berth.dev/berth v0.0.0

replace berth.dev/berth => ../go
END
export HOME=$out/tmp GOCACHE=$out/cache GOPATH=$out/path GOTMPDIR=$out/tmp PKG_CONFIG_PATH=$out
export GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-mod=mod CGO_ENABLED=1 GOTELEMETRY=off
cd "$out/hello"
[ -z "$(gofmt -l .)" ] || { echo "gofmt would change hello.go" >&2 && exit 1; }
go build -o "$out/hello_go" .
check hello.go "$out/hello_go"
