// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/engine/test_chip.h"

#include <algorithm>
#include <cstdio>

#include "model/engine/run.h"
#include "testbench/tests/engine/test_blocks.h"

namespace hca::engine::test {
namespace {
class Chip {
 public:
  Chip(const Config& c, u16 index, ProbeHub& hub)
      : domain(c.domain),
        sources{Source(c, index, 0, hub.add("source_0")), Source(c, index, 1, hub.add("source_1"))},
        arbiter(hub.add("arbiter")),
        server(c, hub.add("server")),
        memory(c, server.tags),
        port(c, hub.add("port")),
        receiver(hub.add("receiver")),
        sink(c, hub.add("sink")) {
    add(sources[0], "source_0"), add(sources[1], "source_1"), add(arbiter, "arbiter");
    add(server, "server"), add(memory, "memory"), add(port, "port");
    add(receiver, "receiver"), add(sink, "sink");
    connect(sources[0], sources[0].items_out, arbiter, arbiter.items_in[0], "items_0");
    connect(sources[1], sources[1].items_out, arbiter, arbiter.items_in[1], "items_1");
    connect(arbiter, arbiter.items_out, server, server.items_in, "granted");
    connect(server, server.requests_out, memory, memory.requests_in, "requests");
    connect(memory, memory.answers_out, server, server.answers_in, "answers");
    connect(receiver, receiver.items_out, sink, sink.items_in, "received");
    connect_stages(c.fused_stages ? 0 : c.stages - 1);
    server.tags.connect(server.self, "tags");
    receiver.mail.connect(receiver.self, "wire");
    for (Budget& credit : port.credits) credit.connect(port.self, "credits");
    for (Source& source : sources) source.self.wake(1);
  }
  Chip(const Chip&) = delete;

  Domain domain;
  std::array<Source, 2> sources;
  Arbiter arbiter;
  Server server;
  std::vector<std::unique_ptr<PlainStage>> stages;
  Memory memory;
  Port port;
  Receiver receiver;
  Sink sink;

 private:
  template <class B>
  void add(B& block, const char* name) {
    block.self = {&domain, domain.add(block, name)};
  }
  void connect(Block& writer, ItemLink*& out, Block& reader, ItemLink& in, const char* name) {
    out = &in, in.connect(writer.self, reader.self, name);
  }
  void connect_stages(unsigned count) {
    Block* writer = &server;
    ItemLink** out = &server.items_out;
    for (unsigned i = 0; i < count; ++i) {
      PlainStage& stage = *stages.emplace_back(std::make_unique<PlainStage>());
      add(stage, "stage");
      connect(*writer, *out, stage, stage.items_in, "row");
      writer = &stage, out = &stage.items_out;
    }
    connect(*writer, *out, port, port.items_in, "to_port");
  }
};

struct System {
  System(const Config& c, bool backwards) : config(c) {
    hub.attach(sink);
    for (u16 i = 0; i < config.chips; ++i) chips.push_back(std::make_unique<Chip>(config, i, hub));
    for (auto& from : chips)
      for (auto& to : chips) {
        from->port.wires.push_back(&to->receiver.mail);
        to->sink.credits.push_back(&from->port.credits[u64(&to - &chips[0])]);
      }
    for (auto& chip : chips) domains.push_back(&chip->domain);
    if (backwards) std::reverse(domains.begin(), domains.end());
  }
  bool done() const {
    u32 consumed = 0;
    for (const auto& chip : chips) consumed += chip->sink.consumed;
    return consumed == config.chips * 2 * config.items;
  }
  const Config config;
  ProbeHub hub;
  DigestSink sink;
  std::vector<std::unique_ptr<Chip>> chips;
  std::vector<Domain*> domains;
};

// What a simulation kernel does: each domain has one process and one event, and is looked at only
// when the event is due.
struct Host {
  Domain* domain;
  Cycle due = kNever;
  void sleep() {
    due = domain->next();
    domain->host_sleeps(
        this, [](void* host, Cycle at) { static_cast<Host*>(host)->hear(at); }, due);
  }
  void hear(Cycle at) {
    due = at;
    domain->host_sleeps(
        this, [](void* host, Cycle c) { static_cast<Host*>(host)->hear(c); }, at);
  }
  void run(Cycle quantum) {
    const Cycle end = due + quantum;
    domain->host_runs();
    domain->run_until(end);
    sleep();
  }
};

Cycle run_hosts(System& system, Cycle quantum) {
  std::vector<Host> hosts;
  for (Domain* domain : system.domains) hosts.push_back({domain});
  for (Host& host : hosts) host.sleep();
  Cycle end = 0;
  while (!system.done()) {
    Host& first = *std::min_element(hosts.begin(), hosts.end(),
                                    [](const Host& a, const Host& b) { return a.due < b.due; });
    if (first.due == kNever) throw Stuck("no host has an event, but the work is not done");
    end = std::max(end, first.due + quantum);
    first.run(quantum);
  }
  return end;
}
}  // namespace

Run run_chips(const Config& config, Way way, Cycle quantum) {
  System system(config, way == Way::Backwards);
  Run run;
  try {
    run.cycles = way == Way::Hosts
                     ? run_hosts(system, quantum)
                     : run_domains(system.domains, quantum, [&] { return system.done(); });
  } catch (const Stuck& stuck) {
    run.problem = stuck.what();
  }
  run.digest = system.sink.value(), run.events = system.sink.events();
  for (const Domain* domain : system.domains) run.ticks += domain->ticks();
  return run;
}

std::string first_difference(const Config& config, unsigned shuffles, Run* plain) {
  const Run wanted = run_chips(config, Way::Quanta, config.wire_latency);
  if (plain) *plain = wanted;
  if (!wanted.problem.empty()) {
    std::fprintf(stderr, "plain loop: %s", wanted.problem.c_str());
    Config checked = config;
    checked.domain.mode = Mode::EveryCycle;
    run_chips(checked, Way::Quanta, config.wire_latency);  // names the block that acts in its sleep
    return "plain loop: " + wanted.problem;
  }
  std::string problem;
  const auto compare = [&](const std::string& name, const Config& c, Way way, Cycle quantum) {
    if (!problem.empty()) return;
    const Run run = run_chips(c, way, quantum);
    if (!run.problem.empty())
      problem = name + ": " + run.problem;
    else if (run.digest != wanted.digest)
      problem = name + ": another digest";
  };
  Config c = config;
  for (const Cycle quantum : {Cycle{1}, Cycle{7}, config.wire_latency - 1}) {
    compare("quantum " + std::to_string(quantum), c, Way::Quanta, quantum);
    compare("hosts, quantum " + std::to_string(quantum), c, Way::Hosts, quantum);
  }
  compare("domains in reverse order", c, Way::Backwards, config.wire_latency);
  for (unsigned seed = 0; seed <= shuffles; ++seed) {
    c.domain.shuffle_seed = seed;
    c.domain.mode = seed % 2 ? Mode::Sleep : Mode::EveryCycle;
    compare("every cycle or shuffled order " + std::to_string(seed), c, Way::Quanta,
            config.wire_latency);
  }
  return problem;
}
}  // namespace hca::engine::test
