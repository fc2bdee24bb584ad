// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/proto/syndrome.h"
#include "model/proto/timeout.h"
#include "testbench/replay_host.h"
#include "testbench/replay_timer.h"

namespace hca::testbench {
namespace {
constexpr u64 kTimeoutsOfSilence = 4;

// One run over one timeline.
class Run {
 public:
  Run(const Capture& capture, End end, const ReplayRunner& runner, ReplayReport& report)
      : capture_(capture),
        end_(end),
        report_(report),
        device_(runner.make()),
        host_(capture, end, *device_),
        timer_(report.window.high - report.window.low) {
    for (std::size_t i = 0; i < capture.frames.size(); ++i)
      if (capture.frames[i].from == end && was_sent(capture.frames[i].fate)) frames_.push_back(i);
    for (std::size_t i = 0; i < capture.events.size(); ++i)
      if (const ReplayEvent& e = capture.events[i]; e.kind == "wc" && e.side == end)
        completions_[{u32(e.number("qpn")), e.text("queue")}].push_back(i);
    silence_ = longest_silence();
  }

  void follow(const Timeline& timeline) {
    for (const TimelineItem& item : timeline.items) {
      if (report_.difference) return;
      recorded_now_ = item.time;
      item.is_frame ? frame(item.index) : event(item.index);
    }
    settle();
  }

 private:
  struct Expected {
    std::vector<std::size_t> events;
    std::size_t seen = 0;
    void push_back(std::size_t i) { events.push_back(i); }
  };

  u64 longest_silence() const {
    u64 longest = 0;
    for (const ReplayEvent& e : capture_.events)
      if (e.kind == "connect")
        longest = std::max({longest, proto::ack_timeout_ns(u8(e.number("timeout"))),
                            proto::rnr_delay_ns(u8(e.number("min_rnr_timer")))});
    return kTimeoutsOfSilence * longest;
  }

  void frame(std::size_t index) {
    const ReplayFrame& f = capture_.frames[index];
    if (f.from == end_ && was_sent(f.fate)) {
      const std::size_t place =
          std::size_t(std::lower_bound(frames_.begin(), frames_.end(), index) - frames_.begin());
      wait([&] { return frames_seen_ > place; }, fmt::format("frame {}", index + 1),
           describe_frame(f.bytes));
    } else if (f.from != end_ && was_delivered(f.fate)) {
      note(fmt::format("<- frame {}: {}", index + 1, describe_frame(f.bytes)));
      device_->inject(f.bytes);
      ++report_.frames_delivered;
      settle();
    }
  }

  void event(std::size_t index) {
    const ReplayEvent& e = capture_.events[index];
    if (e.side != end_) return;
    try {
      if (e.kind == "wc") return completion_due(index);
      if (e.kind == "qp_state") return compare_state(index);
      if (e.kind == "mem_final") return compare_memory(e);
      if (!host_.execute(e)) return;
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{} ({}): {}", e.path, e.kind, error.what()));
    }
    if (e.kind.starts_with("post_"))
      note(fmt::format("host {} wr_id {}", e.kind, e.number("wr_id")));
    settle();
  }

  // Lets the model work and looks at all that came of it.
  void settle() {
    device_->run();
    for (const Frame& f : device_->take_frames()) check_frame(f);
    for (const PolledCompletion& c : host_.poll()) check_completion(c);
    timer_.see(device_->next_timer(), device_->now(), recorded_now_);
  }

  template <class Done>
  void wait(const Done& done, const std::string& where, const std::string& what) {
    settle();
    const std::int64_t item = recorded_now_;
    u64 since = device_->now(), progress = seen();
    while (!done() && !report_.difference) {
      const std::optional<u64> due = device_->next_timer();
      if (!due)
        return differ(
            {where, fmt::format("missing: {}; nothing is left to do and no timer runs", what), {}});
      if (*due - since > silence_)
        return differ(
            {where,
             fmt::format("missing: {}; silence of more than {} timeouts", what, kTimeoutsOfSilence),
             {}});
      if (!timer_.explains(item))
        return differ(
            {where,
             fmt::format("missing: {}; the recording has it after {} ns, our timer takes {} ns",
                         what, timer_.recorded_span(item), timer_.span()),
             {}});
      recorded_now_ = timer_.fired(item);
      device_->advance_to_next_timer();
      ++report_.timers_fired;
      note(fmt::format("timer fires at {} ns", device_->now()));
      settle();
      if (seen() != progress) since = device_->now(), progress = seen();
    }
  }
  u64 seen() const { return report_.frames_compared + report_.completions_compared; }

  void check_frame(const Frame& ours) {
    if (report_.difference) return;
    if (frames_seen_ == frames_.size()) {
      note("-> extra: " + describe_frame(ours));
      return differ({"extra frame", describe_frame(ours), {}});
    }
    const std::size_t index = frames_[frames_seen_++];
    const ReplayFrame& recorded = capture_.frames[index];
    note(fmt::format("-> frame {}: {}", index + 1, describe_frame(ours)));
    auto fields = compare_frames(recorded.bytes, ours, report_.allowed_uses);
    ++report_.frames_compared;
    if (!fields.empty())
      differ({fmt::format("frame {}", index + 1),
              fmt::format("recorded {}; sent {}", describe_frame(recorded.bytes),
                          describe_frame(ours)),
              std::move(fields)});
  }

