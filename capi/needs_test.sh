#!/bin/bash
# needs_test.sh LIBRARY: the shared library loads with glibc 2.31 and no C++ library, so on every distribution since
# Debian 11. What is missing for that belongs in old_glibc.cc.
set -euo pipefail
library=$1
if ! readelf -h "$library" | grep -q 'Machine:.*X86-64'; then
  echo "old_glibc.cc is for x86-64" && exit 0
fi
failed=0
libraries=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')
for needed in $libraries; do
  case $needed in
  ld-linux-x86-64.so.2 | libc.so.6 | libdl.so.2 | libgcc_s.so.1 | libm.so.6 | libpthread.so.0) ;;
  *) echo "needs $needed" && failed=1 ;;
  esac
done
for needed in libc.so.6 libdl.so.2 libpthread.so.0; do # where 2.31 has its functions
  grep -qxF "$needed" <<<"$libraries" || { echo "does not name $needed" && failed=1; }
done
versions=$(readelf -VW "$library" | sed -n 's/.* Name: \([^ ]*\) *Flags: .*/\1/p' | sort -uV)
grep -qxF GLIBC_2.2.5 <<<"$versions" || { echo "no versions in what readelf says" && failed=1; }
mapfile -t newer < <(awk -F '[_.]' '!/^GLIBC_2\.[0-9]+(\.[0-9]+)?$/ && !/^GCC_[34]\./ || $3 > 31' <<<"$versions")
for version in "${newer[@]}"; do
  echo "needs $version:" && failed=1
  readelf --dyn-syms -W "$library" |
    awk -v "version=$version" '{split($8, name, "@")} name[2] == version {print "  " name[1]}'
done
exit $failed
