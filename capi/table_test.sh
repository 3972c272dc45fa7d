#!/bin/bash
# Nothing that C++ can do is missing in C: see table_test.py. And it would tell: a table that lacks Session::Send fails.
set -euo pipefail
python3 capi/table_test.py capi/table.txt capi/symbols.txt "$@"
grep -v '^Session::Send ' capi/table.txt >"$TEST_TMPDIR/short.txt"
if python3 capi/table_test.py "$TEST_TMPDIR/short.txt" capi/symbols.txt "$@" >"$TEST_TMPDIR/told"; then exit 1; fi
grep -q 'session.h: Session::Send is not in the table' "$TEST_TMPDIR/told"
