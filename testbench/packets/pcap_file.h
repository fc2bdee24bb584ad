// SPDX-License-Identifier: Apache-2.0
// Capture files: reads pcap and pcapng, packed or not; writes pcap with nanoseconds.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/proto/wire/framing.h"
#include "model/proto/wire/layers.h"
#include "testbench/packets/capture_records.h"

struct pcap;
struct pcap_dumper;

namespace hca::testbench {

// The format of frames in a written file, with the numbers of the pcap link-type registry.
enum class LinkType : int {
  Ethernet = 1,      // RoCE
  Erf = 197,         // an ERF record header with an InfiniBand packet inside
  InfiniBand = 247,  // from the LRH to the VCRC
};
std::string name_of(LinkType type);

struct CapturedFrame {
  u64 time_ns = 0;          // since 1970
  proto::LinkLayer link{};  // for the device; follows from `begins`
  std::vector<u8> bytes;    // without ERF header
  u32 bytes_on_wire = 0;    // more than bytes.size() if the capture cut the frame
  std::string note;         // not empty: the record holds no usable frame, with the reason
  proto::Layer begins = proto::Layer::Ethernet;  // layer of the first byte
  std::string interface;                         // of the capture
  std::optional<u8> fcs_bytes;                   // at its end, if the capture gives it
};

// All errors are std::runtime_error with the file's name and the problem.
class CaptureReader {
 public:
  // Refuses a pcap file of an unsupported link type (testbench/packets/link_types.h). A pcapng file
  // may have interfaces of several types: a frame of an unsupported one has a note. `name`: the
  // file's name in messages, if not its path.
  explicit CaptureReader(const std::string& path, const std::string& name = {});

  // Empty at the end of the file.
  std::optional<CapturedFrame> next();
  // The interfaces of the frames so far, and those described before them.
  const std::vector<CaptureInterface>& interfaces() const { return records_->interfaces(); }

 private:
  std::unique_ptr<CaptureRecords> records_;
};

std::vector<CapturedFrame> read_capture(const std::string& path);

// A frame as stored in a file: with an ERF header, or unchanged.
void make_record(LinkType type, u64 time_ns, std::span<const u8> frame, std::vector<u8>& record);

class CaptureWriter {
 public:
  CaptureWriter(const std::string& path, LinkType type);
  ~CaptureWriter();
  CaptureWriter(CaptureWriter&&) noexcept;
  CaptureWriter& operator=(CaptureWriter&&) noexcept;

  // One frame from its first header to its last CRC (Ethernet: without FCS).
  void write(u64 time_ns, std::span<const u8> frame);
  // Writes buffered data to the file; throws on failure.
  void flush();
  // Reports a write error now instead of ignoring it in the destructor.
  void close();

 private:
  struct Close {
    void operator()(pcap* file) const;
    void operator()(pcap_dumper* file) const;
  };
  std::string path_;
  LinkType type_;
  std::unique_ptr<pcap, Close> handle_;
  std::unique_ptr<pcap_dumper, Close> file_;
  std::vector<u8> record_;
};

}  // namespace hca::testbench
