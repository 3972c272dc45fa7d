#!/bin/bash
# Vets the module and runs its scenarios, with pkg-config as it is used outside of Bazel.
set -euo pipefail
shared=$(readlink -f "$1")
out=$TEST_TMPDIR/go
mkdir -p "$out/home" "$out/module" "$out/tmp"
trap 'chmod -R u+w "$out" && rm -rf "$out"' EXIT
cp "$shared" "$out/libberth.so.0"
ln -s libberth.so.0 "$out/libberth.so"
mkdir "$out/berth"
cp -L capi/berth.h "$out/"
cp -L capi/berth/*.h "$out/berth/"
(cd capi/go && cp -rL --parents $(find -L . -name "*.go" -o -name go.mod) "$out/module/")
mkdir "$out/module/page"
python3 capi/code_of.py go docs/c_abi.md >"$out/module/page/main.go"
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
go test -race -count=1 ./...
echo "The example that is a whole program."
mkdir "$out/work"
go run ./examples/orchestrator "$out/state" "$out/work"
