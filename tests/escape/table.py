#!/usr/bin/env python3
"""The table of docs/threat_model.md, from what the tests of the list of escapes saw.

  table.py check DOCUMENT TEST…    runs the tests, as root and as a plain user, and fails if the document's table is
                                   not what they saw
  table.py write DOCUMENT TEST…    the same, and writes it:
                                   tools/bazel run //tests/escape:table -- write "$PWD/docs/threat_model.md"
"""

import os
import subprocess
import sys
import tempfile

BEGIN = "<!-- table: made by tests/escape/table.py from the tests' results -->"
END = "<!-- end of table -->"
TIERS = ["namespaces", "pooled", "landlock"]
USERS = ["root", "plain"]


def run(tests):
    """Runs each test as each user. Returns what they saw, as lists of fields, and whether all of them passed."""
    rows, passed = [], True
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for number, test in enumerate(tests):
            for user in USERS:
                results = os.path.join(folder, f"{number}.{user}")
                with open(results, "w"):
                    pass
                os.chmod(results, 0o666)
                env = dict(os.environ, BERTH_TEST_USER=user, BERTH_ESCAPE_RESULTS=results)
                code = subprocess.run([test, "--gtest_brief=1"], env=env, stdin=subprocess.DEVNULL).returncode
                passed = passed and code == 0
                with open(results) as file:
                    rows += [line.rstrip("\n").split("\t") for line in file]
    return rows, passed


def cell(seen):
    """What is said of one tier, from {user: (verdict, why)}."""
    texts = {user: "stopped" if verdict == "stopped" else "**not stopped**: " + why
             for user, (verdict, why) in seen.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{user}: {texts[user]}" for user in USERS if user in texts)


def render(rows):
    """The table as lines of Markdown."""
    seen = {}
    for row, what, tier, user, verdict, why in rows:
        here = seen.setdefault((int(row), what), {}).setdefault(tier, {})
        # Seen twice, the worse counts.
        if here.get(user, ("stopped",))[0] == "stopped":
            here[user] = (verdict, why)
    lines = ["| # | tried | " + " | ".join(TIERS) + " |", "| --- | --- |" + " --- |" * len(TIERS)]
    for (row, what), tiers in sorted(seen.items()):
        cells = [cell(tiers[tier]) if tier in tiers else "does not apply" for tier in TIERS]
        lines.append(f"| {row} | {what} | " + " | ".join(cells) + " |")
    return lines


def replace(text, lines):
    """The document with another table. None if it has no place for one."""
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        return None
    return text[:begin + len(BEGIN)] + "\n" + "\n".join(lines) + "\n" + text[end:]


def main(arguments):
    if len(arguments) < 3 or arguments[0] not in ("check", "write"):
        print(__doc__)
        return 2
    mode, document, tests = arguments[0], arguments[1], arguments[2:]
    with open(document) as file:
        text = file.read()
    rows, passed = run(tests)
    if not passed:
        print("not all tests passed: there is no table to be made from them")
        return 1
    new = replace(text, render(rows))
    if new is None:
        print(f"{document}: there is no table in it: it begins with {BEGIN} and ends with {END}")
        return 1
    if new == text:
        print(f"{len(rows)} results: the table is what they say")
        return 0
    if mode == "write":
        with open(document, "w") as file:
            file.write(new)
        print(f"{len(rows)} results: the table was written anew")
        return 0
    print(f"{document}: the table is not what the tests saw, which is:")
    print("\n".join(render(rows)))
    print('Write it: tools/bazel run //tests/escape:table -- write "$PWD/docs/threat_model.md"')
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
