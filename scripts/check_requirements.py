#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_requirements.py ROOT: the form of vectors/requirements.csv, that every number of a statement, rule or table that the
tree names exists, and that each statement on RC, UC, UD or all services has vectors or a row in vectors/missing.csv. Prints each breach as `file:line: what`, exits 1 if any."""
import json
import pathlib
import re
import subprocess
import sys

CSV = pathlib.PurePath("vectors/requirements.csv")
MISSING = pathlib.PurePath("vectors/missing.csv")
RULES = pathlib.PurePath("docs/design/specification/transport_rules.md")
TABLES = pathlib.PurePath("docs/design/specification/transport_tables.md")
COLUMNS = ["id", "ibta", "group", "section", "services", "role", "applies", "framing", "status", "kind", "statement", "observable",
           "source", "mutant"]
ALLOWED = {
    "group": {"chapter", "rule", "table"},
    "role": {"requester", "responder", "both", "receiver", "any"},
    "applies": {"CA", "HCA", "TCA"},
    "status": {"active", "obsolete"},
    "kind": {"completion", "error-behaviour", "header-validation", "memory-protection", "ordering", "packet-generation",
             "resource", "wire-format"},
}
# Columns with one of the first, or several of the second set, separated by semicolons.
ALLOWED_LISTS = {
    "services": ({"any", "raw"}, {"RC", "UC", "RD", "UD", "XRC"}),
    "framing": ({"any", "roce"}, {"ib", "rocev1"}),
}
MAY_BE_EMPTY = {"ibta", "mutant"}
# A number of the standard.
IBTA = re.compile(r"[Co]\d+-\d+(\.[a-z]?\d+)*")
SOURCE = re.compile(r"chapter \d+(\.\d+)*(, \d+(\.\d+)*)*|annexe?s? A\d+(, A\d+)*|Linux driver irdma")
PLACEHOLDERS = re.compile(r"see the st[a]tement|as st[a]ted", re.I)

FAMILIES = "SVC BTH HDR EXT SEND INV RSY WRITE READ ATOM ORD DROP VAL ERR AEQ PKEY PSR MKEY MR MW PD QPS CQ SRQ RQ".split()
NUMBER = re.compile(
    r"(?<![\w.#/&-])(?:"
    r"[Co]\d+-\d+(?:\.[a-z]?\d+)*"
    rf"|(?:{'|'.join(FAMILIES)})-\d+"
    r"|G\d+(?:\.\d+)?"
    r"|T\d+-[A-Za-z]*\d*[A-Za-z0-9_]*(?:-[A-Za-z]+)?(?:/[A-Za-z-]+)?"
    r"|T\d+)(?!\w)")
# Where statements are named.
TREES = ("model/", "testbench/", "rtl/", "tlm/", "docs/", "vectors/")
SUFFIXES = {".h", ".cpp", ".md", ".sv", ".svh", ".py", ".sh", ".txt", ".yaml"}


def read_records(text):
    """(line, fields, fault) of each record of a file in the format of RFC 4180, lines ended by LF."""
    line, at, start, field, fields = 1, 0, 1, "", []
    fault = None
    while at < len(text):
        if text[at] == '"':  # a quoted field, at its begin
            end = at + 1
            while (end := text.find('"', end)) >= 0 and text[end + 1:end + 2] == '"':
                end += 2
            if end < 0:
                yield start, fields, "a quote is not closed"
                return
            field = text[at + 1:end].replace('""', '"')
            line += text.count("\n", at, end)
            at = end + 1
            if at < len(text) and text[at] not in ",\n":
                fault = "text after a closing quote"
        else:
            end = min((i for i in (text.find(",", at), text.find("\n", at)) if i >= 0), default=len(text))
            field = text[at:end]
            at = end
            if '"' in field:
                fault = "a quote inside a field that is not quoted"
        fields.append(field)
        if at < len(text) and text[at] not in ",\n":  # after a fault: the rest of the line
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        ended = at >= len(text) or text[at] == "\n"
        if not ended and text[at + 1:at + 2] in ("", "\n"):  # an empty last field
            fields.append("")
            at, ended = at + 1, True
        at += 1
        if ended:
            yield start, fields, fault
            line += 1
            start, fields, fault = line, [], None


def breaches_of_row(row):
    for column, allowed in ALLOWED.items():
        if row[column] not in allowed:
            yield f"{column} '{row[column]}' is none of {', '.join(sorted(allowed))}"
    for column, (alone, several) in ALLOWED_LISTS.items():
        parts = row[column].split(";")
        if row[column] not in alone and (not set(parts) <= several or len(set(parts)) != len(parts)):
            yield f"{column} '{row[column]}' is neither {' nor '.join(sorted(alone))} nor a list of {', '.join(sorted(several))}"
    for column in COLUMNS:
        value = row[column]
        if not value and column not in MAY_BE_EMPTY:
            yield f"{column} is empty"
        if value != value.strip() or "\n" in value:
            yield f"{column} has blanks at an end or a line break"
    mutants = row["mutant"].split(";")
    if row["mutant"] and (len(set(mutants)) != len(mutants) or any(m != m.strip() or not m for m in mutants)):
        yield f"mutant '{row['mutant']}' is no list of different names separated by semicolons"
    numbers = row["ibta"].split(";") if row["ibta"] else []
    if len(set(numbers)) != len(numbers) or not all(IBTA.fullmatch(n) for n in numbers):
        yield f"ibta '{row['ibta']}' is no list of different numbers of the standard separated by semicolons"
    if IBTA.fullmatch(row["id"]) and numbers[:1] != [row["id"]]:
        yield f"ibta '{row['ibta']}' does not begin with the id, which is a number of the standard"
    if not SOURCE.fullmatch(row["source"]):
        yield f"source '{row['source']}' is no chapter or annex"
    if PLACEHOLDERS.search(row["observable"]):
        yield f"observable '{row['observable']}' shows nothing"


def read_rows(text):
    """Rows by id, and the (line, what) of each breach."""
    rows, found, header = {}, [], None
    for line, fields, fault in read_records(text):
        if fault:
            found.append((line, fault))
        if header is None:
            header = fields
            if fields != COLUMNS:
                return {}, found + [(line, f"the columns are not {','.join(COLUMNS)}")]
            continue
        if len(fields) != len(COLUMNS):
            found.append((line, f"{len(fields)} fields instead of {len(COLUMNS)}"))
            continue
        row = dict(zip(COLUMNS, fields))
        if row["id"] in rows:
            found.append((line, f"id '{row['id']}' occurs twice, first in line {rows[row['id']]['line']}"))
            continue
        found += [(line, f"{row['id']}: {what}") for what in breaches_of_row(row)]
        rows[row["id"]] = row | {"line": line}
    return rows, found


def headings(text):
    """G and T numbers that are headings of a page, and single rules of the bullets below them."""
    return set(re.findall(r"^(?:## |\* )([GT]\d+(?:\.\d+)?) ", text, re.M))


def numbers_of_tables(text):
    """Statements that only a table of the page names, in its first column (G32)."""
    cells = re.findall(r"^\|([^|]*)\|", text, re.M)
    return {number for cell in cells for number in NUMBER.findall(cell) if number[0] in "Co"}


class Known:
    def __init__(self, rows, rules, tables):
        numbers = {number for row in rows.values() for number in row["ibta"].split(";")}
        self.names = set(rows) | numbers | headings(rules) | headings(tables) | numbers_of_tables(rules)
        self.families = {name.split("/")[0] for name in rows if "/" in name}  # T10-5 stands for all services

    def __contains__(self, number):
        return number in self.names or number in self.families


def unknown_numbers(text, known):
    """(line, number) of each number that does not exist."""
    for line, content in enumerate(text.split("\n"), 1):
        for number in NUMBER.findall(content):
            if number not in known and number.rstrip("-") not in known:
                yield line, number


def differences(rows, rules):
    """Rules that the page words otherwise than the row: (line of the page, what)."""
    for line, content in enumerate(rules.split("\n"), 1):
        if (rule := re.match(r"\* (G\d+\.\d+) (.*)", content)) and rule[1] in rows:
            if rows[rule[1]]["statement"] != rule[2]:
                yield line, f"{rule[1]} reads otherwise in {CSV}:{rows[rule[1]]['line']}"


def shown_by_vectors(root):
    """The statements of all vectors."""
    vectors = (json.loads(path.read_text(encoding="utf-8")) for path in root.glob("vectors/*/*.json"))
    return {number for vector in vectors for number in vector.get("for", [])}


def breaches_of_missing(rows, text, shown):
    """(line, what): a row of what is shown, or none of what is not."""
    records = [(line, fields) for line, fields, _ in read_records(text)][1:]
    listed = {fields[0] for _, fields in records}
    for line, fields in records:
        if fields[0] in shown:
            yield line, f"{fields[0]} has vectors"
    for number, row in rows.items():
        concerned = row["status"] == "active" and row["applies"] != "TCA" and set(row["services"].split(";")) & {"RC", "UC", "UD", "any"}
        if concerned and number not in shown and number not in listed:
            yield 1, f"{number} has neither vectors nor a row"


def files(root):
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    names = sorted(set(listing.split("\0")))
    return [pathlib.PurePath(n) for n in names if n.startswith(TREES) and pathlib.PurePath(n).suffix in SUFFIXES]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    try:
        csv = (root / CSV).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        print(f"{CSV}:1: not UTF-8 at byte {error.start}")
        return 1
    rows, found = read_rows(csv)
    found = [(CSV, line, what) for line, what in found]
    rules, tables = ((root / page).read_text(encoding="utf-8") for page in (RULES, TABLES))
    known = Known(rows, rules, tables)
    found += [(RULES, line, what) for line, what in differences(rows, rules)]
    missing = (root / MISSING).read_text(encoding="utf-8")
    found += [(MISSING, line, what) for line, what in breaches_of_missing(rows, missing, shown_by_vectors(root))]
    named = 0
    texts = [(path, (root / path).read_text(encoding="utf-8")) for path in files(root) if (root / path).is_file()]
    for path, text in texts + [(CSV, csv)]:
        named += len(NUMBER.findall(text))
        found += [(path, line, f"no statement, rule or table is '{number}'") for line, number in unknown_numbers(text, known)]
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    print(f"{len(rows)} statements, {named} references, {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
