// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <stdexcept>

#include "model/engine/domain.h"

namespace hca::engine {
// Work is left, but no block of any domain will be ticked again. what() lists who waits for what
// since when.
struct Stuck : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void report_stuck(std::span<Domain* const> domains);

// Runs domains in parallel, each alone for a quantum of cycles, until done(). `quantum` is at most
// the smallest latency between two domains. Returns the first cycle that was not run.
template <class Done>
Cycle run_domains(std::span<Domain* const> domains, Cycle quantum, Done&& done) {
  Cycle end = domains.front()->now() + 1;
  while (!done()) {
    end += quantum;
    bool asleep = true;
    // Checked after all have run: the last one may have sent mail to the first.
    for (Domain* domain : domains) domain->run_until(end);
    for (const Domain* domain : domains) asleep = asleep && domain->asleep();
    if (asleep && !done()) report_stuck(domains);
  }
  return end;
}
}  // namespace hca::engine
