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
// Where a datagram comes from or goes to: of native InfiniBand the LID, else the GID.
struct Place {
  u16 lid = 0;
  std::array<u8, 16> gid{};
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Settings {
  u8 response_timeout = 20;  // 4.096 us * 2^this for an answer
  u8 retries = 15;           // of a message without an answer
  u8 quiet = 15;  // 4.096 us * 2^this: messages of a connection that has ended are on the way
};

class Connection;
class Owner;
// Who takes a new request; nullptr: nobody, and why.
struct Listener {
  Owner* owner = nullptr;
  proto::RejectReason reason = proto::RejectReason::InvalidServiceId;
};
// Whose connection it is.
class Owner {
 public:
  virtual ~Owner() = default;
  // `mad`: what came, if anything did.
  virtual void told(Connection& connection, Tell tell, const Mad* mad) = 0;
  virtual void ended(Connection& connection) = 0;  // it is gone when this returns
};

// One side of a connection, or of a service ID's resolution.
class Connection {
 public:
  State state() const { return state_; }
  bool is_active() const { return active_; }  // the request is of this side
  // The request and, of a connection, what answered it; nothing: it has not gone or come yet.
  const std::optional<Mad>& request() const { return request_; }
  const std::optional<Mad>& reply() const { return reply_; }

 private:
  friend class Agent;
  State state_ = State::Idle;
  Owner* owner_ = nullptr;  // nullptr: the program wants no more of it
  bool active_ = false;
  Place peer_;
  u32 local_ = 0, remote_ = 0;  // communication IDs, or the request's ID
  u64 transaction_ = 0;
  std::optional<Mad> request_, reply_, sent_;
  u8 timeout_ = 0, late_ = 0;  // as powers of two
  u8 left_ = 0;                // repetitions
  u64 due_ = ~u64{0};          // ps
};

// Communication management of a port: connections, and the datagrams that make and end them.
class Agent {
 public:
  static constexpr u64 kNever = ~u64{0};
  struct Ways {
    std::function<void(const Mad&, const Place&)> send;
    std::function<u64()> now;  // ps
    std::function<Listener(const Mad&)> find_listener;
    std::function<u64()> patience;  // ps: for so long a request waits for somebody who listens
  };
  // `first_id`: of its communication IDs.
  Agent(const Settings& settings, Ways ways, u32 first_id = 1)
      : settings_(settings), ways_(std::move(ways)), next_id_(first_id) {}

  // ---- Of a program. False: the state of the connection does not allow that.
  // `request`: a REQ or SIDR_REQ; IDs and timeouts are written here.
  Connection& connect(Owner& owner, Mad request, const Place& peer);
  // `reply`: a REP or SIDR_REP; of what is refused a REJ or SIDR_REP. IDs are written here.
  bool accept(Connection& connection, Mad reply);
  bool refuse(Connection& connection, Mad reply);
  bool confirm(Connection& connection) { return step(connection, Event::Confirm); }
  bool notify(Connection& connection) { return step(connection, Event::Notify); }
  bool disconnect(Connection& connection) { return step(connection, Event::Disconnect); }
  void leave(Connection& connection);

  // ---- Of the port and of time.
  void receive(const Mad& mad, const Place& from);
  u64 due() const;    // ps; kNever: it waits for nothing
  void expire();      // what is due now
  void look_again();  // somebody listens who has not
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
