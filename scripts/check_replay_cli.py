#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_replay_cli.py HCA VECTORS [MUTANTS]: `hca replay` as a program: exit codes, what cannot be read in both reports, where it
finds requirements.csv, what that and survivors.csv may hold, --filter, and the options of --mutants, which it runs if MUTANTS (the program hca_mutants) is named."""
import csv
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import check_requirements

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


def variations(check, mutants, vectors):
    """A WRITE on IPv4: other framings are not tried, and the places where a rule could be reached are reported."""
    one = vectors / "write/write_only_is_acknowledged.json"
    for rule, tried, left, could in (("T10-5/RC", 1, 4, 4), ("G27.2", 0, 5, 2)):
        done = subprocess.run([mutants, "--every", str(one), "--mistake", f"rule:{rule}", "--vary", "framing"], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        named = sum(line.startswith(f"never evaluated, though it could be: rule:{rule}@framing=") for line in lines)
        last = f"{tried} mistakes against 1 vectors, 0 noticed, {tried} evaluated and changed nothing; "
        last += f"{left} more are never evaluated there, {could} of them could be"
        check.that(named == could and last in lines, f"--vary framing of {rule}: {lines[-8:]}")


def write(path, vector, **changes):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**vector, **changes}))
    return path


def reports(check, folder, wrong):
    """A folder with one good vector and some refused ones: each is in both reports, with its message."""
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


def filters(check, vectors):
    """--filter names a statement, a theme or a case whole, or is a glob."""
    themes = [v for v in vectors.glob("*/*.json") if v.parent.name != "captures"]
    shows = {v: json.loads(v.read_text())["for"] for v in themes}
    count = lambda wanted: sum(map(wanted, themes))  # noqa: E731
    of_c9_5 = count(lambda v: "C9-5" in shows[v])
    check.that(of_c9_5 != count(lambda v: any("C9-5" in i for i in shows[v])), "no id has another in front")
    wanted = {"C9-57": count(lambda v: "C9-57" in shows[v]), "psn": count(lambda v: v.parent.name == "psn"),
              "ahead_draws_one_nak": 1, "psn/ahead_draws_one_nak": 1, "ps?/ahead*nak": 1,
              "C9-5*": count(lambda v: any(i.startswith("C9-5") for i in shows[v]))}
    if of_c9_5:
        wanted["C9-5"] = of_c9_5
    for text, number in wanted.items():
        check.run(0, vectors, "--filter", text, says=f"{number} vectors on 3 runners: {number} passed")
    with open(vectors / "requirements.csv", encoding="utf-8", newline="") as file:
        of_number = {number: {r["id"] for r in csv.DictReader(io.StringIO(file.read())) if number in r["ibta"].split(";")} for number in ("C9-130",)}
    check.that(of_number["C9-130"] == {"G8.2"}, f"C9-130 is {of_number}")
    check.run(0, vectors, "--filter", "C9-130", says=f"{count(lambda v: 'G8.2' in shows[v])} vectors on 3 runners: ")
    for text, near in {"ahead_draws": "ahead_draws_one_nak", "C9-5x": "C9-5", "ps": "psn", "zz*": "near: "}.items():
        check.run(2, vectors, "--filter", text, says=f"--filter {text}: no vector is for it, nor is a theme or case so named")
        check.run(2, vectors, "--filter", text, says=near)
        check.run(2, vectors, "--filter", text, "--mutants", says=near)


def lists(check, root, vector, source):
    """What requirements.csv and survivors.csv may not hold, each with file and line."""
    head, *rows = source.read_text().splitlines()
    columns = head.split(",")
    broken = root / "requirements.csv"
    row = dict(zip(columns, next(csv.reader([next(r for r in rows if r.startswith("C9-"))]))))

    def with_row(**changes):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow([{**row, "id": "C9-99999", "ibta": "C9-99999", **changes}[c] for c in columns])
        broken.write_text("\n".join([head, *rows, text.getvalue()]))

    line = len(rows) + 2
    with_row()
    check.run(0, vector)
    with_row(id=rows[4].split(",")[0])
    check.run(2, vector, says=f"requirements.csv:{line}: id '{rows[4].split(',')[0]}' occurs twice, first in line 6")
    for column in columns:
        if column not in check_requirements.MAY_BE_EMPTY:
            with_row(**{column: " "})
            check.run(2, vector, says=f"requirements.csv:{line}: {column} is empty")
    for column in [*check_requirements.ALLOWED, *check_requirements.ALLOWED_LISTS]:
        for value in ("zz", "any;any"):
            with_row(**{column: value})
            check.run(2, vector, says=f"requirements.csv:{line}: {column} is '{value}'")
        known = check_requirements.ALLOWED.get(column) or check_requirements.ALLOWED_LISTS[column][1]
        for value in known:
            with_row(**{column: value})
            check.run(0, vector)
    for value in ("a;a", "a;", ";a"):
        with_row(mutant=value)
        check.run(2, vector, says=f"requirements.csv:{line}: mutant '{value}'")
    for value in ("C9-1", "", "C9-99999;C9-99999", "C9-99999;G8.2", "C9-99999;"):
        with_row(ibta=value)
        check.run(2, vector, says=f"requirements.csv:{line}: ibta '{value}'")
    # A row of several lines is named by its first, and the later rows by theirs.
    broken.write_text(f'{head}\n"x\ny",rule\n\nz,rule\n')
    check.run(2, vector, says="requirements.csv:2: 2 columns; allowed: 14")
    broken.write_text(head.replace("observable", "observed") + "\n")
    check.run(2, vector, says="requirements.csv:1: has no column observable")
    shutil.copy(source, broken)

    statement, mutant = next((r["id"], r["mutant"].split(";")[0]) for r in csv.DictReader(io.StringIO(source.read_text()))
                             if r["mutant"] and r["status"] == "active")
    survivors = root / "survivors.csv"
    good = f"{statement},{mutant},It has a reason."
    for text, says in {f"{statement},{mutant},": "survivors.csv:2: reason is empty", f"{statement},{mutant},  ": "survivors.csv:2: reason is empty",
                       f"C9-99999,{mutant},Why.": "survivors.csv:2: 'C9-99999' is no active statement",
                       f"{statement},rule:none,Why.": f"survivors.csv:2: 'rule:none' is no mistake of {statement}",
                       f"{good}\n{good}": f"survivors.csv:3: {statement} and '{mutant}' occur twice, first in line 2"}.items():
        survivors.write_text(f"statement,mutant,reason\n{text}\n")
        check.run(2, vector, "--mutants", says=says)
    survivors.unlink()


def stale(check, root, vectors):
    """A row for a mistake that is noticed is out of date."""
    folder = root / "stale"
    shutil.copytree(vectors / "psn", folder / "psn")
    shutil.copy(vectors / "requirements.csv", folder)
    of = json.loads((folder / GOOD).read_text())["for"]
    with open(vectors / "requirements.csv", encoding="utf-8", newline="") as file:
        row = next(r for r in csv.DictReader(file) if r["id"] in of and r["mutant"])
    mutant = row["mutant"].split(";")[0]
    (folder / "survivors.csv").write_text(f"statement,mutant,reason\n\n{row['id']},{mutant},It is said to survive.\n")
    check.run(2, folder, "--mutants", "--filter", "ahead_draws_one_nak",
              says=f"survivors.csv:3: '{mutant}' of {row['id']} does not survive: killed")


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
        check.run(0, theme, says="2 passed")  # without a list no statement is judged, and it says so
        check.run(0, theme, says="hca: no requirements.csv beside or above")
        # The list in the folder above is found for the folder and for a file in it.
        shutil.copy(vectors / "requirements.csv", root)
        no_statement = "'C9-99999' is no active statement"
        check.run(2, theme, says=no_statement, silent="no requirements.csv")
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
        filters(check, vectors)
        lists(check, root, theme / "good.json", vectors / "requirements.csv")
        (root / "requirements.csv").unlink()
        check.run(2, theme, "--mutants", says="no folder above it")
        if len(sys.argv) == 4:
            stale(check, root, vectors)
    if len(sys.argv) == 4:
        told = check.run(0, vectors / "psn", "--mutants", "--share", "5", "--seed", "theme", says=" mistakes tried, ")
        check.that(not told.rstrip().splitlines()[-1].startswith("0 "), "no mistake was tried")
        variations(check, sys.argv[3], vectors)
    return 1 if check.bad else 0


if __name__ == "__main__":
    sys.exit(main())
