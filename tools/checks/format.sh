#!/bin/bash
# format [--fix]: whether our C and C++ files are as clang-format would write them; with --fix, writes them so.
set -euo pipefail
cd "${BUILD_WORKSPACE_DIRECTORY:-.}"
files() { git ls-files -z --cached --others --exclude-standard -- '*.c' '*.cc' '*.h'; }
if [ "${1:-}" = --fix ]; then
  files | xargs -0 -r clang-format -i
elif ! problems=$(files | xargs -0 -r clang-format --dry-run -Werror 2>&1); then
  sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: .*/\1/p' <<<"$problems" | sort | uniq -c
  echo "not as clang-format writes them: tools/bazel run //tools/checks:format -- --fix"
  exit 1
fi
