// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/proto/syndrome.h"
#include "model/proto/timeout.h"
#include "testbench/replay_host.h"
#include "testbench/replay_timer.h"
#include "testbench/verbs_names.h"

namespace hca::testbench {
namespace {
constexpr u64 kTimeoutsOfSilence = 4;

// As a number of proto::WcStatus; a name of none is behind the last.
u64 status_value(std::string_view name) {
  const auto& names = proto::kWcStatusNames;
  return u64(std::find(names.begin(), names.end(), name) - names.begin());
}

class Run {
 public:
  Run(const Capture& capture, End end, const ReplayRunner& runner, bool losses,
      ReplayReport& report)
      : capture_(capture),
        end_(end),
        losses_(losses),
        report_(report),
        device_(runner.make({})),
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
      if (is_over()) return;
      recorded_now_ = item.time;
      item.is_frame ? frame(item.index) : event(item.index);
    }
    settle();
  }
  bool may_lose() const { return may_lose_; }

 private:
  struct Expected {
    std::vector<std::size_t> events;
    std::size_t seen = 0;
    void push_back(std::size_t i) { events.push_back(i); }
  };

  bool is_over() const { return report_.difference || report_.parted; }
  u64 longest_silence() const {
    u64 longest = 0;
    for (const ReplayEvent& e : capture_.events)
      if (e.kind == "connect")
        longest = std::max({longest, proto::ack_timeout_ns(u8(e.number("timeout"))),
                            proto::rnr_delay_ns(u8(e.number("min_rnr_timer")))});
    return kTimeoutsOfSilence * longest;
  }

  // ---- What the recording has next
  void frame(std::size_t index) {
    const ReplayFrame& f = capture_.frames[index];
    if (f.from == end_ && was_sent(f.fate)) {
      const std::size_t place = place_of(index, frames_);
      wait([&] { return frames_seen_ > place; }, [&] { return pass_recorded(); },
           fmt::format("frame {}", index + 1), describe_frame(f.bytes));
    } else if (f.from != end_ && was_delivered(f.fate)) {
      deliver(index);
    }
  }

  void deliver(std::size_t index) {
    const Seen seen(capture_.frames[index].bytes, recorded_now_);
    QpHistory* qp = seen.form == proto::PacketVerdict::Good || seen.packet.transport_offset
                        ? history_of(seen.packet.bth.dest_qp)
                        : nullptr;
    note(fmt::format("<- frame {}: {}", index + 1, describe_frame(seen.bytes)));
    if (qp && never_came(*qp, seen, index)) return;
    if (qp) qp->deliver(seen);
    device_->inject(seen.bytes);
    ++report_.frames_delivered;
    settle();
  }

  bool never_came(const QpHistory& qp, const Seen& seen, std::size_t index) {
    Situation s{.qp = &qp, .recorded = &seen, .frame_index = index};
    AllowedUses uses = report_.allowed_uses;
    if (!find_allowed("frame", kNeverCame, s, uses)) return false;
    may_lose_ = true;
    if (!losses_) return false;
    report_.allowed_uses = std::move(uses);
    ++report_.frames_lost;
    note("   it never came");
    return true;
  }

  void event(std::size_t index) {
    const ReplayEvent& e = capture_.events[index];
    if (e.side != end_) return;
    report_.events_not_compared += e.kind == "async";
    try {
      if (e.kind == "wc") return completion_due(index);
      if (e.kind == "qp_state") return compare_state(index);
      if (e.kind == "mem_final") return compare_memory(e);
      if (find_allowed("post", kRecordedOnly, {.post = &e}, report_.allowed_uses)) return;
      if (!host_.execute(e)) return;
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{} ({}): {}", e.path, e.kind, error.what()));
    }
    if (e.kind == "connect") histories_.try_emplace(u32(e.number("qpn")), capture_, end_, e);
    if (e.kind == "post_recv")
      if (QpHistory* qp = history_of(u32(e.number("qpn")))) qp->post_receive(e);
    if (e.kind.starts_with("post_"))
      note(fmt::format("host {} wr_id {}", e.kind, e.number("wr_id")));
    settle();
  }

