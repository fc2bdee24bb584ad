// SPDX-License-Identifier: Apache-2.0
// Lines over time or over a value, drawn by uPlot: as wide as their place, in the colours of the page.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { folded, h, table } from './html.js';

const kColours = ['#2f7ed8', '#e07b00', '#2e9e5b', '#b44ac0', '#d1495b', '#0e9aa7', '#8d6e3f', '#7a7f87'];
const drawn = [];

export function colour(i) { return kColours[i % kColours.length]; }
const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// chart({title, x: {label, values, log}, y: {label, log, range}, lines: [{name, values}]}); a line may have
//   bars, steps  drawn as such        marks   marks without a line
//   colour       its number           spans   joined over values that are missing
export function chart(spec) {
  const place = h('div', { role: 'img', 'aria-label': `${spec.title}: ${spec.lines.map((l) => l.name).join(', ')}; the table below has its numbers` });
  const figure = h('figure', { 'data-chart': spec.title }, h('figcaption', {}, spec.title), place,
    folded('Numbers of this chart', () => table(spec.title, [spec.x.label, ...spec.lines.map((l) => l.name)],
      spec.x.values.map((x, i) => [x, ...spec.lines.map((l) => l.values[i])]))));
  const item = { spec, place, plot: null };
  figure.redraw = () => draw(item);
  drawn.push(item);
  sizes.observe(place);
  return figure;
}

// 1, 2 and 5 times the powers of ten between two numbers; of a wide range the powers alone.
function decades(low, high) {
  const digits = high / low > 1e3 ? [1] : [1, 2, 5], out = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power)
    out.push(...digits.map((digit) => Number((digit * 10 ** power).toPrecision(3))).filter((v) => v >= low && v <= high));
  return out;
}

function draw(item) {
  const { spec, place } = item;
  const width = place.clientWidth;
  if (!width) return;
  item.plot?.destroy();
  const axis = { stroke: variable('--soft'), grid: { stroke: variable('--line'), width: 1 }, ticks: { stroke: variable('--line') }, font: '11px system-ui, sans-serif', labelFont: '11px system-ui, sans-serif', labelSize: 18 };
  const scale = (of) => of.log ? { distr: 3, log: 10 } : {};
  item.plot = new uPlot({
    width, height: 230,
    scales: { x: { time: false, ...scale(spec.x), ...(spec.x.log ? { range: (u, low, high) => [low / 1.15, high * 1.15] } : {}) }, y: { ...scale(spec.y), ...(spec.y.range ? { range: spec.y.range } : spec.y.log ? {} : { range: (u, low, high) => [0, (high || 1) * 1.08] }) } },
    axes: [{ ...axis, label: spec.x.label, ...(spec.x.log ? { splits: (u, i, low, high) => decades(low, high), filter: (u, splits) => splits, values: (u, splits) => splits.map(String) } : {}) },
      { ...axis, label: spec.y.label, size: 64 }],
    series: [{ label: spec.x.label, value: (u, v) => v === null ? '' : String(Number(v.toPrecision(5))) },
      ...spec.lines.map((line, i) => ({ label: line.name, stroke: colour(line.colour ?? i), fill: spec.lines.length === 1 ? colour(i) + '22' : undefined, width: line.marks ? 0 : 1.6,
        spanGaps: line.spans, points: line.marks ? { show: true, size: 8, width: 2, fill: variable('--card') } : { show: !line.spans && line.values.length < 40 }, paths: line.marks ? () => null : line.bars ? uPlot.paths.bars({ size: [0.9, 60] }) : line.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
        value: (u, v) => v === null || v === undefined ? '' : String(Number(v.toPrecision(4))) }))],
  }, [spec.x.values, ...spec.lines.map((line) => line.values)], place);
  place.plot = item.plot;
}

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const item = drawn.find((one) => one.place === target);
    if (item && target.clientWidth !== item.width) item.width = target.clientWidth, requestAnimationFrame(() => draw(item));
  }
});

export function redraw() { for (const item of drawn) if (item.place.isConnected) draw(item); }
