// SPDX-License-Identifier: Apache-2.0
#include "testbench/cm/mad.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "model/proto/wire/mads.h"

namespace hca::cm {
namespace {
using proto::FieldInfo;
using proto::HeaderInfo;

constexpr u8 kBaseVersion = 1, kClassVersion = 2, kSend = 3;

const FieldInfo& field_of(const HeaderInfo& header, std::string_view name) {
  const FieldInfo* const field = proto::find_field(header, name);
  if (!field) throw std::logic_error(std::string(header.name) + " has no " + std::string(name));
  return *field;
}
u64 get_field(const HeaderInfo& header, const u8* from, std::string_view name) {
  const FieldInfo& field = field_of(header, name);
  return proto::get_bits(from, field.bit_at, field.bits);
}
void put_field(const HeaderInfo& header, u8* to, std::string_view name, u64 value) {
  const FieldInfo& field = field_of(header, name);
  proto::set_bits(to, field.bit_at, field.bits, value);
}

// Where a field of a datagram begins, in bits.
struct Bits {
  unsigned at, bits;
};
Bits bits_of_field(const u8* mad, std::string_view name) {
  const u64 attribute = get_field(proto::kMad, mad, "AttributeID");
  const HeaderInfo& layout = *proto::mad_row(proto::kCmClass, attribute)->header;
  if (const FieldInfo* field = proto::find_field(layout, name))
    return {proto::kMadHeaderBytes * 8 + field->bit_at, field->bits};
  const FieldInfo& field = field_of(proto::kMad, name);
  return {field.bit_at, field.bits};
}
}  // namespace

Mad::Mad(Message message) {
  const auto put = [&](std::string_view name, u64 value) {
    put_field(proto::kMad, bytes_.data(), name, value);
  };
  put("BaseVersion", kBaseVersion);
  put("MgmtClass", proto::kCmClass);
  put("ClassVersion", kClassVersion);
  put("Method", kSend);
  put("AttributeID", u64(message));
}

std::optional<Mad> Mad::parse(std::span<const u8> bytes) {
  if (bytes.size() != proto::kMadBytes) return std::nullopt;
  const auto get = [&](std::string_view name) {
    return get_field(proto::kMad, bytes.data(), name);
  };
  const u64 attribute = get("AttributeID");
  if (get("BaseVersion") != kBaseVersion || get("MgmtClass") != proto::kCmClass ||
      get("ClassVersion") != kClassVersion || get("Method") != kSend ||
      attribute < u64(Message::Req) || attribute > u64(Message::SidrRep))
    return std::nullopt;
  Mad mad;
  std::ranges::copy(bytes, mad.bytes_.begin());
  return mad;
}

Message Mad::message() const { return Message(get("AttributeID")); }
u64 Mad::get(std::string_view field) const {
  const Bits place = bits_of_field(bytes_.data(), field);
  return proto::get_bits(bytes_.data(), place.at, place.bits);
}
void Mad::set(std::string_view field, u64 value) {
  const Bits place = bits_of_field(bytes_.data(), field);
  proto::set_bits(bytes_.data(), place.at, place.bits, value);
}
void Mad::set_gid(std::string_view field, const proto::Gid& gid) {
  std::memcpy(bytes_.data() + bits_of_field(bytes_.data(), field).at / 8, gid.bytes.data(),
              gid.bytes.size());
}
std::span<u8> Mad::private_data() {
  const Bits place = bits_of_field(bytes_.data(), "PrivateData");
  return std::span(bytes_).subspan(place.at / 8, place.bits / 8);
}
std::span<const u8> Mad::private_data() const {
  const Bits place = bits_of_field(bytes_.data(), "PrivateData");
  return std::span(bytes_).subspan(place.at / 8, place.bits / 8);
}

// ---- Connections by IP addresses
namespace {
constexpr u64 kIpv4 = 4, kIpv6 = 6;
std::size_t ip_at(std::string_view name) { return field_of(proto::kIpCm, name).bit_at / 8; }
}  // namespace

void put_ip_header(std::span<u8> private_data, const IpHeader& header) {
  u8* const to = private_data.data();
  const auto put = [&](std::string_view name, u64 value) {
    put_field(proto::kIpCm, to, name, value);
  };
  put("MajorVersion", 0);
  put("MinorVersion", 0);
  put("IpVersion", header.ipv6 ? kIpv6 : kIpv4);
  put("SourcePort", header.source_port);
  std::ranges::copy(header.source.bytes, to + ip_at("SourceIp"));
  std::ranges::copy(header.destination.bytes, to + ip_at("DestinationIp"));
}
std::optional<IpHeader> ip_header_in(std::span<const u8> private_data) {
  const u8* const from = private_data.data();
  const auto get = [&](std::string_view name) { return get_field(proto::kIpCm, from, name); };
  const u64 version = get("IpVersion");
  if (get("MajorVersion") || (version != kIpv4 && version != kIpv6)) return std::nullopt;
  IpHeader header;
  header.ipv6 = version == kIpv6;
  header.source_port = u16(get("SourcePort"));
  std::copy_n(from + ip_at("SourceIp"), header.source.bytes.size(), header.source.bytes.begin());
  std::copy_n(from + ip_at("DestinationIp"), header.destination.bytes.size(),
              header.destination.bytes.begin());
  return header;
}
}  // namespace hca::cm
