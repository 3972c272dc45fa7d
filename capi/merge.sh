#!/bin/bash
# merge.sh LINKER OBJCOPY AR OUT --whole ARCHIVE… --archives ARCHIVE… -l:FLAG…: one archive with one object, in which
# everything but berth_* is local. So a program that has an Abseil or an OpenSSL of its own gets no second one by accident.
set -euo pipefail
linker=$1 objcopy=$2 ar=$3 out=$4
shift 5
whole=()
while [ "$1" != --archives ]; do whole+=("$1") && shift; done
shift
object=$(mktemp -d)/berth.o
trap 'rm -rf "${object%/*}"' EXIT
# COMDAT groups are dissolved: a group whose symbol is local could not be told from another program's.
"$linker" -r -nostdlib -no-pie -Wl,--force-group-allocation -Wl,-d -o "$object" \
  -Wl,--whole-archive "${whole[@]}" -Wl,--no-whole-archive -Wl,--start-group "$@" -Wl,--end-group
"$objcopy" --wildcard --keep-global-symbol='berth_*' "$object"
rm -f "$out"
"$ar" rcsD "$out" "$object"
