#!/bin/bash
# fetch_sources.sh MIRROR DOWNLOADS: fetches the files of sources.txt that DOWNLOADS lacks, each named by its hash.
set -euo pipefail
mirror=$1 downloads=$2
mkdir -p "$downloads"
while read -r module path sha; do
  case $module in '' | \#*) continue ;; esac
  [ -e "$downloads/$sha" ] && continue
  /usr/lib/apt/apt-helper -qq -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=3 download-file \
    "$mirror/pool/main/${path//+/%2b}" "$downloads/$sha.part" "SHA256:$sha"
  mv "$downloads/$sha.part" "$downloads/$sha"
done <"$(dirname "$(readlink -f "$0")")/sources.txt"
