// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/pcapng_writer.h"

#include <stdexcept>

#include "testbench/packets/pcapng_format.h"

namespace hca::testbench {
namespace {
constexpr u8 kNanoseconds = 9;  // 10 to the minus 9

// The section says that its numbers are little endian.
template <unsigned kBytes>
void put(std::vector<u8>& out, u64 value) {
  for (unsigned i = 0; i < kBytes; ++i) out.push_back(u8(value >> 8 * i));
}
void pad(std::vector<u8>& out) { out.resize((out.size() + 3) / 4 * 4); }
void put_option(std::vector<u8>& out, u16 code, std::string_view value) {
  put<2>(out, code);
  put<2>(out, value.size());
  out.insert(out.end(), value.begin(), value.end());
  pad(out);
}
}  // namespace

PcapngWriter::PcapngWriter(const std::string& path, LinkType type,
                           std::span<const std::string> interfaces)
    : path_(path), type_(type), file_(path, std::ios::binary) {
  if (!file_) throw std::runtime_error(path + ": cannot be written");
  std::vector<u8> body;
  put<4>(body, pcapng::kByteOrderMagic);
  put<2>(body, 1);
  put<2>(body, 0);        // version 1.0
  put<8>(body, ~u64{0});  // of unknown length
  put_block(pcapng::kSectionHeader, body);
  for (const std::string& name : interfaces) {
    body.clear();
    put<2>(body, u64(type));
    put<2>(body, 0);
    put<4>(body, kMaxRecordBytes);
    put_option(body, pcapng::kOptionName, name);
    put_option(body, pcapng::kOptionResolution, std::string(1, char(kNanoseconds)));
    put<4>(body, 0);  // end of options
    put_block(pcapng::kInterface, body);
  }
}

void PcapngWriter::write(u32 interface, u64 time_ns, std::span<const u8> frame, u32 direction) {
  make_record(type_, time_ns, frame, record_);
  body_.clear();
  put<4>(body_, interface);
  put<4>(body_, time_ns >> 32);
  put<4>(body_, time_ns);
  put<4>(body_, record_.size());
  put<4>(body_, record_.size());
  body_.insert(body_.end(), record_.begin(), record_.end());
  pad(body_);
  if (direction) {
    put<2>(body_, pcapng::kOptionFlags);
    put<2>(body_, sizeof(direction));
    put<4>(body_, direction);
    put<4>(body_, 0);  // end of options
  }
  put_block(pcapng::kEnhancedPacket, body_);
}

// Type, length, body, length.
void PcapngWriter::put_block(u32 type, const std::vector<u8>& body) {
  std::vector<u8> head, tail;
  put<4>(head, type);
  put<4>(head, body.size() + 12);
  put<4>(tail, body.size() + 12);
  for (const std::vector<u8>* part : {static_cast<const std::vector<u8>*>(&head), &body,
                                      static_cast<const std::vector<u8>*>(&tail)})
    file_.write(reinterpret_cast<const char*>(part->data()), std::streamsize(part->size()));
}

void PcapngWriter::flush() {
  if (!file_.flush()) throw std::runtime_error(path_ + ": could not be written");
}
}  // namespace hca::testbench
