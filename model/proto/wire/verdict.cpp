// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/packet.h"

namespace hca::proto {
namespace {

using enum PacketVerdict;

// In the order of the enumeration.
// clang-format off
constexpr std::array kVerdictRows{
  //         verdict            name                 statement  foreign sentence
  VerdictRow{Good,              "good",              "",        false,  "the structure is whole"},
  VerdictRow{Truncated,         "truncated",         "T12-4",   false,  "the frame ends before its headers, lengths or CRCs do"},
  VerdictRow{UnknownEtherType,  "unknown EtherType", "G34.3",   true,   "the frame is neither IPv4, IPv6 nor RoCEv1"},
  VerdictRow{RawPacket,         "raw packet",        "BTH-1",   true,   "LNH says raw: there is no BTH"},
  VerdictRow{BadLver,           "bad LVer",          "T12-1",   false,  "LVer is not 0"},
  VerdictRow{BadIpVersion,      "bad IP version",    "C9-45",   false,  "IPVer does not fit what was announced"},
  VerdictRow{BadIpHeaderLength, "bad IHL",           "G34.3",   false,  "the IPv4 header is not 5 words long"},
  VerdictRow{BadIpChecksum,     "bad IP checksum",   "G34.3",   false,  "the IPv4 header checksum is wrong"},
  VerdictRow{Fragment,          "fragment",          "G34.3",   false,  "the IPv4 packet is a fragment"},
  VerdictRow{NotUdp,            "not UDP",           "G34.3",   true,   "the IP packet carries no UDP"},
  VerdictRow{BadUdpPort,        "bad UDP port",      "G34.3",   true,   "the UDP destination port is not 4791"},
  VerdictRow{BadUdpChecksum,    "bad UDP checksum",  "G34.3",   false,  "the UDP checksum is neither 0 nor right"},
  VerdictRow{BadNextHeader,     "bad NxtHdr",        "C9-44",   false,  "NxtHdr of the GRH is not 0x1B"},
  VerdictRow{BadLength,         "bad length",        "G34.3",   false,  "two lengths contradict each other, or the packet is not whole 4-byte words"},
  VerdictRow{BadPad,            "bad PadCnt",        "BTH-8",   false,  "PadCnt is larger than the payload"},
  VerdictRow{BadTver,           "bad TVer",          "C9-36",   false,  "TVer is not 0"},
  VerdictRow{ReservedOpcode,    "reserved OpCode",   "BTH-4",   false,  "the OpCode is reserved or a manufacturer's"},
  VerdictRow{BadIcrc,           "bad ICRC",          "T12-1",   false,  "the ICRC is wrong"},
  VerdictRow{BadVcrc,           "bad VCRC",          "T12-1",   false,  "the VCRC is wrong"},
};
// clang-format on
static_assert([] {
  for (std::size_t i = 0; i < kVerdictRows.size(); ++i)
    if (std::size_t(kVerdictRows[i].verdict) != i) return false;
  return kVerdictRows.size() == std::size_t(BadVcrc) + 1;
}());

}  // namespace

std::span<const VerdictRow> verdict_rows() { return kVerdictRows; }
const VerdictRow& verdict_row(PacketVerdict verdict) { return kVerdictRows[std::size_t(verdict)]; }

}  // namespace hca::proto
