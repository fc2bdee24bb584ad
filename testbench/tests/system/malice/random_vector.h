// SPDX-License-Identifier: Apache-2.0
// Random packets, work requests and commands as the steps of a vector without expectations: most
// are valid continuations, some have one error.
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/engine/random.h"
#include "model/proto/interface/qp_attributes.h"
#include "testbench/vectors/vector.h"

namespace hca::testbench::malice {
class RandomVector {
 public:
  // The same arguments give the same vector. Its queue pairs are rc, uc, ud; of XRC the initiator
  // ini and the target tgt, whose requests name the SRQs x and y; of RD rda, rdb and rdc, which send
  // and receive over the EE contexts e and f.
  RandomVector(u64 seed, u32 steps);
  Vector take() { return std::move(vector_); }

 private:
  using Json = nlohmann::json;
  // Requests that wait for their answer.
  struct Asked {
    std::string answer;  // opcode
    u32 psn, packets, bytes;
  };
  // The state of a connection as far as it is known here: of a queue pair, or of an EE context.
  struct Flow {
    std::string ee;  // RD: name of the EE context
    u32 path_mtu = 256;
    u32 expected = 0, next = 0;  // PSNs: of the next request to it, of its next request
    std::string message;         // in progress: "SEND", "RDMA WRITE", "PUT Memory", or none
    u32 left = 0, msn = 0;       // bytes left of it; MSN
    Json put;                    // the headers of its first packet
    std::vector<Asked> outstanding;
    // EE context: the queue pairs that ask for it, the one that it serves, the one whose message it
    // receives.
    std::deque<std::size_t> asking;
    std::optional<std::size_t> served;
    std::size_t owner = 0;
    enum class Resync : u8 { None, Fails, Suspends } resync = Resync::None;
  };
  struct End {
    std::string name, service, side;  // side: of XRC
    std::size_t flow = 0;
    Json last;  // last packet that it received
    // RD: its work requests that have not ended, with their EE contexts.
    std::deque<std::pair<std::size_t, Asked>> waiting;
    bool asks = false;
    // Path migration: its state, and whether the primary path is the second one.
    proto::PathMigState migration = proto::PathMigState::Migrated;
    bool away = false;

    bool is_reliable() const { return service == "RC" || service == "XRC" || is_rd(); }
    bool is_rd() const { return service == "RD"; }
    bool migrates() const { return service != "UD" && !is_rd(); }
    bool sends() const { return side != "target"; }
    bool receives() const { return side != "initiator"; }
  };
  static constexpr std::array<u32, 8> kFirstPsns{0,        1,        0x7ffffe, 0x7fffff,
                                                 0x800000, 0xfffffd, 0xfffffe, 0xffffff};
  static constexpr u32 kRegionBytes = 8192;  // of m
  static constexpr std::size_t kEnds = 8, kFirstContext = 5, kContexts = 2;

  template <class T, std::size_t n>
  const T& one_of(const std::array<T, n>& list) {
    return list[random_.below(n)];
  }
  bool chance(u32 percent) { return random_.chance(percent, 100); }
  u32 psn_near(u32 psn);
  u32 length(u32 path_mtu, u32 packets);
  Json place(u32 bytes);  // an SGE
  Flow& flow_of(const End& end) { return flows_[end.flow]; }

  void set_up();
  Json attributes_of(const End& end);
  Json context_attributes(Flow& flow);
  void step();
  void add(const char* verb, Json json);
  void post_receive(End& end);
  void post_send(End& end);

  // Commands: random_commands.cpp.
  void command(const char* name, const std::string& object, Json body);
  void revive(End& end);
  void revive_context(Flow& flow);
  void migrate(End& end);
  void let_time_pass();

  // RD, as requester: random_contexts.cpp.
  void choose_context(End& end);
  void serve();
  void end_served(Flow& flow);
  void begin_resync(Flow& flow, Flow::Resync end);
  void forget(End& end);

  // The peer: random_packets.cpp.
  Json request_of(End& end, u32& psns);
  Json begin_request(End& end, u32& psns);
  Json continue_request(Flow& flow);
  void request(End& end);
  void datagram(End& end);
  void response(End& end);
  void refuse_response(End& end, Json packet);
  void add_path(End& end, Json& packet);
  void give(End& end, Json packet);
  void spoil(End& end, Json& packet);

  engine::Random random_;
  Vector vector_;
  std::array<End, kEnds> ends_;
  std::array<Flow, kFirstContext + kContexts> flows_;
  u32 wr_id_ = 0;
};

// Removes each step that `fails` does not need.
Vector shrink(Vector vector, const std::function<bool(const Vector&)>& fails);
}  // namespace hca::testbench::malice
