// SPDX-License-Identifier: Apache-2.0
// Published measurements beside the model: how near each curve is, and all of them drawn.
import { chart } from './charts.js';
import { folded, h, short, table } from './html.js';
import { dataOfPage, show } from './page.js';

const kLogFrom = 20;  // an axis whose last value is so many times its first
const isGood = (curve) => curve.mean_abs_rel_error <= curve.wanted && (curve.held_out || curve.knee.agrees);
const verdict = (curve) => (isGood(curve) ? '' : curve.misses ? `not modelled: ${curve.misses}` : h('span', { class: 'bad' }, curve.mean_abs_rel_error > curve.wanted ? 'error too large' : 'knee moved'));
const percent = (share) => `${(100 * share).toFixed(2)} %`;
const fileOf = (curve) => curve.curve.split('/')[0], columnOf = (curve) => curve.curve.split('/')[1];
const spreads = (values) => values.at(-1) / Math.max(values[0], 1e-9) > kLogFrom;

function summary({ curves, orders }) {
  const tile = (name, value) => h('div', {}, h('dt', {}, name), h('dd', {}, value));
  const worst = curves.reduce((a, b) => (b.mean_abs_rel_error > a.mean_abs_rel_error ? b : a));
  const sum = (field) => orders.reduce((all, one) => all + one[field], 0);
  return [
    h('dl', { class: 'tiles' }, tile('Curves', curves.length), tile('As near as wanted', `${curves.filter(isGood).length} of ${curves.length}`),
      tile('Points', short(curves.reduce((all, one) => all + one.points.length, 0))), tile('Largest mean error', `${percent(worst.mean_abs_rel_error)}, ${worst.curve}`),
      tile('Order kept', `${sum('kept')} of ${sum('pairs')} pairs`)),
    h('p', { class: 'soft' }, 'The error of a curve is the mean of |model − measured| / measured over its points. A knee is where it bends; the model\'s may lie a power of two beside.'),
    table('Curves', ['curve', 'preset', 'points', 'mean error', 'wanted', 'knee', 'model\'s knee', 'used', ''],
      curves.map((one) => [h('a', { href: `#${fileOf(one)}` }, one.curve), one.preset, one.points.length, percent(one.mean_abs_rel_error), percent(one.wanted), one.knee.measured || null, one.knee.model || null,
        one.held_out ? 'held out' : 'fitted', verdict(one)])),
  ];
}

// The curves of one file with one unit: what was measured as marks, the model as lines.
function charts(curves, name, presets) {
  const units = [...new Set(curves.map((one) => one.unit))];
  const preset = curves[0].preset;
  return [...units.map((unit) => {
    const of = curves.filter((one) => one.unit === unit);
    const x = Object.keys(of[0].points[0]).find((key) => key !== 'measured' && key !== 'model');
    const values = [...new Set(of.flatMap((one) => one.points.map((point) => point[x])))].sort((a, b) => a - b);
    const at = (one, field) => values.map((value) => one.points.find((point) => point[x] === value)?.[field] ?? null);
    const sizes = of.flatMap((one) => one.points.map((point) => point.measured)).sort((a, b) => a - b);
    return chart({
      title: `${name}, ${unit}`, x: { label: x, values, log: spreads(values) }, y: { label: unit, log: spreads(sizes) },
      lines: of.flatMap((one, i) => [
        { name: `${columnOf(one)}, measured`, values: at(one, 'measured'), marks: true, colour: i },
        { name: `${columnOf(one)}, model`, values: at(one, 'model'), spans: true, colour: i }]),
    });
  }), folded(`Preset ${preset}: its knobs and their sources`, () => h('pre', { class: 'scroll', tabindex: 0 }, presets[preset]))];
}

const data = dataOfPage();
const files = [...new Set(data.curves.map(fileOf))];
show([['summary', 'Summary', summary], ...files.map((name) => [name, name, () => charts(data.curves.filter((one) => fileOf(one) === name), name, data.presets)])], data);
