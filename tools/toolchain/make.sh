#!/bin/bash
# make.sh KIND ROOT DEPS HEADERS ENTER...: makes what is missing of the root file system ROOT, the modules DEPS and the
# precompiled HEADERS of these in that, and says what to do where that fails. ENTER is the command that makes the
# namespace for enter.sh. Run by tools/bazel, which holds the lock. Each part is built beside its place and renamed into
# it, so a kill at any moment leaves nothing half done that is taken for whole; what was fetched is kept for the next run.
set -euo pipefail
parts=$(dirname "$(readlink -f "$0")")
kind=$1 root=$2 deps=$3 headers=$4
shift 4
cache=${root%/*}
log=$cache/log
export LC_ALL=C # explain reads messages

exec 3>&2 # what a person should see; everything else goes to the log
say() { echo "tools/bazel: $*" >&3; }
die() {
  say "$1"
  shift
  for line in "$@"; do say "  $line"; done
  exit 36
}

if [ -e "$headers" ] && [ -e "$deps" ]; then exit 0; fi # another one made them while we waited for the lock
: >"$log"

type -P apt-get dpkg-deb >/dev/null || die "no bazel >= 7 that works here, and no apt-get to make one from Debian's packages." \
  "Install bazelisk (any distribution), or run this on Debian 12 or newer."
[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] ||
  die "Debian's archive keys are missing, so packages could not be verified." "Install the package debian-archive-keyring."

# The mirror that apt would ask, also where `apt-get update` was never run.
mirror=${BERTH_DEBIAN_MIRROR:-$(apt-get update --print-uris 2>>"$log" | sed -n "s#^'\(.*/debian\)/dists/.*#\1#p" | head -n 1)}
[ -n "$mirror" ] || die "apt's configuration names no Debian mirror." \
  "On Debian: check /etc/apt/sources.list*. Elsewhere: install bazelisk, or set BERTH_DEBIAN_MIRROR=URL."
mirror=${mirror%/}

need=2000
[ "$kind" = test ] && need=5000
free=$(($(stat -f -c '%a*%S' "$cache") / 1000000))
[ "$free" -ge $need ] || die "$cache has $free MB free; making the $kind toolchain needs $need MB." \
  "Make room there, or set XDG_CACHE_HOME to a larger disk."

# explain WHAT: ends with the reason for a failure and a remedy, as far as the log tells.
explain() {
  say "$1 failed; the end of $log:"
  tail -n 6 "$log" | sed 's/^/  | /' >&3
  case $(cat "$log") in
    *"No space left"* | *"enough free space"*)
      die "$cache is full." "Make room there, or set XDG_CACHE_HOME to a larger disk." ;;
    *NO_PUBKEY* | *EXPKEYSIG* | *BADSIG* | *"is not signed"* | *"no longer signed"* | *"verification failed"*)
      die "the mirror $mirror is not signed by a key that this machine trusts." \
        "Update the package debian-archive-keyring, or set BERTH_DEBIAN_MIRROR to another mirror." ;;
    *"Unable to locate package"* | *"no installation candidate"* | *"does not have a Release file"* | *" 404 "*)
      die "the mirror $mirror lacks something that is needed (of Debian trixie and forky)." \
        "Set BERTH_DEBIAN_MIRROR to a full and current mirror." ;;
    *"Failed to fetch"* | *"Unable to fetch"* | *"Could not "* | *"Unable to connect"*)
      die "the mirror $mirror does not answer." \
        "Check the network, or set BERTH_DEBIAN_MIRROR to one that does; then run this again: it goes on where it stopped." ;;
    *) die "the whole log is $log." "Run this again: it goes on where it stopped." ;;
  esac
}

if ! [ -e "$root" ]; then
  say "making the $kind toolchain in $root (once; a minute or two)"
  "$parts/make_root.sh" "$kind" "$root" "$mirror" "$cache/apt" >>"$log" 2>&1 || explain "making the toolchain"
  rm -rf "$cache/apt/archives"
fi
if ! [ -e "$deps" ]; then
  say "fetching the sources of the libraries"
  "$parts/fetch_sources.sh" "$mirror" "$cache/downloads" >>"$log" 2>&1 || explain "fetching the sources"
  # Inside, since the machine need not have xz.
  "$@" "$parts/enter.sh" "$root" "$parts/make_deps.sh" "$deps" "$cache/downloads" >>"$log" 2>&1 ||
    explain "unpacking the sources"
fi
if ! [ -e "$headers" ]; then
  say "compiling the headers of the libraries"
  "$@" "$parts/enter.sh" "$root" "$parts/make_headers.sh" "$deps" "$headers" >>"$log" 2>&1 || explain "compiling the headers"
fi

# Of earlier recipes the last one stays, for a branch that is not merged yet, and any that a Bazel server lives in.
for family in root deps; do
  find "$cache" -mindepth 1 -maxdepth 1 -name "$family-*" ! -name '*.tmp' ! -path "$root" ! -path "$deps" -printf '%T@ %p\n' |
    sort -rn | tail -n +2 | cut -d' ' -f2- | while IFS= read -r old; do
    grep -qsF "$old/" /proc/[0-9]*/mountinfo || { say "removing ${old##*/}, of an earlier recipe" && rm -rf "$old"; }
  done
done
