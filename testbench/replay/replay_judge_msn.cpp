// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_judge_msn.h"

#include <algorithm>

#include "model/proto/transport/psn.h"
#include "model/proto/transport/syndrome.h"

namespace hca::testbench {
using namespace proto;

void Msns::learn(const std::vector<const JudgedPacket*>& answers) {
  std::map<std::size_t, std::map<u32, u64>> votes;
  for (const JudgedPacket* p : answers) {
    if (!p->p.has(Ext::Aeth)) continue;
    const bool refuses =
        p->is(Operation::Acknowledge) && syndrome_kind(p->p.aeth.syndrome) != SyndromeKind::Ack;
    const LongPsn psn = requests_.long_psn(p->psn(), requests_.end);
    if (const auto ended = requests_.ended_by(psn - refuses))
      ++votes[ended->segment][psn_sub(p->p.aeth.msn, u32(ended->count))];
  }
  // Of several as frequent ones 0: the count begins with the connection; else the first.
  for (const auto& [segment, counts] : votes) {
    const auto best = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; });
    const auto zero = counts.find(0);
    const bool from_zero = zero != counts.end() && zero->second == best->second;
    offsets_[segment] = from_zero ? 0 : best->first;
  }
}

std::optional<u32> Msns::msn_at(LongPsn psn) const {
  const auto ended = requests_.ended_by(psn);
  if (!ended) return std::nullopt;
  const auto offset = offsets_.find(ended->segment);
  if (offset == offsets_.end()) return std::nullopt;
  return psn_add(offset->second, u32(ended->count));
}

std::optional<std::pair<u32, u32>> Msns::range_of(LongPsn from, LongPsn to) const {
  const auto first = msn_at(from), last = msn_at(std::max(from, to));
  if (!first) return std::nullopt;
  return std::pair{*first, last.value_or(*first)};
}
}  // namespace hca::testbench
