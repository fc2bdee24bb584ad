// SPDX-License-Identifier: Apache-2.0
#include "testbench/pcapng_interfaces.h"

#include <bit>
#include <cstring>
#include <fstream>

#include "testbench/pcapng_format.h"

namespace hca::testbench {
namespace {

constexpr u32 kMaxDescription = 1u << 20;  // bytes of one block that we read

// Numbers of a section, in the byte order that it declares.
struct Numbers {
  bool swapped = false;
  u32 u32_at(const char* p) const {
    u32 v;
    std::memcpy(&v, p, 4);
    return swapped ? __builtin_bswap32(v) : v;
  }
  u16 u16_at(const char* p) const {
    u16 v;
    std::memcpy(&v, p, 2);
    return swapped ? __builtin_bswap16(v) : v;
  }
};

// The body of an interface description: link type, reserved, snap length, options.
PcapngInterface interface_of(const std::string& body, const Numbers& numbers, std::size_t index) {
  PcapngInterface result{"interface " + std::to_string(index), numbers.u16_at(body.data())};
  for (std::size_t at = 8; at + 4 <= body.size();) {
    const u16 option = numbers.u16_at(body.data() + at),
              size = numbers.u16_at(body.data() + at + 2);
    at += 4;
    if (option == pcapng::kOptionEnd || at + size > body.size()) break;
    if (option == pcapng::kOptionName) result.name = body.substr(at, size);
    at += (size + 3u) / 4 * 4;
  }
  return result;
}

}  // namespace

std::vector<PcapngInterface> pcapng_interfaces(const std::string& path) {
  std::vector<PcapngInterface> all;
  std::ifstream file(path, std::ios::binary);
  Numbers numbers;
  char head[12];
  bool in_section = false;
  while (file.read(head, 8)) {
    u32 type;
    std::memcpy(&type, head, 4);
    if (type == pcapng::kSectionHeader) {  // a palindrome: it says the byte order of what follows
      if (!file.read(head + 8, 4)) break;
      u32 magic;
      std::memcpy(&magic, head + 8, 4);
      numbers.swapped = magic != pcapng::kByteOrderMagic;
      file.seekg(-4, std::ios::cur);
      in_section = true;
    }
    if (!in_section) break;
    const u32 size = numbers.u32_at(head + 4);
    if (size < 12 || size % 4 != 0) break;
    if (numbers.u32_at(head) == pcapng::kInterface && size >= 20 && size <= kMaxDescription) {
      std::string body(size - 12, '\0');
      if (!file.read(body.data(), std::streamsize(body.size()))) break;
      all.push_back(interface_of(body, numbers, all.size()));
      file.seekg(4, std::ios::cur);
    } else {
      file.seekg(size - 8, std::ios::cur);
    }
  }
  return all;
}

}  // namespace hca::testbench
