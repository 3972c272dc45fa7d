#!/usr/bin/env python3
"""Draws docs/berth.svg: a terminal in which the commands below were really run.

  tools/bazel run //docs:picture -- docs/berth.svg

The commands run in a session of berth, and the picture is what `berth capture --colour` shows of its screen.
"""

import html
import os
import re
import subprocess
import sys
import tempfile

ROWS, COLUMNS = 23, 88
CELL, LINE, EDGE = 8.2, 18, 16
COLOURS = {"31": "#f38ba8", "32": "#a6e3a1", "33": "#f9e2af", "34": "#89b4fa", "2": "#7f849c", "36": "#94e2d5"}
PLAIN, GROUND = "#cdd6f4", "#1e1e2e"

# Stands for an agent: takes orders, and tries what it should not.
AGENT = """echo 'agent: ready'
while read -r order; do
  echo "agent: $order"
  cat "$HOME/.ssh/id_ed25519"
  echo evil >.git/hooks/pre-commit
  echo done >result && echo 'agent: wrote result'
done
"""
COMMANDS = [
    "berth start fix-42 --preset agent -- sh agent.sh",
    "berth send fix-42 --await confirmed run the tests",
    "berth logs fix-42 --from 14",
    "berth ls",
    "berth exec fix-42 -- cat result",
    "berth rm fix-42 && berth ls",
]
# Types each command, then runs it: nothing else on the screen is made up.
PLAYER = """for command in {commands}; do
  printf '\\033[32m$\\033[0m %s\\n' "$command"
  eval "$command" 2>&1
done
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def record(berth):
    """The screen, with colours, after the commands."""
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(f"{home}/project/.git/hooks")
        os.makedirs(f"{home}/.ssh")
        os.makedirs(f"{home}/bin")
        os.symlink(berth, f"{home}/bin/berth")
        with open(f"{home}/.ssh/id_ed25519", "w", encoding="ascii") as file:
            file.write("secret\n")
        with open(f"{home}/project/agent.sh", "w", encoding="ascii") as file:
            file.write(AGENT)
        player = PLAYER.format(commands=" ".join(map(quoted, COMMANDS)))
        env = {"PATH": f"{home}/bin:/usr/bin:/bin", "HOME": home, "BERTH_STATE_DIR": f"{home}/outer"}

        def run(*args):
            return subprocess.run([berth, *args], check=True, env=env, stdout=subprocess.PIPE).stdout.decode()
        run("start", "picture", "--size", f"{ROWS}x{COLUMNS}", "--cwd", f"{home}/project", "-e", "PATH", "-e", "HOME",
            "-e", f"BERTH_STATE_DIR={home}/inner", "-e", "TERM=xterm-256color", "--shell", player)
        run("wait", "picture")
        screen = run("capture", "picture", "--colour")
        run("rm", "picture")
    return screen.replace(home, "~")


def spans(line):
    """[(text, colour, reverse)] of a line with SGR sequences."""
    colour, reverse, found = PLAIN, False, []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        sequence = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not sequence:
            if part:
                found.append((part, colour, reverse))
            continue
        for code in (sequence.group(1) or "0").split(";"):
            if code in ("0", "00", "39", "22"):
                colour, reverse = PLAIN, False
            elif code == "7":
                reverse = True
            else:
                colour = COLOURS.get(code, colour)
    return found


def draw(screen):
    lines = screen.splitlines()
    width, height = COLUMNS * CELL + 2 * EDGE, len(lines) * LINE + 2 * EDGE
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
           f'viewBox="0 0 {width:.0f} {height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13.6">',
           f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>']
    for row, line in enumerate(lines):
        column = 0
        for text, colour, _ in spans(line):
            if text.strip():
                out.append(f'<text x="{EDGE + column * CELL:.1f}" y="{EDGE + row * LINE + 13}" fill="{colour}" '
                           f'textLength="{len(text) * CELL:.1f}" xml:space="preserve">{html.escape(text)}</text>')
            column += len(text)
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    berth = os.path.realpath(os.environ.get("BERTH", "tools/berth/berth"))
    target = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", "."), sys.argv[1])
    picture = draw(record(berth))
    with open(target, "w", encoding="utf-8") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
