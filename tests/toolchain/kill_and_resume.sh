#!/bin/bash
# By hand, about ten minutes and 1 GB from the mirror: tools/bazel survives SIGKILL at any moment of its first set-up,
# and two that start at once share one set-up.
#
#   tests/toolchain/kill_and_resume.sh [ROUNDS]
#
# A round kills at a random moment, in turn the wrapper alone (its parts live on and hold the lock) and all of its
# processes. What comes out in the end is compared, file by file, with what two undisturbed ones make.
set -euo pipefail
rounds=${1:-8}
wrapper=$(dirname "$(readlink -f "$0")")/../../tools/bazel
tmp=$(mktemp -d /tmp/berth-kill.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
export BERTH_TOOLCHAIN=root BERTH_ROOT=build

# bazel CACHE ARGS...: in a session of its own, so that the group can be killed.
bazel() {
  local cache=$1
  shift
  XDG_CACHE_HOME=$tmp/$cache exec setsid "$wrapper" --batch --output_user_root="$tmp/$cache/out" "$@"
}
# Precompiled headers hold paths and times of what they are made of: the names of the two caches are of one length, and
# of their own size the last digits do not count.
content() {
  (cd "$tmp/$1/berth" && find root-* deps-*/src ! -path '*/etc/*' -printf '%p %s %m\n') |
    sed -E '/\.pch /s/[0-9]{3} ([0-7]+)$/... \1/' | sort >"$tmp/$1.files"
}

echo "two at once:"
bazel calm info release >"$tmp/1" 2>&1 &
first=$!
bazel calm info release >"$tmp/2" 2>&1 &
wait $first
wait $!
[ "$(cat "$tmp/1" "$tmp/2" | grep -c 'making the build toolchain')" = 1 ]
[ "$(cat "$tmp/1" "$tmp/2" | grep -c 'development version')" = 2 ]
echo "  both succeeded, one set-up"

for ((round = 1; round <= rounds; ++round)); do
  bazel hurt info release >"$tmp/3" 2>&1 &
  pid=$!
  sleep $((RANDOM % 25 + 1)).$((RANDOM % 10))
  if [ $((round % 2)) = 0 ]; then kill -KILL -- -$pid || true; else kill -KILL $pid || true; fi
  wait $pid 2>/dev/null || true
  if grep -q 'development version' "$tmp/3"; then
    echo "round $round: it was done before"
    break
  fi
  echo "round $round: killed after: $(tail -n 1 "$tmp/3" | tr -d '\0')"
done
bazel hurt info release 2>&1 | tee "$tmp/4" &
wait $!
grep -q 'development version' "$tmp/4"
content calm
content hurt
diff "$tmp/calm.files" "$tmp/hurt.files"
echo "repaired: the same files as undisturbed"
