#!/bin/bash
# Vets the module and runs its scenarios, with pkg-config as it is used outside of Bazel.
set -euo pipefail
shared=$(readlink -f "$1")
out=$TEST_TMPDIR/go
mkdir -p "$out/home" "$out/module" "$out/tmp"
trap 'chmod -R u+w "$out" && rm -rf "$out"' EXIT
cp "$shared" "$out/libberth.so.0"
ln -s libberth.so.0 "$out/libberth.so"
cp -L capi/berth.h "$out/"
cp -L capi/go/*.go capi/go/go.mod "$out/module/"
cat >"$out/berth.pc" <<END
Name: berth
Description: sessions and processes
Version: 0.1.0
Cflags: -I$out
Libs: -L$out -lberth -Wl,-rpath,$out
END
export HOME=$out/home GOCACHE=$out/cache GOPATH=$out/path GOTMPDIR=$out/tmp PKG_CONFIG_PATH=$out
export GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-mod=mod CGO_ENABLED=1 GOTELEMETRY=off
cd "$out/module"
badly=$(gofmt -l .)
[ -z "$badly" ] || { echo "gofmt would change: $badly" && exit 1; }
go vet ./...
go test -count=1 ./...
