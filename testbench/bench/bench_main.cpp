// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <systemc>

// libsystemc brings main(); Google Benchmark runs inside it.
int sc_main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
