#!/bin/bash
# What tests may count on inside the toolchain: the user's own identity, namespaces, terminals, the machine's /tmp.
set -euo pipefail
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR
[ "$(id -u)" = "$(stat -c %u "$TEST_TMPDIR")" ]
# User namespaces, nested ones too, and file systems mounted in them.
[ "$(unshare --user --map-root-user unshare --user --map-root-user --mount --pid --fork --mount-proc sh -c 'echo $$')" = 1 ]
unshare --user --map-root-user --net --ipc --uts --cgroup true
python3 - <<'END'
import os, pty, socket
master, slave = pty.openpty()
os.write(slave, b"ahoy")
assert os.read(master, 4) == b"ahoy" and os.ttyname(slave).startswith("/dev/pts/")
path = os.environ["TEST_TMPDIR"] + "/socket"
socket.socket(socket.AF_UNIX).bind(path)  # too long a name would raise
os.unlink(path)
END
[ -r /proc/self/cgroup ] && [ -d /sys/fs/cgroup ]
if [ "$(id -u)" = 0 ]; then unshare --mount sh -c 'mount -t tmpfs none /mnt'; fi
