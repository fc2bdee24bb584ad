#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_manual.py BUILD [PAGE...]: runs the commands of docs/manual/PAGE.md, or of PAGE.md of the tree, as they are written.

The blocks ```sh of a page are one script, run in the root of the tree; the first command that fails ends it. A block without a language
after one of them is what it prints: its lines, in this order, among those that are printed; `...` stands for anything, in a line too.
build/release is the folder BUILD, and /tmp/hca-manual a folder of this run. Commands that install packages or build the program
are not run (NOT_RUN). With --show the page's commands run and all that they print is shown.
Exit code 77: a program of NEEDS is missing.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MANUAL = ROOT / "docs/manual"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NOT_RUN = re.compile(r"^(sudo apt install|scripts/(demo|test|setup)\.sh|cmake --preset|cmake --build --preset|cmake (-S . -B|--build) build/package)\b.*$", re.MULTILINE)
# Programs of Debian's packages.
NEEDS = {"verbs_programs": ["ib_write_bw", "ibv_rc_pingpong"], "verifier": ["verilator"], "reference/running": ["tcpdump"]}
MARK = "==== block "
LIMIT = 900  # seconds for a page


def pages():
    return ["README", *sorted(path.stem for path in MANUAL.glob("*.md") if path.stem != "README"), "reference/running", "vectors/README"]


def path_of(page):
    of_tree = ROOT / f"{page}.md"
    return of_tree if of_tree.exists() else MANUAL / f"{page}.md"


def blocks_of(text):
    """[(commands, what they print or None)] of a page."""
    blocks = []
    for language, body in BLOCK.findall(text):
        if language == "sh":
            blocks.append((body, None))
        elif not language and blocks and blocks[-1][1] is None:
            blocks[-1] = (blocks[-1][0], body)
    return blocks


def missing_line(shown, printed):
    """The first line of `shown` that `printed` does not have after those before it, or None."""
    lines = iter(line.rstrip() for line in printed.splitlines())
    for line in shown.splitlines():
        if not line.strip(" ."):
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in line.rstrip().split("...")))
        if not any(pattern.fullmatch(other) for other in lines):
            return line
    return None


def script_of(blocks, build, folder):
    """One script for all blocks, which prints MARK and a number before each."""
    parts = ["set -e", "set -m", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for number, (commands, _) in enumerate(blocks):
        commands = NOT_RUN.sub("", commands)
        parts += [f"echo '{MARK}{number}'", re.sub(r"\bbuild/(release|package)\b", build, commands).replace("/tmp/hca-manual", folder)]
    return "\n".join(parts)


def environment(folder):
    """What a second run compiles comes from ccache, where that is installed: it takes paths below `folder` for relative ones."""
    cached = {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": folder, "CCACHE_NOHASHDIR": "1"} if shutil.which("ccache") else {}
    return os.environ | cached


def end_session(leader):
    """Ends all processes of a page, those in the background too."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == leader:
                os.kill(int(name), signal.SIGKILL)
        except ProcessLookupError:
            pass


def check(page, build, show):
    """What is wrong with a page, or None."""
    blocks = blocks_of(path_of(page).read_text(encoding="utf-8"))
    if not blocks:
        return "no block of commands"
    with tempfile.TemporaryDirectory(prefix="hca-manual-") as folder:
        run = subprocess.Popen(["bash", "-c", script_of(blocks, build, folder)], cwd=ROOT, env=environment(folder), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            said, _ = run.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            end_session(run.pid)
            return f"not done after {LIMIT} s:\n{run.communicate()[0]}"
    said = said.replace(folder, "/tmp/hca-manual").replace(build, "build/release")
    if show:
        print(said)
    if run.returncode:
        return f"a command ends with {run.returncode}:\n{said}"
    printed = re.split(f"^{MARK}\\d+\n", said, flags=re.MULTILINE)[1:]
    for (_, shown), text in zip(blocks, printed, strict=True):
        if shown and (line := missing_line(shown, text)):
            return f"the page shows\n{line}\nwhich is not printed:\n{text}"
    return None


def main():
    arguments = [a for a in sys.argv[1:] if a != "--show"]
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    build, chosen = str(pathlib.Path(arguments[0]).resolve()), arguments[1:] or pages()
    if absent := [name for page in chosen for name in NEEDS.get(page, []) if not shutil.which(name)]:
        print(f"skipped: {', '.join(absent)} missing")
        return 77
    for page in chosen:
        if wrong := check(page, build, "--show" in sys.argv):
            print(f"{path_of(page).relative_to(ROOT)}: {wrong}")
            return 1
        print(f"{path_of(page).relative_to(ROOT)}: as written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
