#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The loop of editing: builds what changed files reach in build/dev, runs the tests that are about them, and prints how long each step took.

  loop.py            the files that differ from the last commit
  loop.py FILE...    these files, by paths from where it is called
  loop.py --list     what would be built and run, for the same files

A file that is in no row of the table below is named, and fails the loop: whoever adds a folder adds its row.
What is left out here scripts/test.sh runs.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/dev"
TESTS = ROOT / "testbench/tests"
MOST_LINES = 60  # of what a step says that failed
PYTHON = "/usr/bin/python3"  # Debian's, which has scapy


# The program of a test file: that of the first row whose folder or file it is.
PROGRAMS = [
    ("proto/", "hca_proto_tests"), ("device/", "hca_device_tests"), ("engine/", "hca_engine_tests"), ("blocks/", "hca_model_tests"),
    ("cm/", "hca_cm_tests"), ("functional/", "hca_functional_tests"),
    ("system/malice/", "hca_malice_tests"), ("system/both_models/", "hca_both_models_tests"),
    ("packets/dissection/", None), ("packets/", "hca_file_tests"), ("trace/frames_by_time_test", "hca_file_tests"),
    ("trace/time_series_test", "hca_file_tests"), ("run/run_limits_test", "hca_file_tests"),
    ("programs/server/", "hca_system_tests"), ("programs/files_library/", "hca_system_tests"), ("programs/", None),
    ("vectors/one_model/", None), ("lockstep/", None), ("rtl_path/", None), ("user_rtl/", None), ("golden/", None), ("install/", None),
    ("", "hca_system_tests"),
]
# What tries sources that no test is named for.
OTHERWISE = {"hca_system_tests": ["run", "run_figures", "run_files", "scenario"]}


def program_of(test):
    """The program of a test file, by its path from TESTS; None: another one than those of Catch2 here."""
    return next(program for start, program in PROGRAMS if test.startswith(start))


def tests_about(program, path):
    """Catch2's tags of the test files of `program` that are about a source: of its name, else of its first word, else OTHERWISE, else all."""
    stem = pathlib.PurePath(path).stem
    files = [p for p in sorted(TESTS.rglob("*_test.cpp")) if program_of(p.relative_to(TESTS).as_posix()) == program]
    names = [p.stem.removesuffix("_test") for p in files]
    about = [n for n in names if stem.startswith(n) or n.startswith(stem)]
    about = about or [n for n in names if n.split("_")[0] == stem.split("_")[0]]
    about = about or OTHERWISE.get(program, names)
    return ",".join(f"[#{n}_test]" for n in about)


def catch(program, tags):
    """A test program with Catch2's tags of files; `~[slow]` goes with each of them."""
    spec = ",".join(f"{tag}~[slow]~[million]" if "slow" not in tag else tag for tag in tags.split(","))
    return [str(BUILD / program), "-#", spec]


HCA = str(BUILD / "hca")
VECTORS = [HCA, "replay", "vectors"]
CHECK_OF_COMMAND = {  # of a command of the program: the script that tries it, with its arguments
    "run": ["check_run.py", HCA, "testbench/scenarios"],
    "attach": ["check_run.py", HCA, "testbench/scenarios"],
    "sweep": ["check_sweep.py", HCA],
    "replay": ["check_replay_cli.py", HCA, "vectors"],
    "vectors": ["check_replay_cli.py", HCA, "vectors"],
    "decode": ["check_decode.py", HCA, "vectors/captures"],
    "docs": ["check_generated.py", ".", HCA],
    "config": ["check_generated.py", ".", HCA],
}


def of_command(path):
    check = CHECK_OF_COMMAND.get(pathlib.PurePath(path).stem)
    return [[PYTHON, f"scripts/{check[0]}", *check[1:]]] if check else [[HCA, "--help"], [HCA, "run"]]


def of_test_file(path):
    stem, program = pathlib.PurePath(path).stem, program_of(path.removeprefix("testbench/tests/"))
    if not program:
        return [], []
    return [program], [catch(program, f"[#{stem}]" if path.endswith("_test.cpp") else "~[slow]~[million]")]


