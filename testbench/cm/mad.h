// SPDX-License-Identifier: Apache-2.0
// Datagrams of communication management, written and read by the same tables that display them.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "model/proto/wire/mads.h"

namespace hca::cm {
// Attribute IDs of the class (12.6, 12.11).
enum class Message : u16 { Req = 0x10, Mra, Rej, Rep, Rtu, Dreq, Drep, SidrReq, SidrRep };

class Mad {
 public:
  explicit Mad(Message message);
  // Empty: not one of these messages, or not 256 bytes.
  static std::optional<Mad> parse(std::span<const u8> bytes);
  Message message() const;
  // A field of the message or, if it has none of that name, of the MAD header. Throws
  // std::logic_error if that has none either.
  u64 get(std::string_view field) const;
  void set(std::string_view field, u64 value);
  void set_gid(std::string_view field, const proto::Gid& gid);
  std::span<u8> private_data();
  std::span<const u8> private_data() const;
  std::span<const u8, proto::kMadBytes> bytes() const { return bytes_; }

 private:
  Mad() = default;
  std::array<u8, proto::kMadBytes> bytes_{};
};

// "MessageRejected" of a REJ, "MessageMRAed" of an MRA: the message that they answer.
enum class Answered : u8 { Req, Rep, Other };

// A message of service ID resolution.
inline bool is_sidr(const Mad& mad) {
  return mad.message() == Message::SidrReq || mad.message() == Message::SidrRep;
}

// ---- Connections by IP addresses (annex A11)
// The addresses at the beginning of a request's private data.
struct IpHeader {
  u16 source_port = 0;
  proto::Gid source, destination;  // an IPv4 address occupies the last four bytes
  bool ipv6 = false;
};
inline constexpr std::size_t kIpHeaderBytes = proto::kIpCm.bytes;
void put_ip_header(std::span<u8> private_data, const IpHeader& header);
// Empty: another version.
std::optional<IpHeader> ip_header_in(std::span<const u8> private_data);
constexpr u64 service_id(u16 port_space, u16 port) { return u64{port_space} << 16 | port; }
}  // namespace hca::cm
