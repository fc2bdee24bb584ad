// SPDX-License-Identifier: Apache-2.0
// Calls and completions of programs that are made to fail.
#pragma once
#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "model/engine/knob.h"
#include "model/proto/interface/device.h"

namespace hca::attach {
// A verb with a failing call or completion. The first ones are calls inside the library only; the
// others are requests to the server (failures.cpp).
enum class FailVerb : u8 {
  PostSend,
  PostRecv,
  PostSrqRecv,
  PollCq,
  ReqNotifyCq,
  BindMw,
  AllocPd,
  DeallocPd,
  CreateCompChannel,
  DestroyCompChannel,
  CreateCq,
  ModifyCq,
  ResizeCq,
  DestroyCq,
  RegMr,
  ReregMr,
  DeregMr,
  AllocMw,
  DeallocMw,
  CreateSrq,
  ModifySrq,
  QuerySrq,
  DestroySrq,
  CreateQp,
  ModifyQp,
  QueryQp,
  DestroyQp,
  AttachMcast,
  DetachMcast,
  CreateAh,
  DestroyAh,
  QueryPort,
  OpenXrcd,
  CloseXrcd,
  OpenQp,
};
inline constexpr std::array<std::string_view, 35> kFailVerbNames{"post_send",
                                                                 "post_recv",
                                                                 "post_srq_recv",
                                                                 "poll_cq",
                                                                 "req_notify_cq",
                                                                 "bind_mw",
                                                                 "alloc_pd",
                                                                 "dealloc_pd",
                                                                 "create_comp_channel",
                                                                 "destroy_comp_channel",
                                                                 "create_cq",
                                                                 "modify_cq",
                                                                 "resize_cq",
                                                                 "destroy_cq",
                                                                 "reg_mr",
                                                                 "rereg_mr",
                                                                 "dereg_mr",
                                                                 "alloc_mw",
                                                                 "dealloc_mw",
                                                                 "create_srq",
                                                                 "modify_srq",
                                                                 "query_srq",
                                                                 "destroy_srq",
                                                                 "create_qp",
                                                                 "modify_qp",
                                                                 "query_qp",
                                                                 "destroy_qp",
                                                                 "attach_mcast",
                                                                 "detach_mcast",
                                                                 "create_ah",
                                                                 "destroy_ah",
                                                                 "query_port",
                                                                 "open_xrcd",
                                                                 "close_xrcd",
                                                                 "open_qp"};
static_assert(kFailVerbNames.size() == std::size_t(FailVerb::OpenQp) + 1);

// The failure: an errno value, or the status of a completion.
struct FailStatusRow {
  std::string_view word;
  int error = 0;
  proto::WcStatus status = proto::WcStatus::Success;
};
inline constexpr std::array kErrnoRows{
    FailStatusRow{"EPERM", EPERM},     FailStatusRow{"ENOENT", ENOENT},
    FailStatusRow{"EINTR", EINTR},     FailStatusRow{"EIO", EIO},
    FailStatusRow{"EAGAIN", EAGAIN},   FailStatusRow{"ENOMEM", ENOMEM},
    FailStatusRow{"EACCES", EACCES},   FailStatusRow{"EFAULT", EFAULT},
    FailStatusRow{"EBUSY", EBUSY},     FailStatusRow{"EEXIST", EEXIST},
    FailStatusRow{"ENODEV", ENODEV},   FailStatusRow{"EINVAL", EINVAL},
    FailStatusRow{"EMFILE", EMFILE},   FailStatusRow{"ENOSPC", ENOSPC},
    FailStatusRow{"ENOSYS", ENOSYS},   FailStatusRow{"EOPNOTSUPP", EOPNOTSUPP},
    FailStatusRow{"ENOBUFS", ENOBUFS}, FailStatusRow{"ETIMEDOUT", ETIMEDOUT}};
// The statuses of completions, without SUCCESS.
inline constexpr auto kFailStatuses = [] {
  std::array<FailStatusRow, kErrnoRows.size() + proto::kWcStatusNames.size() - 1> all;
  std::ranges::copy(kErrnoRows, all.begin());
  for (std::size_t i = 1; i < proto::kWcStatusNames.size(); ++i)
    all[kErrnoRows.size() + i - 1] = {proto::kWcStatusNames[i], 0, proto::WcStatus(i)};
  return all;
}();
inline constexpr auto kFailStatusNames = [] {
  std::array<std::string_view, kFailStatuses.size()> names;
  std::ranges::transform(kFailStatuses, names.begin(), &FailStatusRow::word);
  return names;
}();
enum class FailStatus : u8 {};  // index in kFailStatuses
constexpr FailStatus fail_status(std::string_view word) {
  return FailStatus(std::ranges::find(kFailStatusNames, word) - kFailStatusNames.begin());
}

// One entry of the list `fail`.
struct FailConfig {
  FailVerb verb = FailVerb::PostSend;
  u64 nth = 1, times = 1;
  FailStatus status = fail_status("ENOMEM");

  const FailStatusRow& row() const { return kFailStatuses[std::size_t(status)]; }
  bool is_of_completion() const { return !row().error; }
};
// The maximum number of entries at a time.
inline constexpr std::size_t kMostFails = 32;

// Verbs whose work has a completion.
constexpr bool has_completions(FailVerb verb) { return verb <= FailVerb::PollCq; }
// A problem that no single value of an entry shows, with the allowed values; empty: none.
inline std::string fail_mistake(const FailConfig& fail) {
  if (!fail.is_of_completion() || has_completions(fail.verb)) return "";
  return ".status: is " + std::string(fail.row().word) + " of " +
         std::string(kFailVerbNames[std::size_t(fail.verb)]) +
         ", which has no completions; allowed: " + std::string(kErrnoRows.front().word) + " and " +
         "the other values of errno, or a verb of these: post_send, post_recv, post_srq_recv, "
         "poll_cq";
}
}  // namespace hca::attach

template <>
struct hca::engine::Knobs<hca::attach::FailConfig> {
  using Config = attach::FailConfig;
  static constexpr std::string_view block = "fail";
  static constexpr std::string_view sentence =
      "calls and completions that fail, of each program on a device of `hca serve`";
  static constexpr u64 kMost = ~u64{0} >> 1;
  static constexpr auto rows = make_rows(
      knob("verb", &Config::verb, attach::kFailVerbNames,
           "the failing verb. With a completion status: poll_cq counts all completions, post_send "
           "and the like only those of sends or receives"),
      knob("nth", &Config::nth, Unit::Count, 1, kMost,
           "the first failing call, counted from the opening of the device or the addition of the "
           "entry"),
      knob("times", &Config::times, Unit::Count, 1, kMost, "number of consecutive failures"),
      knob("status", &Config::status, attach::kFailStatusNames,
           "errno of a call, or the status of a completion: its queue pair is then in Error"));
};