  void check_completion(const PolledCompletion& got) {
    if (report_.difference) return;
    const Wc& wc = got.wc;
    const std::string text = fmt::format("{} completion of QP {:#x} wr_id {} {}", got.queue,
                                         wc.qp_num, wc.wr_id, proto::name_of(wc.status));
    note("   " + text);
    const auto found = completions_.find({wc.qp_num, got.queue});
    if (found == completions_.end() || found->second.seen == found->second.events.size())
      return differ({"extra completion", text, {}});
    const std::size_t index = found->second.events[found->second.seen++];
    ++report_.completions_compared;
    auto fields = compare_completion(capture_.events[index], wc);
    if (!fields.empty())
      differ({fmt::format("completion (event {})", index + 1), text, std::move(fields)});
  }

  static std::vector<FieldDifference> compare_completion(const ReplayEvent& e, const Wc& wc) {
    std::vector<FieldDifference> found;
    const auto compare = [&](const char* name, const std::string& expected,
                             const std::string& got) {
      if (expected != got) found.push_back({"wc", name, expected, got});
    };
    compare("wr_id", std::to_string(e.number("wr_id")), std::to_string(wc.wr_id));
    compare("status", e.text("status"), std::string(proto::name_of(wc.status)));
    if (e.text("status") != "SUCCESS") return found;
    compare("opcode", e.text("opcode"), std::string(wc_opcode_name(wc.opcode)));
    compare("byte_len", std::to_string(e.number("byte_len")), std::to_string(wc.byte_len));
    constexpr u64 with_imm = 2;
    if (e.text("queue") != "recv") return found;
    const bool has_imm = e.number("wc_flags") & with_imm;
    compare("with_imm", std::to_string(has_imm), std::to_string(wc.with_imm));
    if (has_imm) compare("imm", std::to_string(e.number("imm")), std::to_string(wc.imm_data));
    return found;
  }

  void completion_due(std::size_t index) {
    const ReplayEvent& e = capture_.events[index];
    const Expected& queue = completions_[{u32(e.number("qpn")), e.text("queue")}];
    const std::size_t place = std::size_t(
        std::lower_bound(queue.events.begin(), queue.events.end(), index) - queue.events.begin());
    wait([&] { return queue.seen > place; }, fmt::format("completion (event {})", index + 1),
         fmt::format("{} wr_id {} {}", e.text("queue"), e.number("wr_id"), e.text("status")));
  }

  void compare_state(std::size_t index) {
    const ReplayEvent& e = capture_.events[index];
    const proto::QpAttributes now = host_.query(u32(e.number("qpn")));
    Difference d{fmt::format("QP state (event {})", index + 1), "", {}};
    const auto compare = [&](const char* name, const std::string& expected,
                             const std::string& got) {
      if (expected != got) d.fields.push_back({"QP", name, expected, got});
    };
    compare("state", e.text("state"), std::string(state_name(now.state)));
    compare("sq_psn", std::to_string(e.number("sq_psn")), std::to_string(now.sq_psn));
    compare("rq_psn", std::to_string(e.number("rq_psn")), std::to_string(now.rq_psn));
    ++report_.states_compared;
    if (!d.fields.empty()) differ(std::move(d));
  }

  void compare_memory(const ReplayEvent& e) {
    if (const auto what = host_.compare_memory(e, report_.memory_bytes_compared))
      differ({"memory", *what, {}});
  }

  void differ(Difference d) {
    if (!report_.difference) report_.difference = std::move(d);
  }
  void note(std::string line) { report_.ladder.push_back(std::move(line)); }

  const Capture& capture_;
  End end_;
  ReplayReport& report_;
  std::unique_ptr<ReplayDevice> device_;
  ReplayHost host_;
  std::vector<std::size_t> frames_;  // that our side must send
  std::size_t frames_seen_ = 0;
  std::map<std::pair<u32, std::string>, Expected> completions_;  // by QP and queue
  u64 silence_ = 0;
  std::int64_t recorded_now_ = 0;  // of the item that the replay has come to
  TimerWatch timer_;
};

// Of the open orders, those of neighbours: "post_send wr_id 3 before frame 7".
std::vector<std::string> orders_taken(const Capture& capture, End end, const Timelines& lines,
                                      const Timeline& taken) {
  std::vector<std::string> text;
  for (std::size_t i = 1; i < taken.items.size(); ++i) {
    const TimelineItem &first = taken.items[i - 1], &second = taken.items[i];
    if (first.is_frame == second.is_frame) continue;
    const std::size_t event_index = first.is_frame ? second.index : first.index;
    const std::size_t frame_index = first.is_frame ? first.index : second.index;
    const ReplayEvent& e = capture.events[event_index];
    if (!is_order_open(e, capture.frames[frame_index], end, lines.window)) continue;
    text.push_back(fmt::format("event {} ({}) {} frame {}", event_index + 1, e.kind,
                               first.is_frame ? "after" : "before", frame_index + 1));
  }
  return text;
}
}  // namespace

ReplayReport replay(const Capture& capture, End end, const ReplayRunner& runner) {
  const Timelines lines = find_timelines(capture, end);
  std::optional<ReplayReport> best;
  for (std::size_t i = 0; i < lines.orders.size(); ++i) {
    ReplayReport report;
    report.capture = capture.name, report.runner = runner.name, report.end = end;
    report.allowed_uses.assign(allowed_differences().size(), 0);
    report.window = lines.window, report.open_pairs = lines.open_pairs;
    report.orders = lines.orders.size(), report.order_taken = i + 1;
    report.offset = lines.orders[i].offset;
    report.taken = orders_taken(capture, end, lines, lines.orders[i]);
    Run(capture, end, runner, report).follow(lines.orders[i]);
    const auto reach = [](const ReplayReport& r) {
      return r.frames_compared + r.frames_delivered + r.completions_compared;
    };
    if (!best || report.same() || reach(report) > reach(*best)) best = std::move(report);
    if (best->same()) break;
  }
  return std::move(*best);
}
}  // namespace hca::testbench
