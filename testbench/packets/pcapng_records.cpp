// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "model/proto/bytes.h"
#include "testbench/packets/capture_records.h"
#include "testbench/packets/pcapng_format.h"

namespace hca::testbench {
namespace {

constexpr u32 kMaxBlockBytes = 1u << 24;  // of one that we read; others are skipped

// Numbers of a section, in the byte order that it declares.
struct Numbers {
  bool is_swapped = false;
  u32 u32_at(const u8* p) const {
    const u32 big = u32(proto::load_be<4>(p));
    return is_swapped ? __builtin_bswap32(big) : big;
  }
  u16 u16_at(const u8* p) const {
    const u16 big = u16(proto::load_be<2>(p));
    return is_swapped ? __builtin_bswap16(big) : big;
  }
};

// The positions of a packet's parts in a block's body.
struct PacketShape {
  u32 type;
  u32 interface_at;  // kNone: the first interface
  bool interface_is_short;
  u32 time_at;  // kNone: it has none
  u32 captured_at, wire_at, data_at;
};
constexpr u32 kNone = ~u32{0};
constexpr std::array kPacketShapes{
    PacketShape{pcapng::kEnhancedPacket, 0, false, 4, 12, 16, 20},
    PacketShape{pcapng::kPacket, 0, true, 4, 12, 16, 20},
    PacketShape{pcapng::kSimplePacket, kNone, false, kNone, kNone, 0, 4},
};

u64 ticks_of(u8 resolution) {
  constexpr u8 kBinary = 0x80;
  if (resolution & kBinary) return u64{1} << std::min(resolution & 0x7F, 62);
  u64 ticks = 1;
  for (unsigned i = 0; i < std::min<unsigned>(resolution, 18); ++i) ticks *= 10;
  return ticks;
}

class PcapngRecords : public CaptureRecords {
 public:
  explicit PcapngRecords(CaptureBytes file) : file_(std::move(file)) {
    std::array<u8, 8> rest;
    if (file_.read(rest) != rest.size()) file_.fail("truncated dump file: its header is not whole");
    begin_section(rest.data());
  }

  std::optional<CaptureRecord> next() override {
    for (;;) {
      std::array<u8, 12> head;
      const std::size_t got = file_.read({head.data(), 8});
      if (got == 0) return std::nullopt;
      ++blocks_;
      if (got != 8) fail("truncated dump file");
      if (proto::load_be<4>(head.data()) == pcapng::kSectionHeader) {
        if (file_.read({head.data() + 8, 4}) != 4) fail("truncated dump file");
        begin_section(head.data() + 4);
        continue;
      }
      const u32 type = numbers_.u32_at(head.data());
      const u32 size = checked_size(numbers_.u32_at(head.data() + 4));
      if (type == pcapng::kInterface) add_interface(body(size));
      for (const PacketShape& shape : kPacketShapes)
        if (type == shape.type) return record_of(shape, body(size));
      if (type != pcapng::kInterface && !file_.skip(size - 8)) fail("truncated dump file");
    }
  }

 private:
  // `at`: a section header, after its type.
  void begin_section(const u8* at) {
    numbers_.is_swapped = proto::load_be<4>(at + 4) != pcapng::kByteOrderMagic;
    if (numbers_.u32_at(at + 4) != pcapng::kByteOrderMagic) fail("no byte order is known");
    const u32 size = checked_size(numbers_.u32_at(at));
    first_ = interfaces_.size();
    if (!file_.skip(size - 12)) fail("truncated dump file");
  }
  u32 checked_size(u32 size) const {
    if (size < 12 || size % 4 != 0) fail("has the length " + std::to_string(size));
    return size;
  }
  // Between the lengths; both must be the same.
  std::vector<u8> body(u32 size) {
    if (size > kMaxBlockBytes) fail("has the length " + std::to_string(size));
    std::vector<u8> all(size - 12);
    std::array<u8, 4> end;
    if (file_.read(all) != all.size() || file_.read(end) != end.size()) fail("truncated dump file");
    if (numbers_.u32_at(end.data()) != size) fail("its two lengths differ");
    return all;
  }

