// SPDX-License-Identifier: Apache-2.0
// A captured frame as a port of the device sees it, without the additions of a recorder or a
// tunnel.
#pragma once
#include "model/proto/wire/open_frame.h"
#include "testbench/packets/pcap_file.h"

namespace hca::testbench {

struct DeviceFrame {
  // Empty: there is a packet. Otherwise the reason why not: "ARP", "cut before its BTH", ...
  std::string other;
  // An Ethernet frame with at most one tag (the innermost) and no FCS, or a native packet. If the
  // capture has no Ethernet header, the addresses are zero.
  std::vector<u8> bytes;
  proto::LinkLayer link = proto::LinkLayer::Ethernet;
  bool is_cut = false;  // then bytes_on_wire is more than bytes.size()
  u32 bytes_on_wire = 0;
  bool has_ethernet = true;  // its addresses come from the wire
  // False: the bytes that the ICRC covers before the UDP header or BTH are missing, or not a plain
  // header.
  bool has_icrc = true;
};
DeviceFrame device_frame(const CapturedFrame& captured);

// The length of an FCS at the end of a whole Ethernet frame, as given by the capture or recognised
// by its value; 0: none.
u32 fcs_bytes_of(const CapturedFrame& captured);
bool fcs_is_good(std::span<const u8> frame_with_fcs);

}  // namespace hca::testbench