  // ---- What the model does
  // Lets it work and looks at all that came of it.
  void settle() {
    device_->run();
    for (const Frame& f : device_->take_frames()) check_frame(f);
    for (const PolledCompletion& c : host_.poll()) check_completion(c);
    timer_.see(device_->next_timer(), device_->now(), recorded_now_);
  }

  // Until `done`: lets timers fire that explain what is missing, or `pass`es over it.
  template <class Done, class Pass>
  void wait(const Done& done, const Pass& pass, const std::string& where, const std::string& what) {
    settle();
    const std::int64_t item = recorded_now_;
    u64 since = device_->now(), progress = seen();
    while (!done() && !is_over()) {
      const std::optional<u64> due = device_->next_timer();
      const std::string why = why_not_wait(due, since, item);
      if (!why.empty()) {
        if (pass()) continue;
        return differ({where, fmt::format("missing: {}; {}", what, why), {}});
      }
      recorded_now_ = timer_.fired(item);
      device_->advance_to_next_timer();
      ++report_.timers_fired;
      note(fmt::format("timer fires at {} ns", device_->now()));
      settle();
      if (seen() != progress) since = device_->now(), progress = seen();
    }
  }
  std::string why_not_wait(std::optional<u64> due, u64 since, std::int64_t item) const {
    if (!due) return "nothing is left to do and no timer runs";
    if (*due - since > silence_)
      return fmt::format("silence of more than {} timeouts", kTimeoutsOfSilence);
    if (timer_.explains(item)) return "";
    return fmt::format("the recording has it after {} ns, our timer takes {} ns",
                       timer_.recorded_span(item), timer_.span());
  }
  u64 seen() const { return report_.frames_compared + report_.completions_compared; }

  // ---- Frames
  void check_frame(const Frame& bytes) {
    if (is_over()) return;
    const Seen ours(bytes, recorded_now_);
    QpHistory* qp = history_to(ours.packet.bth.dest_qp);
    std::vector<FieldDifference> first;
    do {
      if (frames_seen_ == frames_.size()) break;
      const std::size_t index = frames_[frames_seen_];
      AllowedUses uses = report_.allowed_uses;
      const Seen recorded(capture_.frames[index].bytes);
      std::vector<FieldDifference> fields = compare_frames(recorded, ours, qp, uses);
      if (fields.empty()) return match(index, qp, ours, std::move(uses));
      if (first.empty()) first = std::move(fields), first_index_ = index;
    } while (pass_recorded() && !is_over());
    if (is_over() || pass_ours(qp, ours)) return;
    ++report_.frames_compared;
    if (first.empty()) {
      note("-> extra: " + describe_frame(bytes));
      return differ({"extra frame", describe_frame(bytes), {}});
    }
    note(fmt::format("-> frame {}: {}", first_index_ + 1, describe_frame(bytes)));
    differ({fmt::format("frame {}", first_index_ + 1),
            fmt::format("recorded {}; sent {}", describe_frame(capture_.frames[first_index_].bytes),
                        describe_frame(bytes)),
            std::move(first)});
  }

  void match(std::size_t index, QpHistory* qp, const Seen& ours, AllowedUses uses) {
    ++frames_seen_, ++report_.frames_compared;
    report_.allowed_uses = std::move(uses);
    report_.matched.push_back(index);
    if (qp) qp->send(ours);
    note(fmt::format("-> frame {}: {}", index + 1, describe_frame(ours.bytes)));
  }

  // The next recorded frame of our end is not to be sent.
  bool pass_recorded() {
    if (frames_seen_ == frames_.size()) return false;
    const std::size_t index = frames_[frames_seen_];
    const Seen recorded(capture_.frames[index].bytes, recorded_now_);
    QpHistory* qp = recorded.good ? history_to(recorded.packet.bth.dest_qp) : nullptr;
    const Situation s{.qp = qp, .recorded = &recorded};
    const AllowedDifference* row =
        qp ? find_allowed("frame", kRecordedOnly, s, report_.allowed_uses) : nullptr;
    if (!row) return false;
    ++frames_seen_;
    report_.recorded_only.push_back(index);
    qp->pass(recorded);
    note(fmt::format("   not ours: frame {}: {} ({})", index + 1, describe_frame(recorded.bytes),
                     row->statement));
    part(*row, fmt::format("frame {}", index + 1));
    return true;
  }

