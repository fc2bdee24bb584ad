// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_async.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hca::testbench {
namespace {
enum class Of : u8 { Queue, Device };
struct Name {
  std::string_view name;
  Of of;
};
// By their numbers in libibverbs.
constexpr std::array kNames{
    Name{"CQ_ERR", Of::Queue},
    Name{"QP_FATAL", Of::Queue},
    Name{"QP_REQ_ERR", Of::Queue},
    Name{"QP_ACCESS_ERR", Of::Queue},
    Name{"COMM_EST", Of::Queue},
    Name{"SQ_DRAINED", Of::Queue},
    Name{"PATH_MIG", Of::Queue},
    Name{"PATH_MIG_ERR", Of::Queue},
    Name{"DEVICE_FATAL", Of::Device},
    Name{"PORT_ACTIVE", Of::Device},
    Name{"PORT_ERR", Of::Device},
    Name{"LID_CHANGE", Of::Device},
    Name{"PKEY_CHANGE", Of::Device},
    Name{"SM_CHANGE", Of::Device},
    Name{"SRQ_ERR", Of::Queue},
    Name{"SRQ_LIMIT_REACHED", Of::Queue},
    Name{"QP_LAST_WQE_REACHED", Of::Queue},
    Name{"CLIENT_REREGISTER", Of::Device},
    Name{"GID_CHANGE", Of::Device},
    Name{"WQ_FATAL", Of::Queue},
};

const Name& row_of(const JsonAt& event) {
  const JsonAt name = event[event.has("type") ? "type" : "event"];
  if (!name.value().is_string()) return kNames[name.number(0, kNames.size() - 1)];
  std::string_view text = name.text();
  if (constexpr std::string_view prefix = "IBV_EVENT_"; text.starts_with(prefix))
    text.remove_prefix(prefix.size());
  const auto* row = std::ranges::find(kNames, text, &Name::name);
  if (row != kNames.end()) return *row;
  std::string all;
  for (const Name& n : kNames) all += (all.empty() ? "" : " | ") + std::string(n.name);
  name.refuse("is " + name.value().dump(), all);
}
const Name& row_of(const ReplayEvent& event) { return row_of(JsonAt(event.values, event.path)); }
}  // namespace

void check_async(const JsonAt& event) { row_of(event); }
std::string_view async_name(const ReplayEvent& event) { return row_of(event).name; }
bool is_of_no_queue(const ReplayEvent& event) { return row_of(event).of == Of::Device; }

bool is_async(const ReplayEvent& recorded, const AsyncEvent& ours) {
  const proto::EventRow* row = proto::async_event(ours.type);
  const bool same_queue = row->object != proto::EventObject::Qp || !recorded.has("qpn") ||
                          recorded.number("qpn") == ours.element;
  return async_name(recorded) == row->name && same_queue;
}

std::string describe(const AsyncEvent& event) {
  const proto::EventRow* row = proto::async_event(event.type);
  return fmt::format("{} of {} {:#x}", row->name,
                     row->object == proto::EventObject::Qp ? "QP" : "CQ", event.element);
}
}  // namespace hca::testbench
