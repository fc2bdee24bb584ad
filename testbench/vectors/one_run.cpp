// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <stdexcept>

#include "testbench/vectors/host.h"
#include "testbench/vectors/loop.h"
#include "testbench/vectors/seen_frame.h"

namespace hca::testbench {
using namespace proto;

namespace {
struct Failed {
  VectorFailure failure;
};

const nlohmann::json kNoSetup = nlohmann::json::object();

DeviceOptions options_of(const Vector& v) {
  const JsonAt top(v.document);
  return top.has("setup") ? options_of(top["setup"]) : DeviceOptions{};
}

class Run {
 public:
  // `judges`: all must be as the vector expects; else it is recorded, and nothing more.
  Run(const Vector& vector, const ReplayRunner& runner, bool judges, VectorResult& result,
      std::string& where)
      : judges_(judges),
        where_(where),
        vector_(vector),
        top_(vector.document),
        result_(result),
        device_(runner.make(options_for(runner, options_of(vector)))),
        host_(top_.has("setup") ? top_["setup"] : JsonAt(kNoSetup, "setup"), *device_) {}

  void all() {
    settle();
    require_quiet("setup");
    for (const JsonAt& step : top_["steps"].entries()) execute(step);
    where_ = "the end";
    require_quiet("the end");
    if (!loop_.held().empty()) {
      std::string held;
      for (const Frame& frame : loop_.held()) held += (held.empty() ? "" : "; ") + text_of(frame);
      fail("still held: " + held);
    }
    if (const auto differs = host_.contents().difference(); differs && judges_) fail(*differs);
    record();
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::vector<FieldDifference> fields = {}) const {
    throw Failed{{where_, what, std::move(fields)}};
  }
  void note(const std::string& line) { result_.ladder.push_back(line); }

  // ---- Steps
  struct Verb {
    std::string_view name;
    bool acts;  // all that came before must be explained
    void (Run::*run)(const JsonAt&);
  };
  static constexpr std::size_t kVerbs = 27;
  static const std::array<Verb, kVerbs>& verbs() {
    static constexpr std::array<Verb, kVerbs> rows{{
        {"post_send", true, &Run::post_send},
        {"post_recv", true, &Run::post_recv},
        {"post_raw", true, &Run::post_raw},
        {"resize_srq", true, &Run::resize_srq},
        {"resize_cq", true, &Run::resize_cq},
        {"inject", true, &Run::inject},
        {"command", true, &Run::command},
        {"ring", true, &Run::ring},
        {"arm", true, &Run::arm},
        {"write_memory", true, &Run::write_memory},
        {"unreadable", true, &Run::unreadable},
        {"unwritable", true, &Run::unwritable},
        {"agent", true, &Run::agent},
        {"hold", true, &Run::hold},
        {"release", true, &Run::release},
        {"drop", true, &Run::drop},
        {"advance", true, &Run::advance},
        {"silence", true, &Run::silence},
        {"sent", false, &Run::sent},
        {"send_cqe", false, &Run::send_cqe},
        {"recv_cqe", false, &Run::recv_cqe},
        {"event", false, &Run::event},
        {"cq_event", false, &Run::cq_event},
        {"memory", false, &Run::memory},
        {"query", false, &Run::query},
        {"driver", false, &Run::driver},
        {"dropped", false, &Run::dropped},
    }};
    return rows;
  }

  void execute(const JsonAt& step) {
    for (const Verb& verb : verbs()) {
      if (!step.has(verb.name)) continue;
      const JsonAt json = step[verb.name];
      if (verb.acts) require_quiet(step.path());
      where_ = json.path();
      note(fmt::format("{} {}", step.path(), verb.name));
      (this->*verb.run)(json);
      if (verb.acts) settle();
    }
  }

