// SPDX-License-Identifier: Apache-2.0
// What the run recorded over time: any group of series, and the heat map of the blocks.
import { chart } from './charts.js';
import { folded, h, percent, select, table } from './html.js';

const times = (recording) => Array.from({ length: recording.rows }, (_, i) => i * recording.width_ps * 1e-6);
const groupsOf = (recording) => [...new Set(recording.series.map((one) => one.group))];

function lines(recording, title, list) {
  return chart({ title: `${title}, ${list[0].unit}`, x: { label: 'time, us', values: times(recording) }, y: { label: list[0].unit },
    lines: list.map((one) => ({ name: one.name, values: one.values })) });
}

// One chart for each unit of a group.
export function group(recording, name) {
  const all = recording.series.filter((one) => one.group === name);
  const units = [...new Set(all.map((one) => one.unit))];
  return units.map((unit) => lines(recording, name, all.filter((one) => one.unit === unit)));
}

const kBy = 'throughput by ';

// Of all, and told apart by entry, operation, size or queue pair.
export function throughput(run) {
  const by = groupsOf(run.recording).filter((name) => name.startsWith(kBy));
  const place = h('div');
  const show = (i) => place.replaceChildren(...fullest(run.recording, by[i]));
  if (by.length) show(0);
  return [...group(run.recording, 'throughput'), ...group(run.recording, 'messages'),
    ...(by.length ? [h('div', { class: 'controls' }, select('By', by.map((name) => name.slice(kBy.length)), show)), place] : [])];
}

export function links(run) {
  return [...group(run.recording, 'PCIe'), ...group(run.recording, 'links'), ...group(run.recording, 'hosts')];
}

// The busiest eight of a group.
function fullest(recording, name) {
  const mean = (one) => one.values.reduce((sum, v) => sum + v, 0);
  const all = recording.series.filter((one) => one.group === name).sort((a, b) => mean(b) - mean(a));
  return [lines(recording, name, all.slice(0, 8)), ...(all.length > 8 ? [h('p', { class: 'soft' }, `The fullest 8 of ${all.length}; series.csv has all.`)] : [])];
}

// The most that each buffer held, the fullest first.
function peaks(run) {
  const share = (one) => one.of ? one.most / one.of : 0;
  const all = [...run.recording.peaks].sort((a, b) => share(b) - share(a));
  if (!all.length) return [];
  return [h('h3', {}, 'Peak occupancy'), h('p', { class: 'soft' }, 'The most that each buffer held after any cycle, in the first part of the run that had so many. Buffers that never held anything are left out.'),
    table('Peak occupancy', ['buffer', 'most', 'of', 'share', 'unit', 'part of the run'], all.map((one) => [one.place, one.most, one.of ?? 'any number', one.of ? percent(share(one)) : '', one.unit, one.part ?? 'any']))];
}

// Queues, and whatever else a device counts over time.
export function others(run) {
  const names = groupsOf(run.recording).filter((name) => !['throughput', 'messages', 'PCIe', 'links', 'hosts', 'caches'].includes(name) && !name.startsWith('blocks') && !name.startsWith(kBy));
  if (!names.length) return peaks(run);
  const place = h('div');
  const show = (i) => place.replaceChildren(...fullest(run.recording, names[i]));
  show(0);
  return [h('div', { class: 'controls' }, select('Group', names, show)), place, ...peaks(run)];
}

// One strip for each block: the darker, the larger the share of the time with work waiting before it.
export function heatMap(run) {
  const groups = groupsOf(run.recording).filter((name) => name.startsWith('blocks'));
  const strips = [];
  const figures = groups.map((name) => {
    const rows = run.recording.series.filter((one) => one.group === name);
    const mean = (one) => one.values.reduce((sum, v) => sum + v, 0) / run.recording.rows / 100;
    return h('figure', { 'data-heat': name }, h('figcaption', {}, name),
      h('div', { class: 'heat', role: 'img', 'aria-label': `${name}: share of the time with work waiting before each block; the table has the means` },
        ...rows.flatMap((one) => {
          const canvas = h('canvas', { width: run.recording.rows, height: 1, title: `${one.name}: ${percent(mean(one))} of the run` });
          strips.push([canvas, one.values]);
          return [h('span', {}, one.name), canvas];
        })),
      folded('Means of these strips', () => table(name, ['block', 'mean share'], rows.map((one) => [one.name, percent(mean(one))]))));
  });
  const paint = () => {
    const tone = getComputedStyle(document.documentElement).getPropertyValue('--heat');
    for (const [canvas, values] of strips) {
      const context = canvas.getContext('2d');
      context.clearRect(0, 0, canvas.width, 1);
      values.forEach((value, x) => {
        context.fillStyle = `rgba(${tone}, ${Math.min(1, value / 100)})`;
        context.fillRect(x, 0, 1, 1);
      });
    }
  };
  paint();
  document.addEventListener('theme', paint);
  return [h('p', { class: 'soft' }, `Left to right: the whole run, ${Number((run.recording.rows * run.recording.width_ps * 1e-6).toPrecision(4))} us. Pale `, h('span', { class: 'legend' }), ' full: none to all of the time with work waiting before the block.'), ...figures];
}
