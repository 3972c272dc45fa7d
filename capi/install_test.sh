#!/bin/bash
# Installs into a prefix of its own and uses it as someone does who has never heard of Bazel: gcc and pkg-config, with the
# shared library and with the static one.
set -euo pipefail
cd "$TEST_SRCDIR/$TEST_WORKSPACE"
prefix=$TEST_TMPDIR/prefix
trap 'rm -rf "$prefix" "$TEST_TMPDIR/state" "$TEST_TMPDIR/work"' EXIT
capi/install.sh "--prefix=$prefix"
capi/install.sh "--prefix=$prefix" # again, over what is there
! capi/install.sh --prefox=/x 2>/dev/null
! capi/install.sh 2>/dev/null
echo "The commands are there, and every command has the page that berth(1) refers to."
"$prefix/bin/berth" --version
"$prefix/bin/berth-reaper" --version
pages=$(sed -n 's/^\.Xr \(berth[^ ]*\) 1.*/\1/p' "$prefix/share/man/man1/berth.1")
[ "$(wc -l <<<"$pages")" -gt 20 ]
for page in berth $pages; do
  grep -q "^\.Nm $page\$" "$prefix/share/man/man1/$page.1"
done
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
[ "$(pkg-config --variable=prefix berth)" = "$prefix" ]
flags=(-std=c11 -Wall -Wextra -pedantic -Werror)
read -ra shared < <(pkg-config --cflags --libs berth)
read -ra static < <(pkg-config --cflags --libs --static berth)

gcc "${flags[@]}" -D_DEFAULT_SOURCE -o "$prefix/shared" capi/examples/orchestrator.c "${shared[@]}" "-Wl,-rpath,$prefix/lib"
readelf -d "$prefix/shared" | grep -q 'NEEDED.*libberth.so.0'
# -lberth means the shared one where there are both: in a folder of its own there is the other.
mkdir "$prefix/only"
ln -s "$prefix/lib/libberth.a" "$prefix/only/"
gcc "${flags[@]}" -D_DEFAULT_SOURCE -o "$prefix/static" capi/examples/orchestrator.c "-L$prefix/only" "${static[@]}"
! readelf -d "$prefix/static" | grep -q 'NEEDED.*libberth'
for program in shared static; do
  rm -rf "$TEST_TMPDIR/state" "$TEST_TMPDIR/work"
  mkdir "$TEST_TMPDIR/work"
  "$prefix/$program" "$TEST_TMPDIR/state" "$TEST_TMPDIR/work"
done

echo "The archive defines berth_* and nothing else."
nm --defined-only --extern-only "$prefix/lib/libberth.a" 2>/dev/null | awk 'NF == 3 {print $3}' | sort >"$prefix/defined"
diff capi/symbols.txt "$prefix/defined"
echo "A C++ program that has the same templates is linked with it."
echo '#include <berth.h>
#include <memory>
int main() { return *std::make_shared<int>(0) + (berth_features() == 0); }' |
  g++ -std=c++20 -o "$prefix/cpp" -x c++ - -x none "-L$prefix/only" "${static[@]}"
"$prefix/cpp"
echo "The header is C11 and C++20."
echo '#include <berth.h>' | gcc "${flags[@]}" "${shared[@]}" -fsyntax-only -x c -
echo '#include <berth.h>' | g++ -std=c++20 -Wall -Wextra -pedantic -Werror "${shared[@]}" -fsyntax-only -x c++ -
echo "What the documentation shows is C."
python3 capi/code_of.py c docs/c_abi.md | gcc "${flags[@]}" "${shared[@]}" -fsyntax-only -x c -
