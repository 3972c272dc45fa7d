#!/bin/bash
# The compiler of the toolchain's roots: clang. Sources of this tree that are compiled in the plain way (layering checked,
# neither optimised nor sanitized) find the headers of headers.h precompiled: the object is the same, in a third of the
# time.
here=${0%/*}
ours='' checked='' other=''
for argument in "$@"; do
  case $argument in
    runtime/*.cc | capi/*.cc | reaper/*.cc | sandbox/*.cc | tests/*.cc | tools/*.cc | bazel-out/*_together.cc) ours=yes ;;
    -fmodules-strict-decluse) checked=yes ;;
    -O[1-9s]* | -fsanitize* | -fno-exceptions | -fno-rtti | -f*coverage* | --coverage) other=yes ;;
    -c | -E) set -- -idirafter "$here" "$@" ;; # Bazel asks where the compiler's own headers are: these are among them
  esac
done
if [ "$ours" ] && [ "$checked" ] && ! [ "$other" ]; then
  set -- -include-pch "/usr/lib/berth/${here##*/}.pch" "$@"
fi
exec /usr/bin/clang "$@"
