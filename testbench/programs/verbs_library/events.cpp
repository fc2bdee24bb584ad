// SPDX-License-Identifier: Apache-2.0
// Completion channels and asynchronous events: descriptors that the server writes to.
#include <unistd.h>

#include <optional>
#include <span>

#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/tables.h"

using namespace hca;
using namespace hca::verbs_library;

namespace {
// Threads that wait for an event return without one, and do not touch destroyed objects.
void close(EventSource& source) {
  const std::lock_guard guard(source.device->mutex);
  source.closed = true;
}
// The words of an event, and the guards held until it is delivered: no other thread closes the
// device, no signal handler runs in this one.
class Reader {
 public:
  explicit Reader(std::shared_ptr<EventSource> source)
      : source_(std::move(source)), guard_(source_->device->mutex, std::defer_lock) {}
  // Returns the result of read().
  ssize_t next(std::span<u64> words) {
    if (guard_) guard_.unlock();
    held_.reset();
    const ssize_t got = read(source_->descriptor.get(), words.data(), words.size_bytes());
    const int error = errno;
    held_.emplace(clock::signals_to_hold());
    guard_.lock();
    const bool closed = source_->closed || source_->device->closed;
    errno = closed ? EIO : error;
    return closed ? -1 : got;
  }

 private:
  std::shared_ptr<EventSource> source_;
  std::optional<attach::HeldSignals> held_;
  std::unique_lock<std::mutex> guard_;
};
}  // namespace

HCA_VERB ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  attach::Request request;
  request.verb = attach::Verb::CreateChannel;
  attach::Reply reply;
  std::vector<attach::Descriptor> given;
  int error = ask(context_of(context), request, reply, &given);
  if (!error && given.size() != 1) error = EPROTO;
  if (error) return fail(error);
  auto* const made = new Channel;
  made->context = context;
  made->handle = reply.handle;
  made->fd = given[0].get();
  made->events = std::make_shared<EventSource>(std::move(given[0]), context_of(context).state);
  return made;
}
HCA_VERB int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  auto* const gone = static_cast<Channel*>(channel);
  if (channel->refcnt) return told(EBUSY);
  close(*gone->events);
  attach::Request request;
  request.verb = attach::Verb::DestroyChannel;
  request.object = gone->handle;
  attach::Reply reply;
  const int error =
      is_inherited(channel->context) ? 0 : ask(context_of(channel->context), request, reply);
  if (error) return error;
  delete gone;
  return 0;
}

HCA_VERB int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  Context& open = context_of(channel->context);
  if (is_inherited(&open.context)) {
    errno = EPERM;
    return -1;
  }  // they are its parent's
  Reader events(static_cast<Channel*>(channel)->events);
  u64 cookie;
  void* object;
  do {
    const ssize_t got = events.next({&cookie, 1});
    if (got >= 0 && got != sizeof cookie) {
      lose(open);
      errno = EIO;
    }  // the server is gone
    if (got != sizeof cookie) return -1;
    object = find_object(open, cookie);
  } while (!object);
  Cq& found = *static_cast<Cq*>(object);
  pthread_mutex_lock(&found.mutex);
  ++found.events;
  pthread_mutex_unlock(&found.mutex);
  found.told = true;
  clock::spend(&attach::HostCosts::event);
  *cq = found.plain();
  *cq_context = found.cq_context;
  return 0;
}
HCA_VERB void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_broadcast(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}

// ---- Asynchronous events
namespace {
using proto::EventObject;

// Counts an event of an object, under its mutex.
template <class Object>
void count(Object& object, u32& events) {
  pthread_mutex_lock(&object.mutex);
  ++events;
  pthread_cond_broadcast(&object.cond);
  pthread_mutex_unlock(&object.mutex);
}

// False: its object is gone.
bool fill(Context& context, EventObject kind, u64 word, ibv_async_event& event) {
  if (proto::is_unaffiliated(kind)) {
    event.element.port_num = int(word);
    return true;
  }
  void* const object = find_object(context, word);
  if (!object) return false;
  if (kind == EventObject::Qp) {
    auto& qp = *static_cast<Qp*>(object);
    count(qp.qp_base, qp.async_events);
    event.element.qp = &qp.qp_base;
  } else if (kind == EventObject::Cq) {
    auto& cq = *static_cast<Cq*>(object);
    count(cq, cq.async_events);
    event.element.cq = cq.plain();
  } else {
    auto& srq = *static_cast<Srq*>(object);
    count(static_cast<ibv_srq&>(srq), srq.async_events);
    event.element.srq = &srq;
  }
  return true;
}
}  // namespace

HCA_VERB int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  Context& open = context_of(context);
  if (is_inherited(context)) {
    errno = EPERM;
    return -1;
  }
  Reader events(open.events);
  std::array<u64, 2> words;  // type, cookie or port
  ssize_t got;
  while ((got = events.next(words)) == sizeof words) {
    const EventWord* row = find_row(kEvents, &EventWord::type, proto::EventType(words[0]));
    if (!row) return errno = EPROTO, -1;
    event->event_type = row->word;
    if (fill(open, proto::async_event(row->type)->object, words[1], *event)) return 0;
  }
  if (got < 0 || open.told_lost) return errno = got < 0 ? errno : EIO, -1;
  lose(open);
  open.told_lost = true;
  event->event_type = IBV_EVENT_DEVICE_FATAL;
  event->element.port_num = 0;
  return 0;
}
HCA_VERB void ibv_ack_async_event(ibv_async_event* event) {
  const EventWord* row = find_row(kEvents, &EventWord::word, event->event_type);
  if (!row) return;
  const EventObject kind = proto::async_event(row->type)->object;
  if (kind == EventObject::Qp) count(*event->element.qp, event->element.qp->events_completed);
  if (kind == EventObject::Cq) count(*event->element.cq, event->element.cq->async_events_completed);
  if (kind == EventObject::Srq) count(*event->element.srq, event->element.srq->events_completed);
}
