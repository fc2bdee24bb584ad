// SPDX-License-Identifier: Apache-2.0
// Capture files: pcap and pcapng read, pcap written, always with nanoseconds.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/proto/framing.h"

struct pcap;
struct pcap_dumper;

namespace hca::testbench {

// How frames stand in a file, by the numbers of the pcap link-type registry.
enum class LinkType : int {
  Ethernet = 1,      // RoCE
  Erf = 197,         // an ERF record header with an InfiniBand packet inside
  InfiniBand = 247,  // from the LRH to the VCRC
};
std::string name_of(LinkType type);

inline constexpr u64 kNsPerSecond = 1'000'000'000;
inline constexpr std::size_t kMaxRecordBytes = 262144;  // of one record, with its ERF header

struct CapturedFrame {
  u64 time_ns;  // since 1970
  proto::LinkLayer link;
  std::vector<u8> bytes;  // without ERF header
  u32 bytes_on_wire;      // more than bytes.size() if the capture cut the frame
  std::string note;       // not empty: this record holds no frame for us, and why
};

// All errors are std::runtime_error with the file's name and what is wrong with it.
class CaptureReader {
 public:
  // Refuses files of other link types, and a pcapng file with several: the message names its
  // interfaces.
  // `name`: what messages call the file, if not its path.
  explicit CaptureReader(const std::string& path, const std::string& name = {});
  ~CaptureReader();
  CaptureReader(CaptureReader&&) noexcept;
  CaptureReader& operator=(CaptureReader&&) noexcept;

  LinkType link_type() const { return link_type_; }
  std::optional<CapturedFrame> next();  // empty at the end of the file

 private:
  struct Close {
    void operator()(pcap* file) const;
  };
  std::string path_;
  LinkType link_type_ = LinkType::Ethernet;
  std::unique_ptr<pcap, Close> file_;
  u64 record_ = 0;
};

std::vector<CapturedFrame> read_capture(const std::string& path);

// A frame as it stands in a file: with an ERF header, or as it is.
void make_record(LinkType type, u64 time_ns, std::span<const u8> frame, std::vector<u8>& record);

class CaptureWriter {
 public:
  CaptureWriter(const std::string& path, LinkType type);
  ~CaptureWriter();
  CaptureWriter(CaptureWriter&&) noexcept;
  CaptureWriter& operator=(CaptureWriter&&) noexcept;

  // One frame from its first header to its last CRC (Ethernet: without FCS).
  void write(u64 time_ns, std::span<const u8> frame);
  // Says now, not in the destructor, if a byte could not be written.
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
