#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_replay_cli.py HCA VECTORS [MUTANTS]: `hca replay` as a program: exit codes, what cannot be read in both reports, where it
finds requirements.csv, and the options of --mutants, which it runs if MUTANTS (the program hca_mutants) is named."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

GOOD = "psn/ahead_draws_one_nak.json"


class Check:
    def __init__(self, hca):
        self.hca, self.bad = hca, 0

    def run(self, code, *arguments, says="", silent=""):
        done = subprocess.run([self.hca, "replay", *map(str, arguments)], capture_output=True, text=True)
        told = done.stdout + done.stderr
        if done.returncode != code or says not in told or (silent and silent in told):
            self.bad += 1
            print(f"hca replay {' '.join(map(str, arguments))[-80:]}: exit {done.returncode}, not {code}, or not '{says}'")
            print(told[-600:])
        return told

    def that(self, good, what):
        if not good:
            self.bad += 1
            print(what)


def write(path, vector, **changes):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**vector, **changes}))
    return path


def reports(check, folder, wrong):
    """A folder with one good vector and some that are refused: each stands in both reports, with its message."""
    as_json, as_xml = folder.parent / "reports.json", folder.parent / "reports.xml"
    check.run(2, folder, "--json", as_json, "--junit", as_xml, says="1 passed, 0 failed")
    errors = {pathlib.Path(e["path"]).name: e["what"] for e in json.loads(as_json.read_text())["errors"]}
    suites = {s.get("name"): s for s in xml.parse(as_xml).getroot()}
    suite = suites["vectors"]
    check.that((suite.get("tests"), suite.get("failures"), suite.get("errors")) == (str(1 + len(wrong)), "0", str(len(wrong))),
               f"suite: {suite.attrib}")
    texts = {pathlib.Path(c.get("name")).name: c.findtext("error") for c in suite}
    for name, says in wrong.items():
        check.that(says in errors.get(name, ""), f"--json: {name}: {errors.get(name)}")
        check.that(says in (texts.get(name) or ""), f"--junit: {name}: {texts.get(name)}")
    check.that(set(errors) == set(wrong), f"--json: errors of {sorted(errors)}")


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    check, vectors = Check(sys.argv[1]), pathlib.Path(sys.argv[2])
    good = json.loads((vectors / GOOD).read_text())
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        theme = root / "psn"
        write(theme / "good.json", good)
        check.run(0, theme, says="1 passed, 0 failed")
        write(theme / "unknown.json", good, **{"for": ["C9-99999"]})
        check.run(0, theme, says="2 passed")  # without a list no statement is judged
        # The list in the folder above is found for the folder and for a file in it.
        shutil.copy(vectors / "requirements.csv", root)
        no_statement = "'C9-99999' is no active statement"
        check.run(2, theme, says=no_statement)
        check.run(2, theme / "unknown.json", says=no_statement)
        check.run(0, theme / "good.json", says="1 passed")
        write(theme / "twice.json", good, **{"for": [good["for"][0], good["for"][0]]})
        (theme / "broken.json").write_text('{"vector": "hca-vector-1", ')
        reports_of_vectors = {"unknown.json": no_statement, "twice.json": f"for[1]: names '{good['for'][0]}' again",
                              "broken.json": "broken.json: "}
        reports(check, theme, reports_of_vectors)
        # A capture that cannot be read is an error of the suite of captures.
        (root / "captures").mkdir()
        (root / "captures/alone.pcap").write_bytes(b"nothing")
        junit = root / "captures.xml"
        check.run(2, root / "captures", "--junit", junit, says="alone.pcap")
        suite = xml.parse(junit).getroot()[0]
        check.that((suite.get("name"), suite.get("errors")) == ("captures", "1"), f"suite: {suite.attrib}")
        # A list of something else does not hinder captures.
        (root / "captures/requirements.csv").write_text("package,version\n")
        check.run(2, root / "captures", says="alone.pcap", silent="requirements.csv")

        (root / "nothing").mkdir()
        check.run(2, root / "nothing", says="nothing to replay; allowed: captures, vectors")

        for option in (["--junit", root / "x"], ["--end", "A"], ["--runner", "functional"]):
            check.run(2, vectors, "--mutants", *option, says=f"{option[0]}: is not for --mutants")
        for option in (["--share", "3"], ["--seed", "x"], ["--jobs", "1"]):
            check.run(2, theme / "good.json", *option, says=f"{option[0]} requires --mutants")
        (root / "requirements.csv").unlink()
        check.run(2, theme, "--mutants", says="no folder above it")
    if len(sys.argv) == 4:
        told = check.run(0, vectors / "psn", "--mutants", "--share", "5", "--seed", "theme", says=" mistakes tried, ")
        check.that(not told.rstrip().splitlines()[-1].startswith("0 "), "no mistake was tried")
    return 1 if check.bad else 0


if __name__ == "__main__":
    sys.exit(main())
