// SPDX-License-Identifier: Apache-2.0
// Completion channels and asynchronous events: pipes that the server writes to.
#include <unistd.h>

#include "testbench/verbs_library/library.h"
#include "testbench/verbs_library/tables.h"

using namespace hca;
using namespace hca::verbs_library;

HCA_VERB ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  attach::Request request;
  request.verb = attach::Verb::CreateChannel;
  attach::Reply reply;
  std::vector<attach::Descriptor> given;
  int error = ask(context_of(context), request, reply, &given);
  if (!error && given.size() != 1) error = EPROTO;
  if (error) return fail(error);
  auto* const made = new Channel;
  made->context = context, made->handle = reply.handle, made->fd = given[0].release();
  return made;
}
HCA_VERB int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  auto* const gone = static_cast<Channel*>(channel);
  if (channel->refcnt) return EBUSY;
  attach::Request request;
  request.verb = attach::Verb::DestroyChannel, request.object = gone->handle;
  attach::Reply reply;
  if (const int error = ask(context_of(channel->context), request, reply)) return error;
  close(channel->fd);
  delete gone;
  return 0;
}

HCA_VERB int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  Context& open = context_of(channel->context);
  const auto exists = [&](u64 cookie) {
    const std::lock_guard guard(open.mutex);
    return open.cqs.contains(cookie);
  };
  u64 cookie;
  do {
    const ssize_t got = read(channel->fd, &cookie, sizeof cookie);
    if (got == sizeof cookie) continue;
    if (got >= 0) errno = EIO;  // the server is gone
    return -1;
  } while (!exists(cookie));
  Cq& found = *reinterpret_cast<Cq*>(cookie);
  pthread_mutex_lock(&found.mutex);
  ++found.events;
  pthread_mutex_unlock(&found.mutex);
  clock::spend(&attach::HostCosts::event);
  *cq = found.plain(), *cq_context = found.cq_context;
  return 0;
}
HCA_VERB void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_broadcast(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}

HCA_VERB int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  std::array<u64, 2> words;  // type, cookie
  const ssize_t got = read(context->async_fd, words.data(), sizeof words);
  if (got == sizeof words) {
    const EventWord* row = find_row(kEvents, &EventWord::type, proto::EventType(words[0]));
    if (!row) return errno = EPROTO, -1;
    event->event_type = row->word;
    event->element.qp = reinterpret_cast<ibv_qp*>(words[1]);
    return 0;
  }
  Context& open = context_of(context);
  if (got < 0 || open.told_lost) return errno = got < 0 ? errno : EIO, -1;
  open.lost = open.told_lost = true;
  event->event_type = IBV_EVENT_DEVICE_FATAL;
  event->element.port_num = 0;
  return 0;
}
HCA_VERB void ibv_ack_async_event(ibv_async_event*) {}
