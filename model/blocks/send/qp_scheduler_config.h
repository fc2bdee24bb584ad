// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/limits.h"
#include "model/blocks/lib/stage_config.h"
#include "model/blocks/send/ready_queues.h"

namespace hca::blocks {
struct QpSchedulerConfig {
  Cycle latency = 3, interval = 2;
  u32 batch = 8;   // WQEs of one turn, at most
  u32 turns = 2;   // of one queue pair in flight
  u32 slots = 64;  // turns in flight in all
  u32 pushes = 64;
  SchedulerPolicy policy = SchedulerPolicy::RoundRobin;
  ReadyQueues::Weights weight{1, 1, 1, 1, 1, 1, 1, 1};  // consecutive turns of each traffic class
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::QpSchedulerConfig> {
  using C = hca::blocks::QpSchedulerConfig;
  static constexpr std::string_view block = "qp_scheduler";
  static constexpr std::string_view sentence = "chooses the queue pair that sends next";
  static constexpr auto rows = join_all(
      hca::blocks::stage_rows<C>("from a doorbell to its turn", "between two turns"),
      make_rows(
          knob("batch", &C::batch, Unit::Count, 1, 16, "maximum WQEs of one turn"),
          knob("turns", &C::turns, Unit::Count, 1, 8, "turns of one queue pair in flight"),
          knob("slots", &C::slots, Unit::Count, 1, blocks::kMostTurns,
               "turns in flight, over all queue pairs"),
          knob("pushes", &C::pushes, Unit::Count, 0, 4096,
               "pushed WQEs held until their turn, over all queue pairs; a pushed WQE without room "
               "is read from memory"),
          knob("policy", &C::policy, blocks::kSchedulerPolicyNames,
               "the next queue pair, here (turns) and in requester (packets): round robin; by the "
               "weights "
               "of traffic classes (the low three bits of the SL); or the highest class first")),
      engine::knobs_of<"weight_",
                       "policy weighted: consecutive turns or packets of traffic class ">(
          &C::weight, Unit::Count, 1, 255));
};
