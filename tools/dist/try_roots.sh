#!/bin/sh
# try_roots.sh ARCHIVE [ROOT...]: shows that the binaries of a release run in other root file systems: in an empty one
# with nothing but the binary and /proc, and in each ROOT. By hand, as root; changes nothing but a temporary folder.
set -eu
archive=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar xzf "$archive" -C "$folder" --strip-components=1
(cd "$folder" && sha256sum --quiet -c SHA256SUMS) && echo "checksums: ok"
mkdir -p "$folder/empty/proc" "$folder/empty/dev" "$folder/empty/tmp"

# try NAME ROOT: in a mount namespace of its own, all that is mounted goes with it.
try() {
  unshare --mount --pid --fork sh -euc '
    name=$1 root=$2 folder=$3
    mkdir -p "$folder/at"
    mount -t tmpfs none "$folder/at"
    mkdir "$folder/at/upper" "$folder/at/work" "$folder/at/root"
    mount -t overlay -o "lowerdir=$root,upperdir=$folder/at/upper,workdir=$folder/at/work" none "$folder/at/root"
    cd "$folder/at/root"
    mkdir -p proc dev tmp
    mount -t proc none proc
    : >dev/null
    mount --bind /dev/null dev/null
    cp "$folder/bin/berth" "$folder/bin/berth-reaper" tmp/
    run() { BERTH_STATE_DIR=/tmp/state chroot . /tmp/"$@"; }
    run berth version
    run berth run -- /tmp/berth version >/dev/null
    run berth start job --pipes -- /tmp/berth version >/dev/null
    run berth wait job
    run berth rm job
    run berth-reaper sweep >/dev/null
    echo "$name: ok"
  ' sh "$1" "$2" "$folder"
}

try "an empty root" "$folder/empty"
for root; do try "$root" "$root"; done
