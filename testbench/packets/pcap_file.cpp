// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/pcap_file.h"

#include <pcap/pcap.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include "testbench/packets/link_types.h"
#include "testbench/packets/pcap_format.h"

namespace hca::testbench {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

std::array<u8, erf_format::kHeaderBytes> erf_header(u64 time_ns, std::size_t frame_bytes) {
  std::array<u8, erf_format::kHeaderBytes> header{};
  const u64 fraction = ((time_ns % kNsPerSecond) << 32) / kNsPerSecond;
  const u64 stamp = (time_ns / kNsPerSecond) << 32 | fraction;  // 32.32 fixed point, little endian
  std::memcpy(header.data(), &stamp, 8);
  header[erf_format::kTypeAt] = erf_format::kInfiniBand;
  header[erf_format::kTypeAt + 1] = 0x04;  // varying record length
  proto::store_be<2>(header.data() + erf_format::kLengthAt, erf_format::kHeaderBytes + frame_bytes);
  proto::store_be<2>(header.data() + erf_format::kWireLengthAt, frame_bytes);
  return header;
}

}  // namespace

std::string name_of(LinkType type) {
  switch (type) {
    case LinkType::Ethernet:
      return "Ethernet";
    case LinkType::Erf:
      return "ERF";
    case LinkType::InfiniBand:
      return "InfiniBand";
  }
  return "unknown";
}

CaptureReader::CaptureReader(const std::string& path, const std::string& name)
    : records_(make_capture_records(CaptureBytes(path, name.empty() ? path : name))) {
  // A pcapng file says its link types later, one for each interface.
  for (const CaptureInterface& i : interfaces())
    if (!link_type_row(i.link_type))
      fail(name.empty() ? path : name, unread_link_type(i.link_type));
}

std::optional<CapturedFrame> CaptureReader::next() {
  std::optional<CaptureRecord> record = records_->next();
  if (!record) return std::nullopt;
  const CaptureInterface& interface = interfaces()[record->interface];
  return frame_of(std::move(*record), interface);
}

std::vector<CapturedFrame> read_capture(const std::string& path) {
  CaptureReader reader(path);
  std::vector<CapturedFrame> frames;
  while (std::optional<CapturedFrame> frame = reader.next()) frames.push_back(std::move(*frame));
  return frames;
}

void make_record(LinkType type, u64 time_ns, std::span<const u8> frame, std::vector<u8>& record) {
  record.clear();
  if (type == LinkType::Erf) {
    const auto header = erf_header(time_ns, frame.size());
    record.assign(header.begin(), header.end());
  }
  record.insert(record.end(), frame.begin(), frame.end());
}

void CaptureWriter::Close::operator()(pcap* file) const { pcap_close(file); }
void CaptureWriter::Close::operator()(pcap_dumper* file) const {
  pcap_dump_close(reinterpret_cast<pcap_dumper_t*>(file));
}
CaptureWriter::~CaptureWriter() = default;
CaptureWriter::CaptureWriter(CaptureWriter&&) noexcept = default;
CaptureWriter& CaptureWriter::operator=(CaptureWriter&&) noexcept = default;

CaptureWriter::CaptureWriter(const std::string& path, LinkType type) : path_(path), type_(type) {
  handle_.reset(pcap_open_dead_with_tstamp_precision(int(type), int(kMaxRecordBytes),
                                                     PCAP_TSTAMP_PRECISION_NANO));
  if (!handle_) fail(path, "libpcap gives no handle");
  file_.reset(pcap_dump_open(handle_.get(), path.c_str()));
  if (!file_) {
    const std::string text = pcap_geterr(handle_.get());
    fail(path, text.rfind(path + ": ", 0) == 0 ? text.substr(path.size() + 2) : text);
  }
}

void CaptureWriter::write(u64 time_ns, std::span<const u8> frame) {
  make_record(type_, time_ns, frame, record_);
  pcap_pkthdr header{};
  header.ts.tv_sec = time_t(time_ns / kNsPerSecond);
  header.ts.tv_usec = suseconds_t(time_ns % kNsPerSecond);
  header.caplen = header.len = u32(record_.size());
  pcap_dump(reinterpret_cast<u_char*>(file_.get()), &header, record_.data());
}

void CaptureWriter::flush() {
  auto* const file = reinterpret_cast<pcap_dumper_t*>(file_.get());
  if (file && (pcap_dump_flush(file) != 0 || std::ferror(pcap_dump_file(file))))
    fail(path_, "could not be written");
}

void CaptureWriter::close() {
  flush();
  file_.reset();
}

}  // namespace hca::testbench
