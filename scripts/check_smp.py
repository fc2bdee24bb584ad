#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_smp.py HCA VECTORS: the answers of QP 0 in the vectors of the subnet management agent, as tshark reads them: values of
the statements by tshark's names, the transaction of each request, and no malformed packet."""
import pathlib
import subprocess
import sys
import tempfile

DIRECTION, OUT = "frame.packet_flags_direction", "0x00000002"
TRANSACTION, METHOD = "infiniband.mad.transactionid", "infiniband.mad.method"
STATUS, ATTRIBUTE = "infiniband.mad.status", "infiniband.mad.attributeid"
NODE, PORT, DIRECTED = "infiniband.nodeinfo.", "infiniband.portinfo.", "infiniband.smpdirected."
GET_RESPONSE = 0x81

# By vector, for each answer in order: some of tshark's fields and their values. {}: only what holds for all.
EXPECTED = {
    "node": [{NODE + "nodetype": 1, NODE + "numports": 1, NODE + "partitioncap": 16, NODE + "localportnum": 1, NODE + "portguid": 1, STATUS: 0},
             {ATTRIBUTE: 0x10, "infiniband.nodedescription.nodestring": "hca"}, {STATUS: 0xc}, {STATUS: 0xc}],
    "port_info": [{PORT + "lid": 1, PORT + "lmc": 0, PORT + "portstate": 4, PORT + "portphysicalstate": 5, PORT + "neighbormtu": 5,
                   PORT + "mtucap": 5, PORT + "vlcap": 1, PORT + "guidcap": 8, PORT + "capabilitymask.clientregistrationsupported": 1},
                  {PORT + "lid": 1}, {STATUS: 0x1c}],
    "lid_and_lmc": [{PORT + "lid": 8, PORT + "lmc": 2, PORT + "mastersmlid": 2, PORT + "mastersmsl": 3, PORT + "clientreregister": 1,
                     PORT + "subnettimeout": 18}, {PORT + "lid": 8, PORT + "clientreregister": 0}],
    "m_key_protect_2": [{PORT + "m_keyprotectbits": 2, PORT + "m_key": 0xabcdef},
                        {PORT + "m_keyprotectbits": 2, PORT + "m_keyviolations": 2}],
    "directed": [{DIRECTED + "smpstatus": 0x8000, DIRECTED + "hoppointer": 2, DIRECTED + "hopcount": 2, NODE + "nodetype": 1},
                 {DIRECTED + "smpstatus": 0x8000, DIRECTED + "hopcount": 0}, {DIRECTED + "drslid": 7}, {DIRECTED + "smpstatus": 0x800c}],
}


def value_of(text, wanted):
    return text if isinstance(wanted, str) else int(text or "-1", 0)


def read(path, names):
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]
    done = subprocess.run(command + [w for name in names for w in ("-e", name)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [dict(zip(names, line.split("|"))) for line in done.stdout.splitlines()]


def check(path, expected):
    names = [DIRECTION, TRANSACTION, METHOD, "_ws.malformed"] + sorted({name for answer in expected for name in answer})
    rows, wrong, asked = read(path, names), [], None
    answers = []
    for row in rows:
        if row["_ws.malformed"]:
            wrong.append("tshark finds a packet malformed")
        if row[DIRECTION] != OUT:
            asked = row[TRANSACTION]
            continue
        answers.append(row)
        if int(row[METHOD] or "0", 0) != GET_RESPONSE or row[TRANSACTION] != asked:
            wrong.append(f"an answer has method {row[METHOD]}, transaction {row[TRANSACTION]}")
    if len(answers) != len(expected):
        wrong.append(f"{len(answers)} answers, {len(expected)} expected")
    for index, (row, values) in enumerate(zip(answers, expected)):
        for name, wanted in values.items():
            if value_of(row[name], wanted) != wanted:
                wrong.append(f"answer {index}: {name} is {row[name]!r}, expected {wanted!r}")
    return wrong


def main():
    hca, vectors = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        command = [hca, "vectors", "export", folder, *[str(vectors / "sma" / f"{name}.json") for name in EXPECTED]]
        subprocess.run(command, check=True, capture_output=True)
        for name, expected in EXPECTED.items():
            found = list(pathlib.Path(folder).rglob(f"{name}.pcapng"))
            wrong += [f"{name}: {what}" for what in (check(found[0], expected) if found else ["was not exported"])]
    for what in wrong:
        print(what)
    print(f"{sum(len(answers) for answers in EXPECTED.values())} answers, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
