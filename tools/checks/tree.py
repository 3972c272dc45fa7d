#!/usr/bin/env python3
"""Checks the work tree: BUILD files, and what must not be in any file.

  tools/bazel run //tools/checks:tree

Every folder with C or C++ sources has a BUILD.bazel with private default visibility; every source is named in it;
deps are sorted; no file has a package registry's host name or a path of one machine; none is longer than 600 lines.
"""

import os
import re
import subprocess
import sys

SOURCES = (".c", ".cc", ".h")
MAX_LINES = 600
# In pieces, so that this file passes its own check.
FORBIDDEN = [
    ("a registry's host name", re.compile(r"\b(deb|ftp|security|snapshot)\." + r"debian\.org|registry\." + r"npmjs|bcr\."
                                          + r"bazel\.build|archive\." + r"ubuntu|cr" + r"ates\.io|proxy\." + r"golang\.org")),
    ("a path of one machine", re.compile(r"(?<![\w.$}/-])/(wo" + r"rk|farm|ho" + r"me/[a-z])[/\w]*|/ro" + r"ot/\.cache")),
]
PRIVATE = 'default_visibility = ["//visibility:private"]'


def tracked_files(root):
    out = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         check=True, stdout=subprocess.PIPE).stdout
    return sorted(name for name in out.decode().split("\0") if name and os.path.isfile(os.path.join(root, name)))


def sort_key(label):
    """Buildifier's order: labels of this package, then //..., then @..., each by its text with : before /."""
    rank = 2 if label.startswith("@") else 1 if label.startswith("//") else 0
    return rank, label.replace(":", "!")


def check_build_file(path, text, sources):
    """Yields problems of one BUILD file, given the names of the sources in its folder."""
    if PRIVATE not in text:
        yield f"{path}: lacks {PRIVATE}"
    globs = [re.compile(re.escape(g).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*"))
             for args in re.findall(r"glob\(\s*\[(.*?)\]", text, re.S) for g in re.findall(r'"([^"]+)"', args)]
    for source in sources:
        # Tests that are alike are listed by the names of their targets.
        named = f'"{source}"' in text or f'"{source.rsplit(".", 1)[0]}"' in text
        if not named and not any(g.fullmatch(source) for g in globs):
            yield f"{path}: does not name {source}"
    for block in re.findall(r"\bdeps = \[([^\]]*)\]", text):
        labels = re.findall(r'^\s*"([^"]+)",', block, re.M)
        if labels != sorted(labels, key=sort_key):
            yield f"{path}: deps are not sorted: {', '.join(labels)}"
        if len(labels) != len(set(labels)):
            yield f"{path}: a dep is named twice: {', '.join(labels)}"
        if "@googletest//:gtest_main" in labels and "@googletest//:gtest" not in labels:
            yield f"{path}: gtest_main without gtest, which layering_check (--config=clang) wants named"


def package_of(folder, packages):
    while folder not in packages and folder:
        folder = os.path.dirname(folder)
    return folder


def check(root):
    """Returns a list of problems of the tree at root."""
    files = tracked_files(root)
    packages = {os.path.dirname(f) for f in files if os.path.basename(f) == "BUILD.bazel"}
    sources = {package: [] for package in packages}
    problems = []
    for name in files:
        folder, base = os.path.split(name)
        if name.endswith(SOURCES):
            package = package_of(folder, packages)
            if not package:
                problems.append(f"{name}: neither its folder nor one above has a BUILD.bazel")
            else:
                sources[package].append(os.path.relpath(name, package))
        with open(os.path.join(root, name), "rb") as file:
            content = file.read()
        if b"\0" in content or base == "LICENSE":
            continue
        text = content.decode(errors="replace")
        lines = text.count("\n")
        if lines > MAX_LINES and not name.endswith((".json", ".jsonl")):
            problems.append(f"{name}: {lines} lines, more than {MAX_LINES}")
        for what, pattern in FORBIDDEN:
            for number, line in enumerate(text.splitlines(), 1):
                found = pattern.search(line)
                if found:
                    problems.append(f"{name}:{number}: {what}: {found.group(0)}")
    for package in sorted(packages):
        path = os.path.join(package, "BUILD.bazel")
        if package.startswith("tools/toolchain/overlay"):
            continue  # of other projects
        with open(os.path.join(root, path)) as file:
            problems.extend(check_build_file(path, file.read(), sources[package]))
    return problems


def main():
    problems = check(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in the tree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
