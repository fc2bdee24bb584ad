// SPDX-License-Identifier: Apache-2.0
// The report of a run: its sections, and the switch between light and dark.
import './style.css';
import { redraw } from './charts.js';
import { h } from './html.js';
import { ladder } from './ladder.js';
import { latency } from './latency.js';
import { heatMap, links, others, throughput } from './over_time.js';
import { breakdown, parameters, resources, summary } from './tables.js';

const kSections = [
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
];

const run = JSON.parse(document.getElementById('run').textContent);
const main = document.getElementById('main'), sections = document.getElementById('sections'), button = document.getElementById('theme');
for (const [id, title, content] of kSections) {
  sections.append(h('a', { href: `#${id}` }, title));
  main.append(h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), ...content(run)));
}

function setTheme(dark) {
  document.documentElement.classList.toggle('dark', dark);
  button.setAttribute('aria-pressed', dark);
  document.dispatchEvent(new Event('theme'));
  redraw();
}
const system = matchMedia('(prefers-color-scheme: dark)');
system.addEventListener('change', () => setTheme(system.matches));
button.addEventListener('click', () => setTheme(!document.documentElement.classList.contains('dark')));
setTheme(system.matches);
