// SPDX-License-Identifier: Apache-2.0
// A capture file, pcap or pcapng: it is refused with a message, or its first frames can be
// described.
#include <sys/mman.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "testbench/fuzz/shared/device.h"
#include "testbench/packets/packet_listing.h"
#include "testbench/packets/pcap_file.h"

using namespace hca;
using namespace hca::testbench;

namespace {
constexpr u64 kTold = 4;  // `packets` and `parse` are there for what is in frames

// A file in memory with these bytes.
class File {
 public:
  File(const u8* data, std::size_t size) : fd_(memfd_create("capture", 0)) {
    fuzz::require(fd_ >= 0 && write(fd_, data, size) == ssize_t(size));
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  const File file(data, size);
  try {
    CaptureReader reader(file.path());
    for (u64 number = 1; number < 64; ++number) {
      auto frame = reader.next();
      if (!frame) break;
      const SourceFrame source{"capture", number, true, std::move(*frame)};
      if (!source.captured.note.empty() || number > kTold) continue;
      const FrameReport report(source);
      fuzz::require(!one_line(report).empty() && !listing(report, 64).empty());
      fuzz::require(!to_json(report).dump().empty());
    }
  } catch (const std::runtime_error&) {
  }
  return 0;
}
