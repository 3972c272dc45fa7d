#!/bin/bash
# make_deps.sh OUT DOWNLOADS: unpacks the sources of sources.txt as Bazel modules under OUT/src and writes
# OUT/bazelrc, which points every module there. Run inside the root.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
out=$1 downloads=$2
rm -rf "$out.tmp"
mkdir -p "$out.tmp/src"
cd "$out.tmp/src"

while read -r module _ sha; do
  case $module in '' | \#*) continue ;; esac
  mkdir "${module#@}"
  tar -xf "$downloads/$sha" -C "${module#@}" --strip-components=1 --no-same-owner
done <"$here/sources.txt"
cp -R "$here/overlay/." .
cp "$here/compiler.sh" "$here/headers.h" ..

# Asked for by the modules above or by Bazel itself, and used by nothing that is built here.
for module in apple_support buildozer libpfm protobuf pybind11_bazel rules_foreign_cc zlib; do
  mkdir $module
  echo "module(name = \"$module\")" >$module/MODULE.bazel
done

{
  echo "common --registry=file:///nonexistent --lockfile_mode=off --noenable_workspace"
  # The root's compiler, whatever the caller's environment says.
  echo "common '--repo_env=CC=$out/compiler.sh' --repo_env=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  echo "common '--repo_env=BERTH_LIBCGROUP_SOURCE=$out/src/libcgroup'"
  echo "test --test_tmpdir=/tmp/berth-test-$(id -u)" # of this user alone; short, for names of unix sockets
  echo "build '--disk_cache=${out%/*}/disk' --experimental_disk_cache_gc_max_size=8G"
  for file in */MODULE.bazel; do
    module=${file%/*}
    echo "common '--override_module=$module=$out/src/$module'"
  done
} >../bazelrc
mv "$out.tmp" "$out"
