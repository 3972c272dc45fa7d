#!/bin/bash
# What C offers is there in Go and in Rust: see bindings_test.py. And it would tell: of a function that is not called and
# not listed, of one that is both, and of one that there is none of.
set -euo pipefail
python3 capi/bindings_test.py capi/bindings.txt capi/symbols.txt "$@"

# tells WHAT LIST SOURCE…: with that list it fails and says so.
tells() {
  local what=$1 list=$2
  shift 2
  if python3 capi/bindings_test.py "$list" capi/symbols.txt "$@" >"$TEST_TMPDIR/told"; then exit 1; fi
  grep -qFx "$what" "$TEST_TMPDIR/told" || { cat "$TEST_TMPDIR/told" && exit 1; }
}
list=$TEST_TMPDIR/list.txt
grep -v '^berth_error_code rust ' capi/bindings.txt >"$list"
tells "berth_error_code: not called in rust" "$list" "$@"
cp capi/bindings.txt "$list"
echo "berth_session_send go It is." >>"$list"
tells "berth_session_send: it is called in go" "$list" "$@"
echo "berth_no_such_thing rust There is none." >>"$list"
tells "berth_no_such_thing: there is no such C function" "$list" "$@"
echo "berth_error_code go" >>"$list"
tells "berth_error_code: why is it not called?" "$list" "$@"
echo "// C.berth_session_send(" >"$TEST_TMPDIR/comment.go"
tells "berth_session_send: not called in go" capi/bindings.txt "$TEST_TMPDIR/comment.go" capi/rust/berth/src/*.rs
