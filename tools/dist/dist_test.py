#!/usr/bin/env python3
"""The packer: the same bytes for the same files, and nothing in the archive that is not in its checksums."""

import hashlib
import io
import json
import os
import sys
import tarfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
import pack  # noqa: E402
import sbom  # noqa: E402

MODULE = '''module(
    name = "berth",
    version = "1.2.3",
)
bazel_dep(name = "zlib", version = "7.0")
bazel_dep(name = "abseil-cpp", version = "20260526.0")
bazel_dep(name = "googletest", version = "1.18.0", dev_dependency = True)
'''
SOURCES = f"# comment\nabseil-cpp a/abseil_1.orig.tar.gz {'a' * 64}\n@libcgroup l/libcgroup_3.1.0.orig.tar.gz {'b' * 64}\n"
LINKED = [("libssl", "3.5.1")]


def release(names):
    made = pack.Release("berth-1", 1000000000)
    for name in names:
        made.add(name, f"content of {name}", executable=name.startswith("bin/"))
    made.add_link("lib/libberth.so", "libberth.so.0")
    return made


class Packing(unittest.TestCase):
    NAMES = ["bin/berth", "lib/libberth.so.0", "share/man/man1/berth.1"]

    def test_the_same_files_give_the_same_bytes_in_whatever_order_they_come(self):
        self.assertEqual(release(self.NAMES).tar_gz(), release(reversed(self.NAMES)).tar_gz())

    def test_another_byte_gives_another_archive(self):
        other = release(self.NAMES)
        other.files["bin/berth"] = (b"Content of bin/berth", True)
        self.assertNotEqual(other.tar_gz(), release(self.NAMES).tar_gz())

    def test_entries_have_owners_modes_and_times_of_ours(self):
        with tarfile.open(fileobj=io.BytesIO(release(self.NAMES).tar_gz())) as archive:
            entries = archive.getmembers()
            self.assertEqual([entry.name for entry in entries], sorted(entry.name for entry in entries))
            for entry in entries:
                self.assertEqual((entry.uid, entry.gid, entry.mtime), (0, 0, 1000000000), entry.name)
            self.assertEqual(archive.getmember("berth-1/bin/berth").mode, 0o755)
            self.assertEqual(archive.getmember("berth-1/share/man/man1/berth.1").mode, 0o644)
            self.assertEqual(archive.getmember("berth-1/lib/libberth.so").linkname, "libberth.so.0")

    def test_checksums_are_of_every_file(self):
        made = release(self.NAMES)
        with tarfile.open(fileobj=io.BytesIO(made.tar_gz())) as archive:
            sums = archive.extractfile("berth-1/SHA256SUMS").read().decode()
            listed = dict(reversed(line.split("  ")) for line in sums.splitlines())
            self.assertEqual(sorted(listed), sorted(self.NAMES))
            for name, digest in listed.items():
                content = archive.extractfile(f"berth-1/{name}").read()
                self.assertEqual(hashlib.sha256(content).hexdigest(), digest)

    def test_a_path_that_is_there_twice_is_an_error(self):
        with self.assertRaises(ValueError):
            release(self.NAMES).add("bin/berth", "again")


class Sbom(unittest.TestCase):
    def test_names_what_is_linked_in_and_nothing_else(self):
        document = json.loads(sbom.make(MODULE, SOURCES, LINKED, 0))
        packages = {package["name"]: package for package in document["packages"]}
        self.assertEqual(sorted(packages), ["abseil-cpp", "berth", "libcgroup", "libssl", "zlib"])
        self.assertEqual(packages["berth"]["versionInfo"], "1.2.3")
        self.assertEqual(packages["abseil-cpp"]["checksums"][0]["checksumValue"], "a" * 64)
        self.assertEqual(packages["libcgroup"]["versionInfo"], "3.1.0")
        self.assertEqual(packages["libssl"]["versionInfo"], "3.5.1")

    def test_says_what_depends_on_what(self):
        document = json.loads(sbom.make(MODULE, SOURCES, LINKED, 0))
        known = {package["SPDXID"] for package in document["packages"]} | {"SPDXRef-DOCUMENT"}
        self.assertEqual(len(known), len(document["packages"]) + 1)
        for relationship in document["relationships"]:
            self.assertIn(relationship["spdxElementId"], known)
            self.assertIn(relationship["relatedSpdxElement"], known)
        self.assertEqual(document["creationInfo"]["created"], "1970-01-01T00:00:00Z")

    def test_is_the_same_text_each_time(self):
        self.assertEqual(sbom.make(MODULE, SOURCES, LINKED, 0), sbom.make(MODULE, SOURCES, LINKED, 0))


if __name__ == "__main__":
    unittest.main()
