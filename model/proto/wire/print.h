// SPDX-License-Identifier: Apache-2.0
// Field values in readable form.
#pragma once
#include <string>

#include "model/proto/wire/layout.h"

namespace hca::proto {

// The value of a field of the header that starts at `header`: "0x1F", "4096", "0xABCDEF
// (11259375)", an address.
std::string value_text(const FieldInfo& field, const u8* header);

// The meaning of the value if the number alone does not show it ("RC SEND Only", "NAK Invalid
// Request"); else "".
std::string meaning_of(const HeaderInfo& info, const FieldInfo& field, const u8* header);

std::string ipv4_text(u32 address);
std::string mac_text(u64 address);
std::string gid_text(const u8* bytes);  // in the notation of RFC 5952 for IPv6 addresses
std::string hex_text(u64 value, unsigned digits);

}  // namespace hca::proto
