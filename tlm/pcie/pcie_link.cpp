// SPDX-License-Identifier: Apache-2.0
#include "tlm/pcie/pcie_link.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "model/proto/interface/device.h"
#include "model/proto/interface/work_rows.h"
#include "tlm/pcie/pcie_credits.h"

namespace hca::tlm_ {
namespace {
struct Generation {
  u64 megatransfers;
  u32 data, line;  // bits, of 8b/10b or 128b/130b; bytes of TLPs in a flit and of the flit
};
constexpr std::array<Generation, 6> kGenerations{
    {{2500, 8, 10},
     {5000, 8, 10},
     {8000, 128, 130},
     {16000, 128, 130},
     {32000, 128, 130},
     {64000, 256 - 6 - 8 - 6, 256}}};  // less data link payload, CRC and FEC
constexpr u64 kThousand = 1000, kTailShares = 1'000'000;

PcieConfig checked(const PcieConfig& config) {
  check_pcie(config);
  return config.of_its_mode();
}

constexpr u32 kLargestMmio = 8 + proto::kPushBytes;  // a doorbell and the WQE after it
}  // namespace

void check_pcie(const PcieConfig& given) {
  engine::check_knobs(given);
  const PcieConfig config = given.of_its_mode();
  if (config.completion_bytes > config.mps)
    throw engine::ConfigError("pcie.completion_bytes", std::to_string(config.completion_bytes),
                              "64 .. pcie.mps, which is " + std::to_string(config.mps), "",
                              "is more than a TLP may carry");
  const auto enough = [](std::string_view knob, u32 credits, u32 bytes, std::string_view what) {
    if (credits && credits < PcieCreditPair::of(bytes))
      throw engine::ConfigError("pcie." + std::string(knob), std::to_string(credits),
                                "0, or " + std::to_string(PcieCreditPair::of(bytes)) + " .. " +
                                    std::to_string(PcieConfig::kMostData),
                                "", "is too few for " + std::string(what));
  };
  const auto whole = [](std::string_view knob, u64 value, u64 of, const std::string& what) {
    if (value % of)
      throw engine::ConfigError("pcie." + std::string(knob), std::to_string(value),
                                "0, or a multiple of " + std::to_string(of), "", "is no " + what);
  };
  whole("iommu_entries", config.iommu_entries, config.iommu_ways,
        "whole number of sets of pcie.iommu_ways");
  whole("llc_bytes", config.llc_bytes, u64{PcieConfig::kCacheLine} * config.llc_ways,
        "whole number of sets of pcie.llc_ways lines");
  enough("root_posted_data", config.root_posted_data, config.mps, "a write of pcie.mps");
  enough("device_posted_data", config.device_posted_data, kLargestMmio,
         "a WQE that is pushed with its doorbell");
  enough("device_completion_data", config.device_completion_data, config.completion_bytes,
         "a completion of pcie.completion_bytes");
}

engine::Rate pcie_rate(const PcieConfig& given, u64 hertz) {
  const PcieConfig config = given.of_its_mode();
  const Generation& g = kGenerations[config.generation - 1];
  // Data bits in a second are bits / g.line.
  const u64 bits = g.megatransfers * 1'000'000 / kThousand * (kThousand - config.overhead) *
                   config.lanes * g.data;
  u64 bytes = bits, cycles = 8 * g.line;
  const u64 small = std::gcd(bytes, cycles);
  bytes /= small;
  cycles /= small;
  const u64 large = std::gcd(bytes, hertz);
  return engine::Rate(8 * (bytes / large), cycles * (hertz / large));
}

PcieLink::PcieLink(const PcieConfig& config, u64 hertz, u64 seed)
    : config_(checked(config)),
      latency_(engine::cycles_from_picoseconds(config.latency, hertz)),
      credit_latency_(engine::cycles_from_picoseconds(config.credit_latency, hertz)),
      memory_latency_(engine::cycles_from_picoseconds(config.memory_latency, hertz)),
      spread_(engine::cycles_from_picoseconds(config.memory_spread, hertz)),
      tail_(config.memory_tail_share ? engine::cycles_from_picoseconds(config.memory_tail, hertz)
                                     : 0),
      first_(std::min(config_.first_completion, config_.completion_bytes)),
      one_tlp_(std::min(pieces_of(1).first, config.mrrs)),
      read_header_cycles_(pcie_rate(config, hertz).cycles_for(config_.read_header)),
      up_(pcie_rate(config, hertz)),
      mmio_(pcie_rate(config, hertz)),
      down_(pcie_rate(config, hertz)),
      tag_free_from_(config.read_tags),
      full_answer_(answer_of(config.mrrs)),
      request_(up_.rate().span_of(config_.read_header)),
      full_(down_.rate().span_of(full_answer_)),
      full_first_(down_.rate().span_of(first_answer_of(config.mrrs))),
      full_others_(down_.rate().span_of(full_answer_ - first_answer_of(config.mrrs))),
      full_write_(up_.rate().span_of(config_.mps + u64{config_.write_header})),
      random_(seed) {}

[[gnu::hot]] blocks::ReadTiming PcieLink::read(Cycle at, u64, u32 bytes) {
  if (bytes > config_.mrrs) return read_parts(at, bytes);
  return read_part(at, bytes);
}

// With free tags and idle lines a read has the times of a lone one. The answer to a part of mrrs
// bytes is at least as long as a request, also in whole cycles, so answers follow each other
// without a gap, as requests do.
[[gnu::hot, gnu::noinline]] blocks::ReadTiming PcieLink::read_parts(Cycle at, u32 bytes) {
  Burst& burst = bursts_[(bytes >> 6 ^ bytes >> 9) % bursts_.size()];
  if (burst.bytes != bytes) [[unlikely]]
    learn_burst(burst, bytes);
  const Cycle memory = at + read_header_cycles_ + latency_;
  const bool alone = at > up_.free_from() && memory + memory_latency_ > down_.free_from() &&
                     tags_are_free(burst.parts.size(), at);
  if (!alone) [[unlikely]]
    return ask_each(at, bytes);
  const Cycle answered = memory + at_memory(), back = answered + latency_;
  down_.send(answered, burst.answers);
  take_tags(burst.parts, back);
  return {.next = up_.send(at, burst.requests),
          .memory = memory,
          .first = back + burst.first,
          .last = back + burst.parts.back()};
}

[[gnu::noinline]] void PcieLink::learn_burst(Burst& burst, u32 bytes) {
  engine::RationalTime asked(up_.rate()), answered(down_.rate());
  burst.bytes = bytes;
  burst.parts.clear();
  burst.first = down_.rate().cycles_for(first_answer_of(config_.mrrs));
  for (; bytes; bytes -= std::min(bytes, config_.mrrs)) {
    asked.advance(request_);
    answered.advance(bytes < config_.mrrs ? down_.span_of(answer_of(bytes)) : full_);
    burst.parts.push_back(answered.edge());
  }
  burst.requests = {.whole = asked.whole(), .part = asked.part()};
  burst.answers = {.whole = answered.whole(), .part = answered.part()};
}

// All of it at once.
blocks::ReadTiming PcieLink::read_part(Cycle at, u32 bytes) {
  blocks::ReadTiming timing;
  Cycle& tag = take_tag();
  const Cycle left = std::max(up_.send(at, request_), tag ? tag + read_header_cycles_ : 0);
  timing.next = left;
  timing.memory = left + latency_;
  const Cycle answered = timing.memory + at_memory();
  if (bytes <= one_tlp_) {  // each way
    tag = down_.send(answered, bytes + u64{config_.completion_header}) + latency_;
    timing.first = timing.last = tag;
    return timing;
  }
  // The completions of a part follow each other without a gap: after the first they are one run of
  // bytes.
  if (bytes == config_.mrrs) [[likely]] {
    timing.first = down_.send(answered, full_first_) + latency_;
    tag = timing.last = down_.send(answered, full_others_) + latency_;
  } else {
    const u64 first = first_answer_of(bytes);
    timing.first = down_.send(answered, first) + latency_;
    tag = timing.last = down_.send(answered, answer_of(bytes) - first) + latency_;
  }
  return timing;
}

blocks::ReadTiming PcieLink::atomic(Cycle at, u64, u32 operands) {
  const u64 bytes = atomic_bytes(operands);
  Cycle& tag = take_tag();
  const Cycle left = std::max(up_.send(at, bytes), tag ? tag + up_.rate().cycles_for(bytes) : 0);
  const Cycle memory = left + latency_;
  tag = down_.send(memory + at_memory(), answer_of(proto::kAtomicBytes)) + latency_;
  return {left, memory, tag, tag};
}

// Part by part, each of which may wait for its tag and for the lines.
[[gnu::noinline]] blocks::ReadTiming PcieLink::ask_each(Cycle at, u32 bytes) {
  blocks::ReadTiming timing = read_part(at, config_.mrrs);
  for (u32 rest = bytes - config_.mrrs, part; rest; rest -= part) {
    part = std::min(rest, config_.mrrs);
    Cycle& tag = take_tag();
    timing.next = std::max(up_.send(at, request_), tag ? tag + read_header_cycles_ : 0);
    const Cycle answered = timing.next + latency_ + memory_latency_;
    const engine::Rate::Span& answer =
        part == config_.mrrs ? full_ : down_.span_of(answer_of(part));
    tag = timing.last = down_.send(answered, answer) + latency_;
  }
  return timing;
}

[[gnu::noinline]] Cycle PcieLink::drawn_at_memory() {
  const Cycle more = spread_ ? random_.below(spread_ + 1) : 0;
  return memory_latency_ + more +
         (tail_ && random_.below(kTailShares) < config_.memory_tail_share ? tail_ : 0);
}

Cycle& PcieLink::take_tag() {
  Cycle& tag = tag_free_from_[next_tag_];
  next_tag_ = next_tag_ + 1 == tag_free_from_.size() ? 0 : next_tag_ + 1;
  return tag;
}

// For this many parts, with these ends relative to `from`.
inline void PcieLink::take_tags(const std::vector<Cycle>& ends, Cycle from) {
  if (next_tag_ + ends.size() >= tag_free_from_.size()) [[unlikely]] {
    for (const Cycle end : ends) take_tag() = from + end;
    return;
  }
  Cycle* tag = &tag_free_from_[next_tag_];
  for (const Cycle end : ends) *tag++ = from + end;
  next_tag_ += ends.size();
}

// Tags return in the order in which they are taken: check the last one needed.
inline bool PcieLink::tags_are_free(std::size_t parts, Cycle at) const {
  const std::size_t all = tag_free_from_.size(), last = next_tag_ + parts - 1;
  return parts <= all && tag_free_from_[last < all ? last : last - all] <= at;
}

u64 PcieLink::answer_of(u32 part) const {
  const Pieces pieces = pieces_of(part);
  const u32 behind = part - std::min(part, pieces.first);
  const u64 headers = 1 + (behind + pieces.others - 1) / pieces.others;
  return part + headers * config_.completion_header;
}

// The first completion of a part.
u64 PcieLink::first_answer_of(u32 part) const {
  return std::min(part, pieces_of(part).first) + u64{config_.completion_header};
}

[[gnu::hot]] blocks::WriteTiming PcieLink::write(Cycle first_in, Cycle last_in, u64, u32 bytes) {
  if (bytes <= config_.mps) {
    const Cycle sent = up_.send(last_in, bytes + u64{config_.write_header});
    return {sent, sent + latency_};
  }
  if (bytes != train_.bytes) [[unlikely]]
    learn_train(bytes);
  const Cycle takes = last_in - first_in;
  Train::Spread& spread = train_.spreads[takes % train_.spreads.size()];
  if (spread.takes != takes) [[unlikely]]
    learn_spread(spread, takes);
  // The first TLP keeps the fraction of a cycle of the line, no other starts before it is at hand.
  up_.send(first_in + spread.first, train_.all);
  up_.not_before(first_in, spread.least);
  return {up_.free_from(), up_.free_from() + latency_};
}

[[gnu::noinline]] void PcieLink::learn_train(u32 bytes) {
  const u64 header = config_.write_header;
  const u32 before = (bytes - 1) / config_.mps, tail = bytes - before * config_.mps;
  const engine::Rate& rate = up_.rate();
  train_ = {.bytes = bytes,
            .gaps = engine::Divisor(last_beat(bytes)),
            .all = rate.span_of(bytes + (before + 1) * header),
            .last = rate.span_of(tail + header)};
}

// Among all TLPs except the first, the one that, with its successors, ends last.
[[gnu::noinline]] void PcieLink::learn_spread(Train::Spread& spread, Cycle takes) const {
  spread = {takes, train_.at_hand(last_beat(config_.mps), takes), {}};
  Cycle whole = train_.last.whole;
  u64 part = train_.last.part;
  const u32 before = (train_.bytes - 1) / config_.mps;
  for (u32 tlp = before; tlp; --tlp) {  // the last one first
    const u64 end = std::min(train_.bytes, (tlp + 1) * config_.mps);
    const Cycle ends = train_.at_hand(last_beat(end), takes) + whole;
    engine::Rate::Span& least = spread.least;
    if (ends > least.whole || (ends == least.whole && part > least.part)) {
      least.whole = ends;
      least.part = part;
    }
    whole += full_write_.whole;
    part += full_write_.part;
    if (part >= up_.rate().bytes) {
      part -= up_.rate().bytes;
      ++whole;
    }
  }
}

u32 PcieLink::count_of_wires(PciePart part) const {
  if (part == PciePart::Tags) return u32(tag_free_from_.size());
  return part <= PciePart::Down;
}

void PcieLink::attach(PcieMeter* meter) {
  u32 told = 0;
  for (unsigned part = 0; part < kPcieParts.size(); ++part)
    told |= u32{count(PciePart(part)) != 0} << part;
  use_.attach(meter, told);
}

double PcieLink::cycles_of(PciePart part) const {
  const engine::Rate& rate = up_.rate();  // of both lines
  return part <= PciePart::Down ? double(rate.cycles) / double(rate.bytes) : 1;
}

Cycle PcieLink::mmio_write(Cycle at, u32 bytes) {
  return send_mmio(at, bytes + u64{config_.write_header});
}

Cycle PcieLink::send_mmio(Cycle at, u64 bytes) {
  down_.insert(std::max(at, mmio_.free_from()), bytes);
  return mmio_.send(at, bytes) + latency_;
}
}  // namespace hca::tlm_
