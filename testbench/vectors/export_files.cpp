// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "testbench/packets/pcapng_format.h"
#include "testbench/packets/pcapng_writer.h"
#include "testbench/vectors/export.h"

namespace hca::testbench {
namespace {
std::size_t beats_in(const ExportedFrame& frame, u32 beat_bytes) {
  return (frame.bytes.size() + beat_bytes - 1) / beat_bytes;
}
}  // namespace

// An interface for each port, so that both directions of it are together.
void write_pcapng(const std::string& path, const ExportedVector& exported) {
  u32 ports = 1;
  for (const ExportedFrame& f : exported.frames) ports = std::max(ports, f.port);
  std::vector<std::string> names;
  for (u32 port = 1; port <= ports; ++port) names.push_back(fmt::format("port{}", port));
  PcapngWriter file(
      path, exported.link == proto::LinkLayer::Ethernet ? LinkType::Ethernet : LinkType::Erf,
      names);
  for (const ExportedFrame& f : exported.frames)
    file.write(f.port - 1, f.time_ns, f.bytes, f.is_sent ? pcapng::kOutbound : pcapng::kInbound);
  file.close();
}

std::string beats_of(const ExportedVector& exported, u32 beat_bytes) {
  std::string text;
  for (const ExportedFrame& f : exported.frames)
    for (std::size_t beat = 0; beat < beats_in(f, beat_bytes); ++beat) {
      for (std::size_t i = beat * beat_bytes; i < (beat + 1) * beat_bytes; ++i)
        text += fmt::format("{:02x}", i < f.bytes.size() ? f.bytes[i] : 0);
      text += '\n';
    }
  return text;
}

std::string packets_of(const ExportedVector& exported, u32 beat_bytes) {
  std::string text;
  std::size_t first = 0;
  for (const ExportedFrame& f : exported.frames) {
    text += fmt::format("{:x}_{:x}_{:08x}_{:04x}\n", int(f.is_sent), f.port, first, f.bytes.size());
    first += beats_in(f, beat_bytes);
  }
  return text;
}

std::string index_of(std::span<const ExportedVector> all) {
  std::string text = "vector,link,in,out,bytes,note\n";
  for (const ExportedVector& e : all) {
    std::size_t bytes = 0;
    for (const ExportedFrame& f : e.frames) bytes += f.bytes.size();
    text += fmt::format("{},{},{},{},{},{}\n", e.vector->name,
                        e.link == proto::LinkLayer::Ethernet ? "Ethernet" : "InfiniBand",
                        e.frames.size() - e.sent(), e.sent(), bytes,
                        e.frames.empty() ? "sends and receives nothing" : "");
  }
  return text;
}
}  // namespace hca::testbench
