// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "model/proto/memory/memory_region.h"
#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
u64 RingSpace::size_of(u64 bytes) { return std::bit_ceil(std::max<u64>(bytes, 4096)); }

u64 RingSpace::take(u64 bytes) {
  const u64 size = size_of(bytes);
  if (std::vector<u64>& free = free_[size]; !free.empty()) {
    const u64 offset = free.back();
    free.pop_back();
    return offset;
  }
  if (size > end_ - next_) return 0;
  next_ += size;
  return next_ - size;
}

std::atomic<bool> g_any_lost{false};
void lose(Context& context) { context.lost = g_any_lost = true; }

// A reply that its thread waits for while signals may arrive: requests by a handler come after it.
class Awaited {
 public:
  Awaited(Context& context, attach::Reply& reply, std::vector<attach::Descriptor>* descriptors)
      : context_(context), reply_(reply), descriptors_(descriptors), outer_(context.awaited) {
    if (outer_) outer_->take();
    context.awaited = this;
  }
  ~Awaited() { context_.awaited = outer_; }
  Awaited(const Awaited&) = delete;
  // False: the server is gone.
  bool wait(const sigset_t& signals) {
    pollfd end{context_.socket.get(), POLLIN, 0};
    while (!taken_ && ppoll(&end, 1, nullptr, &signals) < 0 && errno == EINTR) continue;
    return take();
  }

 private:
  bool take() {
    if (!std::exchange(taken_, true))
      good_ = attach::receive_message(context_.socket.get(), reply_, descriptors_);
    return good_;
  }
  Context& context_;
  attach::Reply& reply_;
  std::vector<attach::Descriptor>* descriptors_;
  Awaited* const outer_;
  bool taken_ = false, good_ = false;
};

// Accounts for the time that a host's kernel spends on a command, beside the HCA.
static void spend_on(const attach::Request& request) {
  using proto::CommandOpcode;
  struct CostRow {
    CommandOpcode opcode;
    u64 attach::HostCosts::*cost;
  };
  constexpr std::array kCosts{CostRow{CommandOpcode::CreateCq, &attach::HostCosts::create},
                              CostRow{CommandOpcode::CreateQp, &attach::HostCosts::create},
                              CostRow{CommandOpcode::CreateSrq, &attach::HostCosts::create},
                              CostRow{CommandOpcode::AllocMw, &attach::HostCosts::create},
                              CostRow{CommandOpcode::ModifyCq, &attach::HostCosts::modify},
                              CostRow{CommandOpcode::ModifyQp, &attach::HostCosts::modify},
                              CostRow{CommandOpcode::ModifySrq, &attach::HostCosts::modify},
                              CostRow{CommandOpcode::DestroyCq, &attach::HostCosts::modify},
                              CostRow{CommandOpcode::DestroyQp, &attach::HostCosts::modify},
                              CostRow{CommandOpcode::DestroySrq, &attach::HostCosts::modify},
                              CostRow{CommandOpcode::DeallocMw, &attach::HostCosts::modify},
                              CostRow{CommandOpcode::DeregisterMr, &attach::HostCosts::modify},
                              CostRow{CommandOpcode::RegisterMr, &attach::HostCosts::region},
                              CostRow{CommandOpcode::ReregisterMr, &attach::HostCosts::region}};
  if (request.verb != attach::Verb::Command) return;
  const auto row = std::ranges::find(kCosts, request.opcode, &CostRow::opcode);
  if (row == kCosts.end()) return;
  clock::spend(row->cost);
  if (row->cost != &attach::HostCosts::region) return;
  constexpr u64 kPage = 4096;
  const auto mr = proto::decode<proto::MrAttributes>(request.body.data());
  const u64 first = mr.physical / kPage, end = (mr.physical + mr.bytes + kPage - 1) / kPage;
  clock::spend(&attach::HostCosts::region_page, end - first);
}

int ask(Context& context, attach::Request& request, attach::Reply& reply,
        std::vector<attach::Descriptor>* descriptors, std::span<const int> given) {
  if (is_inherited(&context.context)) return told(EPERM);
  const StateGuard guard(context.mutex);
  Awaited awaited(context, reply, descriptors);
  if (!attach::send_message(context.socket.get(), request, given) ||
      !awaited.wait(guard.signals_before())) {
    lose(context);
    return told(EIO);
  }
  if (!reply.error) spend_on(request);
  return told(reply.error);
}

int command(Context& context, proto::CommandOpcode opcode, u32 object, attach::Reply& reply) {
  attach::Request request;
  request.verb = attach::Verb::Command;
  request.opcode = opcode;
  request.object = object;
  return ask(context, request, reply);
}

void ring(Context& context, proto::BarOffset offset, const std::array<u8, 8>& doorbell, u64 at) {
  attach::SharedControl& control = context.control();
  const std::lock_guard guard(context.doorbells);
  const u32 posted = control.posted.load(std::memory_order_relaxed);
  while (posted - control.taken.load(std::memory_order_acquire) >= attach::kPostedWrites) {
    if (!server_is_there(context)) return;
    context.let_others.yield();
  }
  control.writes[posted % attach::kPostedWrites] = {u32(offset), 0, at, doorbell};
  control.posted.store(posted + 1, std::memory_order_seq_cst);
  if (!control.server_sleeps.load(std::memory_order_seq_cst)) return;
  const u64 one = 1;
  if (write(context.wake.get(), &one, sizeof one) < 0 && errno != EAGAIN) lose(context);
}

u64 give_cookie(Context& context, void* object) {
  const StateGuard guard(context.mutex);
  context.by_cookie[++context.last_cookie] = object;
  return context.last_cookie;
}
void take_cookie(Context& context, u64 cookie) {
  const StateGuard guard(context.mutex);
  context.by_cookie.erase(cookie);
}
void* find_object(Context& context, u64 cookie) {
  const StateGuard guard(context.mutex);
  const auto found = context.by_cookie.find(cookie);
  return found == context.by_cookie.end() ? nullptr : found->second;
}

bool server_is_there(Context& context) {
  if (context.lost) return false;
  char byte;
  const ssize_t got = recv(context.socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) lose(context);
  return !context.lost;
}
}  // namespace hca::verbs_library
