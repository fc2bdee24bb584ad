#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The explorer of turns finds each mistake of testbench/tests/programs/time_library/turns/mistakes.toml.

  scripts/check_turns.py ROOT [NAME ...]   those whose names have one of these; all if none is given

Each is built in a folder of its own, from the sources as they are but for the mistake, and must end with a FAULT within
some schedules; without a mistake the same schedules must all end well.
"""
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

SCHEDULES = "40000"
LEFT_OUT = {"tsc.cpp", "code.cpp", "looks.cpp", "overwritten.cpp", "spin.cpp"}  # as in its CMakeLists.txt
FLAGS = ["-std=c++20", "-O0", "-Wno-unused"]


def sources(root):
    turns = root / "testbench/tests/programs/time_library/turns"
    library = [s for s in (root / "testbench/programs/time_library").glob("*.cpp") if s.name not in LEFT_OUT]
    attach = [root / "testbench/programs/server" / name for name in ("packet_socket.cpp", "program_threads.cpp")]
    engine = [root / "model/engine" / name for name in ("domain.cpp", "probe.cpp")]
    return [*turns.glob("*.cpp"), *library, *attach, *engine]


def replace(text, old, new, where):
    if text.count(old) != 1:
        sys.exit(f"{where}: {text.count(old)} times, not once: {old!r}")
    return text.replace(old, new)


def build(root, out, mistake, plain):
    """The explorer with a mistake, or without; `plain`: objects that a mistake in a source does not change."""
    include = out / "mistaken"
    changed = include / mistake["file"] if mistake else None
    if mistake:
        text = replace((root / mistake["file"]).read_text(), mistake["text"], mistake["instead"], mistake["name"])
        if "also" in mistake:
            text = replace(text, mistake["also"], mistake["also_instead"], mistake["name"])
        changed.parent.mkdir(parents=True)
        changed.write_text(text)
    objects = []
    for source in sources(root):
        relative = source.relative_to(root)
        is_changed = mistake and str(relative) == mistake["file"]
        made = plain.get(relative) if mistake and mistake["file"].endswith(".cpp") and not is_changed else None
        if not made:
            made = out / (str(relative).replace("/", "_") + ".o")
            subprocess.run(["c++", *FLAGS, f"-I{root}/testbench/tests/programs/time_library/turns/instead", f"-I{include}", f"-I{root}", "-c",
                            changed if is_changed else source, "-o", made], check=True)
        objects.append(made)
        if not mistake:
            plain[relative] = made
    subprocess.run(["c++", *objects, "-o", out / "turns", "-ldl", "-lpthread"], check=True)
    return out / "turns"


def explore(program, row):
    ran = subprocess.run([program, "--schedules", SCHEDULES, "--row", row], capture_output=True, text=True, timeout=600)
    return ran.returncode, ran.stdout


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    root = Path(sys.argv[1]).resolve()
    mistakes = tomllib.loads((root / "testbench/tests/programs/time_library/turns/mistakes.toml").read_text())["mistake"]
    wanted = [m for m in mistakes if not sys.argv[2:] or any(name in m["name"] for name in sys.argv[2:])]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        plain = {}
        (Path(folder) / "none").mkdir()
        right = build(root, Path(folder) / "none", None, plain)
        for number, mistake in enumerate(wanted):
            code, text = explore(right, mistake["row"])
            if code:
                sys.exit(f"without a mistake: {text}")
            out = Path(folder) / str(number)
            out.mkdir()
            code, text = explore(build(root, out, mistake, plain), mistake["row"])
            found = code == 1 and "FAULT" in text
            missed += not found
            said = [line.strip() for line in text.splitlines() if "FAULT" in line or "row:" in line]
            print(f"{'found' if found else 'MISSED'}: {mistake['name']}: {'; '.join(said)}", flush=True)
    print(f"{len(wanted)} mistakes, {len(wanted) - missed} found")
    sys.exit(1 if missed or not wanted else 0)


if __name__ == "__main__":
    main()