  void judge(const std::optional<std::string>& wrong) const {
    if (!wrong) return;
    if (judges_) fail(*wrong);
    result_.seen["host"].push_back(where_ + ": " + *wrong);
  }
  void post_send(const JsonAt& json) { judge(host_.post_send(json)); }
  void post_recv(const JsonAt& json) { judge(host_.post_recv(json)); }
  void post_raw(const JsonAt& json) { host_.post_raw(json); }
  void resize_srq(const JsonAt& json) { judge(host_.resize_srq(json)); }
  void resize_cq(const JsonAt& json) { judge(host_.resize_cq(json)); }
  void ring(const JsonAt& json) { host_.ring(json); }
  void arm(const JsonAt& json) { host_.arm(json); }
  void write_memory(const JsonAt& json) { host_.contents().write(json, host_.symbols()); }
  void unreadable(const JsonAt& json) { host_.make_unreadable(json); }
  void agent(const JsonAt& json) { host_.start_agent(json); }
  void unwritable(const JsonAt& json) { host_.make_unwritable(json); }
  void memory(const JsonAt& json) { host_.contents().expect(json, host_.symbols()); }
  void command(const JsonAt& json) {
    std::vector<FieldDifference> differences;
    judge(host_.command(json, differences));
    if (!differences.empty()) fail("the answer differs", std::move(differences));
  }

  template <class Each>
  static void each(const JsonAt& json, const Each& visit) {
    if (!json.value().is_array()) return visit(json);
    for (const JsonAt& entry : json.entries()) visit(entry);
  }

  void inject(const JsonAt& json) {
    each(json, [&](const JsonAt& packet) {
      const VectorQp& qp = host_.qp_of(packet);
      const Frame frame = build_packet(packet, host_.packet_context(qp));
      note("  <- " + text_of(frame));
      note_write(qp, packet, frame);
      device_->inject(frame, packet.has("port") ? u32(packet["port"].number()) : 1);
    });
  }
  // A packet with a wrong ICRC may have written a part of its message before it was known.
  void note_write(const VectorQp& qp, const JsonAt& json, const Frame& frame) {
    ParsedPacket p;
    if (parse(frame, link_of(qp), p) != PacketVerdict::Good) return;
    if (p.has(Ext::Reth)) writes_[qp.peer.qpn] = {p.reth.va, p.reth.dma_len};
    if (json.has("ICRC") && device_->cuts_through())
      host_.contents().may_change(writes_[qp.peer.qpn].first, writes_[qp.peer.qpn].second);
  }
  void hold(const JsonAt& json) { loop_.hold(json); }
  void release(const JsonAt& json) { loop_.release(json, host_.symbols()); }
  void drop(const JsonAt& json) { loop_.drop(json, host_.symbols()); }
  void advance(const JsonAt& json) {
    device_->advance(nanoseconds_of(json));
    host_.pass(nanoseconds_of(json));
  }
  void silence(const JsonAt& json) {
    advance(json);
    settle();
    require_quiet(where_);
  }

  // ---- Expectations
  void sent(const JsonAt& json) {
    each(json, [&](const JsonAt& packet) {
      const VectorQp& qp = host_.qp_of(packet);
      const u64 to = host_.symbols().value_or(packet, "DestQP", qp.peer.peer_qpn, kMulticastQp);
      auto found = frames_.begin();
      while (found != frames_.end() && found->good && found->packet.bth.dest_qp != to) ++found;
      where_ = packet.path();
      const bool may_lack = packet.has("may");
      if (found == frames_.end() && may_lack) return;
      if (found == frames_.end()) fail("expected a packet, nothing was sent");
      std::vector<FieldDifference> differences =
          compare_packet(packet, host_.packet_context(qp), found->bytes);
      if (!differences.empty() && may_lack) return;
      if (!differences.empty()) fail("sent: " + text_of(found->bytes), std::move(differences));
      frames_.erase(found);
    });
  }

