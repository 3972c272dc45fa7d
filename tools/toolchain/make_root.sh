#!/bin/bash
# make_root.sh KIND OUT MIRROR WORK: unpacks Debian packages into OUT, a root file system with Bazel in it.
#
# apt resolves, fetches and checks signatures with a configuration of its own (WORK), and dpkg-deb unpacks: no
# maintainer script is run, so the same steps serve root and a plain user and nothing of the machine is touched.
# WORK keeps what was fetched, so a run that was killed goes on where it stopped. Progress goes to descriptor 3.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
kind=$1 out=$2 mirror=$3 work=$4
say() { echo "tools/bazel: $*" >&3; }

mapfile -t packages < <(awk -v kind="$kind" '!/^#/ && NF && ($1 == "build" || $1 == kind) {print $2}' "$here/packages.txt")
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p "$work/lists/partial" "$work/archives/partial"
: >"$work/status"
for suite in trixie forky; do echo "deb [signed-by=$keyring] $mirror $suite main"; done >"$work/sources.list"
# Read after the machine's own settings (proxies stay). forky's index may be past its date on a mirror that is a
# snapshot; its signature is checked all the same.
cat >"$work/apt.conf" <<END
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Install-Pkgs;
#clear DPkg::Post-Invoke;
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
APT::Update::Error-Mode "any";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Etc::preferences "$here/pins.txt";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
END
apt() { apt-get -qq -y -c "$work/apt.conf" "$@"; }

# progress TEXT: shows lines like `dlstatus:1:42.1:…` as percentages, on one line of a terminal or at each quarter.
progress() {
  local text=$1 percent last=-25
  while IFS=: read -r _ _ percent _; do
    percent=${percent%%.*}
    case $percent in '' | *[!0-9]*) continue ;; esac
    if [ -t 3 ]; then
      printf '\rtools/bazel: %s %3d%%\e[K' "$text" "$percent" >&3
    elif [ $((percent - last)) -ge 25 ]; then
      say "$text $percent%"
      last=$percent
    fi
  done
  if [ -t 3 ]; then printf '\r\e[K' >&3; fi
}

say "reading the package lists of the mirror"
apt update
apt --download-only -o APT::Status-Fd=5 install '?essential' "${packages[@]}" 5>&1 >&2 | progress "fetching packages"

# Which of the archives belong to this root: another kind's may lie beside them.
list=$work/list.$kind
apt -s install '?essential' "${packages[@]}" |
  sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*\[\([^]]*\)\]).*/\1 \2 \3/p' |
  while read -r name version arch; do echo "$work/archives/${name%%:*}_${version//:/%3a}_$arch.deb"; done >"$list"

rm -rf "$out.tmp"
mkdir "$out.tmp"
# unpack ARCHIVE DIR: one that cannot be read is removed, so that the next run fetches it again. 255 ends xargs.
unpack() {
  dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --no-same-owner --exclude='./usr/share/doc/*' \
    --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' --exclude='./usr/share/info/*' ||
    { rm -f "$1" && exit 255; }
  echo
}
export -f unpack
total=$(wc -l <"$list")
# base-files first: it has the links /bin -> usr/bin that the others are unpacked through.
unpack "$(grep /base-files_ "$list")" "$out.tmp" >/dev/null
# shellcheck disable=SC2016
xargs -d '\n' -P "$(nproc)" -I{} bash -c 'set -eo pipefail; unpack "$1" "$2"' unpack {} "$out.tmp" <"$list" |
  awk -v total="$total" '{printf "x:x:%d:\n", ++n * 100 / total; fflush()}' | progress "unpacking $total packages"

# What the maintainer scripts would have done and Bazel or the tests need.
cd "$out.tmp/usr"
ln -sfn ../lib/jvm/default-java/bin/java bin/java
ln -sfn gcc bin/cc
ln -sfn g++ bin/c++
[ -e bin/awk ] || ln -s mawk bin/awk
if [ -e sbin/xtables-nft-multi ]; then
  for tool in iptables ip6tables; do ln -sfn xtables-nft-multi sbin/$tool; done
fi
# Only /usr and /etc of the root are entered.
for kernel in ../boot/vmlinuz-*; do [ ! -e "$kernel" ] || mv "$kernel" lib/vmlinuz; done
: >../etc/fstab # a plain user's umount reads it in enter.sh
# Debian's own Bazel settings: without the flags that Bazel 7 no longer knows or that fill the disk.
sed -i -e /host_javabase/d -e /sandbox_debug/d ../etc/bazel/bazelrc
# A setting that Abseil asks rules_cc 0.0.17 and newer about.
cat >>share/bazel/rules/cc/cc/compiler/BUILD <<'END'

config_setting(
    name = "emscripten",
    flag_values = {"@bazel_tools//tools/cpp:compiler": "emscripten"},
)
END
mv "$out.tmp" "$out"
