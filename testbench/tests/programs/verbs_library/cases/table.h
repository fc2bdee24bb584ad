// SPDX-License-Identifier: Apache-2.0
// A table of the verbs with their return values and errno.
#pragma once
#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
// Objects of device a, of a second domain of it, and of device b; queue pairs in several states.
struct Things {
  explicit Things(Bench& ends);
  ~Things();
  Things(const Things&) = delete;
  Bench& bench;
  End &a, &b;
  ibv_pd* other_pd;
  ibv_mr *other_mr, *plain_mr;  // of the other domain; without the bind right
  ibv_mw *type_1, *type_2, *foreign_window;
  ibv_srq *srq, *foreign_srq;
  ibv_comp_channel *channel, *foreign_channel;
  ibv_cq* cq;  // with the channel
  ibv_ah *ah, *foreign_ah;
  ibv_qp *reset, *init, *rts, *ud, *uc, *peer;  // RC, except two
};

constexpr long kNothing = 0, kMade = 1;  // for a function that returns a pointer
struct VerbRow {
  const char *verb, *what;
  long returned;
  int error;  // expected errno; 0: not checked
  long (*call)(Things&);
};
// For a function that returns a pointer.
template <class Object>
long made(Object* object, int (*destroy)(Object*)) {
  if (!object) return kNothing;
  destroy(object);
  return kMade;
}
template <std::size_t kRows>
void walk(Things& things, const std::array<VerbRow, kRows>& rows) {
  Checks& checks = *things.bench.checks;
  for (const VerbRow& row : rows) {
    errno = 0;
    const long returned = row.call(things);
    const int error = errno;
    const std::string what = row.verb + std::string(", ") + row.what;
    checks.equal(what, returned, row.returned);
    if (row.error) checks.equal(what + ": errno", error, row.error);
  }
}
void check_object_verbs(Things& things);
void check_queue_verbs(Things& things);
void check_work_verbs(Things& things);
}  // namespace cases