# pattern of a path | targets | commands. The first row that fits a path counts.
ROWS = [
    (r"vectors/captures/.*\.(pcap|json)", ["hca"],
     lambda p: [[HCA, "replay", re.sub(r"\.\w+$", ".pcap", p)]]),
    (r"vectors/[^/]+/[^/]+\.json", ["hca"], lambda p: [[HCA, "replay", p], [PYTHON, "scripts/check_vectors.py", "."]]),
    (r"vectors/calibration/.*", ["hca"], lambda p: [[HCA, "calibrate", "--only", pathlib.PurePath(p).stem]]),
    (r"vectors/requirements\.csv", ["hca"],
     lambda p: [[PYTHON, "scripts/check_requirements.py", "."], [PYTHON, "scripts/check_vectors.py", "."]]),
    (r"model/proto/.*", ["hca_proto_tests", "hca_functional_vectors"],
     lambda p: [catch("hca_proto_tests", "~[slow]~[million]"), vectors_on("functional")]),
    (r"model/engine/.*", ["hca_engine_tests", "hca"], lambda p: [catch("hca_engine_tests", "~[slow]~[million]"), VECTORS]),
    (r"model/device/.*", ["hca_device_tests", "hca"], lambda p: [catch("hca_device_tests", "~[slow]~[million]"), VECTORS]),
    (r"model/blocks/.*", ["hca_model_tests", "hca_cycle_vectors"],
     lambda p: [catch("hca_model_tests", tests_about("hca_model_tests", p)), vectors_on("cycle")]),
    (r"model/functional/.*", ["hca_functional_tests", "hca_functional_vectors"],
     lambda p: [catch("hca_functional_tests", "~[slow]~[million]"), vectors_on("functional")]),
    (r"(model/systemc/.*|tlm/.*)\.(h|cpp)", ["hca_system_tests", "hca"],
     lambda p: [catch("hca_system_tests", tests_about("hca_system_tests", p)), VECTORS]),
    (r"rtl/\w+/\w+\.(sv|svh|f)", ["hca"], None),  # see rtl_commands()
    (r"rtl/.*", ["hca"], None),
    (r"testbench/cli/.*", ["hca"], of_command),
    (r"testbench/(vectors/.*|replay.*)", ["hca"],
     lambda p: [VECTORS, [HCA, "replay", *captures()], [PYTHON, "scripts/check_replay_cli.py", HCA, "vectors"]]),
    (r"testbench/sweep/.*", ["hca"], lambda p: [[PYTHON, "scripts/check_sweep.py", HCA]]),
    (r"testbench/programs/.*", ["hca"],
     lambda p: [[PYTHON, "scripts/check_attach.py", HCA, "testbench/scenarios", case] for case in ("rc_pingpong", "send_bw")]),
    (r"testbench/lockstep/.*", ["hca"], None),
    (r"testbench/tests/[a-z0-9_/]+\.(cpp|h)", [], None),  # see of_test_file()
    (r"testbench/scenarios/.*\.yaml", ["hca"], lambda p: [[HCA, "run", p]]),
    (r"testbench/presets/.*\.yaml", ["hca"], lambda p: [[HCA, "calibrate"]]),
    (r"testbench/[a-z_]+/[^/]+\.(h|cpp|in)", ["hca_system_tests", "hca"],
     lambda p: [catch("hca_system_tests", tests_about("hca_system_tests", p)), [HCA, "run"]]),
    (r"scripts/.*\.sh", [], lambda p: [["shellcheck", p]]),
    (r"scripts/.*\.py", [], lambda p: [[PYTHON, "-m", "py_compile", p]]),
    (r"docs/manual/(architect|compliance_engineer|verbs_programs)\.md", ["hca"],
     lambda p: [[PYTHON, "scripts/check_pages.py", "."], [PYTHON, "scripts/check_manual.py", str(BUILD), pathlib.Path(p).stem]]),
    (r"docs/.*|README\.md", [], lambda p: [[PYTHON, f"scripts/check_{what}.py", "."] for what in ("pages", "requirements")]),
    (r"testbench/(golden|fuzz|bench|mutants|examples|report|sweeps)/.*|testbench/tests/(install|golden|user_rtl|programs)/.*"
     r"|(.*/)?CMakeLists\.txt|CMakePresets\.json|\.[\w.-]+(/.*)?|LICENSE|.*\.(cmake|txt|md)", [], lambda p: []),
]


def vectors_on(model):
    """All vectors on one model: neither the other one nor the program hca is compiled."""
    themes = sorted(p for p in (ROOT / "vectors").iterdir() if p.is_dir() and p.name not in ("captures", "calibration"))
    return [str(BUILD / f"hca_{model}_vectors"), *(str(p.relative_to(ROOT)) for p in themes)]


def captures():
    return [str(p.relative_to(ROOT)) for p in sorted((ROOT / "vectors/captures").glob("*.pcap"))]


def rtl_commands(path):
    """Lockstep of the block that a file belongs to, of all where it belongs to several."""
    blocks = [p.stem for p in sorted((ROOT / "rtl").glob("*/*.f"))]
    about = [b for b in blocks if path in (f"rtl/cpp/{b}_rtl.h", f"rtl/cpp/{b}_rtl.cpp") or path.startswith(f"rtl/{b}/")] or blocks
    commands = [[HCA, "rtl", block, "--cycles", "200000", "--width", width] for block in about for width in ("256", "512")]
    if path.endswith((".sv", ".svh")):
        commands += [["scripts/check_rtl.sh", block, "256"] for block in about]
    return commands


