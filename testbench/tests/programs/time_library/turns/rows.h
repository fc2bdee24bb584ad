// SPDX-License-Identifier: Apache-2.0
// What is explored: each call that waits, by threads that were made before the program had a clock
// and after, told before, in and after its turn.
#pragma once
#include <string>
#include <vector>

#include "model/proto/types.h"

namespace hca::explored {
enum class Told : u8 { Before, In, After };
enum class Made : u8 { Before, After };

// One kind of call. Each of its waiters calls wait(), one thread tell(); with `begin` it has begun
// something before. `waiters`: so many at most.
struct CallRow {
  const char* name;
  void (*begin)();
  void (*wait)();
  void (*tell)();
  unsigned waiters = 2;
  bool joins = false;  // the thread that tells
};
struct Row {
  const CallRow* call;
  Made waiter, teller;
  Told told;
  unsigned waiters;
  std::string name() const;
};
std::vector<Row> all_rows();
// As the first thread of its program; before: from outside of a schedule.
// `joins_late`: it sleeps before it joins the others. Where it does not, who tells sees one that
// waits.
void set_up_row(const Row& row, bool joins_late);
void run_row();
}  // namespace hca::explored
