// SPDX-License-Identifier: Apache-2.0
#include "model/engine/domain.h"

#include <sstream>
#include <string_view>

namespace hca::engine {
namespace {
bool listed(std::string_view names, std::string_view name) {
  std::istringstream words{std::string(names)};
  for (std::string word; words >> word;)
    if (word == name) return true;
  return false;
}

const char* plural(unsigned n) { return n == 1 ? "" : "s"; }

std::string sentence(const Domain& domain, const Wait& w) {
  std::ostringstream text;
  const char *waiting = domain.name_of(w.waiting), *on = domain.name_of(w.on);
  text << "since cycle " << w.since << ": ";
  switch (w.what) {
    case Wait::For::Room:
      text << waiting << " waits for room in link " << w.object << " to " << on << " (" << w.in
           << " of " << w.of << " used)";
      break;
    case Wait::For::Reader:
      text << w.in << " item" << plural(w.in) << " in link " << w.object << " from " << on
           << (w.in == 1 ? " waits for " : " wait for ") << waiting;
      break;
    case Wait::For::Budget:
      text << waiting << " waits for budget " << w.object << " (" << w.in << " of " << w.of
           << " free)";
      break;
    case Wait::For::Mail:
      text << w.in << " item" << plural(w.in) << " in mailbox " << w.object
           << (w.in == 1 ? " waits for " : " wait for ") << waiting;
      break;
  }
  return text.str();
}

bool is_asking(const Wait& w) { return w.what == Wait::For::Room || w.what == Wait::For::Budget; }

// Follows "waits for room" from block to block, to find blocks that wait for each other in a ring.
std::string ring(const Domain& domain, const std::vector<Wait>& waits) {
  for (const Wait& first : waits) {
    if (first.what != Wait::For::Room) continue;
    std::string path = domain.name_of(first.waiting);
    u64 seen = first.waiting, at = first.on;
    for (bool moved = true; moved;) {
      path += std::string(" -> ") + domain.name_of(at);
      if (at == first.waiting) return path;
      if (seen & at) break;
      seen |= at;
      moved = false;
      for (const Wait& w : waits)
        if (w.what == Wait::For::Room && w.waiting == at) {
          at = w.on;
          moved = true;
          break;
        }
    }
  }
  return {};
}
}  // namespace

void Domain::wake_far(u64 blocks, Cycle at) {
  if (at <= now_) broken("woken for a cycle that has begun", name_of(blocks), now_);
  wheel_.set_far(blocks, at);
}

void Domain::enter_name(const char* name) {
  u64 hash = 1469598103934665603u;
  for (const char* c = name; *c; ++c) hash = (hash ^ u8(*c)) * 1099511628211u;
  names_[count_] = name;
  name_hashes_[count_] = hash;
  if (listed(options_.never_stalled, name)) never_stalled_ |= u64{1} << count_;
}

bool Domain::stalled(unsigned index) const {
  if (!options_.stall_per_256 || never_stalled_ >> index & 1) return false;
  u64 h = name_hashes_[index] + options_.stall_seed + now_ * 0x9e3779b97f4a7c15u;
  return split_mix(h) % 256 < options_.stall_per_256;
}

// The blocks of a mask in the order of this cycle.
unsigned Domain::list(u64 run, std::array<u8, 64>& order) {
  unsigned n = 0;
  for (u64 m = run & ~last_; m; m &= m - 1) order[n++] = u8(std::countr_zero(m));
  if (options_.shuffle_seed)
    for (unsigned i = n; i > 1; --i) std::swap(order[i - 1], order[order_.below(i)]);
  for (u64 m = run & last_; m; m &= m - 1) order[n++] = u8(std::countr_zero(m));
  return n;
}

// The slow loop: random order, all blocks, stalls, an observer; a block that acts while it should
// sleep has lost a wake-up.
Cycle Domain::run_checked(Cycle end) {
  const u64 all = count_ == 64 ? ~u64{0} : (u64{1} << count_) - 1;
  std::array<u8, 64> order;
  for (Cycle at; (at = next()) < end;) {
    now_ = at;
    wheel_.bring_near(at);
    const u64 due = wheel_.take_near(at);
    const unsigned n = list(options_.mode == Mode::EveryCycle ? all : due, order);
    acted_ = 0;
    if (sample_ && due && at >= sample_from_) sample_from_ = sample_(sampler_, at);
    for (const Observation& o : observers_)
      if (o.before) o.before(o.who, at);
    for (unsigned i = 0; i < n; ++i) {
      const u64 block = u64{1} << order[i];
      if (!stalled(order[i])) {
        tick(order[i]);
        ++ticks_;
      } else if (due & block)
        wake_next(block);
    }
    if (acted_ & ~due)
      broken("acted while asleep: a wake-up is missing", name_of(acted_ & ~due), at);
    wheel_.leave_near(at);
    if (due) worked_ = at;
    for (const Observation& o : observers_) o.behind(o.who, at);
  }
  now_ = end - 1;
  return next();
}

Cycle Domain::run_sampled(Cycle at, Cycle end) {
  while (at < end) {
    now_ = at;
    if (at >= sample_from_) sample_from_ = sample_(sampler_, at);
    at = run_plain(at, std::min(end, sample_from_));
  }
  now_ = end - 1;
  return at;
}

std::vector<Wait> Domain::waits() const {
  std::vector<Wait> all;
  for (const Watched& w : watched_) w.report(w.object, all);
  std::stable_sort(all.begin(), all.end(),
                   [](const Wait& a, const Wait& b) { return a.since < b.since; });
  return all;
}

std::string Domain::stuck_report() const {
  const std::vector<Wait> all = waits();
  if (all.empty()) return {};
  std::ostringstream text;
  text << "cycle " << now_ << ": ";
  if (asleep())
    text << "all blocks sleep\n";
  else
    text << "next due in cycle " << wheel_.next(now_) << '\n';
  u64 asked = 0, asking = 0;
  for (const Wait& w : all) {
    text << "  " << sentence(*this, w) << '\n';
    if (is_asking(w)) {
      asking |= w.waiting;
      asked |= w.on;
    } else
      asked |= w.waiting;
  }
  if (const std::string blocks = ring(*this, all); !blocks.empty())
    text << "  a ring of blocks that wait for each other: " << blocks << '\n';
  for (u64 idle = asleep() ? asked & ~asking : 0; idle; idle &= idle - 1)
    text << "  look at " << name_of(idle) << ": it has work and has requested no wake-up\n";
  return text.str();
}
}  // namespace hca::engine
