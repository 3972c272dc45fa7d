#!/usr/bin/env python3
"""What the pages say is so."""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = os.getcwd()
sys.path.insert(0, f"{ROOT}/tests/docs")
sys.dont_write_bytecode = True
import features  # noqa: E402

BERTH = os.path.realpath(os.environ.get("BERTH", "tools/berth/berth"))
# Pages whose blocks all are checked, and of these the ones whose commands are run from top to bottom.
CHECKED = ["README.md", "docs/architecture.md", "docs/cli.md", "docs/comparison.md", "docs/faq.md", "docs/sessions.md"]
LANGUAGES = {"cpp", "go", "json", "rust", "sh", "text"}

# Programs that pages name and that are not everywhere. An agent talks on its terminal.
STAND_INS = {
    "claude": "echo ready; while read -r line; do echo \"on it: $line\"; done",
    "make": "echo made",
    # Checks that it is asked for what the repository has, and runs the berth of this test.
    "tools/bazel": 'case "$1 $2" in "run //tools:berth") shift 3; exec berth "$@" ;; "test //...") ;; '
                   '*) echo "not for this test: $*" >&2; exit 1 ;; esac',
}


def read(path):
    with open(f"{ROOT}/{path}", encoding="utf-8") as file:
        return file.read()


def blocks(text):
    """[(language, text, file that it shows)] of the fenced blocks."""
    found = []
    for marker, language, body in re.findall(
            r"(?:^<!-- (\S+) -->\n)?^```([^\n]*)\n(.*?)^```$", text, re.M | re.S):
        found.append((language, body, marker))
    return found


class Place:
    """A home of its own with berth on PATH, and nothing of berth left in it at the end."""

    def __init__(self, test):
        self.test = test
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        home = self.folder.name
        os.makedirs(f"{home}/bin")
        os.symlink(BERTH, f"{home}/bin/berth")
        for name, body in STAND_INS.items():
            path = f"{home}/{name}" if "/" in name else f"{home}/bin/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{body}\n")
            os.chmod(path, 0o755)
        os.makedirs(f"{home}/.git/hooks")
        self.env = {"HOME": home, "PATH": f"{home}/bin:/usr/bin:/bin", "BERTH_STATE_DIR": f"{home}/state",
                    "TERM": "xterm"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        left = json.loads(self.berth("ls", "--json"))
        self.berth("rm", "--all") if left else None
        self.test.assertEqual([session["name"] for session in left], [], "sessions are left")
        self.folder.cleanup()

    def shell(self, script):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.folder.name, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                              check=False)
        self.test.assertEqual(done.returncode, 0, f"{script}\n{done.stdout.decode(errors='replace')}")
        return done.stdout.decode()

    def berth(self, *args):
        return subprocess.run([BERTH, *args], env=self.env, cwd=self.folder.name, check=False, timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout.decode()


class Pages(unittest.TestCase):
    def test_say_of_each_block_what_it_is(self):
        for page in CHECKED:
            for language, body, shown in blocks(read(page)):
                self.assertIn(language, LANGUAGES, f"{page}: {body}")
                if language in ("cpp", "go", "rust"):
                    self.assertTrue(shown, f"{page}: code that no test compiles:\n{body}")

    def test_show_examples_as_they_are_compiled(self):
        shown = set()
        for page in CHECKED:
            for _, body, file in blocks(read(page)):
                if file:
                    self.assertEqual(body, read(file), f"{page}: not as in {file}")
                    shown.add(file)
        self.assertEqual(shown, {f"docs/examples/hello.{end}" for end in ("cc", "go", "rs")})

    def test_have_commands_that_run_as_printed(self):
        for page in CHECKED:
            scripts = [body for language, body, _ in blocks(read(page)) if language == "sh"]
            with self.subTest(page), Place(self) as place:
                for script in scripts:
                    place.shell(script)

    def test_link_to_what_is_there(self):
        for page in ["README.md"] + sorted(glob.glob("docs/**/*.md", recursive=True)):
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(page)):
                if "://" in target:
                    continue
                path = os.path.normpath(os.path.join(os.path.dirname(page), target))
                # Sources are not all here; pages are.
                if path.endswith(".md") and path.startswith("docs/") or path.endswith(".svg"):
                    self.assertTrue(os.path.exists(f"{ROOT}/{path}"), f"{page} links to {target}")

    def test_have_a_picture_that_is_one(self):
        xml.dom.minidom.parse(f"{ROOT}/docs/berth.svg")
        self.assertIn("docs/berth.svg", read("README.md"))

    def test_say_what_the_example_in_cpp_does(self):
        with Place(self) as place:
            said = place.shell(os.path.realpath("docs/examples/hello"))
            self.assertIn("agent: run the tests", said)
            self.assertIn("exited with code 0", said)


