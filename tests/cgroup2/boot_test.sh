#!/bin/bash
# Boots a kernel that has all controllers in one cgroup v2 tree, and runs tests there, as its init's children and as root.
#   boot_test.sh BERTH TEST…      the kernel is $BERTH_TEST_KERNEL, or the one of the toolchain's root
# A machine of its own also lets a test change what is the kernel's alone: see core_pattern_test.cc.
set -euo pipefail
kernel=${BERTH_TEST_KERNEL:-/usr/lib/vmlinuz}
[ -r "$kernel" ] || { echo "no kernel at $kernel: set BERTH_TEST_KERNEL, or add linux-image-cloud-amd64 to tools/toolchain/packages.txt"; exit 1; }
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/cgroup2.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/tree/system
mkdir -p "$work"/tree/bin "$root"/{usr/bin,usr/sbin,usr/lib,usr/lib64,etc,proc,sys,dev,tmp,run,var/tmp,opt}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
cp "$(command -v busybox)" "$work/tree/bin/busybox"
cp "$(command -v busybox)" "$root/usr/bin/busybox"
for applet in $(busybox --list); do [ -e "$root/usr/bin/$applet" ] || ln -s busybox "$root/usr/bin/$applet"; done
ln -sf busybox "$root/usr/bin/bash"
ln -s ../bin/chroot "$root/usr/sbin/chroot"
echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
names=
berth=$1
for test in "$@"; do
  name=$(basename "$test")
  strip -g -o "$root/usr/bin/$name" "$(readlink -f "$test")"
  # Its libraries, if it is not static, and what loads them.
  for library in $(ldd "$test" 2>/dev/null | grep -o '/[^ ]*'); do
    mkdir -p "$root$(dirname "$library")"
    cp -nL "$library" "$root$library"
  done
  [ "$test" = "$berth" ] || names+=" $name"
done
cat >"$work/tree/init" <<'END'
#!/bin/busybox sh
busybox=/bin/busybox
# A root that can be left: the first one cannot, and no new root can be made from it.
$busybox mkdir /new
$busybox mount -t tmpfs -o size=75% new /new
$busybox cp -a /system/. /new/
exec $busybox switch_root /new /usr/bin/busybox sh /start
END
cat >"$root/start" <<END
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts /dev/mqueue
mount -t tmpfs shm /dev/shm
mount -t devpts pts /dev/pts
mount -t mqueue mqueue /dev/mqueue
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# As a service manager does: groups below this one have limits.
echo '+memory +pids +cpu' >/sys/fs/cgroup/cgroup.subtree_control
ip link set lo up
export TEST_TMPDIR=/tmp BERTH_TEST_USER=root PATH=/usr/bin:/usr/sbin
code=0
# The page cache of this machine's root file system is memory itself: what fills it cannot be reclaimed.
for test in$names; do
  echo "--- \$test"
  /usr/bin/\$test --gtest_brief=1 --gtest_color=no --gtest_filter=-*PageCache* 2>&1 || code=1
done
echo "--- limits of the agent preset"
mkdir /root /place
cd /place
export HOME=/root BERTH_STATE_DIR=/run/berth
berth run --preset agent -- true 2>&1 || code=1
echo "--- carve-outs of the agent preset"
ln -s rules AGENTS.md
berth run --preset agent -- sh -c 'echo bad >.bashrc; rm AGENTS.md; ln -sf x AGENTS.md; mkdir .git; echo bad >rules; echo ran' 2>&1
[ "\$(ls -A)" = AGENTS.md ] && [ "\$(readlink AGENTS.md)" = rules ] || { ls -lA; code=1; }
for left in /sys/fs/cgroup/berth*; do
  [ -e "\$left" ] && echo "left behind: \$left" && code=1
done
echo "all tests ended with \$code"
poweroff -f
END
chmod +x "$work/tree/init"
(cd "$work/tree" && find . | busybox cpio -o -H newc 2>/dev/null) >"$work/initrd"
qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 -nodefaults -no-reboot -display none -serial stdio \
  -kernel "$kernel" -initrd "$work/initrd" -append "console=ttyS0 quiet panic=-1 cgroup_no_v1=all" \
  </dev/null | tee "$work/output"
grep -q "^all tests ended with 0" "$work/output"