  // Link type, reserved, snap length, options.
  void add_interface(const std::vector<u8>& body) {
    if (body.size() < 8) fail("is too short for an interface");
    CaptureInterface i;
    i.name = "interface " + std::to_string(interfaces_.size() - first_);
    i.link_type = numbers_.u16_at(body.data());
    i.snap_bytes = numbers_.u32_at(body.data() + 4);
    for (std::size_t at = 8; at + 4 <= body.size();) {
      const u16 option = numbers_.u16_at(body.data() + at),
                size = numbers_.u16_at(body.data() + at + 2);
      at += 4;
      if (option == pcapng::kOptionEnd || at + size > body.size()) break;
      take_option(option, {body.data() + at, size}, i);
      at += (size + 3u) / 4 * 4;
    }
    interfaces_.push_back(std::move(i));
  }
  void take_option(u16 option, std::span<const u8> value, CaptureInterface& i) const {
    if (option == pcapng::kOptionName) i.name.assign(value.begin(), value.end());
    if (option == pcapng::kOptionResolution && !value.empty())
      i.ticks_per_second = ticks_of(value[0]);
    if (option == pcapng::kOptionFcsLength && !value.empty()) i.fcs_bytes = value[0];
    if (option == pcapng::kOptionOffset && value.size() == 8) {
      const u64 big = proto::load_be<8>(value.data());
      i.offset_seconds = std::int64_t(numbers_.is_swapped ? __builtin_bswap64(big) : big);
    }
  }

  CaptureRecord record_of(const PacketShape& shape, const std::vector<u8>& body) const {
    if (body.size() < shape.data_at) fail("is too short for a packet");
    const u8* const at = body.data();
    u32 interface = 0;
    if (shape.interface_at != kNone)
      interface = shape.interface_is_short ? numbers_.u16_at(at) : numbers_.u32_at(at);
    if (interface >= interfaces_.size() - first_)
      fail("is of interface " + std::to_string(interface) + ", which is not described");
    CaptureRecord record;
    record.interface = u32(first_) + interface;
    const CaptureInterface& i = interfaces_[record.interface];
    record.bytes_on_wire = numbers_.u32_at(at + shape.wire_at);
    u32 size = record.bytes_on_wire;
    if (shape.captured_at != kNone)
      size = numbers_.u32_at(at + shape.captured_at);
    else if (i.snap_bytes)
      size = std::min(size, i.snap_bytes);
    if (size > kMaxRecordBytes || shape.data_at + size > body.size())
      fail("has " + std::to_string(size) + " bytes of a packet, more than fit");
    if (shape.time_at != kNone) record.time_ns = time_of(at + shape.time_at, i);
    record.bytes.assign(at + shape.data_at, at + shape.data_at + size);
    return record;
  }
  u64 time_of(const u8* at, const CaptureInterface& i) const {
    const u64 ticks = u64(numbers_.u32_at(at)) << 32 | numbers_.u32_at(at + 4);
    const u64 part = ticks % i.ticks_per_second;
    constexpr u64 kExactly = 10 * kNsPerSecond;  // to here the product fits into 64 bits
    const u64 ns = i.ticks_per_second <= kExactly
                       ? part * kNsPerSecond / i.ticks_per_second
                       : u64((long double)part * kNsPerSecond / (long double)i.ticks_per_second);
    return (ticks / i.ticks_per_second + u64(i.offset_seconds)) * kNsPerSecond + ns;
  }
  [[noreturn]] void fail(const std::string& what) const {
    file_.fail("block " + std::to_string(blocks_) + ": " + what);
  }

  CaptureBytes file_;
  Numbers numbers_;
  std::size_t first_ = 0;  // interface of this section
  u64 blocks_ = 1;
};

}  // namespace

std::unique_ptr<CaptureRecords> make_pcapng_records(CaptureBytes file) {
  return std::make_unique<PcapngRecords>(std::move(file));
}

}  // namespace hca::testbench
