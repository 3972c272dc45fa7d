#!/bin/bash
# make_deps.sh OUT MIRROR DOWNLOADS: unpacks the sources of sources.txt as Bazel modules under OUT/src and writes
# OUT/bazelrc, which points every module there. Needs no root.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
out=$1 mirror=$2 downloads=$3
final=${out%.tmp}
mkdir -p "$out/src" "$downloads"

while read -r module path sha; do
  case $module in '' | \#*) continue ;; esac
  file=$downloads/$sha
  if ! [ -e "$file" ]; then
    /usr/lib/apt/apt-helper -qq -o APT::Sandbox::User="$(id -un)" download-file \
      "${mirror%/}/pool/main/${path//+/%2b}" "$file.part" "SHA256:$sha"
    mv "$file.part" "$file"
  fi
  mkdir "$out/src/${module#@}"
  tar -xf "$file" -C "$out/src/${module#@}" --strip-components=1 --no-same-owner
done <"$here/sources.txt"
cp -R "$here/overlay/." "$out/src/"

# Asked for by the modules above or by Bazel itself, and used by nothing that is built here.
stubs="apple_support buildozer libpfm protobuf pybind11_bazel rules_foreign_cc zlib"
for module in $stubs; do
  mkdir "$out/src/$module"
  echo "module(name = \"$module\")" >"$out/src/$module/MODULE.bazel"
done

{
  echo "common --registry=file:///nonexistent --lockfile_mode=off --noenable_workspace"
  echo "common --repo_env=BERTH_LIBCGROUP_SOURCE=$final/src/libcgroup"
  echo "build --disk_cache=${final%/*}/disk --experimental_disk_cache_gc_max_size=8G"
  for dir in "$out"/src/*; do
    [ -e "$dir/MODULE.bazel" ] && echo "common --override_module=${dir##*/}=$final/src/${dir##*/}"
  done
} >"$out/bazelrc"
