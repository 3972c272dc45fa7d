#!/bin/bash
# make_root.sh KIND OUT MIRROR WORK: unpacks Debian packages into OUT, a root file system with Bazel in it.
#
# apt resolves, fetches and checks signatures with a configuration of its own (WORK), and dpkg-deb unpacks: no
# maintainer script is run, so the same steps serve root and a plain user and nothing of the machine is touched.
# WORK keeps what was fetched, so a run that was killed goes on where it stopped.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
kind=$1 out=$2 mirror=$3 work=$4
say() { echo "tools/bazel: $*" >&2; }

packages=$(awk -v kind="$kind" '!/^#/ && NF && ($1 == "build" || $1 == kind) {print $2}' "$here/packages.txt")
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p "$work/lists/partial" "$work/archives/partial"
touch "$work/status"
for suite in trixie forky; do echo "deb [signed-by=$keyring] $mirror $suite main"; done >"$work/sources.list"
# forky's index may be past its date on a mirror that is a snapshot; its signature is checked all the same.
cat >"$work/apt.conf" <<END
Dir::State "$work";
Dir::State::status "$work/status";
Dir::State::lists "$work/lists";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "$here/pins.txt";
Dir::Etc::preferencesparts "/dev/null";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
END
export APT_CONFIG=$work/apt.conf

# progress TEXT: shows lines like `dlstatus:1:42.1:…` as percentages, on one line of a terminal or at each quarter.
progress() {
  local text=$1 percent last=-25
  while IFS=: read -r _ _ percent _; do
    percent=${percent%%.*}
    case $percent in '' | *[!0-9]*) continue ;; esac
    if [ -t 2 ]; then
      printf '\rtools/bazel: %s %3d%%\e[K' "$text" "$percent" >&2
    elif [ $((percent - last)) -ge 25 ]; then
      say "$text $percent%" && last=$percent
    fi
  done
  [ -t 2 ] && printf '\r\e[K' >&2
  say "$text done"
}

say "reading the package lists of the mirror"
apt-get -qq update
# shellcheck disable=SC2086
apt-get -qq -y --download-only -o APT::Status-Fd=3 install '?essential' $packages 3>&1 >&2 |
  progress "fetching packages"

# Which of the archives belong to this root: another kind's may lie beside them.
list=$work/list.$kind
# shellcheck disable=SC2086
apt-get -qq -y -s install '?essential' $packages |
  sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*\[\([^]]*\)\]).*/\1 \2 \3/p' |
  while read -r name version arch; do echo "$work/archives/${name%%:*}_${version//:/%3a}_$arch.deb"; done >"$list"

mkdir -p "$out"
unpack() {
  dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --no-same-owner --exclude='./usr/share/doc/*' \
    --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' --exclude='./usr/share/info/*'
  echo
}
export -f unpack
total=$(wc -l <"$list")
# base-files first: it has the links /bin -> usr/bin that the others are unpacked through.
unpack "$(grep /base-files_ "$list")" "$out" >/dev/null
# A failed unpacking ends xargs with an error, which pipefail carries here.
xargs -P "$(nproc)" -I{} bash -c 'set -eo pipefail; unpack "$1" "$2"' unpack {} "$out" <"$list" |
  awk -v total="$total" '{printf "x:x:%d:\n", ++n * 100 / total; fflush()}' | progress "unpacking $total packages"

# What the maintainer scripts would have done and Bazel or the tests need.
ln -sfn ../lib/jvm/default-java/bin/java "$out/usr/bin/java"
for tool in iptables ip6tables; do
  [ -e "$out/usr/sbin/xtables-nft-multi" ] && ln -sfn xtables-nft-multi "$out/usr/sbin/$tool"
done
[ -e "$out/usr/bin/awk" ] || ln -s mawk "$out/usr/bin/awk"
# Debian's own Bazel settings: without the flags that Bazel 7 no longer knows or that fill the disk.
sed -i -e /host_javabase/d -e /sandbox_debug/d "$out/etc/bazel/bazelrc"
# A setting that Abseil asks rules_cc 0.0.17 and newer about.
cat >>"$out/usr/share/bazel/rules/cc/cc/compiler/BUILD" <<'END'

config_setting(
    name = "emscripten",
    flag_values = {"@bazel_tools//tools/cpp:compiler": "emscripten"},
)
END
