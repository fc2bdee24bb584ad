// SPDX-License-Identifier: Apache-2.0
#include "model/engine/probe.h"

#include <algorithm>

namespace hca::engine {
Probe ProbeHub::add(std::string_view block, std::span<const std::string_view> kinds) {
  blocks_.push_back({std::string(block), kinds});
  return {*this, u16(blocks_.size() - 1)};
}

void ProbeHub::attach(ProbeSink& sink) {
  sinks_.push_back(&sink);
  attached_ = true;
}

void ProbeHub::detach(ProbeSink& sink) {
  std::erase(sinks_, &sink);
  attached_ = !sinks_.empty();
}

std::string_view ProbeHub::kind_name(const Event& event) const {
  const auto& kinds = blocks_[event.block].kinds;
  return event.kind < kinds.size() ? kinds[event.kind] : "";
}

void ProbeHub::emit(const Event& event) {
  for (ProbeSink* sink : sinks_) sink->event(event);
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
