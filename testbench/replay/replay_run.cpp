// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/proto/transport/syndrome.h"
#include "testbench/replay/replay_async.h"
#include "testbench/replay/replay_completion.h"
#include "testbench/replay/replay_expected.h"
#include "testbench/replay/replay_host.h"
#include "testbench/replay/replay_timer.h"
#include "testbench/replay/replay_wr_ids.h"

namespace hca::testbench {
namespace {
class Run {
 public:
  Run(const Capture& capture, End end, const ReplayRunner& runner, bool losses,
      ReplayReport& report)
      : capture_(capture),
        end_(end),
        losses_(losses),
        report_(report),
        device_(runner.make(options_for(runner, options_of(capture)))),
        host_(capture, end, *device_),
        posts_(capture),
        timers_(capture, report.window) {
    has_several_ = std::ranges::count_if(capture.events, [end](const ReplayEvent& e) {
                     return e.kind == "connect" && e.side == end;
                   }) > 1;
    for (std::size_t i = 0; i < capture.frames.size(); ++i)
      if (const ReplayFrame& f = capture.frames[i]; f.from == end && was_sent(f.fate))
        frames_[stream_of(Seen(f))].indices.push_back(i);
    for (std::size_t i = 0; i < capture.events.size(); ++i) {
      const ReplayEvent& e = capture.events[i];
      if (e.side != end) continue;
      if (e.kind == "wc") completions_[{u32(e.number("qpn")), e.text("queue")}].push_back(i);
      if (e.kind == "async") async_.push_back({i});
    }
  }

  // The items that were looked at.
  std::size_t follow(const Timeline& timeline) {
    std::size_t looked_at = 0;
    for (const TimelineItem& item : timeline.items) {
      if (is_over()) return looked_at;
      ++looked_at, recorded_now_ = item.time;
      item.is_frame ? frame(item.index) : event(item.index);
    }
    settle();
    return looked_at;
  }
  bool may_lose() const { return may_lose_; }

 private:
  // Each queue pair is a stream: only its own frames have an order. In a learned capture post times
  // are unknown: its requests and its answers are two streams.
  static constexpr u32 kOfResponses = 1u << 24;
  u32 stream_of(const Seen& seen) const {
    if (!seen.packet.transport_offset) return 0;
    const u32 side = capture_.learned && seen.is_response() ? kOfResponses : 0;
    return side | (has_several_ ? connection_named_by(seen.packet) : 0);
  }
  std::string text(std::span<const u8> frame) const { return describe_frame(frame, capture_.link); }
  bool is_over() const { return report_.difference || report_.parted; }

  // ---- What the recording has next
  void frame(std::size_t index) {
    const ReplayFrame& f = capture_.frames[index];
    if (f.from == end_ && was_sent(f.fate)) {
      Frames& frames = frames_[stream_of(Seen(f))];
      const std::size_t place = place_of(index, frames.indices);
      wait([&] { return frames.seen > place; }, [&] { return pass_recorded(frames); },
           capture_.frame_name(index), text(f.bytes), true);
    } else if (f.from != end_ && was_delivered(f.fate)) {
      deliver(index);
    }
  }

  void deliver(std::size_t index) {
    const Seen seen(capture_.frames[index], recorded_now_);
    QpHistory* qp = seen.form == proto::PacketVerdict::Good || seen.packet.transport_offset
                        ? history_of(connection_named_by(seen.packet))
                        : nullptr;
    note(fmt::format("<- {}: {}", capture_.frame_name(index), text(seen.bytes)));
    if (qp && never_came(*qp, seen, index)) return;
    if (qp)
      if (const AllowedDifference* row =
              find_allowed("frame", kBreaks, {.qp = qp, .recorded = &seen}, report_.allowed_uses))
        return part(*row, capture_.frame_name(index));
    if (qp) qp->deliver(seen), qp->newest_frame = recorded_now_;
    device_->inject(seen.bytes);
    ++report_.frames_delivered, report_.taken_in.push_back(index);
    settle();
  }

  bool never_came(const QpHistory& qp, const Seen& seen, std::size_t index) {
    Situation s{.qp = &qp, .recorded = &seen, .frame_index = index};
    AllowedUses uses = report_.allowed_uses;
    if (!find_allowed("frame", kNeverCame, s, uses)) return false;
    may_lose_ = true;
    if (!losses_) return false;
    report_.allowed_uses = std::move(uses);
    ++report_.frames_lost, report_.taken_in.push_back(index);
    note("   it never came");
    return true;
  }

