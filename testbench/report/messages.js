// SPDX-License-Identifier: Apache-2.0
// Where the time of messages goes in a part of the run: of all of them step by step, and of any that was kept.
import { chart } from './charts.js';
import { h, percent, select, short, table } from './html.js';
import { barTable } from './tables.js';

const nameOf = (one, whole) => `#${one.number}: QP ${one.qpn} of hca${one.hca}, ${short(one.bytes)} B, ${short(whole / 1e3)} ns`;
export const wholeOf = (one) => one.steps.reduce((sum, [, ps]) => sum + ps, 0);

// One message: its steps as bars.
function wayOf(one) {
  const whole = wholeOf(one);
  return barTable('Steps of this message', ['step', 'ns', ''], one.steps.map(([step, ps]) => [step, short(ps / 1e3), ps / whole]));
}

function stepsOf(times) {
  const row = (name, f, share) => [name, f.mean_ns, f.p50_ns, f.p99_ns, f.max_ns, share];
  return table('Steps of all messages', ['step', 'mean ns', 'p50 ns', 'p99 ns', 'most ns', 'share of all'],
    [...times.steps.map((one) => row(one.step, one, percent(one.share))), row('whole', times.whole, '')]);
}

export function messages(run) {
  const phases = run.recording.phases.filter((phase) => phase.times.count);
  if (!phases.length) return [h('p', { class: 'soft' }, 'No completion was taken.')];
  const place = h('div');
  const show = (i) => {
    const { times } = phases[i], kept = times.messages, wholes = kept.map(wholeOf);
    const one = h('div');
    const pick = (n) => { box.querySelector('select').value = n; one.replaceChildren(wayOf(kept[n])); };
    const box = select('Message', kept.map((message, n) => nameOf(message, wholes[n])), pick);
    const slowest = wholes.indexOf(Math.max(...wholes));
    const order = kept.map((_, n) => n).sort((a, b) => kept[a].start_ps - kept[b].start_ps);
    const dots = chart({ title: 'From doorbell to completion, ns', x: { label: 'doorbell at, us', values: order.map((n) => kept[n].start_ps * 1e-6) }, y: { label: 'ns' }, lines: [{ name: 'message', values: order.map((n) => wholes[n] / 1e3), marks: true }] });
    dots.addEventListener('click', () => {
      const at = dots.querySelector('[role=img]').plot?.cursor.idx;
      if (at !== undefined && at !== null) pick(order[at]);
    });
    place.replaceChildren(h('p', {}, `${short(times.count)} messages, from the doorbell to the completion that the program takes. A step ends when the packet that came last, or the answer that completed the message, passed the block.`),
      stepsOf(times), h('h3', {}, 'One message'), h('p', { class: 'soft' }, `${short(kept.length)} of them are kept: some evenly, and the slowest. Choose one, or click on it.`), dots, h('div', { class: 'controls' }, box), one);
    pick(slowest);
  };
  show(0);
  return [h('div', { class: 'controls' }, select('Part of the run', phases.map((phase) => phase.what), show)), place];
}
