// SPDX-License-Identifier: Apache-2.0
// Summary, resources, breakdowns and parameters: what is best read as a table.
import { h, percent, scrolled, select, short, table } from './html.js';

// Where anything is busiest, as the program's own line has it.
const nearness = (phase) => phase.limits.length ? 1 + phase.limits[0].share : phase.resources[0]?.share ?? -1;
const busiest = (phases) => phases.reduce((best, one, i) => nearness(one) > nearness(phases[best]) ? i : best, 0);

function bar(share) { return h('td', { class: 'bar' }, h('span', { style: `width:${Math.max(0.3, 100 * share)}%` })); }

export function barTable(name, heads, rows) {
  return scrolled(name, h('table', { 'aria-label': name },
    h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
    h('tbody', {}, ...rows.map(([label, number, share]) => h('tr', {}, h('td', {}, label), h('td', { class: 'number' }, number), bar(share))))));
}

export function verdict(phase) {
  const said = (one) => `${one.resource}, ${percent(one.share)} ${one.said}${one.knob ? ` (${one.knob})` : ''}`;
  if (phase.limits.length) return `Bottleneck: ${phase.limits.map(said).join('; as near: ')}.`;
  const most = phase.resources[0];
  return `Nothing is busy enough to limit (most: ${most.resource}, ${percent(most.share)}): latency or the schedule of an open loop does.`;
}

export function summary(run) {
  const tile = (name, value) => h('div', {}, h('dt', {}, name), h('dd', {}, value));
  const best = (field) => Math.max(0, ...run.sizes.map((row) => row.bandwidth?.[field] ?? 0), ...run.streams.map((row) => row[field]));
  const parts = [h('dl', { class: 'tiles' }, tile('Result', run.succeeded ? 'succeeded' : 'failed'), tile('Best throughput', `${short(best('gbit_per_s'))} Gb/s`), tile('Best rate', `${short(best('mmsg_per_s'))} Mmsg/s`),
    tile('Simulated', `${short(run.simulated_ps * 1e-6)} us`), tile('Messages checked', short(run.messages_checked)), tile('Frames', short(run.frames)), tile('Faults', short(run.faults.length)), ...(run.lost ? [tile('Messages lost', short(run.lost))] : []))];
  for (const failure of run.failures) parts.push(h('p', { class: 'bad' }, failure));
  if (run.sizes.length) parts.push(h('h3', {}, 'One queue pair'), table('One queue pair', ['operation', 'bytes', 'Gb/s', 'Mmsg/s', 'p50 us', 'p99 us', 'p99.9 us'],
    run.sizes.map((row) => [row.operation, row.bytes, row.bandwidth?.gbit_per_s, row.bandwidth?.mmsg_per_s, row.latency?.p50_us, row.latency?.p99_us, row.latency?.['p99.9_us']])));
  if (run.streams.length) parts.push(h('h3', {}, 'Streams'), table('Streams', ['entry', 'what', 'QPs', 'Gb/s', 'Mmsg/s', 'p50 us', 'p99 us', 'p99.9 us', 'fair'],
    run.streams.map((row) => [`${row.entry} ${row.direction === 'backward' ? '←' : '→'}`, row.what, row.qps, row.gbit_per_s, row.mmsg_per_s, row.latency.p50_us, row.latency.p99_us, row.latency['p99.9_us'], row.fairness])));
  if (run.seeds) parts.push(h('h3', {}, `Seeds ${run.seeds.first} to ${run.seeds.first + run.seeds.runs - 1}`), h('p', { class: 'soft' }, 'Mean and 95 % confidence interval; all else of this page is of the first seed.'),
    table('Seeds', ['of', 'figure', 'runs', 'mean', '+-'], run.seeds.figures.map((one) => [one.of, one.figure, one.samples.length, one.mean, one.half_width_95])));
  return parts;
}

