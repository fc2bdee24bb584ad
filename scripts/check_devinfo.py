#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All that `ibv_devinfo -v` says, beside what the scenario says.

check_devinfo.py HCA SCENARIO TEMPLATE VERSION: TEMPLATE has the text for a device and, behind a line ===, for a port.
"""
import difflib
import sys

from served import Failed, Served, finish

DEFAULTS = {
    "hca.core.ports": 1, "hca.core.max_qps": 65536, "hca.core.max_cqs": 65536, "hca.core.max_regions": 1 << 20, "hca.core.max_pds": 65536,
    "hca.core.max_srqs": 65536, "verbs.vendor_id": 0x2c0de, "verbs.vendor_part_id": 1, "verbs.hw_ver": 0, "connection.framing": "ib_local",
    "hca.port1.link_rate": "100Gb/s", "hca.port2.link_rate": "100Gb/s"}
SCENARIOS = [
    {},
    {"hca.core.ports": 2, "hca.port1.link_rate": "50Gb/s", "hca.port2.link_rate": "25Gb/s", "hca.core.max_qps": 1024, "hca.core.max_cqs": 512,
     "hca.core.max_regions": 4096, "hca.core.max_pds": 128, "hca.core.max_srqs": 256, "verbs.vendor_id": 0x2c9, "verbs.vendor_part_id": 4129,
     "verbs.hw_ver": 7},
    {"hca.core.ports": 2, "connection.framing": "rocev2_ip4"},
    {"connection.framing": "rocev2_ip6"},
    {"connection.framing": "ib_global"}]
WIDTHS = {"25Gb/s": ("1X (1)", "25.0 Gbps (32)"), "50Gb/s": ("1X (1)", "50.0 Gbps (64)"), "100Gb/s": ("4X (2)", "25.0 Gbps (32)")}
DEVICES = ["hca0", "hca1"]
FIRST_QPN = 16  # programs cannot have lower ones


def gids(framing, place, port):
    """Of both devices, each port in a subnet of its own."""
    if framing == "rocev2_ip4":
        return "\n".join(f"\t\t\tGID[{index:3}]:\t\t::ffff:10.0.{port}.{place}, RoCE v2" for index in (0, 3))
    low = place + (port << 8)
    if framing == "rocev2_ip6":
        return "\n".join(f"\t\t\tGID[{index:3}]:\t\tfe80::{low:x}, RoCE v2" for index in (0, 3))
    return f"\t\t\tGID[{0:3}]:\t\tfe80:0000:0000:0000:0000:0000:0000:{low:04x}"


def expected(templates, version, knobs, device):
    place = DEVICES.index(device) + 1
    native = knobs["connection.framing"].startswith("ib")
    max_qp = knobs["hca.core.max_qps"] - FIRST_QPN
    text = templates[0].format(
        name=device, version=version, place=place, vendor_id=knobs["verbs.vendor_id"], vendor_part_id=knobs["verbs.vendor_part_id"],
        hw_ver=knobs["verbs.hw_ver"], ports=knobs["hca.core.ports"], max_qp=max_qp, max_res_rd_atom=128 * max_qp,
        max_cq=knobs["hca.core.max_cqs"] - 2, max_mr=knobs["hca.core.max_regions"] - 1, max_pd=knobs["hca.core.max_pds"] - 2,
        max_srq=knobs["hca.core.max_srqs"] - 1)
    for port in range(knobs["hca.core.ports"]):
        width, speed = WIDTHS[knobs[f"hca.port{port + 1}.link_rate"]]
        text += templates[1].format(
            number=port + 1, sm_lid=int(native), lid=place + len(DEVICES) * port if native else 0, width=width, speed=speed,
            link_layer="InfiniBand" if native else "Ethernet", gids=gids(knobs["connection.framing"], place, port)) + "\n"
    return text


def main():
    hca, scenario, template, version = sys.argv[1:]
    with open(template) as file:
        templates = file.read().split("\n", 1)[1].split("===\n")
    lines = 0
    for settings in SCENARIOS:
        with Served(hca, scenario, [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]) as served:
            for device in DEVICES:
                said = finish(served.start(device, ["ibv_devinfo", "-v"]), "ibv_devinfo -v")
                wanted = expected(templates, version, DEFAULTS | settings, device)
                if said != wanted:
                    raise Failed(f"{settings}: {device}:\n" + "\n".join(difflib.unified_diff(wanted.split("\n"), said.split("\n"), "wanted", "said", lineterm="")))
                lines += said.count("\n")
    print(f"{lines} lines as expected")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"ibv_devinfo -v: {error}")
