// SPDX-License-Identifier: Apache-2.0
// Raw records of pcap and pcapng files, before their link layer is decoded.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testbench/packets/capture_bytes.h"

namespace hca::testbench {

inline constexpr u64 kNsPerSecond = 1'000'000'000;
inline constexpr std::size_t kMaxRecordBytes = 262144;  // of one record, with its ERF header

struct CaptureInterface {
  std::string name;             // from the file, else "interface N"
  int link_type = 0;            // number in the pcap registry
  u32 snap_bytes = 0;           // 0: no limit
  std::optional<u8> fcs_bytes;  // at the end of each frame, if the file gives it
  u64 ticks_per_second = 1'000'000;
  std::int64_t offset_seconds = 0;
};

struct CaptureRecord {
  u64 time_ns = 0;
  u32 interface = 0;
  std::vector<u8> bytes;
  u32 bytes_on_wire = 0;
};

class CaptureRecords {
 public:
  virtual ~CaptureRecords() = default;
  // Empty at the end of the file; a damaged one throws std::runtime_error with the record's number.
  virtual std::optional<CaptureRecord> next() = 0;
  // The interfaces described so far, in all sections of the file.
  const std::vector<CaptureInterface>& interfaces() const { return interfaces_; }

 protected:
  std::vector<CaptureInterface> interfaces_;
};

// True if these bytes begin a capture file.
bool is_capture(std::span<const u8> first_bytes);
inline constexpr std::size_t kMagicBytes = 4;
// Another recognised kind of file: "zstd: unpack it first".
std::string named_kind_of(std::span<const u8> first_bytes);

std::unique_ptr<CaptureRecords> make_capture_records(CaptureBytes file);
// For a file positioned after its magic number.
std::unique_ptr<CaptureRecords> make_pcap_records(CaptureBytes file, u32 magic);
std::unique_ptr<CaptureRecords> make_pcapng_records(CaptureBytes file);

}  // namespace hca::testbench
