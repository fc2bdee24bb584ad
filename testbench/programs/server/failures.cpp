// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/failures.h"

namespace hca::attach {
namespace {
using proto::CommandOpcode;

bool gives_ring(const Request& request) {
  return proto::decode<proto::QueueAttributes>(request.body.data()).mask & proto::kCqRing;
}
bool any(const Request&) { return true; }

// The requests that a verb makes: of the server, or a command of the HCA. The first that is it.
struct RequestRow {
  FailVerb fails;
  Verb verb;
  CommandOpcode opcode{};
  bool (*is_it)(const Request& request) = any;
};
constexpr std::array kRequests{
    // clang-format off
    RequestRow{FailVerb::CreateCompChannel,  Verb::CreateChannel},
    RequestRow{FailVerb::DestroyCompChannel, Verb::DestroyChannel},
    RequestRow{FailVerb::CreateAh,           Verb::CreateAh},
    RequestRow{FailVerb::DestroyAh,          Verb::DestroyAh},
    RequestRow{FailVerb::AllocPd,      Verb::Command, CommandOpcode::AllocPd},
    RequestRow{FailVerb::DeallocPd,    Verb::Command, CommandOpcode::DeallocPd},
    RequestRow{FailVerb::CreateCq,     Verb::Command, CommandOpcode::CreateCq},
    RequestRow{FailVerb::ResizeCq,     Verb::Command, CommandOpcode::ModifyCq, gives_ring},
    RequestRow{FailVerb::ModifyCq,     Verb::Command, CommandOpcode::ModifyCq},
    RequestRow{FailVerb::DestroyCq,    Verb::Command, CommandOpcode::DestroyCq},
    RequestRow{FailVerb::RegMr,        Verb::Command, CommandOpcode::RegisterMr},
    RequestRow{FailVerb::ReregMr,      Verb::Command, CommandOpcode::ReregisterMr},
    RequestRow{FailVerb::DeregMr,      Verb::Command, CommandOpcode::DeregisterMr},
    RequestRow{FailVerb::AllocMw,      Verb::Command, CommandOpcode::AllocMw},
    RequestRow{FailVerb::DeallocMw,    Verb::Command, CommandOpcode::DeallocMw},
    RequestRow{FailVerb::CreateSrq,    Verb::Command, CommandOpcode::CreateSrq},
    RequestRow{FailVerb::ModifySrq,    Verb::Command, CommandOpcode::ModifySrq},
    RequestRow{FailVerb::QuerySrq,     Verb::Command, CommandOpcode::QuerySrq},
    RequestRow{FailVerb::DestroySrq,   Verb::Command, CommandOpcode::DestroySrq},
    RequestRow{FailVerb::CreateQp,     Verb::Command, CommandOpcode::CreateQp},
    RequestRow{FailVerb::ModifyQp,     Verb::Command, CommandOpcode::ModifyQp},
    RequestRow{FailVerb::QueryQp,      Verb::Command, CommandOpcode::QueryQp},
    RequestRow{FailVerb::DestroyQp,    Verb::Command, CommandOpcode::DestroyQp},
    RequestRow{FailVerb::AttachMcast,  Verb::Command, CommandOpcode::AttachMulticast},
    RequestRow{FailVerb::DetachMcast,  Verb::Command, CommandOpcode::DetachMulticast},
    RequestRow{FailVerb::QueryPort,    Verb::Command, CommandOpcode::QueryPort},
    RequestRow{FailVerb::OpenXrcd,     Verb::Command, CommandOpcode::AllocXrcd},
    RequestRow{FailVerb::OpenXrcd,     Verb::OpenXrcDomain},
    RequestRow{FailVerb::CloseXrcd,    Verb::Command, CommandOpcode::DeallocXrcd},
    RequestRow{FailVerb::OpenQp,       Verb::OpenQp},
    // clang-format on
};
// Earlier verbs are calls inside the library only.
static_assert([] {
  for (std::size_t verb = std::size_t(FailVerb::AllocPd); verb < kFailVerbNames.size(); ++verb)
    if (std::ranges::find(kRequests, FailVerb(verb), &RequestRow::fails) == kRequests.end())
      return false;
  return true;
}());

// Which completions a verb's are.
bool counts(FailVerb verb, const proto::Cqe& cqe) {
  const bool receive = proto::is_of_receive(cqe.opcode);
  return verb == FailVerb::PollCq || (verb == FailVerb::PostSend) != receive;
}
}  // namespace

// Entries are appended, or all of them are removed.
void Failures::set(const std::vector<FailConfig>& fails) {
  if (fails.size() < fails_.size() || fails.empty()) {
    control_.failures.store(0, std::memory_order_release);
    for (SharedFailure& entry : control_.failing) {
      entry.verb = 0;
      entry.seen = 0;
      entry.done = 0;
    }
    fails_.clear();
  }
  for (std::size_t i = fails_.size(); i < std::min(fails.size(), kMostFails); ++i) {
    SharedFailure& entry = control_.failing[i];
    entry.error = fails[i].row().error;
    entry.nth = fails[i].nth, entry.times = fails[i].times;
    entry.seen = 0, entry.done = 0;
    entry.verb.store(u32(fails[i].verb) + 1, std::memory_order_release);
  }
  fails_ = fails;
  of_completions_ = std::ranges::any_of(fails_, &FailConfig::is_of_completion);
  control_.failures.store(u32(std::min(fails_.size(), kMostFails)), std::memory_order_release);
}

void Failures::add_uses(std::vector<EntryUse>& uses) const {
  for (std::size_t i = 0; i < std::min(uses.size(), fails_.size()); ++i) {
    uses[i].seen += control_.failing[i].seen.load();
    uses[i].done += control_.failing[i].done.load();
  }
}

int Failures::of(const Request& request) {
  if (fails_.empty()) return 0;
  const auto row = std::ranges::find_if(kRequests, [&](const RequestRow& r) {
    return r.verb == request.verb && (r.verb != Verb::Command || r.opcode == request.opcode) &&
           r.is_it(request);
  });
  return row == kRequests.end() ? 0 : failure_of(control_, row->fails);
}

proto::WcStatus Failures::status_of(const proto::Cqe& cqe) {
  const auto found = next_failure(control_, [&](const SharedFailure& entry, FailVerb verb) {
    return !entry.error && counts(verb, cqe);
  });
  // The value that the program has written to the shared memory may be no valid entry.
  return found && *found < fails_.size() ? fails_[*found].row().status : proto::WcStatus::Success;
}

void Failures::change(std::span<u8> cqes) {
  if (!of_completions_ && flushing_.empty()) return;
  for (; cqes.size() >= proto::kCqeBytes; cqes = cqes.subspan(proto::kCqeBytes)) {
    auto cqe = proto::decode<proto::Cqe>(cqes.data());
    if (cqe.status != proto::WcStatus::Success) continue;
    if (std::ranges::find(flushing_, cqe.qpn) != flushing_.end()) {
      cqe.status = proto::WcStatus::WrFlushErr;
    } else {
      cqe.status = status_of(cqe);
      if (cqe.status == proto::WcStatus::Success) continue;
      flushing_.push_back(cqe.qpn);
      failed_.push_back(cqe.qpn);
    }
    proto::encode(cqe, cqes.data());
  }
}
}  // namespace hca::attach
