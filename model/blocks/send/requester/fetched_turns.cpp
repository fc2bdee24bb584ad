// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/fetched_turns.h"

namespace hca::blocks {
void FetchedTurns::add(Turn* turn) {
  SendQueue& q = queues_[turn->qpn];
  if (turn->epoch != state_of(turn->qpn).epoch) return release(turn);
  turn->next = nullptr;
  if (q.head)
    q.tail->next = turn;
  else
    q.head = turn;
  q.tail = turn;
  order_.activate(turn->qpn, q);
}

void FetchedTurns::finish_wqe(u32 qpn, SendQueue& q) {
  q.sending = false;
  Turn* turn = q.head;
  if (++q.at == turn->count) {
    q.head = turn->next;
    q.at = 0;
    release(turn);
  }
  order_.activate(qpn, q);
}

void FetchedTurns::release(Turn* turn) {
  if (turn->lent) [[unlikely]]
    return Pool<Turn>::give_back(turn);
  outbox_.note({NoteKind::TurnDone, turn->qpn, 0, 0});
  buffers->give(now() + 1);
  Pool<Turn>::give_back(turn);
}

void FetchedTurns::drop(SendQueue& q) {
  while (q.head) {
    Turn* turn = q.head;
    q.head = turn->next;
    release(turn);
  }
  q.at = 0;
  q.sending = false;
}
}  // namespace hca::blocks
