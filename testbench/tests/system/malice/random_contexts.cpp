// SPDX-License-Identifier: Apache-2.0
// RD, as requester: which queue pair an EE context serves, as far as it can be known here.
#include <algorithm>

#include "model/proto/transport/psn.h"
#include "testbench/tests/system/malice/random_vector.h"

namespace hca::testbench::malice {
// A message in progress goes on.
void RandomVector::choose_context(End& end) {
  if (end.is_rd()) end.flow = kFirstContext + random_.below(kContexts);
}

// Queue pairs ask in order, and an EE context has one message at a time.
void RandomVector::serve() {
  for (std::size_t i = 0; i < kEnds; ++i) {
    End& end = ends_[i];
    if (end.asks || end.waiting.empty()) continue;
    flows_[end.waiting.front().first].asking.push_back(i);
    end.asks = true;
  }
  for (Flow& flow : flows_) {
    if (flow.served || flow.asking.empty()) continue;
    flow.served = flow.asking.front();
    flow.asking.pop_front();
    Asked asked = ends_[*flow.served].waiting.front().second;
    asked.psn = flow.next;
    flow.next = proto::psn_add(flow.next, asked.packets);
    flow.outstanding = {asked};
  }
}

// The message is acknowledged, or the RESYNC that ended it.
void RandomVector::end_served(Flow& flow) {
  End& end = ends_[*flow.served];
  flow.served.reset();
  end.asks = false;
  if (flow.resync == Flow::Resync::None) end.waiting.pop_front();
  if (flow.resync == Flow::Resync::Fails) end.waiting.clear();
  flow.resync = Flow::Resync::None;
  serve();
}

void RandomVector::begin_resync(Flow& flow, Flow::Resync end) {
  if (!flow.served || flow.resync != Flow::Resync::None) return;
  flow.resync = end;
  flow.outstanding = {{"Acknowledge", flow.next, 1, 0}};
  flow.next = proto::psn_add(flow.next, 1);
}

// The queue pair has no work requests any more. A message of it that has begun ends by a RESYNC.
void RandomVector::forget(End& end) {
  end.waiting.clear();
  for (Flow& flow : flows_) {
    const auto is_end = [&](std::size_t i) { return &ends_[i] == &end; };
    const bool asked = std::erase_if(flow.asking, is_end);
    const bool served = flow.served && is_end(*flow.served);
    if (served) begin_resync(flow, Flow::Resync::Fails);
    if (asked && !served) end.asks = false;
  }
}
}  // namespace hca::testbench::malice