def plan(paths):
    """Targets and commands for these paths, each once and in order; paths that no row knows; whether RTL is needed."""
    targets, commands, unknown, rtl = [], [], [], False
    for path in paths:
        row = next((r for r in ROWS if re.fullmatch(r[0], path)), None)
        if row is None:
            unknown.append(path)
            continue
        of_row, make = row[1], row[2]
        if path.startswith("testbench/tests/") and make is None:
            of_row, made = of_test_file(path)
        elif make is None:
            rtl, made = True, rtl_commands(path)
        else:
            made = make(path)
        targets += [t for t in of_row if t not in targets]
        commands += [c for c in made if c not in commands]
    return targets, commands, unknown, rtl


def shortened(text):
    return text if len(text) <= 160 else text[:157] + "..."


def step(title, command):
    print(f"== {title}", flush=True)
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env=os.environ | {"SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"})
    seconds = time.monotonic() - begun
    text = (done.stdout + done.stderr).rstrip().splitlines()
    for line in text[:MOST_LINES] if done.returncode else text[-1:]:
        print(f"   {line}")
    if done.returncode and len(text) > MOST_LINES:
        print(f"   ... {len(text) - MOST_LINES} more lines: {shortened(' '.join(command))}")
    print(f"   {seconds:.1f} s, {'passed' if done.returncode == 0 else f'FAILED with exit code {done.returncode}'}", flush=True)
    return done.returncode == 0


def changed():
    """The paths that differ from the last commit; and those that are gone."""
    def paths(*command):
        text = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return {path for path in text.split("\0") if path}
    all_paths = paths("diff", "--name-only", "-z", "--no-renames", "HEAD") | paths("ls-files", "--others", "--exclude-standard", "-z")
    return sorted(p for p in all_paths if (ROOT / p).exists()), sorted(p for p in all_paths if not (ROOT / p).exists())


def named(files):
    """The paths of these files from the root; an error ends the program with 2."""
    paths = []
    for file in files:
        path = pathlib.Path(file).resolve()
        if not path.is_file() or ROOT not in path.parents:
            print(f"loop: {file}: {'is a folder; files are wanted' if path.is_dir() else 'there is no such file in the tree'}", file=sys.stderr)
            sys.exit(2)
        paths.append(path.relative_to(ROOT).as_posix())
    return paths


def build(targets, rtl):
    """Configures build/dev where that is needed, and builds; the titles of the steps that failed."""
    cache = BUILD / "CMakeCache.txt"
    has_rtl = cache.exists() and re.search(r"^HCA_PARTS:.*(\brtl\b|=all$)", cache.read_text(), re.M)
    configure = ["cmake", "--preset", "dev"]
    if rtl and not has_rtl:
        configure.append("-DHCA_PARTS=replay;study;docs;serve;rtl")
    elif (BUILD / "build.ninja").exists():
        configure = None
    if configure and not step("configure build/dev", configure):
        return ["configure build/dev"]
    if not any(BUILD.glob("hca*")):
        print("   the first build of build/dev takes some minutes")
    title = "build " + " ".join(targets)
    return [] if step(title, ["cmake", "--build", "build/dev", "--target", *targets]) else [title]


def main():
    arguments = argparse.ArgumentParser(description="builds and tests what changed files reach, in build/dev")
    arguments.add_argument("files", nargs="*", help="paths from where this is called; without any, what differs from the last commit")
    arguments.add_argument("--list", action="store_true", help="print the steps only")
    options = arguments.parse_args()
    paths, gone = (named(options.files), []) if options.files else changed()
    if not paths and not gone:
        print("loop: no file differs from the last commit")
        return 0
    targets, commands, unknown, rtl = plan(paths)
    for path in unknown:
        print(f"loop: {path}: no row of scripts/loop.py has this file")
    for path in paths:
        if path not in unknown and plan([path])[:2] == ([], []):
            print(f"loop: {path}: nothing here tries it; scripts/test.sh does")
    for path in gone:
        print(f"loop: {path}: is gone; what it was part of is built, scripts/test.sh tries the rest")
        targets += [t for t in next((r[1] for r in ROWS if re.fullmatch(r[0], path)), []) if t not in targets]
    names = [(shortened(" ".join(c).replace(str(ROOT) + "/", "")), c) for c in commands]
    if options.list:
        print("build " + (" ".join(targets) or "nothing"))
        for name, _ in names:
            print(name)
        return 1 if unknown else 0
    begun, failed = time.monotonic(), ["a file that no row knows"] if unknown else []
    not_built = build(targets, rtl) if targets else []
    failed += not_built
    if not not_built:
        failed += [name for name, command in names if not step(name, command)]
    verdict = f"FAILED ({'; '.join(failed)})" if failed else "passed"
    count = len(paths) + len(gone)
    print(f"loop: {verdict}, {time.monotonic() - begun:.1f} s for {count} file{'s'[:count != 1]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
