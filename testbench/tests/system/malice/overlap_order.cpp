// SPDX-License-Identifier: Apache-2.0
// Depth first, each place of the search once: how far the actors are, and what that left.
#include <algorithm>
#include <set>
#include <string>

#include "testbench/tests/system/malice/overlap.h"

namespace hca::testbench::malice::overlap {
namespace {
class Search {
 public:
  Search(const History& history, const Memory& end, Order kind)
      : history_(history),
        end_(end),
        kind_(kind),
        actors_(kActors + 2 * history.operations.size()) {
    for (u32 i = 0; i < history.operations.size(); ++i)
      if (history.seen[i].fate != Fate::Unanswered)
        actors_[history.operations[i].actor].push_back(i), ++operations_;
    done_.resize(history.operations.size());
  }
  bool go(const State& state) {
    if (order_.size() == operations_) return state.memory == end_;
    if (!tried_.insert(place(state)).second) return false;
    for (const std::vector<u32>& actor : actors_) {
      bool overtakes = false;
      for (const u32 i : actor) {
        if (done_[i]) continue;
        const bool is_read = reads(history_.operations[i].what);
        if (!(overtakes && is_read) && try_next(i, state)) return true;
        if (kind_ == Order::Strict || !is_read) break;
        overtakes = true;
      }
    }
    return false;
  }
  std::vector<u32> take() { return std::move(order_); }

 private:
  bool try_next(u32 i, const State& state) {
    if (!may_begin(i)) return false;
    const Seen& seen = history_.seen[i];
    if (seen.after != Seen::kNever && !done_[seen.after]) return false;
    State next = state;
    std::vector<u8> data;
    const bool executed =
        !refused_on_the_way(i, state) && apply(history_.operations[i], next, data);
    if (executed != (seen.fate == Fate::Executed) || data != seen.data) return false;
    order_.push_back(i), done_[i] = 1;
    if (go(next)) return true;
    order_.pop_back(), done_[i] = 0;
    return false;
  }
  bool refused_on_the_way(u32 i, const State& state) const {
    const Operation& op = history_.operations[i];
    return (uses_key(op.what) || takes_key(op.what)) && state.keys[op.key] == Key::Leaving &&
           history_.seen[i].fate == Fate::Refused;
  }
  // All that ended before it began have been.
  bool may_begin(u32 i) const {
    const bool by_host = history_.operations[i].actor == kHost;
    for (const std::vector<u32>& actor : actors_)
      for (const u32 n : actor) {
        const Seen& other = history_.seen[n];
        if (!done_[n] && (by_host ? other.told : other.ended) < history_.seen[i].begun)
          return false;
      }
    return true;
  }
  std::string place(const State& state) const {
    std::string key(state.memory.begin(), state.memory.end());
    for (const Key k : state.keys) key += char(k);
    return key + done_;
  }

  const History& history_;
  const Memory& end_;
  const Order kind_;
  std::vector<std::vector<u32>> actors_;
  std::string done_;  // by operation: 1 if it is in the order
  std::size_t operations_ = 0;
  std::vector<u32> order_;
  std::set<std::string> tried_;
};

// As Order::Loose has them.
History with_parts(const History& history) {
  History parts;
  const auto add = [&](Operation op, What what, u32 actor, const Seen& seen) {
    op.what = what, op.actor = u8(actor);
    parts.operations.push_back(op), parts.seen.push_back(seen);
  };
  for (u32 i = 0; i < history.operations.size(); ++i) {
    const Operation& op = history.operations[i];
    const Seen& seen = history.seen[i];
    if (!takes_key(op.what) || seen.fate == Fate::Unanswered) {
      add(op, op.what, op.actor, seen);
      continue;
    }
    Seen begins;
    begins.fate = Fate::Executed, begins.begun = seen.begun;
    u32 actor = op.actor;
    Operation taking = op;
    if (op.what == What::SendInvalidate) {
      Seen data = seen;
      data.fate = Fate::Executed;
      add(op, What::Send, actor, data);
      actor = kActors + i, taking.what = What::LocalInvalidate, taking.bytes = 0;
    }
    if (seen.fate == Fate::Executed) add(taking, What::BeginTaking, actor, begins);
    if (seen.fate == Fate::Executed && op.what == What::LocalInvalidate) {
      Seen ends = seen;
      ends.after = u32(parts.operations.size()) - 1;
      add(taking, What::EndTaking, kActors + i, ends);
    } else {
      add(taking, taking.what, actor, seen);
    }
  }
  return parts;
}
}  // namespace

std::optional<std::vector<u32>> find_order(const History& history, const State& start,
                                           const Memory& end, Order kind) {
  const History& all = kind == Order::Loose ? with_parts(history) : history;
  Search search(all, end, kind);
  if (!search.go(start)) return std::nullopt;
  return search.take();
}
}  // namespace hca::testbench::malice::overlap
