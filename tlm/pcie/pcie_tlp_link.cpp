// SPDX-License-Identifier: Apache-2.0
#include "tlm/pcie/pcie_tlp_link.h"

#include <algorithm>

#include "model/proto/interface/work_rows.h"

namespace hca::tlm_ {
PcieTlpLink::PcieTlpLink(const PcieConfig& c, u64 hertz, u64 seed)
    : PcieLink(c, hertz, seed),
      tags_(config_.read_tags),
      nonposted_(c.root_nonposted_headers),
      posted_{{PcieCredits(config_.root_posted_headers), PcieCredits(config_.root_posted_data)},
              PciePart::PostedHeaders,
              PciePart::PostedData},
      completions_{
          {PcieCredits(c.device_completion_headers), PcieCredits(c.device_completion_data)},
          PciePart::CompletionHeaders,
          PciePart::CompletionData},
      root_(c, hertz, use_) {}

u32 PcieTlpLink::count(PciePart part) const {
  if (part == PciePart::Walkers) return config_.iommu_entries ? config_.iommu_walkers : 0;
  if (part == PciePart::Memory) return config_.memory_rate ? config_.memory_channels : 0;
  if (part == PciePart::Lines) return config_.same_line_interval != 0;
  const PcieCredits* const credits = pool(part);
  return credits ? credits->all() : count_of_wires(part);
}

const PcieCredits* PcieTlpLink::pool(PciePart part) const {
  if (part == PciePart::Tags) return &tags_;
  if (part == PciePart::NonpostedHeaders) return &nonposted_;
  for (const Credits* c : {&posted_, &completions_}) {
    if (part == c->of_headers) return &c->headers;
    if (part == c->of_data) return &c->data;
  }
  return nullptr;
}

void PcieTlpLink::begin_most(Cycle now) {
  for (PcieCredits* c : {&tags_, &nonposted_}) c->begin_most(now);
  for (Credits* c : {&posted_, &completions_}) c->headers.begin_most(now), c->data.begin_most(now);
}

u32 PcieTlpLink::most(PciePart part) const {
  const PcieCredits* const credits = pool(part);
  return credits ? credits->most() : 0;
}

// The bytes before the next boundary; `most` divides the 4 KiB that no request crosses.
u32 PcieTlpLink::piece_of(u64 address, u32 bytes, u32 most) const {
  const u32 off = config_.split == PcieSplit::BySize ? 0 : u32(address % most);
  return std::min(bytes, most - off);
}

blocks::ReadTiming PcieTlpLink::read(Cycle at, u64 address, u32 bytes) {
  blocks::ReadTiming timing{};
  for (u32 done = 0, part; done < bytes; done += part) {
    part = piece_of(address + done, bytes - done, config_.mrrs);
    timing.next = ask(at, {address + done, part, config_.read_header}, !done, timing);
  }
  return timing;
}

blocks::ReadTiming PcieTlpLink::atomic(Cycle at, u64 address, u32 operands) {
  blocks::ReadTiming timing{};
  timing.next = ask(at, {address, proto::kAtomicBytes, atomic_bytes(operands)}, true, timing);
  return timing;
}

// One TLP and its completions: the cycle in which it has left.
Cycle PcieTlpLink::ask(Cycle at, const Asked& a, bool first, blocks::ReadTiming& timing) {
  const Cycle tag = tags_.take(1), credit = nonposted_.take(1), may = std::max(tag, credit);
  const Cycle takes = up_.rate().cycles_for(a.on_line);
  if (use_.is_metered()) {
    use_.waits(PciePart::Tags, at, tag);
    use_.waits(PciePart::NonpostedHeaders, std::max(at, tag), credit);
    use_.waits(PciePart::Up, std::max(at, may), up_.free_from());
  }
  const Cycle sent = up_.send(at, a.on_line);
  const Cycle left = std::max(sent, may ? may + takes : 0);
  const Cycle goes_on = root_.read_goes_on(left + latency_, a.address, a.bytes);
  const Cycle starts = left - takes, back = returned(goes_on);
  nonposted_.give(starts, back, 1);
  const Cycle tag_from = std::max(at, tag);
  if (first) timing.memory = goes_on;
  const Cycle takes_memory = first || by_memory() ? at_memory() : memory_latency_;
  const Cycle last =
      answer(root_.read(goes_on, a.address, a.bytes, takes_memory), a.address, a.bytes, timing);
  timing.last = std::max(timing.last, last);
  tags_.give(tag_from, last, 1);
  if (use_.is_metered()) {
    use_.add(PciePart::Up, sent - takes, sent, a.on_line);
    use_.add(PciePart::NonpostedHeaders, starts, back, back - starts);
    use_.add(PciePart::Tags, tag_from, last, last - tag_from);
  }
  return left;
}

// The completions of a part that memory has from cycle `from` on.
Cycle PcieTlpLink::answer(Cycle from, u64 address, u32 bytes, blocks::ReadTiming& timing) {
  const Pieces pieces = pieces_of(bytes);
  const u32 off = config_.split == PcieSplit::ByAddress ? u32(address % pieces.first) : 0;
  u32 most = pieces.first - off;
  Cycle last = from;
  for (u32 done = 0, part; done < bytes; done += part, most = pieces.others) {
    part = std::min(bytes - done, most);
    const Cycle start = with_credits(completions_, from, part);
    const u64 size = part + u64{config_.completion_header};
    const Cycle fits = by_memory() ? down_.fit(start, size) : 0;
    const Cycle begins =
        fits ? fits - down_.rate().cycles_for(size) : std::max(start, down_.free_from());
    const Cycle sent = fits ? fits : down_.send(start, size);
    if (use_.is_metered()) {
      use_.waits(PciePart::Down, start, begins);
      use_.add(PciePart::Down, begins, sent, size);
    }
    last = sent + latency_;
    from = by_memory() ? sent : from;
    if (!timing.first) timing.first = last;
    give(completions_, begins, last, part);
  }
  return last;
}

blocks::WriteTiming PcieTlpLink::write(Cycle first_in, Cycle last_in, u64 address, u32 bytes) {
  // The bytes come evenly, by beats.
  const u64 gaps = (bytes + kBeatBytes - 1) / kBeatBytes - 1;
  const auto at_hand = [&](u64 end) {
    const u64 beat = (end + kBeatBytes - 1) / kBeatBytes - 1;
    return gaps ? first_in + ((last_in - first_in) * beat + gaps - 1) / gaps : last_in;
  };
  Cycle memory = 0;
  for (u32 done = 0, part; done < bytes; done += part) {
    part = piece_of(address + done, bytes - done, config_.mps);
    const Cycle start = with_credits(posted_, at_hand(done + part), part);
    const Cycle begins = std::max(start, up_.free_from());
    const u64 size = part + u64{config_.write_header};
    const Cycle sent = done ? up_.send_in_train(start, size) : up_.send(start, size);
    if (use_.is_metered()) {
      use_.waits(PciePart::Up, start, begins);
      use_.add(PciePart::Up, begins, sent, size);
    }
    const Cycle goes_on = root_.write_goes_on(sent + latency_, address + done, part);
    const Cycle in_memory = root_.write(goes_on, address + done, part);
    memory = std::max(memory, in_memory);
    give(posted_, begins, in_memory, part);
  }
  return {up_.free_from(), memory};
}

Cycle PcieTlpLink::mmio_write(Cycle at, u32 bytes) {
  const u64 size = bytes + u64{config_.write_header};
  const Cycle begins = std::max(at, mmio_.free_from());
  const Cycle there = send_mmio(at, size);
  if (use_.is_metered()) use_.add(PciePart::Down, begins, there - latency_, size);
  return there;
}

void PcieTlpLink::give(Credits& credits, Cycle start, Cycle out_of_buffer, u32 bytes) {
  const Cycle back = returned(out_of_buffer);
  const u32 data = PcieCreditPair::of(bytes);
  credits.headers.give(start, back, 1);
  credits.data.give(start, back, data);
  if (!use_.is_metered()) return;
  use_.add(credits.of_headers, start, back, back - start);
  use_.add(credits.of_data, start, back, data * (back - start));
}

// A TLP that may start in cycle `at` but for credits.
Cycle PcieTlpLink::with_credits(Credits& credits, Cycle at, u32 bytes) {
  const Cycle header = credits.headers.take(1);
  const Cycle data = credits.data.take(PcieCreditPair::of(bytes));
  if (use_.is_metered()) {
    use_.waits(credits.of_headers, at, header);
    use_.waits(credits.of_data, at, data);
  }
  return std::max({at, header, data});
}

bool needs_tlps(const PcieConfig& c) {
  return c.split != PcieSplit::BySize || c.root_posted_headers || c.root_posted_data ||
         c.root_nonposted_headers || c.device_completion_headers || c.device_completion_data ||
         c.memory_rate || c.iommu_entries || c.llc_bytes || c.same_line_interval ||
         c.completion_order != CompletionOrder::InOrder;
}

std::unique_ptr<PcieLink> make_pcie_link(const PcieConfig& config, u64 hertz, u64 seed,
                                         bool metered) {
  if (metered || needs_tlps(config)) return std::make_unique<PcieTlpLink>(config, hertz, seed);
  return std::make_unique<PcieLink>(config, hertz, seed);
}
}  // namespace hca::tlm_
