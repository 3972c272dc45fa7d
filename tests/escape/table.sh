#!/bin/bash
# table.sh check|write DOCUMENT: table.py with the tests of the list of escapes.
here=$(dirname "$(readlink -f "$0")")
[ -d "${0}.runfiles" ] && here=${0}.runfiles/_main/tests/escape
[ -n "${TEST_SRCDIR:-}" ] && here=$TEST_SRCDIR/${TEST_WORKSPACE:-_main}/tests/escape
mode=$1 document=$2
exec python3 "$here/table.py" "$mode" "$document" "$here"/{host,kernel,reach,workspace}_test
