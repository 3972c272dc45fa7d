#!/bin/bash
# Installs the C ABI for programs that are not built with Bazel, and the commands with their manual pages:
#
#   tools/bazel run //:install -- --prefix=/usr/local
#
# PREFIX/include/berth.h and berth/*.h, PREFIX/lib/libberth.a, libberth.so and pkgconfig/berth.pc, PREFIX/bin/berth and
# berth-reaper, PREFIX/share/man/man1. $DESTDIR is put before PREFIX where files go, not in what they say.
set -euo pipefail
prefix=
for arg in "$@"; do
  case $arg in
  --prefix=*) prefix=${arg#--prefix=} ;;
  *) echo "install: '$arg' is no option; usage: --prefix=DIR" >&2 && exit 2 ;;
  esac
done
case $prefix in
/*) ;;
'') echo "install: where to? --prefix=DIR" >&2 && exit 2 ;;
*) prefix=${BUILD_WORKING_DIRECTORY:-$PWD}/$prefix ;; # of `bazel run`: where the user is
esac
prefix=${prefix%/}
to=${DESTDIR:-}$prefix
here=capi # in the runfiles
man=$to/share/man/man1

install -d "$to/include/berth" "$to/lib/pkgconfig" "$to/bin" "$man"
install -m 644 "$here/berth.h" "$to/include/"
install -m 644 "$here"/berth/*.h "$to/include/berth/"
install -m 644 "$here/libberth.a" "$to/lib/"
install -m 755 "$here/libberth.so.0" "$to/lib/"
ln -sfn libberth.so.0 "$to/lib/libberth.so"
sed "s|@PREFIX@|$prefix|" "$here/berth.pc.in" >"$to/lib/pkgconfig/berth.pc"
chmod 644 "$to/lib/pkgconfig/berth.pc"
install -m 755 tools/berth/berth reaper/cli/berth-reaper "$to/bin/"
"$to/bin/berth-reaper" man >"$man/berth-reaper.1"
"$to/bin/berth" man >"$man/berth.1"
sed -n 's/^\.It Ic "\(.*\)"$/\1/p' "$man/berth.1" | while read -ra command; do
  page=$(IFS=- && echo "berth-${command[*]}")
  "$to/bin/berth" man "${command[@]}" >"$man/$page.1"
done
chmod 644 "$man"/berth*.1
echo "Installed in $to. With it: pkg-config --cflags --libs berth (PKG_CONFIG_PATH=$prefix/lib/pkgconfig)"
