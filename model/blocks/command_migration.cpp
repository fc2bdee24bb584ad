// SPDX-License-Identifier: Apache-2.0
// Automatic path migration (G17).
#include "model/blocks/command.h"
#include "model/device/migration.h"

namespace hca::blocks {
using namespace proto;

void Command::take_step(FaultLink& link) {
  const Fault& f = link.front();
  QpConfig* qp = contexts_.find_qp(f.qpn) ? &contexts_.qps[f.qpn] : nullptr;
  if (qp && f.step == PathStep::Arm && qp->path_mig == PathMigState::Rearm) {
    qp->path_mig = PathMigState::Armed;
    ++counters.armed;
  }
  if (f.step == PathStep::Migrate &&
      !start_move({.qpn = f.qpn, .life = f.life, .resumes = f.resumes}))
    return;
  link.drop();
}

// False: there is no room for the event yet. A command has made sure that there is.
bool Command::start_move(Move move) {
  const QpConfig* qp = contexts_.find_qp(move.qpn);
  if (qp && qp->moves) return join_move(move);
  const bool migrates = qp && qp->path_mig == PathMigState::Armed;
  if (!migrates || !device::changes_port(contexts_, move.qpn)) return end_move(move);
  move.since = now();
  move.port = port_of(*qp);
  move.requests = execute_.packets_in[move.port].pushed();
  contexts_.qps[move.qpn].moves = true;
  moves_.push_back(move);
  wake_at(now() + 1);
  return true;
}

// Another cause asked for the same migration.
bool Command::join_move(const Move& other) {
  for (Move& move : moves_)
    if (move.qpn == other.qpn) {
      move.resumes |= other.resumes;
      move.life = other.resumes ? other.life : move.life;
    }
  return true;
}

bool Command::has_passed_on(const Move& move) const {
  return s32(execute_.packets_in[move.port].popped() - move.requests) >= 0;
}

// Migrates a queue pair that is still armed. A waiting requester goes on in any case.
bool Command::end_move(const Move& move) {
  const QpConfig* qp = contexts_.find_qp(move.qpn);
  const bool migrates = qp && qp->path_mig == PathMigState::Armed;
  if (migrates) {
    if (!outputs.events_out->can_push()) return false;
    device::migrate(contexts_, move.qpn);
    requester_.moved(move.qpn);
    outputs.events_out->push(EventNote{kAsyncEq, {EventType::PathMig, move.qpn}});
    ++counters.migrations;
  }
  if (move.resumes) requester_.migrated(move.qpn, move.life);
  if (move.writes_back) write_back();
  return true;
}

void Command::end_moves() {
  for (auto move = moves_.begin(); move != moves_.end();) {
    const QpConfig* qp = contexts_.find_qp(move->qpn);
    const bool stays = qp && qp->moves && !has_passed_on(*move);
    const bool is_over = !stays && end_move(*move);
    if (is_over) counters.waits_migration += now() - move->since;
    move = is_over ? moves_.erase(move) : std::next(move);
  }
  if (!moves_.empty()) wake_at(now() + 1);
}
}  // namespace hca::blocks
