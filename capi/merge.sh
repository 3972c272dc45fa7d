#!/bin/bash
# merge.sh LINKER NM OBJCOPY AR OUT --whole ARCHIVE… --archives ARCHIVE… -l:FLAG…: one archive with one object, in
# which everything but berth_* is local. So a program that has an Abseil or an OpenSSL of its own gets no second one by
# accident.
set -euo pipefail
linker=$1 nm=$2 objcopy=$3 ar=$4 out=$5
shift 6
whole=()
while [ "$1" != --archives ]; do whole+=("$1") && shift; done
shift
object=$(mktemp -d)/berth.o
trap 'rm -rf "${object%/*}"' EXIT
# COMDAT groups are dissolved: a group whose symbol is local could not be told from another program's.
"$linker" -r -nostdlib -no-pie -Wno-unused-command-line-argument -Wl,--force-group-allocation -Wl,-d -o "$object" \
  -Wl,--whole-archive "${whole[@]}" -Wl,--no-whole-archive -Wl,--start-group "$@" -Wl,--end-group
# Unique symbols (statics in inline functions and templates, by gcc) stay as they are unless they are weak: a program that
# has std::make_shared, too, would have two of its tag and not be linked.
"$nm" "$object" | awk '$2 == "u" {print $3}' >"$object.unique"
if [ -s "$object.unique" ]; then "$objcopy" --weaken-symbols="$object.unique" "$object"; fi # clang makes none
"$objcopy" --wildcard --keep-global-symbol='berth_*' "$object"
rm -f "$out"
"$ar" rcsD "$out" "$object"
