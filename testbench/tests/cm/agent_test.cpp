// SPDX-License-Identifier: Apache-2.0
// Connections of two agents, whose messages are lost one after the other.
#include <catch2/catch.hpp>

#include "testbench/tests/cm/two_agents.h"

using namespace hca;
using namespace hca::cm;

namespace {
using Heard = std::vector<Tell>;
constexpr u64 kTimeout = 4'096'000ull << 20;  // 4.3 s
constexpr u64 kSecond = 1'000'000'000'000;
}  // namespace

TEST_CASE("a connection is made by three messages and ended by two", "[cm]") {
  TwoAgents two;
  two.establish();
  CHECK(two.sent.size() == 3);
  CHECK(two.client.heard == Heard{Tell::Response});
  CHECK(two.server.heard == Heard{Tell::Request, Tell::Established});
  CHECK(two.now == 3 * TwoAgents::kFlight);
  CHECK(two.client_agent.disconnect(*two.client.connection));
  two.run(two.now + 2 * TwoAgents::kFlight);
  CHECK(two.server.heard.back() == Tell::Disconnected);
  CHECK(two.server_agent.disconnect(*two.server.connection));
  two.run();
  CHECK(two.sent.size() == 5);
  CHECK(two.client.heard == Heard{Tell::Response, Tell::Disconnected, Tell::TimeWaitExit});
  CHECK(two.client_agent.connections() == 0);
  CHECK(two.server_agent.connections() == 0);
}

TEST_CASE("what is lost once goes again after its timeout, and the connection comes up", "[cm]") {
  const auto lost = GENERATE(Message::Req, Message::Rep, Message::Rtu);
  TwoAgents two;
  two.loses = lost, two.loses_next = 1;
  two.connect();
  two.run(30 * kSecond);
  REQUIRE(two.client.connection);
  REQUIRE(two.server.connection);
  CHECK(two.client.connection->state() == State::Established);
  CHECK(two.server.connection->state() == State::Established);
  CHECK(two.server.heard == Heard{Tell::Request, Tell::Established});
  CHECK(two.client.heard == Heard{Tell::Response});
  CHECK(two.count(lost) >= 2);
  CHECK(two.now >= kTimeout);
  CHECK(two.now < kTimeout + 10 * TwoAgents::kFlight);
}

TEST_CASE("a DREQ or a DREP that is lost is repeated, and both sides hear of the end", "[cm]") {
  const auto lost = GENERATE(Message::Dreq, Message::Drep);
  TwoAgents two;
  two.establish();
  two.loses = lost, two.loses_next = 1;
  CHECK(two.client_agent.disconnect(*two.client.connection));
  const u64 begun = two.now;
  two.run(begun + 10 * TwoAgents::kFlight);
  if (lost == Message::Drep) two.server_agent.disconnect(*two.server.connection);
  two.run(begun + kTimeout + 5 * TwoAgents::kFlight);
  if (lost == Message::Dreq) two.server_agent.disconnect(*two.server.connection);
  two.run(begun + kTimeout + 10 * TwoAgents::kFlight);
  CHECK(two.client.heard.back() == Tell::Disconnected);
  CHECK(two.count(Message::Dreq) == 2);
  CHECK(two.count(Message::Drep) == (lost == Message::Drep ? 2 : 1));
}

TEST_CASE("a REQ that nobody answers is repeated as often as is said, then refused", "[cm]") {
  TwoAgents two(Settings{.response_timeout = 14, .retries = 3});
  two.loses = Message::Req, two.loses_next = 100;
  two.connect();
  two.run();
  CHECK(two.count(Message::Req) == 4);
  CHECK(two.client.heard == Heard{Tell::Unreachable});
  REQUIRE(two.count(Message::Rej) == 1);
  CHECK(two.sent.back().mad.get("Reason") == 4);
  CHECK(two.now == 4 * (4'096'000ull << 14) + TwoAgents::kFlight);
  CHECK(two.client_agent.connections() == 0);
}

TEST_CASE("a DREQ that nobody answers ends the connection all the same", "[cm]") {
  TwoAgents two(Settings{.response_timeout = 10, .retries = 2});
  two.establish();
  two.loses = Message::Dreq, two.loses_next = 100;
  two.client_agent.disconnect(*two.client.connection);
  two.run();
  CHECK(two.count(Message::Dreq) == 3);
  CHECK(two.client.heard.back() == Tell::TimeWaitExit);
}

