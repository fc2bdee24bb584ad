// SPDX-License-Identifier: Apache-2.0
// The report of a run.
import { ladder } from './ladder.js';
import { latency } from './latency.js';
import { heatMap, links, others, throughput } from './over_time.js';
import { dataOfPage, show } from './page.js';
import { breakdown, parameters, resources, summary } from './tables.js';

show([
  ['summary', 'Summary', summary],
  ['resources', 'What limits', resources],
  ['throughput', 'Throughput and rate', throughput],
  ['latency', 'Latency', latency],
  ['breakdown', 'Where the time goes', breakdown],
  ['pipeline', 'Pipeline over time', heatMap],
  ['links', 'PCIe, links, hosts', links],
  ['queues', 'Queues', others],
  ['packets', 'Packets', ladder],
  ['parameters', 'Parameters', parameters],
], dataOfPage());
