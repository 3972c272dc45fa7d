#!/bin/bash
# tools/bazel: what it says and does where it cannot work, and when it hands over to a Bazel on PATH.
# The failures are real ones wherever the machine can be made to fail (namespaces forbidden, nobody at the mirror's
# port, an unsigned archive, a full disk); where it cannot, a program on PATH answers in apt's words.
set -uo pipefail
wrapper=$(readlink -f tools/bazel)
tmp=$(mktemp -d "$TEST_TMPDIR/XXXXXX")
export HOME=$tmp/home BERTH_TOOLCHAIN=root
unset XDG_CACHE_HOME BERTH_DEBIAN_MIRROR BERTH_ROOT BAZEL_REAL
mkdir "$HOME"
cases='' failed=0

# expect NAME STATUS TEXT COMMAND...: COMMAND ends with STATUS and what it prints has TEXT in it.
expect() {
  local name=$1 status=$2 text=$3 output code
  shift 3
  output=$("$@" 2>&1 </dev/null)
  code=$?
  rm -rf "$HOME/.cache"
  if [ $code = "$status" ] && [[ $output == *"$text"* ]]; then
    cases+="<testcase classname=\"Wrapper\" name=\"$name\"/>"
    return
  fi
  printf 'FAILED %s: status %s, expected %s and "%s" in:\n%s\n' "$name" $code "$status" "$text" "$output"
  cases+="<testcase classname=\"Wrapper\" name=\"$name\"><failure message=\"see the log\"/></testcase>"
  failed=$((failed + 1))
}

# in_namespace SCRIPT: runs SCRIPT, which starts with breaking something, as root of a user and mount namespace.
in_namespace() { wrapper=$wrapper unshare --user --map-root-user --mount sh -ec "$1; exec \"\$wrapper\" version"; }

# program NAME SCRIPT: a program in a directory of its own at the head of PATH, for the command after --.
program() {
  local bin name=$1
  bin=$(mktemp -d "$tmp/bin.XXXXXX")
  printf '#!/bin/bash\n%s\n' "$2" >"$bin/$name"
  chmod +x "$bin/$name"
  shift 3
  PATH=$bin:$PATH "$@"
}

without_apt() {
  mkdir "$tmp/noapt"
  ln -s /usr/bin/* /usr/sbin/* "$tmp/noapt" 2>/dev/null
  rm "$tmp/noapt/apt-get"
  PATH=$tmp/noapt "$wrapper" version
}

without_mirror() {
  printf 'Dir::Etc::%s "/dev/null";\n' sourcelist sourceparts >"$tmp/apt.conf"
  APT_CONFIG=$tmp/apt.conf "$wrapper" version
}

unsigned_mirror() {
  for suite in trixie forky; do
    mkdir -p "$tmp/debian/dists/$suite/main/binary-amd64"
    : >"$tmp/debian/dists/$suite/main/binary-amd64/Packages"
    printf 'Suite: %s\nCodename: %s\nArchitectures: amd64\nComponents: main\nDate: %s\n' $suite $suite "$(date -Ru)" \
      >"$tmp/debian/dists/$suite/Release"
  done
  BERTH_DEBIAN_MIRROR=file:$tmp/debian "$wrapper" version
}

mirror=http://127.0.0.1:1/debian # a port where nobody listens

expect SaysThatHomeIsMissing 36 "HOME is not set" env -u HOME "$wrapper" version
expect RefusesARelativeCache 36 "absolute path" env XDG_CACHE_HOME=cache "$wrapper" version
expect RefusesAnUnknownToolchain 36 "it is 'auto', 'host' or 'root'" env BERTH_TOOLCHAIN=x "$wrapper" version
expect RefusesAnUnknownRoot 36 "it is 'build' or 'test'" env BERTH_ROOT=x "$wrapper" version
expect RefusesAWorkingDirectoryThatIsReplaced 36 "is under /usr or /etc" env -C /usr/share "$wrapper" version
expect SaysHowToAllowNamespaces 36 "kernel.unprivileged_userns_clone=1" \
  in_namespace 'echo 0 >/proc/sys/user/max_mnt_namespaces'
expect SaysThatThereIsNoApt 36 "Install bazelisk (any distribution)" without_apt
expect SaysThatKeysAreMissing 36 "Install the package debian-archive-keyring" \
  in_namespace 'mount -t tmpfs none /usr/share/keyrings'
expect SaysThatThereIsNoMirror 36 "set BERTH_DEBIAN_MIRROR=URL" without_mirror
expect SaysThatTheDiskIsTooSmall 36 "needs 2000 MB" \
  in_namespace 'mkdir -p ~/.cache; mount -t tmpfs -o size=10m none ~/.cache; export BERTH_DEBIAN_MIRROR=http://127.0.0.1:1/debian'
expect SaysThatTheMirrorDoesNotAnswer 36 "the mirror $mirror does not answer" env BERTH_DEBIAN_MIRROR=$mirror "$wrapper" version
expect SaysThatTheMirrorIsNotSigned 36 "is not signed by a key that this machine trusts" unsigned_mirror
expect SaysThatTheDiskIsFull 36 "is full" \
  program apt-get 'echo "E: Write error - write (28: No space left on device)" >&2; exit 100' -- \
  env BERTH_DEBIAN_MIRROR=$mirror "$wrapper" version
expect SaysThatAPackageIsMissing 36 "lacks something that is needed" \
  program apt-get 'case $* in *update*) ;; *) echo "E: Unable to locate package g++" >&2; exit 100 ;; esac' -- \
  env BERTH_DEBIAN_MIRROR=$mirror "$wrapper" version
expect ShowsTheLogOfAnUnknownFailure 36 "| E: something new" \
  program apt-get 'echo "E: something new" >&2; exit 100' -- env BERTH_DEBIAN_MIRROR=$mirror "$wrapper" version

# shellcheck disable=SC2016
good='case $1 in --version) echo "bazel 7.7.1" ;; build) echo "$PWD" ;; *) printf "<%s>" "$@"; exit 7 ;; esac'
expect HandsOverArgumentsAndExitCode 7 '<run><a  b><><*>' \
  program bazelisk "$good" -- env BERTH_TOOLCHAIN=auto "$wrapper" run 'a  b' '' '*'
expect PrefersTheBazelThatCalledIt 7 '<query>' \
  program caller "$good" -- env BERTH_TOOLCHAIN=host BAZEL_REAL=caller "$wrapper" query
expect PassesOverAnOldBazel 36 "no bazel >= 7 on PATH" \
  program bazel 'echo "bazel 4.2.3"' -- program bazelisk 'exit 1' -- env BERTH_TOOLCHAIN=host "$wrapper" version
# shellcheck disable=SC2016
expect PassesOverABazelWithoutRegistry 36 "cannot resolve this repository's modules" \
  program bazel '[ "$1" = --version ] && echo "bazel 8.0.0"' -- env BERTH_TOOLCHAIN=host "$wrapper" version

count=$(grep -o '<testcase' <<<"$cases" | wc -l)
echo "<testsuites><testsuite name=\"Wrapper\" tests=\"$count\" failures=\"$failed\">$cases</testsuite></testsuites>" \
  >"${XML_OUTPUT_FILE:-/dev/null}"
rm -rf "$tmp"
echo "$count cases, $failed failed"
[ $failed = 0 ]
