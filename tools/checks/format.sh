#!/bin/bash
# format [--fix]: whether our C and C++ files are as clang-format would write them; with --fix, writes them so.
set -euo pipefail
cd "${BUILD_WORKSPACE_DIRECTORY:-.}"
mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
git ls-files -z --cached --others --exclude-standard -- '*.c' '*.cc' '*.h' | xargs -0 -r clang-format "${mode[@]}"
