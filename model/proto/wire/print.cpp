// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/print.h"

#include "model/proto/transport/syndrome.h"
#include "model/proto/wire/framing.h"
#include "model/proto/wire/mads.h"
#include "model/proto/wire/opcodes.h"

namespace hca::proto {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEF";

std::string hex_digits(u64 value, unsigned digits) {
  std::string text(digits, '0');
  for (unsigned i = digits; i > 0; --i, value >>= 4) text[i - 1] = kDigits[value & 0xF];
  return text;
}
std::string lower(std::string text) {
  for (char& c : text) c = char(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}

std::string opcode_meaning(u64 value) {
  const OpcodeRow* const row = opcode_row(u8(value));
  if (row == nullptr) return value >= 0xC0 ? "manufacturer" : "reserved";
  return std::string(name_of(row->service)) + " " + std::string(row->name);
}

// Hundredths of a millisecond, formatted as in the specification's table.
std::string milliseconds(u32 hundredths) {
  const std::string cents = std::to_string(100 + hundredths % 100).substr(1);
  return std::to_string(hundredths / 100) + "." + cents + " ms";
}

std::string syndrome_meaning(u64 value) {
  const u8 low = syndrome_value(u8(value));
  switch (syndrome_kind(u8(value))) {
    case SyndromeKind::Ack:
      return low == kCreditsUnused ? "ACK, credits unused"
                                   : "ACK, " + std::to_string(credits_of(low)) + " credits";
    case SyndromeKind::RnrNak:
      return "RNR NAK, " + milliseconds(kRnrDelays[low]);
    case SyndromeKind::Nak:
      return "NAK " + (low < kNakRows.size() ? std::string(kNakRows[low].name) : "reserved code");
    case SyndromeKind::Reserved:
      break;
  }
  return "reserved";
}

std::string lnh_meaning(u64 value) {
  constexpr std::array<std::string_view, 4> names{"raw", "raw IPv6", "IBA local", "IBA global"};
  return std::string(names[value & 3]);
}

std::string ether_type_meaning(u64 value) {
  switch (value) {
    case kEtherTypeIpv4:
      return "IPv4";
    case kEtherTypeIpv6:
      return "IPv6";
    case kEtherTypeRoce:
      return "RoCEv1";
    case kEtherTypeVlan:
      return "VLAN";
    default:
      return "";
  }
}
std::string ip_protocol_meaning(u64 value) { return value == kIpProtocolUdp ? "UDP" : ""; }
std::string grh_next_meaning(u64 value) { return value == kNextHeaderIba ? "IBA transport" : ""; }
std::string port_meaning(u64 value) { return value == kRoceUdpPort ? "RoCEv2" : ""; }
std::string ecn_meaning(u64 value) {
  constexpr std::array<std::string_view, 4> names{"not ECN-capable", "ECT(1)", "ECT(0)", "CE"};
  return "DSCP " + std::to_string(value >> 2) + ", " + std::string(names[value & 3]);
}

struct MeaningRow {
  std::string_view header;
  std::string_view field;
  std::string (*text)(u64 value);
};
constexpr std::array kMeanings{
    MeaningRow{"BTH", "OpCode", opcode_meaning},
    MeaningRow{"AETH", "Syndrome", syndrome_meaning},
    MeaningRow{"LRH", "LNH", lnh_meaning},
    MeaningRow{"Ethernet", "EtherType", ether_type_meaning},
    MeaningRow{"VLAN", "EtherType", ether_type_meaning},
    MeaningRow{"SLL", "EtherType", ether_type_meaning},
    MeaningRow{"SLL2", "EtherType", ether_type_meaning},
    MeaningRow{"GRE", "Protocol", ether_type_meaning},
    MeaningRow{"GENEVE", "Protocol", ether_type_meaning},
    MeaningRow{"GRH", "NxtHdr", grh_next_meaning},
    MeaningRow{"GRH", "TClass", ecn_meaning},
    MeaningRow{"IPv4", "TOS", ecn_meaning},
    MeaningRow{"IPv4", "Protocol", ip_protocol_meaning},
    MeaningRow{"IPv6", "TrafficClass", ecn_meaning},
    MeaningRow{"IPv6", "NextHeader", ip_protocol_meaning},
    MeaningRow{"UDP", "DestinationPort", port_meaning},
};

// The longest run of zero groups, at least two: {first, length}.
std::pair<int, int> zero_run(const std::array<u16, 8>& groups) {
  int best = 0, best_size = 1;
  for (int first = 0; first < 8; ++first) {
    int size = 0;
    while (first + size < 8 && groups[std::size_t(first + size)] == 0) ++size;
    if (size > best_size) {
      best = first;
      best_size = size;
    }
  }
  return {best, best_size > 1 ? best_size : 0};
}

}  // namespace

std::string hex_text(u64 value, unsigned digits) { return "0x" + hex_digits(value, digits); }

std::string ipv4_text(u32 address) {
  std::string text = std::to_string(address >> 24);
  for (int shift : {16, 8, 0}) text += "." + std::to_string(address >> shift & 0xFF);
  return text;
}

std::string mac_text(u64 address) {
  std::string text = lower(hex_digits(address, 12));
  for (std::size_t at : {10u, 8u, 6u, 4u, 2u}) text.insert(at, ":");
  return text;
}

std::string gid_text(const u8* bytes) {
  std::array<u16, 8> groups;
  for (unsigned i = 0; i < 8; ++i) groups[i] = u16(load_be<2>(bytes + 2 * i));
  const bool mapped = load_be<8>(bytes) == 0 && load_be<4>(bytes + 8) == 0xFFFF;
  if (mapped) return "::ffff:" + ipv4_text(u32(load_be<4>(bytes + 12)));
  const auto [first, size] = zero_run(groups);
  std::string text;
  for (int i = 0; i < 8; ++i) {
    if (size > 0 && i == first) {
      text += "::";
      i += size - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ":";
    const std::string group = lower(hex_digits(groups[std::size_t(i)], 4));
    const std::size_t digit = group.find_first_not_of('0');
    text += digit == std::string::npos ? "0" : group.substr(digit);
  }
  return text;
}

std::string value_text(const FieldInfo& field, const u8* header) {
  if (field.show == Show::Gid) return gid_text(header + field.bit_at / 8);
  if (field.bits > 64) {
    std::string text;
    for (unsigned i = 0; i < field.bits / 8; ++i)
      text += hex_digits(header[field.bit_at / 8 + i], 2);
    return text;
  }
  const u64 value = get_bits(header, field.bit_at, field.bits);
  const std::string hex = hex_text(value, (field.bits + 3) / 4);
  switch (field.show) {
    case Show::Dec:
      return std::to_string(value);
    case Show::Both:
      return hex + " (" + std::to_string(value) + ")";
    case Show::Mac:
      return mac_text(value);
    case Show::Ipv4:
      return ipv4_text(u32(value));
    default:
      return hex;
  }
}

std::string meaning_of(const HeaderInfo& info, const FieldInfo& field, const u8* header) {
  for (const MeaningRow& row : kMeanings)
    if (row.header == info.name && row.field == field.name)
      return row.text(get_bits(header, field.bit_at, field.bits));
  return mad_meaning_of(info, field, header);
}

}  // namespace hca::proto
