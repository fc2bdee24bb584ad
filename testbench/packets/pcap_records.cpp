// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "model/proto/bytes.h"
#include "testbench/packets/capture_records.h"
#include "testbench/packets/pcap_format.h"

namespace hca::testbench {
namespace {

class PcapRecords : public CaptureRecords {
 public:
  PcapRecords(CaptureBytes file, u32 magic)
      : file_(std::move(file)), variant_(*pcap_format::variant_of(magic)) {
    std::array<u8, pcap_format::kHeaderBytes - kMagicBytes> rest;
    if (file_.read(rest) != rest.size()) file_.fail("truncated dump file: its header is not whole");
    const u32 network = number(rest.data() + 16);
    CaptureInterface& all = interfaces_.emplace_back();
    all.name = "interface 0";
    all.link_type = int(network & pcap_format::kLinkTypeMask);
    if (network & pcap_format::kHasFcsLength)
      all.fcs_bytes = u8(2 * (network >> pcap_format::kFcsShift));
  }

  std::optional<CaptureRecord> next() override {
    std::array<u8, 24> header;
    const std::size_t got = file_.read({header.data(), variant_.record_header_bytes});
    if (got == 0) return std::nullopt;
    ++count_;
    if (got != variant_.record_header_bytes) fail("truncated dump file");
    CaptureRecord record;
    const u64 fraction = number(header.data() + 4);
    record.time_ns = u64(number(header.data())) * kNsPerSecond +
                     fraction * (variant_.has_nanoseconds ? 1 : 1000);
    const u32 size = number(header.data() + 8);
    record.bytes_on_wire = number(header.data() + 12);
    if (size > kMaxRecordBytes) fail("has " + std::to_string(size) + " bytes, at most 262144");
    record.bytes.resize(size);
    if (file_.read(record.bytes) != size) fail("truncated dump file");
    return record;
  }

 private:
  u32 number(const u8* at) const {
    const u32 big = u32(proto::load_be<4>(at));
    return variant_.is_swapped ? __builtin_bswap32(big) : big;
  }
  [[noreturn]] void fail(const std::string& what) const {
    file_.fail("record " + std::to_string(count_) + ": " + what);
  }

  CaptureBytes file_;
  pcap_format::Variant variant_;
  u64 count_ = 0;
};

}  // namespace

std::unique_ptr<CaptureRecords> make_pcap_records(CaptureBytes file, u32 magic) {
  return std::make_unique<PcapRecords>(std::move(file), magic);
}

}  // namespace hca::testbench
