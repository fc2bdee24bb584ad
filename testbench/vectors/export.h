// SPDX-License-Identifier: Apache-2.0
// Vectors for other test benches: the frames that the functional model receives and sends while it
// plays a vector, with their direction. docs/manual/reference/running.md describes the files.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "testbench/vectors/run.h"

namespace hca::testbench {
struct ExportedFrame {
  bool is_sent = false;  // by the device; false: received by it
  u32 port = 1;
  u64 time_ns = 0;       // since the beginning of the vector; all different
  std::size_t step = 0;  // the step at which it passed
  Frame bytes;           // without FCS; native InfiniBand with VCRC
};
struct ExportedVector {
  const Vector* vector;
  proto::LinkLayer link;
  std::vector<ExportedFrame> frames;  // in order

  std::size_t sent() const;
};

// Throws std::runtime_error if the model does not behave as the vector requires.
ExportedVector export_vector(const Vector& vector);

// ---- Its files
inline constexpr u32 kBeatBytes = 64, kMostBeatBytes = 128;
nlohmann::json json_of(const ExportedVector& exported);
void write_pcapng(const std::string& path, const ExportedVector& exported);
// For $readmemh: one word of `beat_bytes` a line, the first byte on the wire in its upper digits,
// the last beat of a frame padded with zeros.
std::string beats_of(const ExportedVector& exported, u32 beat_bytes);
// The same with one word a frame: direction (0 in, 1 out), port, first beat, bytes, 4 + 4 + 32 + 16
// bits.
std::string packets_of(const ExportedVector& exported, u32 beat_bytes);
// One line a vector: names, frames of each direction, bytes, and whether it has any.
std::string index_of(std::span<const ExportedVector> all);
}  // namespace hca::testbench