function stalls(phase) {
  if (!phase.stalls.length) return h('p', { class: 'soft' }, 'Nothing waited.');
  return scrolled('Stalls by cause', h('table', { 'aria-label': 'Stalls by cause' },
    h('thead', {}, h('tr', {}, ...['what waits', 'for', 'cycles', 'share', ''].map((head) => h('th', { scope: 'col' }, head)))),
    h('tbody', {}, ...phase.stalls.map((one) => h('tr', {}, h('td', {}, one.block), h('td', {}, one.cause), h('td', { class: 'number' }, short(one.cycles)), h('td', { class: 'number' }, percent(one.share)), bar(one.share))))));
}

export function resources(run) {
  const { phases } = run.recording;
  if (!phases.length) return [h('p', { class: 'soft' }, 'Nothing was measured.')];
  const place = h('div');
  const show = (i) => place.replaceChildren(h('p', { class: 'verdict' }, verdict(phases[i])),
    barTable('Resources', ['resource', 'share', ''], phases[i].resources.map((use) => [use.resource, percent(use.share), use.share])),
    h('h3', {}, 'Stalls by cause'), h('p', { class: 'soft' }, 'Each row is a block that could not continue and the missing resource: cycles, and their share of the time (for waits of queue pairs: the share of one queue pair). Waits for room in a block are consequences: look for the resource that this block waits for.'),
    stalls(phases[i]),
    h('h3', {}, 'Blocks'), h('p', { class: 'soft' }, 'Share of the time with work waiting before a block. The others wait for the last block that has such work.'),
    barTable('Blocks', ['block', 'work waiting', ''], phases[i].blocks.filter((one) => one.share > 0).map((one) => [one.block, percent(one.share), one.share])));
  const box = select('Part of the run', phases.map((phase) => phase.what), show);
  box.querySelector('select').value = busiest(phases);
  show(busiest(phases));
  return [h('div', { class: 'controls' }, box), h('p', { class: 'soft' }, 'Share of the time, from the first post to the last completion, in which a resource is in use or waited for. What has less than 0.05 % is left out; summary.json has all. From 80 % on it is named as the limit; resources that only fill up before it are not.'), place];
}

export function breakdown(run) {
  if (!run.breakdowns.length) return [h('p', { class: 'soft' }, 'There is none: a run with faults, with an unreliable service or with mixed operations has no single message.')];
  const place = h('div');
  const show = (i) => {
    const one = run.breakdowns[i];
    place.replaceChildren(barTable('Parts', ['part', 'cycles', ''], one.parts.map((part) => [part.part, short(part.cycles), part.cycles / one.whole])),
      h('p', {}, `Sum ${short(one.sum)} cycles; measured by the program: ${short(one.whole)} cycles.`));
  };
  show(0);
  return [h('div', { class: 'controls' }, select('Message', run.breakdowns.map((one) => `${one.operation}, ${short(one.bytes)} B${one.port > 1 ? `, port ${one.port}` : ''}`), show)), h('p', { class: 'soft' }, 'A single message, from its doorbell to its completion.'), place];
}

// What differs from the defaults first.
export function parameters(run) {
  const changed = new Set(run.knobs_changed);
  const all = [...Object.entries(run.knobs).map(([name, value]) => ({ name, value })), ...Object.entries(run.counters).map(([name, value]) => ({ name, value: short(value), counter: true }))];
  const rank = (one) => one.counter ? 2 : changed.has(one.name) ? 0 : 1;
  all.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  const body = h('tbody', {}, ...all.map((one) => h('tr', { class: changed.has(one.name) && !one.counter ? 'changed' : undefined }, h('td', {}, one.name), h('td', {}, one.value), h('td', {}, one.counter ? 'counter' : changed.has(one.name) ? 'changed' : 'default'))));
  const found = h('span', { role: 'status' }), search = h('input', { type: 'search', id: 'search', placeholder: 'name or value' });
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const row of body.rows) count += !(row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)));
    found.textContent = `${count} of ${all.length}`;
  };
  search.addEventListener('input', filter);
  filter();
  return [h('div', { class: 'controls' }, h('label', {}, 'Search', search), found), scrolled('Parameters and counters',
    h('table', { 'aria-label': 'Parameters and counters' }, h('thead', {}, h('tr', {}, ...['name', 'value', 'kind'].map((head) => h('th', { scope: 'col' }, head)))), body))];
}