  void event(std::size_t index) {
    const ReplayEvent& e = capture_.events[index];
    if (e.side != end_) return;
    try {
      if (e.kind == "async") return async_due(index);
      if (e.kind == "wc") return completion_due(index);
      if (e.kind == "qp_state") return compare_state(index);
      if (e.kind == "mem_final") return compare_memory(e);
      if (find_allowed("post", kRecordedOnly, {.post = &e}, report_.allowed_uses)) return;
      if (!host_.execute(e)) return;
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{} ({}): {}", e.path, e.kind, error.what()));
    }
    if (e.kind == "connect") {
      histories_.erase(u32(e.number("qpn")));
      histories_.try_emplace(u32(e.number("qpn")), capture_, end_, e);
    }
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
    for (const AsyncEvent& e : host_.poll_async()) check_async_event(e);
    timers_.see(*device_, histories_);
  }

  // Until `done`: lets timers fire that explain the missing item, or `pass`es over it. `is_frame`:
  // the missing item is a frame.
  template <class Done, class Pass>
  void wait(const Done& done, const Pass& pass, const std::string& where, const std::string& what,
            bool is_frame = false) {
    settle();
    const std::int64_t item = recorded_now_;
    u64 since = device_->now(), progress = seen();
    while (!done() && !is_over()) {
      const std::optional<u32> next = timers_.next(*device_);
      const std::string why = next ? timers_.why_not(histories_.at(*next), since, item, is_frame)
                                   : "nothing is left to do and no timer runs";
      if (!why.empty()) {
        if (pass()) continue;
        return differ({where, fmt::format("missing: {}; {}", what, why), {}});
      }
      recorded_now_ = timers_.of(*next).fired(item);
      report_.rnr_timers_fired += histories_.at(*next).rnr_nak.has_value();
      device_->advance_to_next_timer();
      ++report_.timers_fired;
      note(fmt::format("timer fires at {} ns", device_->now()));
      settle();
      if (seen() != progress) since = device_->now(), progress = seen();
    }
    recorded_now_ = item;
  }
  u64 seen() const {
    return report_.frames_compared + report_.completions_compared + report_.async_compared;
  }

  // ---- Frames
  void check_frame(const Frame& bytes) {
    if (is_over()) return;
    const Seen ours(bytes, recorded_now_, capture_.link);
    QpHistory* qp = history_to(connection_named_by(ours.packet));
    Frames& frames = frames_[stream_of(ours)];
    std::vector<FieldDifference> first;
    do {
      if (frames.seen == frames.indices.size()) break;
      const std::size_t index = frames.indices[frames.seen];
      AllowedUses uses = report_.allowed_uses;
      const Seen recorded(capture_.frames[index]);
      std::vector<FieldDifference> fields = compare_frames(recorded, ours, qp, uses);
      if (fields.empty()) return ++frames.seen, match(index, qp, ours, std::move(uses));
      if (first.empty()) first = std::move(fields), first_index_ = index;
    } while (pass_recorded(frames, &ours) && !is_over());
    if (is_over() || pass_ours(qp, ours, frames)) return;
    ++report_.frames_compared;
    if (first.empty()) {
      note("-> extra: " + text(bytes));
      return differ({"extra frame", text(bytes), {}});
    }
    note(fmt::format("-> {}: {}", capture_.frame_name(first_index_), text(bytes)));
    differ({capture_.frame_name(first_index_),
            fmt::format("recorded {}; sent {}", text(capture_.frames[first_index_].bytes),
                        text(bytes)),
            std::move(first)});
  }

  void match(std::size_t index, QpHistory* qp, const Seen& ours, AllowedUses uses) {
    ++report_.frames_compared;
    report_.allowed_uses = std::move(uses);
    report_.matched.push_back(index);
    if (qp) {
      qp->send(ours);
      qp->newest_frame = std::int64_t(capture_.frames[index].time_ns) + report_.offset;
    }
    note(fmt::format("-> {}: {}", capture_.frame_name(index), text(ours.bytes)));
  }

  // The next recorded frame of our end is not to be sent.
  bool pass_recorded(Frames& frames, const Seen* ours = nullptr) {
    if (frames.seen == frames.indices.size()) return false;
    const std::size_t index = frames.indices[frames.seen];
    const Seen recorded(capture_.frames[index], recorded_now_);
    QpHistory* qp = recorded.good ? history_to(connection_named_by(recorded.packet)) : nullptr;
    const Situation s{.qp = qp, .recorded = &recorded, .ours = ours, .frame_index = index};
    const AllowedDifference* row =
        qp ? find_allowed("frame", kRecordedOnly, s, report_.allowed_uses) : nullptr;
    if (!row) return false;
    ++frames.seen;
    report_.recorded_only.push_back(index);
    qp->pass(recorded);
    note(fmt::format("   not ours: {}: {} ({})", capture_.frame_name(index), text(recorded.bytes),
                     row->statement));
    part(*row, capture_.frame_name(index));
    return true;
  }

