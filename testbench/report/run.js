// SPDX-License-Identifier: Apache-2.0
// The report of a run.
import { caches } from './caches.js';
import { ladder } from './ladder.js';
import { latency } from './latency.js';
import { messages } from './messages.js';
import { heatMap, links, others, throughput } from './over_time.js';
import { dataOfPage, show } from './page.js';
import { breakdown, parameters, resources, summary } from './tables.js';

show([
  ['summary', 'Summary', summary],
  ['resources', 'What limits', resources],
  ['throughput', 'Throughput and rate', throughput],
  ['latency', 'Latency', latency],
  ['breakdown', 'Where the time goes', breakdown],
  ['messages', 'Messages under load', messages],
  ['pipeline', 'Pipeline over time', heatMap],
  ['links', 'PCIe, links, hosts', links],
  ['caches', 'Caches', caches],
  ['queues', 'Queues', others],
  ['packets', 'Packets', ladder],
  ['parameters', 'Parameters', parameters],
], dataOfPage());
