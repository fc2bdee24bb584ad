// SPDX-License-Identifier: Apache-2.0
#include "testbench/pcap_file.h"

#include <pcap/pcap.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include "testbench/pcapng_interfaces.h"

namespace hca::testbench {
namespace {

constexpr std::array kLinkTypes{LinkType::Ethernet, LinkType::Erf, LinkType::InfiniBand};

// An ERF record: 8 bytes of time, type, flags, record length, loss counter, length on the wire.
constexpr std::size_t kErfHeaderBytes = 16;
constexpr std::size_t kErfType = 8;
constexpr u8 kErfTypeInfiniBand = 21;
constexpr u8 kErfMoreHeaders =
    0x80;  // of the type, and of the first byte of each 8-byte extension header

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

LinkType link_type_of(const std::string& path, int number) {
  for (const LinkType type : kLinkTypes)
    if (int(type) == number) return type;
  const char* name = pcap_datalink_val_to_name(number);
  fail(path, "link type " + (name ? name : std::to_string(number)) +
                 " is none of Ethernet (1), ERF (197), InfiniBand (247)");
}

void refuse_several_link_types(const std::string& path, const std::string& shown) {
  const std::vector<PcapngInterface> all = pcapng_interfaces(path);
  bool several = false;
  for (const PcapngInterface& i : all) several |= i.link_type != all.front().link_type;
  if (!several) return;
  std::string list;
  for (const PcapngInterface& i : all)
    list +=
        (list.empty() ? "" : ", ") + i.name + " (link type " + std::to_string(i.link_type) + ")";
  fail(shown, "its interfaces have several link types: " + list + "; split the file by interface");
}

// Takes the ERF header off; a record of another kind leaves a note instead.
void strip_erf(CapturedFrame& frame) {
  std::size_t size = kErfHeaderBytes;
  if (frame.bytes.size() < size) {
    frame.note = "ERF record shorter than its header";
    return;
  }
  const u8 type = frame.bytes[kErfType];
  for (u8 more = type; more & kErfMoreHeaders; more = frame.bytes[size], size += 8)
    if (frame.bytes.size() < size + 8) {
      frame.note = "ERF record shorter than its extension headers";
      return;
    }
  if ((type & ~kErfMoreHeaders) != kErfTypeInfiniBand) {
    frame.note =
        "ERF record type " + std::to_string(type & ~kErfMoreHeaders) + " is not InfiniBand (21)";
    return;
  }
  // the length on the wire stands in the ERF header, behind it there may be padding
  const u32 wire = u32(proto::load_be<2>(frame.bytes.data() + 14));
  frame.bytes.erase(frame.bytes.begin(), frame.bytes.begin() + std::ptrdiff_t(size));
  if (wire < frame.bytes.size()) frame.bytes.resize(wire);
  frame.bytes_on_wire = wire;
}

std::array<u8, kErfHeaderBytes> erf_header(u64 time_ns, std::size_t frame_bytes) {
  std::array<u8, kErfHeaderBytes> header{};
  const u64 fraction = ((time_ns % kNsPerSecond) << 32) / kNsPerSecond;
  const u64 stamp = (time_ns / kNsPerSecond) << 32 | fraction;  // 32.32 fixed point, little endian
  std::memcpy(header.data(), &stamp, 8);
  header[kErfType] = kErfTypeInfiniBand;
  header[kErfType + 1] = 0x04;  // varying record length
  proto::store_be<2>(header.data() + 10, kErfHeaderBytes + frame_bytes);
  proto::store_be<2>(header.data() + 14, frame_bytes);
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

void CaptureReader::Close::operator()(pcap* file) const { pcap_close(file); }
CaptureReader::~CaptureReader() = default;
CaptureReader::CaptureReader(CaptureReader&&) noexcept = default;
CaptureReader& CaptureReader::operator=(CaptureReader&&) noexcept = default;

CaptureReader::CaptureReader(const std::string& path, const std::string& name)
    : path_(name.empty() ? path : name) {
  refuse_several_link_types(path, path_);
  char error[PCAP_ERRBUF_SIZE] = {};
  file_.reset(
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error));
  if (!file_) {
    const std::string text = error;
    fail(path_, text.rfind(path + ": ", 0) == 0 ? text.substr(path.size() + 2) : text);
  }
  link_type_ = link_type_of(path_, pcap_datalink(file_.get()));
}

std::optional<CapturedFrame> CaptureReader::next() {
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int got = pcap_next_ex(file_.get(), &header, &data);
  if (got == PCAP_ERROR_BREAK) return std::nullopt;
  if (got != 1)
    fail(path_, "record " + std::to_string(record_ + 1) + ": " + pcap_geterr(file_.get()));
  ++record_;
  CapturedFrame frame;
  frame.time_ns = u64(header->ts.tv_sec) * kNsPerSecond + u64(header->ts.tv_usec);
  frame.link =
      link_type_ == LinkType::Ethernet ? proto::LinkLayer::Ethernet : proto::LinkLayer::InfiniBand;
  frame.bytes.assign(data, data + header->caplen);
  frame.bytes_on_wire = header->len;
  if (link_type_ == LinkType::Erf) strip_erf(frame);
  return frame;
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

void CaptureWriter::close() {
  if (!file_) return;
  const bool failed = pcap_dump_flush(reinterpret_cast<pcap_dumper_t*>(file_.get())) != 0 ||
                      std::ferror(pcap_dump_file(reinterpret_cast<pcap_dumper_t*>(file_.get())));
  file_.reset();
  if (failed) fail(path_, "could not be written");
}

}  // namespace hca::testbench