  bool pass_ours(QpHistory* qp, const Seen& ours) {
    const Situation s{.qp = qp, .ours = &ours};
    const AllowedDifference* row =
        qp ? find_allowed("frame", kOursOnly, s, report_.allowed_uses) : nullptr;
    if (!row) return false;
    qp->send(ours);
    note(fmt::format("-> not recorded: {} ({})", describe_frame(ours.bytes), row->statement));
    part(*row, describe_frame(ours.bytes));
    return true;
  }

  void part(const AllowedDifference& row, const std::string& where) {
    if (row.then == Then::Parts)
      report_.parted = fmt::format("{}: {} ({})", where, row.condition, row.statement);
  }

  // ---- Completions
  void check_completion(const PolledCompletion& got) {
    if (is_over()) return;
    const Wc& wc = got.wc;
    const std::string text = fmt::format("{} completion of QP {:#x} wr_id {} {}", got.queue,
                                         wc.qp_num, wc.wr_id, proto::name_of(wc.status));
    note("   " + text);
    const ReplayEvent* post = post_of(wc.qp_num, got.queue, wc.wr_id);
    const Situation s{.qp = history_of(wc.qp_num), .our_wc = &wc, .post = post};
    if (capture_.learned && wc.status == proto::WcStatus::Success) return;
    const auto found = completions_.find({wc.qp_num, got.queue});
    std::vector<FieldDifference> fields;
    std::string where = "extra completion";
    if (found != completions_.end() && found->second.seen != found->second.events.size()) {
      const std::size_t index = found->second.events[found->second.seen];
      where = fmt::format("completion (event {})", index + 1);
      fields = compare_completion(capture_.events[index], s);
      if (fields.empty()) {
        ++found->second.seen, ++report_.completions_compared;
        if (post && got.queue == "recv" && wc.status != proto::WcStatus::Success)
          failed_receives_.push_back(post);
        return;
      }
    }
    if (s.qp && post)
      if (const AllowedDifference* row = find_allowed("wc", kOursOnly, s, report_.allowed_uses))
        return part(*row, text);
    differ({where, text, std::move(fields)});
  }

  std::vector<FieldDifference> compare_completion(const ReplayEvent& e, Situation s) {
    std::vector<FieldDifference> found;
    const Wc& wc = *s.our_wc;
    const auto compare = [&](const char* name, const std::string& expected,
                             const std::string& got) {
      if (expected != got) found.push_back({"wc", name, expected, got});
    };
    compare("wr_id", std::to_string(e.number("wr_id")), std::to_string(wc.wr_id));
    const std::string status = e.text("status");
    if (status != proto::name_of(wc.status)) {
      s.recorded_wc = &e, s.our_value = u64(wc.status), s.recorded_value = status_value(status);
      const bool may = s.qp && s.post && found.empty();
      if (!may || !find_allowed("wc", "status", s, report_.allowed_uses))
        compare("status", status, std::string(proto::name_of(wc.status)));
      return found;
    }
    if (status != "SUCCESS") return found;
    compare("opcode", e.text("opcode"), std::string(wc_opcode_name(wc.opcode)));
    compare("byte_len", std::to_string(e.number("byte_len")), std::to_string(wc.byte_len));
    constexpr u64 with_imm = 2, with_invalidate = 4;
    if (e.text("queue") != "recv") return found;
    const bool has_imm = e.number("wc_flags") & with_imm,
               has_inv = e.number("wc_flags") & with_invalidate;
    compare("with_imm", std::to_string(has_imm), std::to_string(wc.with_imm));
    compare("with_invalidate", std::to_string(has_inv), std::to_string(wc.with_invalidate));
    for (const char* name : {"imm", "invalidated_rkey"})
      if ((has_imm || has_inv) && e.has(name))
        compare(name, std::to_string(e.number(name)), std::to_string(wc.imm_data));
    return found;
  }

