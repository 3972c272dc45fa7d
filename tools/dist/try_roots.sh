#!/bin/sh
# try_roots.sh ARCHIVE [ROOT...]: shows that the binaries of a release run in other root file systems: in an empty one
# with nothing but the binary and /proc, and in each ROOT; and that the shared library loads in each that has a dynamic
# loader. By hand, as root; changes nothing but a temporary folder.
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
    has() { [ -e "$1" ] || [ -L "$1" ]; } # a link may be meant for the root
    run() { BERTH_STATE_DIR=/tmp/state chroot . /tmp/"$@"; }
    run berth version
    run berth run -- /tmp/berth version >/dev/null
    run berth start job --pipes -- /tmp/berth version >/dev/null
    run berth wait job
    run berth rm job
    run berth-reaper sweep >/dev/null
    if has bin/sh; then
      code=0
      run berth run -- /bin/sh -c "exit 3" || code=$?
      [ "$code" = 3 ] || { echo "$name: berth run ended with $code, not 3" >&2 && exit 1; }
    fi
    loader=
    for file in lib64/ld-linux-*.so.* lib/ld-linux-*.so.*; do
      if has "$file"; then loader=$file; fi
    done
    if [ -n "$loader" ] && has bin/sh && has bin/true; then
      cp "$folder/lib/libberth.so.0" tmp/
      # If it cannot even be opened, that is only complained about.
      said=$(chroot . /bin/sh -c "LD_BIND_NOW=1 LD_PRELOAD=/tmp/libberth.so.0 /bin/true" 2>&1) && [ -z "$said" ] ||
        { echo "$name: libberth.so.0: $said" >&2 && exit 1; }
      echo "$name: libberth.so.0 loads"
    fi
    echo "$name: ok"
  ' sh "$1" "$2" "$folder"
}

try "an empty root" "$folder/empty"
for root; do try "$root" "$root"; done
