#!/bin/bash
# A fuzz target that crashes on a mutation fails the test and leaves the input that did it.
set -euo pipefail
outputs=$(mktemp -d "$TEST_TMPDIR/XXXXXX")
if output=$(TEST_UNDECLARED_OUTPUTS_DIR=$outputs tools/fuzz/crashing_fuzz tools/fuzz/testdata/harmless 2>&1); then
  echo "it did not crash: $output"
  exit 1
fi
grep -q 'running 5000 mutations' <<<"$output" || { echo "crashed too early: $output" && exit 1; }
[ "$(head -c 1 "$outputs/last_input")" = A ] || { echo "another input was kept" && exit 1; }