  void completion_due(std::size_t index) {
    const ReplayEvent& e = capture_.events[index];
    Expected& queue = completions_[{u32(e.number("qpn")), e.text("queue")}];
    const std::size_t place = place_of(index, queue.events);
    const auto pass = [&] {
      const QpHistory* qp = history_of(u32(e.number("qpn")));
      const Situation s{.qp = qp, .recorded_wc = &e};
      const AllowedDifference* row =
          qp ? find_allowed("wc", kRecordedOnly, s, report_.allowed_uses) : nullptr;
      if (row) ++queue.seen, part(*row, fmt::format("completion (event {})", index + 1));
      return row != nullptr;
    };
    wait([&] { return queue.seen > place; }, pass, fmt::format("completion (event {})", index + 1),
         fmt::format("{} wr_id {} {}", e.text("queue"), e.number("wr_id"), e.text("status")));
  }

  const ReplayEvent* post_of(u32 qpn, const std::string& queue, u64 wr_id) const {
    const std::string kind = queue == "send" ? "post_send" : "post_recv";
    for (const ReplayEvent& e : capture_.events)
      if (e.kind == kind && e.side == end_ && e.number("qpn") == qpn && e.number("wr_id") == wr_id)
        return &e;
    return nullptr;
  }

  // ---- State and memory
  void compare_state(std::size_t index) {
    const ReplayEvent& e = capture_.events[index];
    const proto::QpAttributes now = host_.query(u32(e.number("qpn")));
    Difference d{fmt::format("QP state (event {})", index + 1), "", {}};
    const auto compare = [&](const char* name, u64 recorded, u64 ours) {
      Situation s{.qp = history_of(u32(e.number("qpn"))),
                  .in_error = now.state == proto::QpState::Error};
      s.recorded_value = recorded, s.our_value = ours;
      if (recorded != ours && !(s.qp && find_allowed("QP", name, s, report_.allowed_uses)))
        d.fields.push_back({"QP", name, std::to_string(recorded), std::to_string(ours)});
    };
    if (const std::string state(state_name(now.state)); state != e.text("state"))
      d.fields.push_back({"QP", "state", e.text("state"), state});
    compare("sq_psn", e.number("sq_psn"), now.sq_psn);
    compare("rq_psn", e.number("rq_psn"), now.rq_psn);
    ++report_.states_compared;
    if (!d.fields.empty()) differ(std::move(d));
  }

  void compare_memory(const ReplayEvent& e) {
    const auto may_differ = [&](u64 address) {
      for (const ReplayEvent* post : failed_receives_) {
        const Situation s{.our_value = address, .post = post};
        if (find_allowed("memory", "Byte", s, report_.allowed_uses)) return true;
      }
      return false;
    };
    if (const auto what = host_.compare_memory(e, may_differ, report_.memory_bytes_compared))
      differ({"memory", *what, {}});
  }

  // ---- Parts
  static std::size_t place_of(std::size_t index, const std::vector<std::size_t>& list) {
    return std::size_t(std::lower_bound(list.begin(), list.end(), index) - list.begin());
  }
  QpHistory* history_of(u32 qpn) {
    const auto found = histories_.find(qpn);
    return found == histories_.end() ? nullptr : &found->second;
  }
  QpHistory* history_to(u32 peer_qpn) {
    for (auto& [qpn, history] : histories_)
      if (history.connect.number("dest_qpn") == peer_qpn) return &history;
    return nullptr;
  }
  void differ(Difference d) {
    if (!report_.difference) report_.difference = std::move(d);
  }
  void note(std::string line) { report_.ladder.push_back(std::move(line)); }

  const Capture& capture_;
  End end_;
  bool losses_, may_lose_ = false;
  ReplayReport& report_;
  std::unique_ptr<ReplayDevice> device_;
  ReplayHost host_;
  std::map<u32, QpHistory> histories_;  // by our queue pair
  std::vector<std::size_t> frames_;     // that our side must send
  std::size_t frames_seen_ = 0, first_index_ = 0;
  std::map<std::pair<u32, std::string>, Expected> completions_;  // by QP and queue
  std::vector<const ReplayEvent*> failed_receives_;
  u64 silence_ = 0;
  std::int64_t recorded_now_ = 0;  // of the item that the replay has come to
  TimerWatch timer_;
};
}  // namespace

bool run_replay(const Capture& capture, End end, const ReplayRunner& runner,
                const Timeline& timeline, bool losses, ReplayReport& report) {
  Run run(capture, end, runner, losses, report);
  run.follow(timeline);
  return run.may_lose();
}
}  // namespace hca::testbench
