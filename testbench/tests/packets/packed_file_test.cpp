// SPDX-License-Identifier: Apache-2.0
// Files packed by zstd or xz: the bytes of the packed ones are written here by hand, or by xz.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

#include "model/proto/types.h"
#include "testbench/packets/packed_file.h"

namespace hca::testbench {
namespace {
using Bytes = std::vector<u8>;

// One frame of blocks of one repeated byte each, of at most 128 KiB (RFC 8878, 3.1.1).
Bytes zstd_of(u32 bytes) {
  constexpr u32 kLargestBlock = 1u << 17;
  Bytes packed{0x28, 0xB5, 0x2F, 0xFD, 0xA0};  // single segment, its size in 4 bytes
  const auto put = [&](u32 value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) packed.push_back(u8(value >> 8 * i));
  };
  put(bytes, 4);
  do {
    const u32 block = std::min(bytes, kLargestBlock);
    bytes -= block;
    put(block << 3 | 1 << 1 | (bytes == 0), 3), put('a', 1);
  } while (bytes);
  return packed;
}
// "hello, hello, hello\n", by xz --check=crc32.
const Bytes kXz{0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36,
                0x02, 0x00, 0x21, 0x01, 0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc,
                0xe0, 0x00, 0x13, 0x00, 0x0e, 0x5d, 0x00, 0x34, 0x19, 0x49, 0xee, 0x8d,
                0xef, 0x8c, 0x87, 0x31, 0xf5, 0x2f, 0x64, 0x00, 0x00, 0x00, 0x00, 0x00,
                0xe7, 0x42, 0x6e, 0x52, 0x00, 0x01, 0x26, 0x14, 0x72, 0xe2, 0x82, 0xf9,
                0x90, 0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a};

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// What the file holds, or why it is refused; "not packed".
std::string unpacked(const Bytes& packed) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("hca_packed_" + std::to_string(getpid())))
          .string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(packed.data()), std::streamsize(packed.size()));
  std::string text = "not packed";
  try {
    if (const auto file = unpacked_file(path, "it")) {
      text.assign(std::size_t(lseek(*file, 0, SEEK_END)), '\0');
      if (pread(*file, text.data(), text.size(), 0) != ssize_t(text.size())) text = "not read";
      close(*file);
    }
  } catch (const std::runtime_error& refused) {
    text = refused.what();
  }
  std::filesystem::remove(path);
  return text;
}
}  // namespace

TEST_CASE("a file packed by zstd has its bytes, however many", "[packed]") {
  // Around the size of the buffer, and twice that.
  const u32 bytes = GENERATE(0u, 1u, 131071u, 131072u, 131073u, 262144u);
  CAPTURE(bytes);
  CHECK(unpacked(zstd_of(bytes)) == std::string(bytes, 'a'));
  CHECK(unpacked(joined(zstd_of(bytes), zstd_of(3))) == std::string(bytes + 3, 'a'));
}

TEST_CASE("a file packed by xz has its bytes", "[packed]") {
  CHECK(unpacked(kXz) == "hello, hello, hello\n");
  CHECK(unpacked(joined(kXz, kXz)) == "hello, hello, hello\nhello, hello, hello\n");
}

TEST_CASE("a packed file that is damaged or ends early is refused", "[packed]") {
  for (const Bytes& whole : {zstd_of(200'000), kXz}) {
    CAPTURE(whole[0]);
    const std::size_t cut = GENERATE_REF(range(std::size_t{4}, std::size_t{17}));
    CHECK(unpacked(Bytes(whole.begin(), whole.end() - std::ptrdiff_t(whole.size() - cut))) ==
          "it: the packed file ends early");
  }
  Bytes damaged = kXz;
  damaged[30] ^= 1;
  CHECK_THAT(unpacked(damaged), Catch::StartsWith("it: is damaged: liblzma says "));
  damaged = zstd_of(10);
  damaged[9] |= 3 << 1;  // a kind of block that does not exist
  CHECK_THAT(unpacked(damaged), Catch::StartsWith("it: is damaged: "));
  CHECK(unpacked({'t', 'e', 'x', 't', '\n'}) == "not packed");
  CHECK(unpacked({0x28}) == "not packed");
}
}  // namespace hca::testbench
