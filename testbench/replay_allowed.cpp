// SPDX-License-Identifier: Apache-2.0
// The allowed differences between a recording and a replay: nothing else may differ.
#include "model/proto/ip_checksum.h"
#include "model/proto/syndrome.h"
#include "testbench/replay_compare.h"

namespace hca::testbench {
using namespace proto;

namespace {
Ipv4 ipv4_of(std::span<const u8> frame, const ParsedPacket& p) {
  return decode<Ipv4>(frame.data() + p.network_offset);
}
bool atomic_datagrams(const FramePair& f) {
  const auto whole = [](const Ipv4& ip) { return ip.dont_fragment && !ip.fragment_offset; };
  return whole(ipv4_of(f.recorded, f.recorded_packet)) && whole(ipv4_of(f.ours, f.our_packet));
}
bool has_good_checksum(std::span<const u8> frame, const ParsedPacket& p) {
  return ipv4_checksum_good(frame.data() + p.network_offset);
}
bool both_checksums_right(const FramePair& f) {
  return has_good_checksum(f.recorded, f.recorded_packet) &&
         has_good_checksum(f.ours, f.our_packet);
}
bool dynamic_ports(const FramePair& f) {
  return is_roce_source_port(f.recorded_value) && is_roce_source_port(f.our_value);
}
bool connected_migrated(const FramePair& f) {
  const Service service = f.our_packet.opcode->service;
  return (service == Service::Rc || service == Service::Uc) && !f.recorded_value && f.our_value;
}
bool ack_without_credits(const FramePair& f) {
  return syndrome_kind(u8(f.recorded_value)) == SyndromeKind::Ack &&
         syndrome_kind(u8(f.our_value)) == SyndromeKind::Ack &&
         syndrome_value(u8(f.recorded_value)) == kCreditsUnused;
}
bool both_icrcs_good(const FramePair& f) {
  return icrc_good(f.recorded, f.recorded_packet) && icrc_good(f.ours, f.our_packet);
}

constexpr std::array kAllowed{
    // clang-format off
    //                header   field             condition                                   holds                 statement              reason
    AllowedDifference{"IPv4",  "Identification", "both datagrams are whole and have DF set",  atomic_datagrams,     "G34, RFC 6864",       "a counter of the sender; without fragments it means nothing"},
    AllowedDifference{"IPv4",  "HeaderChecksum", "each is right for its own header",          both_checksums_right, "RFC 791",             "follows from the identification"},
    AllowedDifference{"UDP",   "SourcePort",     "both are in the range of RoCEv2",           dynamic_ports,        "G34.4",               "the sender's choice for each queue pair"},
    AllowedDifference{"BTH",   "M",              "RC or UC, recorded 0 and ours 1",           connected_migrated,   "G17.5, oddity 1",     "the recording device never says that the path is migrated"},
    AllowedDifference{"AETH",  "Syndrome",       "both are ACKs, the recorded credit is 31",  ack_without_credits,  "G6.1, oddity 2",      "the recording device announces no credits"},
    AllowedDifference{"ICRC",  "Value",          "each is good for its own frame",            both_icrcs_good,      "C9-1",                "follows from the fields above"},
    // clang-format on
};
}  // namespace

std::span<const AllowedDifference> allowed_differences() { return kAllowed; }
}  // namespace hca::testbench