class Features(unittest.TestCase):
    def test_have_every_case_and_every_backend_of_the_suite(self):
        page = read("docs/features.md")
        rows = re.findall(r"^\| ([^|*]+?) \| (.*) \|$", page, re.M)
        self.assertEqual(rows[0][0], "---")
        wanted = [features.words(test) for _, test in features.cases("tests/conformance")]
        self.assertEqual([name for name, _ in rows[1:]], wanted, "make it anew: tests/docs/features.py says how")
        head = re.search(r"^\| \| (.*) \|$", page, re.M).group(1).split(" | ")
        self.assertEqual(head, features.backends("tests/conformance"))

    def test_are_what_the_suite_says_of_what_is_missing(self):
        page = read("docs/features.md")
        backends = features.backends("tests/conformance")
        lacking = {(backend, features.words(test)) for backend, test in features.lacking("tests/conformance")}
        said = set()
        for name, cells in re.findall(r"^\| ([^|*]+?) \| (.*) \|$", page, re.M)[1:]:
            for backend, cell in zip(backends, cells.split(" | ")):
                self.assertIn(cell, ("yes", "no"), f"{name} on {backend}")
                if cell == "no":
                    said.add((backend, name))
        self.assertEqual(said, lacking)


class Keys(unittest.TestCase):
    """docs/cli.md lists the keys of all JSON; these are what berth prints."""

    def table(self, title):
        text = read("docs/cli.md").split(f"**{title}**")[1].split("\n\n")[1]
        keys = []
        for cell in re.findall(r"^\| (`.*?) \|", text, re.M):
            keys += re.findall(r"`(\w+)`", cell)
        return sorted(keys)

    def row(self, command):
        text = read("docs/cli.md").split("**Others**")[1]
        for line in text.splitlines():
            cells = line.split(" | ")
            if f"`{command}`" in cells[0]:
                return sorted(re.findall(r"`(\w+)`", cells[1]))
        self.fail(f"docs/cli.md has no line for {command}")

    def test_are_the_documented_ones(self):
        with Place(self) as place:
            def said(*args):
                return json.loads(place.berth(*args))
            session = said("start", "one", "--json", "--", "cat")
            self.assertEqual(sorted(session), self.table("Session"))
            self.assertEqual(sorted(said("ls", "--json")[0]), self.table("Session"))
            self.assertEqual(sorted(said("send", "one", "--json", "x")), self.row("send"))
            self.assertEqual(sorted(said("keys", "one", "--json", "a")), self.row("keys"))
            self.assertEqual(sorted(said("capture", "one", "--json")), self.row("capture"))
            self.assertEqual(sorted(said("stats", "one", "--json")), self.row("stats NAME"))
            self.assertEqual(sorted(said("top", "--json")[0]), self.row("top"))
            self.assertEqual(sorted(said("kill", "one", "--signal", "CONT", "--json")), self.row("kill --signal"))
            self.assertEqual(sorted(said("kill", "one", "--json")), self.row("kill"))
            end = said("wait", "one", "--json")
            self.assertEqual(sorted(end), self.row("wait"))
            self.assertEqual(sorted(end["exit"]), self.table("Exit"))
            self.assertEqual(sorted(said("rename", "one", "two", "--json")), self.row("rename"))
            self.assertEqual(sorted(said("rm", "two", "--json")), self.row("rm"))
            self.assertEqual(sorted(said("ports", "free", "--json")), self.row("ports free"))
            self.assertEqual(sorted(said("ports", "wait", "1", "--json")), self.row("ports wait"))
            self.assertEqual(sorted(said("version", "--json")), self.row("version"))
            checks = said("doctor", "--json")
            self.assertEqual(sorted(list(checks) + list(checks["checks"][0])), self.row("doctor"))

    def test_are_documented_for_every_command_that_has_them(self):
        text = read("docs/cli.md")
        with Place(self) as place:
            listed = re.search(r"Commands:\n(.*?)\n\n", place.berth("--help"), re.S).group(1)
            for name in re.findall(r"^  (\S+(?: \S+)?)  ", listed, re.M):
                self.assertIn(f"`{name.split()[0]}", text, f"docs/cli.md does not have {name}")
                if "--json" in place.berth(*name.split(), "--help").split("Examples:")[0]:
                    self.assertRegex(text.split("## --json")[1], f"`{name}", f"the keys of {name} --json")


if __name__ == "__main__":
    unittest.main()
