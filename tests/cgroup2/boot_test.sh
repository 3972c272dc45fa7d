#!/bin/bash
# Boots a kernel that has all controllers in one cgroup v2 tree, and runs static tests there as its init's child.
#   boot_test.sh TEST…      the kernel is $BERTH_TEST_KERNEL, or the newest of /boot
set -euo pipefail
kernel=${BERTH_TEST_KERNEL:-$(ls -1v /boot/vmlinuz-* 2>/dev/null | tail -n 1)}
[ -n "$kernel" ] || { echo "no kernel: set BERTH_TEST_KERNEL, or add linux-image-cloud-amd64 to tools/toolchain/packages.txt"; exit 1; }
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/cgroup2.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/tree/{bin,proc,sys,dev,tmp}
cp "$(command -v busybox)" "$work/tree/bin/busybox"
names=
for test in "$@"; do
  cp -L "$test" "$work/tree/bin/"
  names+=" $(basename "$test")"
done
# The page cache of this machine's root file system is memory itself: what fills it cannot be reclaimed.
cat >"$work/tree/init" <<END
#!/bin/busybox sh
busybox=/bin/busybox
\$busybox mount -t proc proc /proc
\$busybox mount -t sysfs sys /sys
\$busybox mount -t devtmpfs dev /dev
\$busybox mkdir -p /dev/shm
\$busybox mount -t tmpfs shm /dev/shm
\$busybox mount -t cgroup2 cgroup2 /sys/fs/cgroup
code=0
for test in$names; do
  /bin/\$test --gtest_color=no --gtest_filter=-*PageCache* 2>&1 || code=1
done
for left in /sys/fs/cgroup/berth*; do
  [ -e "\$left" ] && echo "left behind: \$left" && code=1
done
echo "all tests ended with \$code"
\$busybox poweroff -f
END
chmod +x "$work/tree/init"
(cd "$work/tree" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd.gz"
qemu-system-x86_64 -accel tcg -cpu max -smp 2 -m 512 -nodefaults -no-reboot -display none -serial stdio \
  -kernel "$kernel" -initrd "$work/initrd.gz" -append "console=ttyS0 quiet panic=-1 cgroup_no_v1=all" \
  </dev/null | tee "$work/output"
grep -q "^all tests ended with 0" "$work/output"