  bool pass_ours(QpHistory* qp, const Seen& ours, const Frames& frames) {
    const bool is_cut = capture_.learned && frames.seen == frames.indices.size();
    const std::size_t next =
        frames.seen == frames.indices.size() ? Situation::kNone : frames.indices[frames.seen];
    const Situation s{.qp = qp, .ours = &ours, .next_frame = next, .is_cut = is_cut};
    const AllowedDifference* row =
        qp ? find_allowed("frame", kOursOnly, s, report_.allowed_uses) : nullptr;
    if (!row) return false;
    qp->send(ours);
    note(fmt::format("-> not recorded: {} ({})", text(ours.bytes), row->statement));
    part(*row, text(ours.bytes));
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
    const bool shared = got.queue == "recv" && capture_.shares_receives(end_, wc.qp_num);
    const ReplayEvent* post = posts_.take(end_, shared ? "post_srq_recv" : "post_" + got.queue,
                                          got.queue, wc.qp_num, wc.wr_id);
    const Situation s{.qp = history_of(wc.qp_num), .our_wc = &wc, .post = post};
    // Learned captures: it is unknown which completions came; one in error may end the recording.
    if (capture_.learned && (wc.status == proto::WcStatus::Success || all_seen(frames_))) return;
    const auto found = completions_.find({wc.qp_num, got.queue});
    std::vector<FieldDifference> fields;
    std::string where = "extra completion";
    if (found != completions_.end() && found->second.seen != found->second.events.size()) {
      const std::size_t index = found->second.events[found->second.seen];
      where = fmt::format("completion (event {})", index + 1);
      fields = compare_completion(capture_.events[index], s, report_.allowed_uses);
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

  // ---- Asynchronous events. Hosts read them at any time, so each is compared by itself.
  void check_async_event(const AsyncEvent& ours) {
    if (is_over() || capture_.learned) return;
    note("   " + describe(ours));
    for (ExpectedAsync& expected : async_)
      if (!expected.seen && is_async(capture_.events[expected.event], ours)) {
        expected.seen = true, ++report_.async_compared;
        return;
      }
    const Situation s{.qp = history_of(ours.element), .our_async = &ours};
    if (s.qp && find_allowed("async", kOursOnly, s, report_.allowed_uses)) return;
    differ({"extra asynchronous event", describe(ours), {}});
  }

  void async_due(std::size_t index) {
    ExpectedAsync& expected = *std::ranges::find(async_, index, &ExpectedAsync::event);
    const ReplayEvent& e = capture_.events[index];
    const auto pass = [&] {
      expected.seen = find_allowed("async", kRecordedOnly, {.recorded_async = &e},
                                   report_.allowed_uses) != nullptr;
      return expected.seen;
    };
    wait([&] { return expected.seen; }, pass,
         fmt::format("asynchronous event (event {})", index + 1), std::string(async_name(e)));
  }

  // ---- State and memory
  void compare_state(std::size_t index) {
    const ReplayEvent& e = capture_.events[index];
    const proto::QpAttributes now = host_.query(u32(e.number("qpn")));
    const Situation s{.qp = history_of(u32(e.number("qpn"))),
                      .in_error = now.state == proto::QpState::Error};
    ++report_.states_compared;
    const Situation as_recorded{.qp = s.qp, .our_value = now.rq_psn, .recorded_state = &e};
    if (s.qp && now.rq_psn != e.number("rq_psn"))
      if (const AllowedDifference* row =
              find_allowed("state", kRecordedOnly, as_recorded, report_.allowed_uses))
        return part(*row, fmt::format("QP state (event {})", index + 1));
    std::vector<FieldDifference> fields = testbench::compare_state(e, now, s, report_.allowed_uses);
    if (!fields.empty())
      differ({fmt::format("QP state (event {})", index + 1), "", std::move(fields)});
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
  bool losses_, may_lose_ = false, has_several_ = false;
  ReplayReport& report_;
  std::unique_ptr<ReplayDevice> device_;
  ReplayHost host_;
  WrIdCursor posts_;
  std::map<u32, QpHistory> histories_;  // by our queue pair, or EE context
  std::map<u32, Frames> frames_;        // that our side must send, by stream
  std::size_t first_index_ = 0;
  std::map<std::pair<u32, std::string>, Expected> completions_;  // by QP and queue
  std::vector<ExpectedAsync> async_;
  std::vector<const ReplayEvent*> failed_receives_;
  std::int64_t recorded_now_ = 0;  // of the item that the replay has come to
  QpTimers timers_;
};
}  // namespace

RunEnd run_replay(const Capture& capture, End end, const ReplayRunner& runner,
                  const Timeline& timeline, bool losses, ReplayReport& report) {
  Run run(capture, end, runner, losses, report);
  const std::size_t looked_at = run.follow(timeline);
  return {looked_at, run.may_lose()};
}
}  // namespace hca::testbench
