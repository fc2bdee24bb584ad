// SPDX-License-Identifier: Apache-2.0
// A thread that waits for an event of a device, or of a channel, that another thread closes: as
// with a device of the kernel it comes back with EIO, and the program goes on.
#include <time.h>

#include <thread>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
// `wait` is under way when `close` is called.
template <class Wait, class Close>
void expect_refused(Bench& bench, const std::string& what, Wait wait, Close close) {
  int got = 0, error = 0;
  std::thread waits([&] {
    got = wait();
    error = errno;
  });
  const timespec moment{0, 20'000'000};
  nanosleep(&moment, nullptr);
  bench.checks->equal("closed in " + what, close(), 0);
  waits.join();
  bench.checks->equal(what, got, -1);
  bench.checks->equal("its errno", error, EIO);
}
int await_event(ibv_comp_channel* channel) {
  ibv_cq* cq;
  void* context;
  return ibv_get_cq_event(channel, &cq, &context);
}
}  // namespace

void check_closing(Bench& bench) {
  ibv_device* const device = bench.a.context->device;
  ibv_context* context = ibv_open_device(device);
  ibv_comp_channel* channel = ibv_create_comp_channel(context);
  expect_refused(
      bench, "ibv_get_cq_event() of a channel", [&] { return await_event(channel); },
      [&] { return ibv_destroy_comp_channel(channel); });
  ibv_pd* const pd = ibv_alloc_pd(context);
  bench.checks->holds("its device is there", pd);
  bench.checks->equal("and well", ibv_dealloc_pd(pd), 0);
  ibv_async_event event;
  expect_refused(
      bench, "ibv_get_async_event() of a device",
      [&] { return ibv_get_async_event(context, &event); },
      [&] { return ibv_close_device(context); });
  context = ibv_open_device(device);
  channel = ibv_create_comp_channel(context);
  expect_refused(
      bench, "ibv_get_cq_event() of a device", [&] { return await_event(channel); },
      [&] { return ibv_close_device(context); });
}
}  // namespace cases
