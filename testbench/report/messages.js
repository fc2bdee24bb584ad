// SPDX-License-Identifier: Apache-2.0
// Where the time of messages goes in a part of the run: of all of them step by step, and of each that was kept.
import { chart } from './charts.js';
import { h, percent, select, short, table } from './html.js';
import { barTable } from './tables.js';

const nameOf = (one, whole) => `#${one.number}: QP ${one.qpn} of hca${one.hca}, ${short(one.bytes)} B, ${short(whole / 1e3)} ns`;
const wholeOf = (one) => one.steps.reduce((sum, [, ps]) => sum + ps, 0);
// As message_stats.h writes a row.
const messageOf = (ways) => ([number, hca, qpn, bytes, start_ps, way, ...ps]) => ({ number, hca, qpn, bytes, start_ps, steps: ways[way].map((step, i) => [step, ps[i]]) });
// Index of the kept message whose number is nearest.
const nearest = (kept, number) => kept.reduce((best, one, n) => Math.abs(one.number - number) < Math.abs(kept[best].number - number) ? n : best, 0);

// One message: its steps as bars.
function wayOf(one) {
  const whole = wholeOf(one);
  return barTable('Steps of this message', ['step', 'ns', ''], one.steps.map(([step, ps]) => [step, short(ps / 1e3), ps / whole]));
}

// As report_page.cpp writes it.
const stepOf = ([step, count, mean_ns, p50_ns, p99_ns, max_ns, share]) => ({ step, count, mean_ns, p50_ns, p99_ns, max_ns, share });

function stepsOf(times) {
  const row = (name, f, share) => [name, f.mean_ns, f.p50_ns, f.p99_ns, f.max_ns, share];
  return table('Steps of all messages', ['step', 'mean ns', 'p50 ns', 'p99 ns', 'most ns', 'share of all'],
    [...times.steps.map(stepOf).map((one) => row(one.step, one, percent(one.share))), row('whole', times.whole, '')]);
}

function groupsOf(times) {
  return table('By entry, operation, size and queue pair', ['by', 'of', 'messages', 'bytes', 'mean ns', 'p50 ns', 'p99 ns', 'most ns'],
    times.groups.map((one) => [one.by, one.name, one.count, one.bytes, one.mean_ns, one.p50_ns, one.p99_ns, one.max_ns]));
}

export function messages(run) {
  const phases = run.recording.phases.filter((phase) => phase.times.count);
  if (!phases.length) return [h('p', { class: 'soft' }, 'No completion was taken.')];
  const place = h('div');
  const show = (i) => {
    const { times } = phases[i], kept = times.messages.map(messageOf(times.ways)), wholes = kept.map(wholeOf);
    const one = h('div');
    const pick = (n) => {
      number.value = kept[n].number;
      one.replaceChildren(h('p', {}, nameOf(kept[n], wholes[n])), wayOf(kept[n]));
    };
    const number = h('input', { type: 'number', min: 0, max: times.count - 1, onchange: () => pick(nearest(kept, Number(number.value))) });
    const box = h('label', {}, 'Message number', number);
    const slowest = wholes.indexOf(Math.max(...wholes));
    const order = kept.map((_, n) => n).sort((a, b) => kept[a].start_ps - kept[b].start_ps);
    const dots = chart({ title: 'From doorbell to completion, ns', x: { label: 'doorbell at, us', values: order.map((n) => kept[n].start_ps * 1e-6) }, y: { label: 'ns' }, lines: [{ name: 'message', values: order.map((n) => wholes[n] / 1e3), marks: true }] });
    dots.addEventListener('click', () => {
      const at = dots.querySelector('[role=img]').plot?.cursor.idx;
      if (at !== undefined && at !== null) pick(order[at]);
    });
    place.replaceChildren(h('p', {}, `${short(times.count)} messages, from the doorbell to the completion that the program takes. A step ends when the message's last packet, or the answer that completed it, passed the block.`),
      stepsOf(times), h('h3', {}, 'By entry, operation, size and queue pair'), groupsOf(times), h('h3', {}, 'One message'), h('p', { class: 'soft' }, kept.length === times.count ? 'Choose any by its number, or click on it.' : `${short(kept.length)} of them are kept here: an even selection, and the slowest; messages.csv (run.messages) has all. Choose one by its number (the nearest is shown), or click on it.`), dots, h('div', { class: 'controls' }, box), one);
    pick(slowest);
  };
  show(0);
  return [h('div', { class: 'controls' }, select('Part of the run', phases.map((phase) => phase.what), show)), place];
}
