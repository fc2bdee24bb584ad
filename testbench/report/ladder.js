// SPDX-License-Identifier: Apache-2.0
// The frames of one queue pair between its two ends, time downwards.
import { h, s, select, short, table } from './html.js';

const kShown = 40, kStep = 20, kLeft = 110, kRight = 590, kTop = 30;
const hex = (value) => `0x${value.toString(16)}`;
const kTypes = ['ACK', 'RNR NAK', '', 'NAK'];

// ACK, RNR NAK or NAK: bits 6 and 5 of the syndrome.
export function syndromeText(syndrome) {
  return syndrome === null ? '' : `${kTypes[syndrome >> 5 & 3]} (${hex(syndrome)})`;
}

function drawing(pair, frames) {
  const bottom = kTop + frames.length * kStep + 10;
  const picture = s('svg', { viewBox: `0 0 700 ${bottom + 10}`, role: 'img', 'aria-label': `Packet ladder, ${frames.length} frames; the table below has them as text` },
    s('text', { x: kLeft, y: 16, 'text-anchor': 'middle' }, `client QP ${hex(pair.client_qpn)}`), s('text', { x: kRight, y: 16, 'text-anchor': 'middle' }, `server QP ${hex(pair.server_qpn)}`),
    s('line', { class: 'axis', x1: kLeft, x2: kLeft, y1: 22, y2: bottom }), s('line', { class: 'axis', x1: kRight, x2: kRight, y1: 22, y2: bottom }));
  frames.forEach(([ps, sender, opcode, psn, syndrome], i) => {
    const y = kTop + (i + 0.8) * kStep, from = sender ? kRight : kLeft, to = sender ? kLeft : kRight, towards = sender ? 1 : -1;
    const nak = syndrome !== null && (syndrome >> 5 & 3) !== 0;
    picture.append(s('text', { x: 4, y: y + 4 }, `${(ps * 1e-6).toFixed(3)} us`),
      s('line', { class: nak ? 'nak' : 'go', x1: from, x2: to, y1: y - 4, y2: y + 4 }),
      s('path', { class: nak ? 'nak' : 'go', fill: 'none', d: `M${to + 8 * towards} ${y - 1} L${to} ${y + 4} L${to + 8 * towards} ${y + 7}` }),
      s('text', { x: (kLeft + kRight) / 2, y: y - 4, 'text-anchor': 'middle' }, `${opcode}  PSN ${psn}${syndrome === null ? '' : `  ${syndromeText(syndrome)}`}`));
  });
  return picture;
}

export function ladder(run) {
  const pairs = run.recording.ladders;
  if (!pairs.length) return [h('p', { class: 'soft' }, 'No frame was recorded.')];
  let pair = 0, first = 0;
  const place = h('div'), where = h('span', { role: 'status' });
  const show = () => {
    const { frames } = pairs[pair];
    first = Math.max(0, Math.min(first, frames.length - 1));
    const shown = frames.slice(first, first + kShown);
    where.textContent = `frames ${first + 1} to ${first + shown.length} of ${short(frames.length)}`;
    const rows = shown.map(([ps, sender, opcode, psn, syndrome, bytes]) => [(ps * 1e-6).toFixed(6), sender ? 'server' : 'client', opcode, psn, syndromeText(syndrome), bytes]);
    place.replaceChildren(h('figure', { class: 'ladder', tabindex: 0, role: 'region', 'aria-label': 'Packet ladder', 'data-ladder': shown.length }, drawing(pairs[pair], shown)),
      h('details', {}, h('summary', {}, 'These frames as a table'), table('Frames', ['us', 'from', 'opcode', 'PSN', 'syndrome', 'bytes'], rows)));
  };
  const move = (by) => () => { if (first + by < pairs[pair].frames.length && first + by > -kShown) { first += by; show(); } };
  show();
  return [h('div', { class: 'controls' }, select('Queue pair', pairs.map((p) => `${hex(p.client_qpn)} and ${hex(p.server_qpn)}`), (i) => { pair = i; first = 0; show(); }),
    h('button', { type: 'button', onclick: move(-kShown) }, 'Earlier'), h('button', { type: 'button', onclick: move(kShown) }, 'Later'), where),
    h('p', { class: 'soft' }, 'Time is that of the first bit at the receiver; the first 2,000 frames of each queue pair are kept.'), place];
}
