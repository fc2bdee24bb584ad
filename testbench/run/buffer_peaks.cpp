// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/buffer_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "model/blocks/chip.h"
#include "testbench/testbed/kernel_time.h"

namespace hca::testbench {
namespace {
constexpr u64 kRoomToPrint = 4;  // a link with less room is full all the time
constexpr std::size_t kPeaksToPrint = 8;
bool is_counted(std::string_view kind) {
  return kind == "tags" || kind == "credits" || kind == "walkers";
}
}  // namespace

BufferPeaks::BufferPeaks(Testbed& testbed) : testbed_(testbed) {
  for (unsigned i = 0; i < testbed.nodes(); ++i) add_chip(i);
  known_ = peaks_.size();
}

BufferPeaks::~BufferPeaks() {
  for (Chip& chip : chips_) {
    if (recording_) keep_most(chip, false);
    std::erase(testbed_.node(chip.number).cpu.meters, &chip);
  }
}

std::size_t BufferPeaks::add(Peak peak) {
  peaks_.push_back(std::move(peak));
  return peaks_.size() - 1;
}

// Those of hosts come by name, whichever host runs first.
std::vector<std::size_t> BufferPeaks::order() const {
  std::vector<std::size_t> order(peaks_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin() + std::ptrdiff_t(known_), order.end(),
            [&](std::size_t a, std::size_t b) { return peaks_[a].place < peaks_[b].place; });
  return order;
}

void BufferPeaks::add_chip(unsigned i) {
  Chip& chip = chips_.emplace_back();
  const Hca& hca = testbed_.node(i).hca;
  chip.peaks = this, chip.number = i, chip.domain = &testbed_.node(i).hca.domain();
  chip.first = peaks_.size();
  for (std::size_t w = 0; w < chip.domain->watched().size(); ++w) {
    const engine::Watched& watched = chip.domain->watched()[w];
    const engine::Level level = watched.level(watched.object);
    add({fmt::format("hca{} {}: {}", i, chip.domain->name_of(level.owner), level.object), "items",
         level.of});
  }
  hca.chip().for_each_counters([&]<class C>(std::string_view block, const C& counters) {
    if constexpr (std::is_same_v<C, blocks::LinkControlCounters>)
      chip.received.emplace_back(
          &counters.most_bytes,
          add({fmt::format("hca{} {}: receive buffer of a lane", i, block), "bytes", 0}));
  });
  const tlm_::PcieLink& link = testbed_.node(i).pcie();
  for (std::size_t p = 0; p < tlm_::kPcieParts.size(); ++p) {
    const auto& [name, kind, knob] = tlm_::kPcieParts[p];
    const u32 of = is_counted(kind) ? link.count(tlm_::PciePart(p)) : 0;
    chip.pcie_peaks.push_back(
        of ? add({fmt::format("hca{} PCIe: {}", i, name), std::string(kind), of}) : kNone);
  }
  testbed_.node(i).cpu.meters.push_back(&chip);
}

void BufferPeaks::note(std::size_t peak, u64 level) {
  Peak& p = peaks_[peak];
  if (!recording_ || level <= p.most) return;
  p.most = level;
  p.part = parts_.size() - 1;
}

// The watched objects and the PCIe link keep it themselves in a part of the run.
void BufferPeaks::keep_most(Chip& chip, bool kept) {
  const auto& watched = chip.domain->watched();
  for (std::size_t w = 0; w < watched.size(); ++w) {
    if (!kept) note(chip.first + w, watched[w].most(watched[w].object));
    watched[w].keep_most(watched[w].object,
                         kept ? unsigned(peaks_[chip.first + w].most) : engine::kNoMost);
  }
  Node& node = testbed_.node(chip.number);
  // The domain's own cycle may be older: that of the last one in which a block acted.
  if (kept) return node.pcie().begin_most(kernel_picoseconds() / node.hca.period().value());
  for (std::size_t p = 0; p < chip.pcie_peaks.size(); ++p)
    if (chip.pcie_peaks[p] != kNone) note(chip.pcie_peaks[p], node.pcie().most(tlm_::PciePart(p)));
}

// TLPs take tags and credits in the order in which they leave, and PcieCredits keeps the most of
// them. They take walkers as they arrive: a read that waits for a tag may arrive behind a later write.
void BufferPeaks::use_walker(unsigned number, Cycle from, Cycle to) {
  Chip& chip = chips_[number];
  chip.walkers.pass_until(chip.domain->now());
  chip.walkers.add(from, to, 1);
  note(chip.pcie_peaks[std::size_t(tlm_::PciePart::Walkers)], u64(chip.walkers.most()));
}

void BufferPeaks::pass_walkers(Chip& chip, Cycle until) {
  chip.walkers.pass_until(until);
  const std::size_t peak = chip.pcie_peaks[std::size_t(tlm_::PciePart::Walkers)];
  if (peak != kNone) note(peak, u64(chip.walkers.most()));
}

BufferPeaks::Queue* BufferPeaks::queue_of(Chip& chip, u32 cqn) {
  const auto found = chip.queues.find(cqn);
  if (found != chip.queues.end()) return &found->second;
  for (const Endpoint* end : testbed_.ends_at(chip.number))
    for (const Cq* cq : {end->send_cq, end->recv_cq})
      if (cq && cq->cqn == cqn) {
        const std::size_t peak =
            add({fmt::format("host {}: completion queue {:#x}", chip.number, cqn), "CQEs",
                 cq->entries()});
        return &chip.queues.emplace(cqn, Queue{cq, 0, peak}).first->second;
      }
  return nullptr;
}

// CQEs that the program has not taken. It acts after the writes of a cycle.
void BufferPeaks::Chip::wrote(Cycle, u32 cqn, u64 cqes) {
  Queue* const queue = peaks->queue_of(*this, cqn);
  if (!queue) return;
  queue->written += u32(cqes);
  peaks->note(queue->peak, queue->written - queue->cq->consumer);
}

void BufferPeaks::Chip::offers(const void*, const Offer& offer) {
  const auto [loop, is_new] = loops.try_emplace(offer.entry);
  if (is_new)
    loop->second = peaks->add(
        {fmt::format("host {}: queue of workload[{}]", number, offer.entry), "messages", 0});
  Peak& peak = peaks->peaks_[loop->second];
  peak.of = std::max(peak.of, offer.room);
  peaks->note(loop->second, offer.queued);
}

void BufferPeaks::part(const std::string& what, bool begins) {
  for (Chip& chip : chips_) pass_walkers(chip, chip.domain->now() + 1);
  if (recording_ && !begins)
    for (Chip& chip : chips_) keep_most(chip, false);
  recording_ = begins;
  if (!begins) return;
  parts_.push_back(what);
  for (Chip& chip : chips_) {
    chip.walkers.begin();
    keep_most(chip, true);
  }
}

nlohmann::json BufferPeaks::json() const {
  using nlohmann::json;
  std::map<std::size_t, u64> received;
  for (const Chip& chip : chips_)
    for (const auto& [most, peak] : chip.received) received[peak] = *most;
  json all = json::array();
  for (const std::size_t i : order()) {
    const Peak& p = peaks_[i];
    const auto whole = received.find(i);
    const u64 most = whole == received.end() ? p.most : whole->second;
    if (most)
      all.push_back({{"place", p.place},
                     {"unit", p.unit},
                     {"most", most},
                     {"of", p.of ? json(p.of) : json()},
                     {"part", whole == received.end() ? json(parts_[p.part]) : json()}});
  }
  return all;
}

std::string BufferPeaks::line() const {
  std::string text;
  std::size_t count = 0;
  for (const std::size_t i : order()) {
    const Peak& p = peaks_[i];
    if (p.of < kRoomToPrint || p.most != p.of) continue;
    if (++count <= kPeaksToPrint)
      text += fmt::format("{}{} {} of {}", text.empty() ? "" : "; ", p.place, p.most, p.of);
  }
  if (text.empty()) return text;
  return fmt::format("Full at some time: {}{}\n", text,
                     count > kPeaksToPrint ? fmt::format("; {} more", count - kPeaksToPrint) : "");
}
}  // namespace hca::testbench
