// SPDX-License-Identifier: Apache-2.0
#include "model/engine/probe.h"

#include <algorithm>
#include <iterator>

namespace hca::engine {
Probe ProbeHub::add(std::string_view block, std::span<const std::string_view> kinds) {
  Source& source = blocks_.emplace_back(Source{std::string(block), kinds});
  std::ranges::copy_if(sinks_, std::back_inserter(source.sinks),
                       [&](const ProbeSink* sink) { return sink->wants(block); });
  attached_.push_back(!source.sinks.empty());
  return {*this, u16(blocks_.size() - 1)};
}

void ProbeHub::attach(ProbeSink& sink) {
  sinks_.push_back(&sink);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    if (!sink.wants(blocks_[block].name)) continue;
    blocks_[block].sinks.push_back(&sink);
    attached_[block] = true;
  }
}

void ProbeHub::detach(ProbeSink& sink) {
  std::erase(sinks_, &sink);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    std::erase(blocks_[block].sinks, &sink);
    attached_[block] = !blocks_[block].sinks.empty();
  }
}

std::string_view ProbeHub::kind_name(const Event& event) const {
  const auto& kinds = blocks_[event.block].kinds;
  return event.kind < kinds.size() ? kinds[event.kind] : "";
}

void ProbeHub::emit(const Event& event) {
  for (ProbeSink* sink : blocks_[event.block].sinks) sink->event(event);
}

void DigestSink::event(const Event& event) {
  if (event.block >= blocks_.size()) blocks_.resize(event.block + 1u);
  blocks_[event.block].add(event.at, event.kind, event.a, event.b, event.c);
  ++events_;
}

u64 DigestSink::value() const {
  Digest all;
  for (const Digest& block : blocks_) all.add(block.value());
  return all.value();
}
}  // namespace hca::engine
