#!/usr/bin/env python3
"""Makes the release archive.

  tools/bazel run //:dist -- --out=DIR

DIR gets berth-VERSION-linux-ARCH.tar.gz and its .sha256. The same sources in the same toolchain give the same bytes;
SOURCE_DATE_EPOCH is the time in the archive, else it is the beginning of 1980.
"""

import argparse
import glob
import hashlib
import os
import platform
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
import pack  # noqa: E402
import sbom  # noqa: E402

EPOCH = 315532800

PKG_CONFIG = """prefix=${{pcfiledir}}/../..
libdir=${{prefix}}/lib
includedir=${{prefix}}/include

Name: berth
Description: A named, isolated, durable place to run for every program
Version: {version}
Libs: -L${{libdir}} -lberth
Libs.private: -lstdc++ -lm -pthread
Cflags: -I${{includedir}}
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def said(program, *args):
    return subprocess.run([program, *args], check=True, stdout=subprocess.PIPE).stdout


def linked():
    """[(name, version)] of the archives of the system that the binaries have in them."""
    ask = [[name, "pkg-config", "--modversion", name] for name in ("libseccomp", "vterm", "libssl", "zlib", "libzstd")]
    ask += [["libstdc++", "gcc", "-dumpfullversion"], ["glibc", "getconf", "GNU_LIBC_VERSION"]]
    return [(name, said(*command).decode().split()[-1]) for name, *command in ask]


def commands(berth):
    """Those that have a manual page, as `berth man` itself lists them."""
    pages = re.findall(r"^\.It Ic \"([^\"]+)\"", said(berth, "man").decode(), re.M)
    return [page.split() for page in pages]


def add_folder(release, source, target, keep=lambda path: True):
    for path in sorted(glob.glob(f"{source}/**", recursive=True)):
        name = os.path.relpath(path, source)
        if os.path.isfile(path) and keep(name):
            release.add(f"{target}/{name}", read(path))


def make(root, when):
    module = read(f"{root}/MODULE.bazel").decode()
    version = sbom.module_version(module)
    name = f"berth-{version}-linux-{platform.machine()}"
    release = pack.Release(name, when)
    berth = f"{root}/tools/berth/berth"
    release.add("bin/berth", read(berth), executable=True)
    reaper = f"{root}/reaper/cli/berth-reaper"
    release.add("bin/berth-reaper", read(reaper), executable=True)
    release.add("lib/libberth.a", read(f"{root}/capi/libberth.a"))
    release.add("lib/libberth.so.0", read(f"{root}/capi/libberth.so.0"), executable=True)
    release.add_link("lib/libberth.so", "libberth.so.0")
    release.add("lib/pkgconfig/berth.pc", PKG_CONFIG.format(version=version))
    release.add("include/berth.h", read(f"{root}/capi/berth.h"))
    add_folder(release, f"{root}/capi/berth", "include/berth")
    release.add("share/man/man1/berth.1", said(berth, "man"))
    release.add("share/man/man1/berth-reaper.1", said(reaper, "man"))
    for words in commands(berth):
        release.add(f"share/man/man1/berth-{'-'.join(words)}.1", said(berth, "man", *words))
    for shell, path in (("bash", "bash-completion/completions/berth"), ("zsh", "zsh/site-functions/_berth"),
                        ("fish", "fish/vendor_completions.d/berth.fish")):
        release.add(f"share/{path}", said(berth, "completion", shell))
    add_folder(release, f"{root}/reaper/dist", "share/berth/reaper", lambda path: not path.endswith("BUILD.bazel"))
    add_folder(release, f"{root}/capi/rust", "share/berth/rust", lambda path: not path.endswith("BUILD.bazel"))
    add_folder(release, f"{root}/capi/go", "share/berth/go", lambda path: not path.endswith("BUILD.bazel"))
    release.add("LICENSE", read(f"{root}/LICENSE"))
    release.add("README.md", read(f"{root}/README.md"))
    release.add("sbom.spdx.json", sbom.make(module, read(f"{root}/tools/toolchain/sources.txt").decode(),
                                            linked(), when))
    return name, release


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder for the archive; made if it is missing")
    options = parser.parse_args()
    out = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", "."), options.out)
    name, release = make(os.getcwd(), int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH)))
    os.makedirs(out, exist_ok=True)
    archive = release.tar_gz()
    path = os.path.join(out, f"{name}.tar.gz")
    with open(path, "wb") as file:
        file.write(archive)
    with open(f"{path}.sha256", "w", encoding="ascii") as file:
        file.write(f"{hashlib.sha256(archive).hexdigest()}  {name}.tar.gz\n")
    print(f"{path}: {len(archive) >> 20} MiB, {len(release.files)} files")


if __name__ == "__main__":
    main()
