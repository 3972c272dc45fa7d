#!/bin/sh
# enter.sh ROOT COMMAND...: runs COMMAND with ROOT's /usr and /etc and everything else of this machine.
# Started in a mount namespace of its own. pivot_root and not chroot, since the kernel refuses user namespaces to a
# chrooted process and the tests make some.
set -e
root=$1
shift
trap 'echo "tools/bazel: could not enter $root." "If it is damaged, remove it and run this again." >&2; exit 36' EXIT
here=$PWD path=$PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin # a plain user's lacks pivot_root
new=$(readlink -f "$root/..")/enter
mkdir -p "$new"
mount -t tmpfs -o mode=755,size=1m berth-root "$new"
for entry in /* /.[!.]*; do
  name=${entry#/}
  case $name in usr | etc | bin | sbin | lib | lib32 | lib64 | libx32) continue ;; esac
  if [ -L "$entry" ]; then
    cp -P "$entry" "$new/$name"
  elif [ -d "$entry" ]; then
    mkdir "$new/$name"
    mount --rbind "$entry" "$new/$name"
  fi
done
umount -l "$new$new" # the copy of all this that came along with the directory it is made in
for name in usr etc; do
  mkdir "$new/$name"
  mount --bind "$root/$name" "$new/$name"
done
for name in bin sbin lib lib64; do ln -s "usr/$name" "$new/$name"; done
mkdir "$new/.host"
cd "$new"
pivot_root . .host
umount -l /.host
rmdir /.host
cd "$here"
trap - EXIT
PATH=$path
# A plain user had capabilities in its user namespace for the mounts above; the command gets none.
[ "$(id -u)" = 0 ] || exec /usr/bin/setpriv --inh-caps=-all --ambient-caps=-all -- "$@"
exec "$@"
