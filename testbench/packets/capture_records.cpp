// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/capture_records.h"

#include <array>

#include "model/proto/bytes.h"
#include "testbench/packets/pcap_format.h"
#include "testbench/packets/pcapng_format.h"

namespace hca::testbench {
namespace {
struct OtherKind {
  u32 magic;
  std::string_view text;
};
constexpr std::array kOtherKinds{
    OtherKind{0x04224D18, "is packed by lz4: unpack it first"},
    OtherKind{0x425A6839, "is packed by bzip2: unpack it first"},
    OtherKind{0x504B0304, "is a zip archive: unpack it first"},
    OtherKind{0x736E6F6F, "is a snoop file: convert it with editcap or tshark -w"},
};
u32 magic_of(std::span<const u8> bytes) {
  return bytes.size() < kMagicBytes ? 0 : u32(proto::load_be<4>(bytes.data()));
}
}  // namespace

bool is_capture(std::span<const u8> first_bytes) {
  const u32 magic = magic_of(first_bytes);
  return magic == pcapng::kSectionHeader || pcap_format::variant_of(magic).has_value();
}

std::string named_kind_of(std::span<const u8> first_bytes) {
  for (const OtherKind& kind : kOtherKinds)
    if (magic_of(first_bytes) == kind.magic) return std::string(kind.text);
  return "";
}

std::unique_ptr<CaptureRecords> make_capture_records(CaptureBytes file) {
  std::array<u8, kMagicBytes> head{};
  const std::span<const u8> got(head.data(), file.read(head));
  if (const std::string kind = named_kind_of(got); !kind.empty()) file.fail(kind);
  if (!is_capture(got)) file.fail("unknown file format");
  const u32 magic = magic_of(got);
  return magic == pcapng::kSectionHeader ? make_pcapng_records(std::move(file))
                                         : make_pcap_records(std::move(file), magic);
}

}  // namespace hca::testbench