  void send_cqe(const JsonAt& json) { completion(json, false); }
  void recv_cqe(const JsonAt& json) { completion(json, true); }
  void completion(const JsonAt& json, bool is_receive) {
    each(json, [&](const JsonAt& one) {
      const VectorQp& qp = host_.qp_of(one);
      where_ = one.path();
      const auto found = std::find_if(completions_.begin(), completions_.end(), [&](const auto& c) {
        return c.qpn == qp.peer.qpn && c.is_receive == is_receive;
      });
      if (found == completions_.end()) fail("expected a completion, there is none");
      std::vector<FieldDifference> differences =
          compare_completion(one, found->wc, host_.symbols());
      if (one.has("cq") && host_.symbols().value(one["cq"]) != found->cqn)
        fail(fmt::format("the completion is in CQ {:#x}: {}", found->cqn, describe(*found)));
      if (!differences.empty()) fail("completion: " + describe(*found), std::move(differences));
      completions_.erase(found);
    });
  }
  void event(const JsonAt& json) {
    if (events_.empty()) fail("expected an asynchronous event, there is none");
    const AsyncEvent got = events_.front();
    const EventRow* row = async_event(got.type);
    const u64 object = host_.object_of_event(json);
    if (!row || row->name != json["type"].text() || object != got.element)
      fail(fmt::format("expected event {} of {:#x}, got {} of {:#x}", json["type"].text(), object,
                       row ? row->name : "?", got.element));
    events_.pop_front();
  }
  // The driver takes all events at hand; what it then does to the device may be expected.
  void driver(const JsonAt& json) {
    const std::vector<AsyncEvent> taken(events_.begin(), events_.end());
    events_.clear();
    std::vector<FieldDifference> differences = host_.drive(json, taken);
    if (!differences.empty()) fail("the driver's state differs", std::move(differences));
    settle();
  }
  void cq_event(const JsonAt& json) {
    const u64 cqn = host_.symbols().value(json);
    if (cq_events_.empty()) fail("expected a completion event, there is none");
    if (cq_events_.front() != cqn)
      fail(fmt::format("expected an event of CQ {:#x}, got one of {:#x}", cqn, cq_events_.front()));
    cq_events_.pop_front();
  }

  // {"qp": name, field: value ..}, or any query command with its "answer".
  void query(const JsonAt& json) {
    std::vector<FieldDifference> differences;
    if (json.has("name")) {
      judge(host_.command(json, differences));
    } else {
      nlohmann::json asked{{"name", "QueryQp"}, {"object", host_.qp_of(json).peer.qpn}};
      asked["answer"] = json.value();
      asked["answer"].erase("qp");
      judge(host_.command(JsonAt(asked, json.path()), differences));
    }
    if (!differences.empty()) fail("the state differs", std::move(differences));
  }

  // Compares the counters that changed since the beginning: these and no others.
  void dropped(const JsonAt& json) {
    std::vector<FieldDifference> differences = host_.compare_drops(json);
    if (!differences.empty()) fail("the drop counters differ", std::move(differences));
  }

  // ---- What the device does
  void settle() {
    do {
      device_->run();
      take_frames();
    } while (host_.serve());
    for (std::vector<Frame> passing = loop_.arriving(); !passing.empty();
         passing = loop_.arriving()) {
      for (const Frame& frame : passing) note("  => " + text_of(frame)), device_->inject(frame);
      device_->run();
      take_frames();
    }
    for (const QueueCompletion& c : host_.poll()) {
      note("  CQE " + describe(c));
      result_.seen[fmt::format("QP {:#x} {} completions", c.qpn, c.is_receive ? "receive" : "send")]
          .push_back(describe(c));
      completions_.push_back(c);
    }
    while (const auto e = host_.next_async_event()) {
      const EventRow* row = async_event(e->type);
      const std::string text = fmt::format("{} {:#x}", row ? row->name : "?", e->element);
      note("  event " + text);
      if (host_.event_was_late()) fail("the valid bit of event " + text + " came before the rest");
      result_.seen["events"].push_back(text);
      events_.push_back(*e);
    }
    while (const auto cqn = host_.next_cq_event()) {
      note(fmt::format("  event of CQ {:#x}", *cqn));
      result_.seen["completion events"].push_back(fmt::format("{:#x}", *cqn));
      cq_events_.push_back(*cqn);
    }
  }
  void take_frames() {
    for (Frame& bytes : device_->take_frames()) take(std::move(bytes));
  }
  void take(Frame bytes) {
    SeenFrame f{std::move(bytes)};
    f.good = parse(f.bytes, link_, f.packet) == PacketVerdict::Good;
    note("  -> " + text_of(f.bytes));
    const bool merges = is_plain_ack(f) && !frames_.empty() && is_plain_ack(frames_.back()) &&
                        frames_.back().packet.bth.dest_qp == f.packet.bth.dest_qp;
    if (merges) frames_.pop_back();
    if (f.good && host_.is_of_loop(f.packet.bth.dest_qp)) {
      loop_.add(f.bytes, merges);
      if (!loop_.holds()) return;  // nobody looks at it
    }
    auto& seen =
        result_.seen[f.good ? fmt::format("packets to QP {:#x}", f.packet.bth.dest_qp) : "packets"];
    if (merges) seen.pop_back();
    seen.push_back(fingerprint(f));
    frames_.push_back(std::move(f));
  }

