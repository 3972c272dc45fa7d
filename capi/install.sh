#!/bin/bash
# Installs the C ABI for programs that are not built with Bazel:
#
#   tools/bazel run //:install -- --prefix=/usr/local
#
# PREFIX/include/berth.h and berth/*.h, PREFIX/lib/libberth.a, libberth.so and pkgconfig/berth.pc. $DESTDIR is put before
# PREFIX where files go, not in what they say.
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

install -d "$to/include/berth" "$to/lib/pkgconfig"
install -m 644 "$here/berth.h" "$to/include/"
install -m 644 "$here"/berth/*.h "$to/include/berth/"
install -m 644 "$here/libberth.a" "$to/lib/"
install -m 755 "$here/libberth.so.0" "$to/lib/"
ln -sfn libberth.so.0 "$to/lib/libberth.so"
sed "s|@PREFIX@|$prefix|" "$here/berth.pc.in" >"$to/lib/pkgconfig/berth.pc"
chmod 644 "$to/lib/pkgconfig/berth.pc"
echo "Installed in $to. With it: pkg-config --cflags --libs berth (PKG_CONFIG_PATH=$prefix/lib/pkgconfig)"
