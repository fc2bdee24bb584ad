// SPDX-License-Identifier: Apache-2.0
#include "tlm/pcie_link.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace hca::tlm_ {
namespace {
struct Generation {
  u64 megatransfers;
  u32 data_bits, line_bits;  // 8b/10b or 128b/130b
};
constexpr std::array<Generation, 5> kGenerations{
    {{2500, 8, 10}, {5000, 8, 10}, {8000, 128, 130}, {16000, 128, 130}, {32000, 128, 130}}};
constexpr u64 kBeatBytes = 64;
constexpr u64 kThousand = 1000;

PcieConfig checked(const PcieConfig& config) {
  engine::check_knobs(config);
  return config;
}

// The cycle in which the first `bytes` of a write are at hand: its beats come evenly.
Cycle at_hand(Cycle first_in, Cycle last_in, u64 bytes, u64 all_bytes) {
  const u64 beats = (all_bytes + kBeatBytes - 1) / kBeatBytes;
  if (beats <= 1) return last_in;
  const u64 beat = (bytes + kBeatBytes - 1) / kBeatBytes - 1;
  return first_in + ((last_in - first_in) * beat + beats - 2) / (beats - 1);
}
}  // namespace

engine::Rate pcie_rate(const PcieConfig& config, u64 hertz) {
  const Generation& g = kGenerations[config.generation - 1];
  // Data bits in a second are bits / g.line_bits.
  const u64 bits = g.megatransfers * 1'000'000 / kThousand * (kThousand - config.overhead) *
                   config.lanes * g.data_bits;
  u64 bytes = bits, cycles = 8 * g.line_bits;
  const u64 small = std::gcd(bytes, cycles);
  bytes /= small, cycles /= small;
  const u64 large = std::gcd(bytes, hertz);
  return engine::Rate(8 * (bytes / large), cycles * (hertz / large));
}

PcieLink::PcieLink(const PcieConfig& config, u64 hertz)
    : config_(checked(config)),
      latency_(engine::cycles_from_picoseconds(config.latency, hertz)),
      memory_latency_(engine::cycles_from_picoseconds(config.memory_latency, hertz)),
      up_(pcie_rate(config, hertz)),
      down_(pcie_rate(config, hertz)),
      mmio_(pcie_rate(config, hertz)),
      tag_free_from_(config.read_tags) {}

blocks::ReadTiming PcieLink::read(Cycle at, u32 bytes) {
  blocks::ReadTiming timing{};
  Cycle left = 0;
  for (u32 asked = 0; asked < bytes;) {
    Cycle& tag = tag_free_from_[next_tag_];
    next_tag_ = (next_tag_ + 1) % tag_free_from_.size();
    const u32 part = std::min(bytes - asked, config_.mrrs);
    left = std::max(up_.send(at, config_.read_header),
                    tag ? tag + up_.rate().cycles_for(config_.read_header) : 0);
    const Cycle arrived = left + latency_;
    if (!asked) timing.memory = arrived;
    // The completions of a part follow each other without a gap: all behind the first are one run
    // of bytes.
    const Cycle answered = arrived + memory_latency_;
    const u32 first = std::min(part, config_.completion_bytes), rest = part - first;
    const u64 headers = (rest + config_.completion_bytes - 1) / config_.completion_bytes;
    timing.last = down_.send(answered, first + u64{config_.completion_header}) + latency_;
    if (!timing.first) timing.first = timing.last;
    if (rest)
      timing.last = down_.send(answered, rest + headers * config_.completion_header) + latency_;
    tag = timing.last;
    asked += part;
  }
  timing.next = std::max(up_.free_from(), left);
  return timing;
}

blocks::WriteTiming PcieLink::write(Cycle first_in, Cycle last_in, u32 bytes) {
  Cycle sent = 0;
  for (u32 done = 0; done < bytes;) {
    const u32 part = std::min(bytes - done, config_.mps);
    done += part;
    sent = up_.send(at_hand(first_in, last_in, done, bytes), part + u64{config_.write_header});
  }
  return {up_.free_from(), sent + latency_};
}

Cycle PcieLink::mmio_write(Cycle at, u32 bytes) {
  return mmio_.send(at, bytes + u64{config_.write_header}) + latency_;
}
}  // namespace hca::tlm_
