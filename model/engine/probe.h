// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/cycle.h"
#include "model/engine/digest.h"

namespace hca::engine {
// An event that a block reports: a kind of its own enum and up to three numbers (QPN, PSN, bytes
// ...).
struct Event {
  Cycle at;
  u16 block;  // see ProbeHub::name()
  u16 kind;   // value of the block's own enum of kinds
  u64 a, b, c;
  bool operator==(const Event&) const = default;
};

class ProbeSink {
 public:
  virtual ~ProbeSink() = default;
  virtual void event(const Event& event) = 0;
  // False: the sink gets no event of this block.
  virtual bool wants(std::string_view) const { return true; }
};

// Connects the probes of all blocks with sinks, which may attach and detach. An event of a block
// that no sink wants costs one predictable branch. Events of one block come in its own order; the
// order between blocks within a cycle is that of their ticks and has no meaning.
class ProbeHub;
class Probe {
 public:
  Probe() = default;
  bool attached() const { return *attached_; }
  // `kind`: a value of the block's enum class.
  template <class Kind>
  inline void event(Cycle at, Kind kind, u64 a = 0, u64 b = 0, u64 c = 0) const;

 private:
  friend class ProbeHub;
  inline Probe(ProbeHub& hub, u16 block);
  static constexpr bool kDetached = false;
  const bool* attached_ = &kDetached;  // the block's, in the hub
  ProbeHub* hub_ = nullptr;
  u16 block_ = 0;
};

class ProbeHub {
 public:
  ProbeHub() = default;
  ProbeHub(const ProbeHub&) = delete;
  // Adds a probe for one block. `kinds`: words for the values of its enum, in a static array.
  Probe add(std::string_view block, std::span<const std::string_view> kinds = {});
  void attach(ProbeSink& sink);
  void detach(ProbeSink& sink);
  bool attached() const { return !sinks_.empty(); }
  std::size_t blocks() const { return blocks_.size(); }
  std::string_view name(u16 block) const { return blocks_[block].name; }
  std::string_view kind_name(const Event& event) const;
  // Cold: this code lies apart from that of the blocks.
  [[gnu::cold]] void emit(const Event& event);

 private:
  friend class Probe;
  struct Source {
    std::string name;
    std::span<const std::string_view> kinds;
    std::vector<ProbeSink*> sinks{};  // that want its events
  };
  std::vector<ProbeSink*> sinks_;
  std::vector<Source> blocks_;
  std::deque<bool> attached_;  // by block: there are sinks; probes hold their addresses
};

inline Probe::Probe(ProbeHub& hub, u16 block)
    : attached_(&hub.attached_[block]), hub_(&hub), block_(block) {}
template <class Kind>
inline void Probe::event(Cycle at, Kind kind, u64 a, u64 b, u64 c) const {
  if (attached()) [[unlikely]]
    hub_->emit({at, block_, static_cast<u16>(kind), a, b, c});
}

// The run's hash: a digest of each block's events in its own order, so it depends neither on tick
// order nor on quanta.
class DigestSink : public ProbeSink {
 public:
  void event(const Event& event) override;
  u64 value() const;
  u64 events() const { return events_; }

 private:
  u64 events_ = 0;
  std::vector<Digest> blocks_;
};

// Keeps all events: for tests.
class RecordingSink : public ProbeSink {
 public:
  std::vector<Event> events;
  void event(const Event& event) override { events.push_back(event); }
};
}  // namespace hca::engine
