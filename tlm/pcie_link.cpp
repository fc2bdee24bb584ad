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
      full_answer_(answer_of(config.mrrs)),
      full_answer_span_(down_.rate().span_of(full_answer_)),
      read_header_cycles_(up_.rate().cycles_for(config.read_header)),
      answers_lag_(up_.rate().cycles_for(full_answer_) >= read_header_cycles_ + 2),
      read_parts_(config.mrrs),
      write_parts_(config.mps),
      tag_free_from_(config.read_tags) {}

blocks::ReadTiming PcieLink::read(Cycle at, u32 bytes) {
  blocks::ReadTiming timing{};
  if (bytes <= config_.completion_bytes && bytes <= config_.mrrs) {  // one TLP each way
    Cycle& tag = take_tag();
    const Cycle left =
        std::max(up_.send(at, config_.read_header), tag ? tag + read_header_cycles_ : 0);
    timing.next = left, timing.memory = left + latency_;
    tag = down_.send(timing.memory + memory_latency_, bytes + u64{config_.completion_header}) +
          latency_;
    timing.first = timing.last = tag;
    return timing;
  }
  Cycle left = 0;
  for (u32 asked = 0; asked < bytes;) {
    if (asked == config_.mrrs && answers_lag_ && tags_are_free(bytes - asked, at)) {
      ask_rest(at, bytes - asked, timing);
      break;
    }
    Cycle& tag = take_tag();
    const u32 part = std::min(bytes - asked, config_.mrrs);
    left = std::max(up_.send(at, config_.read_header), tag ? tag + read_header_cycles_ : 0);
    const Cycle arrived = left + latency_, answered = arrived + memory_latency_;
    u64 answer = part == config_.mrrs ? full_answer_ : answer_of(part);
    if (!asked) {
      timing.memory = arrived;
      const u64 first = std::min(part, config_.completion_bytes) + u64{config_.completion_header};
      timing.first = down_.send(answered, first) + latency_;
      answer -= first;
    }
    // The completions of a part follow each other without a gap: they are one run of bytes.
    tag = timing.last = down_.send(answered, answer) + latency_;
    asked += part;
  }
  timing.next = std::max(up_.free_from(), left);
  return timing;
}

Cycle& PcieLink::take_tag() {
  Cycle& tag = tag_free_from_[next_tag_];
  next_tag_ = next_tag_ + 1 == tag_free_from_.size() ? 0 : next_tag_ + 1;
  return tag;
}

// Tags come back in the order in which they are taken: the last one needed tells.
bool PcieLink::tags_are_free(u32 bytes, Cycle at) {
  const std::size_t parts = read_parts_.full_of(bytes) + 1u, all = tag_free_from_.size();
  if (parts > all) return false;
  const std::size_t last = next_tag_ + parts - 1;
  return tag_free_from_[last < all ? last : last - all] <= at;
}

// The parts behind the first, none of which waits for a tag. Each answer is longer than a request,
// so that the answers follow each other without a gap, as the requests do.
void PcieLink::ask_rest(Cycle at, u32 bytes, blocks::ReadTiming& timing) {
  const u32 before = read_parts_.full_of(bytes), rest = bytes - before * config_.mrrs;
  const bool all_full = rest == config_.mrrs;
  up_.send(at, u64{before + 1} * config_.read_header);
  const std::size_t all = tag_free_from_.size();
  std::size_t tag = next_tag_;
  const auto answered = [&, latency = latency_](Cycle sent) {
    tag_free_from_[tag] = timing.last = sent + latency;
    tag = tag + 1 == all ? 0 : tag + 1;
  };
  down_.go_on(full_answer_span_, before + all_full, answered);
  if (!all_full) down_.go_on(down_.rate().span_of(answer_of(rest)), 1, answered);
  next_tag_ = tag;
}

// The bytes on the line of all completions of a part.
u64 PcieLink::answer_of(u32 part) const {
  const u64 headers = (part + config_.completion_bytes - 1) / config_.completion_bytes;
  return part + headers * config_.completion_header;
}

blocks::WriteTiming PcieLink::write(Cycle first_in, Cycle last_in, u32 bytes) {
  const u64 header = config_.write_header;
  if (bytes <= config_.mps) {
    const Cycle sent = up_.send(last_in, bytes + header);
    return {sent, sent + latency_};
  }
  // The bytes come evenly: the train waits for its first TLP, for the one before its last, or for
  // its last one; what lies between is never the latest.
  const u32 before = write_parts_.full_of(bytes), tail = bytes - before * config_.mps;
  up_.send(at_hand(first_in, last_in, config_.mps, bytes), bytes + (before + 1) * header);
  up_.not_before(at_hand(first_in, last_in, bytes - tail, bytes), config_.mps + tail + 2 * header);
  up_.not_before(last_in, tail + header);
  return {up_.free_from(), up_.free_from() + latency_};
}

Cycle PcieLink::mmio_write(Cycle at, u32 bytes) {
  return mmio_.send(at, bytes + u64{config_.write_header}) + latency_;
}
}  // namespace hca::tlm_
