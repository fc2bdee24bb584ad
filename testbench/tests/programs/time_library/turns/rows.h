// SPDX-License-Identifier: Apache-2.0
// The explored cases: each waiting call, by threads created before or after the program got a
// clock, told before, during and after its turn.
#pragma once
#include <string>
#include <vector>

#include "model/proto/types.h"

namespace hca::explored {
enum class Told : u8 { Before, In, After };
enum class Made : u8 { Before, After };

// One kind of call. Each of its waiters calls wait(), one thread calls tell(); `begin`: a preparing
// call. `waiters`: the maximum number.
struct CallRow {
  const char* name;
  void (*begin)();
  void (*wait)();
  void (*tell)();
  unsigned waiters = 2;
  bool joins = false;  // the telling thread
};
struct Row {
  const CallRow* call;
  Made waiter, teller;
  Told told;
  unsigned waiters;
  std::string name() const;
};
std::vector<Row> all_rows();
// The first thread of the program calls run_row(); set_up_row() is called before it, outside a
// schedule. `joins_late`: that thread sleeps before it joins the others; otherwise the telling
// thread sees a waiting one.
void set_up_row(const Row& row, bool joins_late);
void run_row();
}  // namespace hca::explored