  // Whatever the device did must have been expected.
  void require_quiet(const std::string& before) {
    if (!judges_) {
      frames_.clear();
      completions_.clear();
      events_.clear();
      cq_events_.clear();
      return;
    }
    if (before != where_) where_ = "before " + before;
    if (!frames_.empty()) fail("not expected: " + text_of(frames_.front().bytes));
    if (!completions_.empty()) fail("not expected: completion " + describe(completions_.front()));
    if (!events_.empty())
      fail(fmt::format("not expected: event {} of {:#x}", async_event(events_.front().type)->name,
                       events_.front().element));
    if (!cq_events_.empty())
      fail(fmt::format("not expected: an event of CQ {:#x}", cq_events_.front()));
  }

  void record() {
    for (const auto& [name, text] : host_.query_all()) result_.seen["state of " + name] = {text};
    if (judges_) return;  // memory is compared with what is expected
    for (const auto& [name, place] : host_.contents().places()) {
      Frame row(64);
      std::vector<std::string>& rows = result_.seen["memory of " + name];
      for (u64 at = 0; at < std::min(place.bytes, Contents::kCompared); at += row.size()) {
        row.resize(std::min<u64>(row.size(), place.bytes - at));
        device_->memory().read(place.physical + at, row.data(), row.size());
        rows.push_back(fmt::format("{:02x}", fmt::join(row, "")));
      }
    }
  }

  std::string text_of(std::span<const u8> frame) const { return describe_frame(frame, link_); }
  LinkLayer link_of(const VectorQp& qp) const {
    return framing_row(qp.peer.from_peer.framing).link;
  }

  const bool judges_;
  std::string& where_;  // the step or expectation at hand
  const Vector& vector_;
  JsonAt top_;
  VectorResult& result_;
  std::unique_ptr<ReplayDevice> device_;
  VectorHost host_;
  LinkLayer link_ = options_of(vector_).link;
  Loop loop_;
  std::deque<SeenFrame> frames_;
  std::deque<QueueCompletion> completions_;
  std::deque<AsyncEvent> events_;
  std::deque<u32> cq_events_;
  std::map<u32, std::pair<u64, u64>> writes_;  // by QP: VA and length of the WRITE in progress
};

VectorResult run(const Vector& vector, const ReplayRunner& runner, bool judges,
                 std::string& where) {
  VectorResult result;
  result.runner = runner.name;
  where = "setup";
  try {
    Run(vector, runner, judges, result, where).all();
  } catch (const Failed& failed) {
    result.failure = failed.failure;
  } catch (const DeviceStopped& stopped) {
    result.failure = {where, stopped.what(), {}};
  } catch (const std::exception& error) {
    result.failure = {"the vector cannot be executed", error.what(), {}, true};
  }
  return result;
}
}  // namespace

VectorResult run_vector(const Vector& vector, const ReplayRunner& runner) {
  std::string where;
  return run(vector, runner, true, where);
}
VectorResult run_vector(const Vector& vector, const ReplayRunner& runner, std::string& where) {
  return run(vector, runner, true, where);
}
VectorResult observe_vector(const Vector& vector, const ReplayRunner& runner) {
  std::string where;
  return run(vector, runner, false, where);
}
}  // namespace hca::testbench
