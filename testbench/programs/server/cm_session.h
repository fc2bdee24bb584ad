// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "testbench/programs/server/cm_host.h"
#include "testbench/programs/server/event_queue.h"

namespace hca::attach {
class CmSession;

struct CmChannel {
  EventQueue ready{1};  // a word for each event
  std::deque<CmEvent> events;
};

// An identifier of rdma_cm: an address, a listener, or one side of a connection.
class CmId final : public cm::Owner {
 public:
  CmId(CmSession& session, u32 handle, CmChannel& channel, const CmNewId& wanted)
      : session_(session), handle_(handle), channel_(&channel), wanted_(wanted) {}
  ~CmId() override;
  CmSession& session() const { return session_; }
  bool listens() const { return listens_; }
  bool reuses() const { return reuses_; }

  void told(cm::Connection& connection, cm::Tell tell, const cm::Mad* mad) override;
  void ended(cm::Connection&) override { connection_ = nullptr; }

 private:
  friend class CmSession;
  CmSession& session_;
  const u32 handle_;
  CmChannel* channel_;
  const CmNewId wanted_;
  CmRoute route_;
  s32 peer_device_ = -1;  // the other end of the path
  u32 devices_ = 0;       // devices to which it is bound, a bit each
  bool listens_ = false, reuses_ = false, resolved_ = false, routed_ = false;
  u32 most_waiting_ = 0;      // backlog of a listener
  CmId* listener_ = nullptr;  // of a request, until its event is taken
  u8 traffic_class_ = 0, ack_timeout_ = 0;
  u32 psn_ = 0;
  cm::Connection* connection_ = nullptr;
};

// A program that uses rdma_cm: its channels and identifiers.
class CmSession final {
 public:
  // The program can read an event of this device.
  using Event = std::function<void(const Device&)>;
  CmSession(CmHost& host, u32 devices, Event event)
      : host_(host), devices_(devices), event_(std::move(event)) {}
  CmSession(const CmSession&) = delete;

  Reply handle(const Request& request, Descriptor& descriptor);
  // Creates an identifier for a request, unless the listener's backlog is full.
  cm::Listener take_request(CmId& listener, s32 device, const cm::Mad& mad);
  void told(CmId& id, cm::Tell tell, const cm::Mad* mad);

 private:
  friend class CmId;
  using Call = Reply (CmSession::*)(CmId&, const Request&);
  static Call call_of(CmCall call);
  Reply create_channel(Descriptor& descriptor);
  Reply destroy_channel(u32 handle);
  Reply create_id(const Request& request);
  Reply take_event(u32 channel);
  Reply destroy_id(CmId& id, const Request& request);
  Reply migrate(CmId& id, const Request& request);
  Reply bind(CmId& id, const Request& request);
  Reply listen(CmId& id, const Request& request);
  Reply resolve(CmId& id, const Request& request);
  Reply resolve_route(CmId& id, const Request& request);
  Reply connect(CmId& id, const Request& request);
  Reply accept(CmId& id, const Request& request);
  Reply refuse(CmId& id, const Request& request);
  Reply confirm(CmId& id, const Request& request);
  Reply notify(CmId& id, const Request& request);
  Reply disconnect(CmId& id, const Request& request);
  Reply query(CmId& id, const Request& request);
  Reply join(CmId& id, const Request& request);
  Reply set_option(CmId& id, const Request& request);

  int bind_to(CmId& id, const CmAddress& address);
  CmId& add_id(CmChannel& channel, const CmNewId& wanted);
  void tell(CmId& id, CmEvent event);
  void forget_events(const CmId& id);
  cm::Agent& agent(const CmId& id) const { return host_.device(id.route_.device).cm().agent(); }
  cm::Mad request_of(const CmId& id, const CmParameters& parameters) const;
  cm::Mad reply_of(const CmId& id, const CmParameters& parameters) const;
  void wake(const CmId& id) { host_.device(id.route_.device).wake_cm(); }

  CmHost& host_;
  const u32 devices_;
  const Event event_;
  std::map<u32, CmChannel> channels_;
  std::map<u32, std::unique_ptr<CmId>> ids_;
};
}  // namespace hca::attach
