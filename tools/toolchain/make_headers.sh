#!/bin/bash
# make_headers.sh DEPS OUT: precompiles the headers of headers.h in DEPS, for compiler.sh. Run inside the root, since only
# the very compiler that made such a file can read it. The flags are those that Bazel gives for a plain build.
set -euo pipefail
deps=$1 out=$2
src=$deps/src
mkdir -p "${out%/*}"
/usr/bin/clang -x c++-header -std=c++20 -fPIC -fstack-protector -fno-omit-frame-pointer -U_FORTIFY_SOURCE \
  -isystem "$src/abseil-cpp" -isystem "$src/googletest/googletest/include" -isystem "$src/googletest/googlemock/include" \
  -isystem "$src/nlohmann_json/include" -Xclang -fno-cxx-modules -fmodules-strict-decluse -Xclang -fno-pch-timestamp -fpch-instantiate-templates \
  "$deps/headers.h" -o "$out.tmp"
mv "$out.tmp" "$out"