TEST_CASE("a request without a listener is refused, with reason 8", "[cm]") {
  TwoAgents two;
  two.listens = false;
  two.connect();
  two.run();
  CHECK(two.client.heard == Heard{Tell::Refused});
  REQUIRE(two.count(Message::Rej) == 1);
  CHECK(two.sent.back().mad.get("Reason") == 8);
  CHECK(two.sent.back().mad.get("MessageRejected") == 0);
  CHECK(two.now == 2 * TwoAgents::kFlight);
}

TEST_CASE("a request waits for a listener where that is wanted, as long as is said", "[cm]") {
  TwoAgents two;
  two.listens = false, two.patience = 50 * TwoAgents::kFlight;
  two.connect();
  SECTION("nobody comes") {
    two.run();
    CHECK(two.client.heard == Heard{Tell::Refused});
    CHECK(two.now == 52 * TwoAgents::kFlight);
  }
  SECTION("somebody comes") {
    two.run(10 * TwoAgents::kFlight);
    CHECK(two.client.heard.empty());
    two.listens = true;
    two.server_agent.look_again();
    two.run(20 * TwoAgents::kFlight);
    CHECK(two.client.heard == Heard{Tell::Response});
  }
}

TEST_CASE("a REJ that is lost goes again when the request comes again", "[cm]") {
  TwoAgents two(Settings{.response_timeout = 10, .retries = 3, .quiet = 20});
  two.server.refuses = true;
  two.loses = Message::Rej, two.loses_next = 1;
  two.connect();
  two.run();
  CHECK(two.client.heard == Heard{Tell::Refused});
  CHECK(two.server.heard == Heard{Tell::Request});
  CHECK(two.count(Message::Rej) == 2);
}

TEST_CASE("who is slow says so by MRA, and the peer waits longer", "[cm]") {
  TwoAgents two(Settings{.response_timeout = 14, .retries = 1});
  two.server.answers = false;
  two.connect();
  two.run(u64{5} * (4'096'000ull << 14));  // two of them without an answer would be the end
  CHECK(two.count(Message::Mra) == 1);
  CHECK(two.client.heard.empty());
  two.server_agent.accept(*two.server.connection, Mad(Message::Rep));
  two.run(two.now + 10 * TwoAgents::kFlight);
  CHECK(two.client.heard == Heard{Tell::Response});
  CHECK(two.server.heard == Heard{Tell::Request, Tell::Established});
}

TEST_CASE("data of a peer whose RTU is lost establish the connection", "[cm]") {
  TwoAgents two;
  two.loses = Message::Rtu, two.loses_next = 1;
  two.connect();
  two.run(kSecond);
  CHECK(two.server.connection->state() == State::RepSent);
  CHECK(two.server_agent.notify(*two.server.connection));
  CHECK(two.server.heard.back() == Tell::Established);
  two.run(30 * kSecond);
  CHECK(two.count(Message::Rep) == 1);
}

TEST_CASE("who leaves without a word lets the other side know", "[cm]") {
  TwoAgents two;
  two.establish();
  two.client_agent.leave(*two.client.connection);
  two.run(two.now + 10 * TwoAgents::kFlight);
  CHECK(two.server.heard.back() == Tell::Disconnected);
  CHECK(two.count(Message::Dreq) == 1);
}

TEST_CASE("both sides may end a connection at the same time", "[cm]") {
  TwoAgents two;
  two.establish();
  two.client_agent.disconnect(*two.client.connection);
  two.server_agent.disconnect(*two.server.connection);
  two.run();
  CHECK(two.client.heard == Heard{Tell::Response, Tell::Disconnected, Tell::TimeWaitExit});
  CHECK(two.server.heard ==
        Heard{Tell::Request, Tell::Established, Tell::Disconnected, Tell::TimeWaitExit});
}

TEST_CASE("a service ID is resolved by two messages, whichever is lost", "[cm]") {
  const auto lost =
      GENERATE(as<std::optional<Message>>{}, std::nullopt, Message::SidrReq, Message::SidrRep);
  TwoAgents two(Settings{.response_timeout = 14, .retries = 3, .quiet = 18});
  two.loses = lost, two.loses_next = 1;
  two.connect(Mad(Message::SidrReq));
  two.run();
  CHECK(two.client.heard == Heard{Tell::Answered});
  CHECK(two.server.heard == Heard{Tell::Request});
  CHECK(two.count(Message::SidrRep) == (lost == Message::SidrRep ? 2 : 1));
  CHECK(two.server_agent.connections() == 0);
}

TEST_CASE("a service ID that nobody serves has status 1", "[cm]") {
  TwoAgents two;
  two.listens = false;
  two.connect(Mad(Message::SidrReq));
  two.run();
  CHECK(two.client.heard == Heard{Tell::Answered});
  CHECK(two.sent.back().mad.get("Status") == 1);
}
