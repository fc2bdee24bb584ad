// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/fields.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "model/proto/wire/print.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr unsigned kGidBits = 128;
constexpr unsigned kMaxNumberBits = 64;

void put_bits(u8* bytes, unsigned at, unsigned bits, u64 value) {
  for (unsigned i = 0; i < bits; ++i) {
    const unsigned bit = at + bits - 1 - i;
    const u8 mask = u8(0x80u >> bit % 8);
    bytes[bit / 8] = u8(value >> i & 1 ? bytes[bit / 8] | mask : bytes[bit / 8] & ~mask);
  }
}

std::array<u8, 16> gid_of(const JsonAt& json) {
  std::array<u8, 16> gid;
  if (inet_pton(AF_INET6, json.text().c_str(), gid.data()) != 1)
    json.refuse("is '" + json.text() + "'", "an IPv6 address or GID");
  return gid;
}

// Addresses as they are written: "192.0.2.1", "02:00:00:00:00:01".
std::optional<u64> address_of(Show show, const JsonAt& json) {
  if (!json.value().is_string()) return std::nullopt;
  const char* text = json.text().c_str();
  if (in_addr ip; show == Show::Ipv4 && inet_pton(AF_INET, text, &ip) == 1) return ntohl(ip.s_addr);
  std::array<unsigned, 6> m{};
  int end = 0;
  if (show != Show::Mac ||
      std::sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5],
                  &end) != 6 ||
      text[end])
    return std::nullopt;
  u64 mac = 0;
  for (const unsigned byte : m) mac = mac << 8 | byte;
  return mac;
}

u64 number_of(const FieldInfo& field, const JsonAt& json, const Symbols& symbols) {
  if (const std::optional<u64> address = address_of(field.show, json)) return *address;
  return symbols.value(json, low_mask(field.bits));
}
}  // namespace

const FieldInfo* find_field(const HeaderInfo& header, std::string_view name) {
  const auto found = std::find_if(header.begin(), header.end(),
                                  [&](const FieldInfo& f) { return f.name == name; });
  return found == header.end() ? nullptr : &*found;
}

void set_field(u8* header, const FieldInfo& field, const JsonAt& json, const Symbols& symbols) {
  if (field.bits == kGidBits) {
    const std::array<u8, 16> gid = gid_of(json);
    std::copy(gid.begin(), gid.end(), header + field.bit_at / 8);
  } else if (field.bits > kMaxNumberBits) {
    json.refuse("is a table", "fields of at most 64 bits, and GIDs");
  } else {
    put_bits(header, field.bit_at, field.bits, number_of(field, json, symbols));
  }
}

std::optional<FieldDifference> compare_field(const u8* header, const HeaderInfo& info,
                                             const FieldInfo& field, const JsonAt& json,
                                             const Symbols& symbols) {
  std::vector<u8> expected(header, header + info.bytes);
  set_field(expected.data(), field, json, symbols);
  if (std::equal(expected.begin(), expected.end(), header)) return std::nullopt;
  return FieldDifference{std::string(info.name), std::string(field.name),
                         value_text(field, expected.data()), value_text(field, header)};
}

std::string names_of_fields(const HeaderInfo& header) {
  std::string names;
  for (const FieldInfo& f : header) {
    if (f.is_reserved) continue;
    if (!names.empty()) names += ", ";
    names += f.name;
  }
  return names;
}
}  // namespace hca::testbench
