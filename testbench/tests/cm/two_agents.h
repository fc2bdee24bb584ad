// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "testbench/cm/agent.h"

namespace hca::cm {
// The owner of a connection, and the events that it got.
struct Side final : Owner {
  Agent* agent = nullptr;
  Connection* connection = nullptr;
  std::vector<Tell> heard;
  bool confirms = true, answers = true, refuses = false;

  void told(Connection& made, Tell tell, const Mad*) override {
    connection = &made;
    heard.push_back(tell);
    if (tell == Tell::Response && confirms) agent->confirm(made);
    if (tell == Tell::Request && answers) {
      const bool sidr = made.request()->message() == Message::SidrReq;
      if (refuses)
        agent->refuse(made, Mad(sidr ? Message::SidrRep : Message::Rej));
      else
        agent->accept(made, Mad(sidr ? Message::SidrRep : Message::Rep));
    }
  }
  void ended(Connection&) override { connection = nullptr; }
};

// Two agents and the datagrams between them, which take 1 us; some are lost.
class TwoAgents {
 public:
  static constexpr u64 kFlight = 1'000'000;  // ps
  struct Sent {
    u64 at;
    unsigned to;  // 0: the client, 1: the server
    Mad mad;
  };
  explicit TwoAgents(const Settings& settings = {})
      : client_agent(settings, ways(0), 100), server_agent(settings, ways(1), 200) {
    client.agent = &client_agent, server.agent = &server_agent;
  }
  TwoAgents(const TwoAgents&) = delete;

  void connect(const Mad& request = Mad(Message::Req)) {
    client_agent.connect(client, request, place(1));
  }
  // Runs until nothing more is due before this time, in ps.
  void run(u64 until = ~u64{0}) {
    while (true) {
      const u64 due = std::min(client_agent.due(), server_agent.due());
      const u64 arrives = flying_.empty() ? ~u64{0} : flying_.front().at;
      const u64 next = std::min(due, arrives);
      if (next == ~u64{0} || next > until) return;
      now = std::max(now, next);
      if (arrives <= due) {
        const Sent next_one = flying_.front();
        flying_.pop_front();
        (next_one.to ? server_agent : client_agent).receive(next_one.mad, place(1 - next_one.to));
      } else {
        client_agent.expire(), server_agent.expire();
      }
    }
  }
  // Establishes a connection; both sides know it afterwards.
  void establish() {
    connect();
    run(now + 10 * kFlight);
  }
  // The number of messages sent, including lost ones.
  std::size_t count(Message message) const {
    return std::size_t(std::ranges::count_if(
        sent, [&](const Sent& each) { return each.mad.message() == message; }));
  }
  static Place place(unsigned side) { return {u16(side + 1), {}}; }

  u64 now = 0;                   // ps
  std::vector<Sent> sent;        // including lost ones
  std::optional<Message> loses;  // the next `loses_next` of these are lost
  unsigned loses_next = 0;
  bool listens = true;
  u64 patience = 0;
  Side client, server;

 private:
  Agent::Ways ways(unsigned side) {
    return {
        .send =
            [this, side](const Mad& mad, const Place&) {
              sent.push_back({now + kFlight, 1 - side, mad});
              const bool lost = loses == mad.message() && loses_next && loses_next--;
              if (!lost) flying_.push_back(sent.back());
            },
        .now = [this] { return now; },
        .find_listener = [this](const Mad&) -> Listener { return {listens ? &server : nullptr}; },
        .patience = [this] { return patience; }};
  }
  std::deque<Sent> flying_;

 public:
  Agent client_agent, server_agent;
};
}  // namespace hca::cm
