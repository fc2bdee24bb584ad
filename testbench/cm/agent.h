// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "testbench/cm/mad.h"
#include "testbench/cm/states.h"

namespace hca::cm {
// The source or destination of a datagram: the LID in native InfiniBand, else the GID.
struct Place {
  u16 lid = 0;
  std::array<u8, 16> gid{};
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Settings {
  u8 response_timeout = 20;  // 4.096 us * 2^this: time limit of an answer
  u8 retries = 15;           // for a message without an answer
  u8 quiet = 15;  // 4.096 us * 2^this: after a connection ends, its messages may still be in flight
};

class Connection;
class Owner;
// The owner of a new request; nullptr: nobody takes it, and the reason.
struct Listener {
  Owner* owner = nullptr;
  proto::RejectReason reason = proto::RejectReason::InvalidServiceId;
};
// The owner of a connection.
class Owner {
 public:
  virtual ~Owner() = default;
  // `mad`: the received message, if there is one.
  virtual void told(Connection& connection, Tell tell, const Mad* mad) = 0;
  virtual void ended(Connection& connection) = 0;  // the connection is destroyed on return
};

// One side of a connection, or of a service ID resolution.
class Connection {
 public:
  State state() const { return state_; }
  bool is_active() const { return active_; }  // this side sent the request
  // The request and, for a connection, its answer; empty if not yet sent or received.
  const std::optional<Mad>& request() const { return request_; }
  const std::optional<Mad>& reply() const { return reply_; }

 private:
  friend class Agent;
  State state_ = State::Idle;
  Owner* owner_ = nullptr;  // nullptr: the program has dropped it
  bool active_ = false;
  Place peer_;
  u32 local_ = 0, remote_ = 0;  // communication IDs, or the request's ID
  u64 transaction_ = 0;
  std::optional<Mad> request_, reply_, sent_;
  u8 timeout_ = 0, late_ = 0;  // as powers of two
  u8 left_ = 0;                // repetitions
  u64 due_ = ~u64{0};          // ps
};

// Connection management of a port: connections, and the datagrams that establish and end them.
class Agent {
 public:
  static constexpr u64 kNever = ~u64{0};
  struct Ways {
    std::function<void(const Mad&, const Place&)> send;
    std::function<u64()> now;  // ps
    std::function<Listener(const Mad&)> find_listener;
    std::function<u64()> patience;  // ps: how long a request waits for a listener
  };
  // `first_id`: the first of its communication IDs.
  Agent(const Settings& settings, Ways ways, u32 first_id = 1)
      : settings_(settings), ways_(std::move(ways)), next_id_(first_id) {}

  // ---- Calls by a program. False: the state of the connection does not allow the call.
  // `request`: a REQ or SIDR_REQ; IDs and timeouts are filled in here.
  Connection& connect(Owner& owner, Mad request, const Place& peer);
  // `reply`: a REP or SIDR_REP, or to refuse a REJ or SIDR_REP. IDs are filled in here.
  bool accept(Connection& connection, Mad reply);
  bool refuse(Connection& connection, Mad reply);
  bool confirm(Connection& connection) { return step(connection, Event::Confirm); }
  bool notify(Connection& connection) { return step(connection, Event::Notify); }
  bool disconnect(Connection& connection) { return step(connection, Event::Disconnect); }
  void leave(Connection& connection);

  // ---- Calls by the port and by time.
  void receive(const Mad& mad, const Place& from);
  u64 due() const;    // ps; kNever: it waits for nothing
  void expire();      // handles what is due now
  void look_again();  // there is a new listener
  std::size_t connections() const { return connections_.size(); }

 private:
  bool step(Connection& connection, Event event, const Mad* mad = nullptr,
            const Mad* given = nullptr);
  void send(Connection& connection, Send what, const Mad* given);
  void send_simple(Connection& connection, Mad mad);
  void send_rej(Connection& connection, proto::RejectReason reason);
  void address(Mad& answer, const Connection& connection) const;
  void set_timer(Connection& connection);
  struct Waiting {
    Mad mad;
    Place from;
    u64 due;
  };
  void begin(const Mad& mad, const Place& from);
  void begin_with(Owner& owner, const Mad& mad, const Place& from);
  void refuse_unknown(const Mad& mad, const Place& from, proto::RejectReason reason);
  Connection* of_request(const Mad& mad, const Place& from);
  Connection* of_message(const Mad& mad, const Place& from);
  Connection& add(Owner* owner, const Place& peer);
  void sweep();

  const Settings settings_;
  const Ways ways_;
  u32 next_id_;
  u64 next_transaction_ = 1;
  std::map<u32, std::unique_ptr<Connection>> connections_;  // by local ID
  std::vector<Waiting> waiting_;                            // requests without a listener
  bool sweeps_ = false;
};
}  // namespace hca::cm
