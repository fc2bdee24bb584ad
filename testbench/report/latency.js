// SPDX-License-Identifier: Apache-2.0
// Distribution of latencies, from the exact values: how many are at most so long, and how many are in each bin.
import { chart } from './charts.js';
import { h, select, short, table } from './html.js';

const kBins = 48;

// [{name, histogram: [[ps, count]]}] of all that was measured.
export function measured(run) {
  const sizes = run.sizes.filter((row) => row.latency).map((row) => ({ name: `${row.operation}, ${short(row.bytes)} B${row.port > 1 ? `, port ${row.port}` : ''}`, ...row.latency }));
  const streams = run.streams.map((row) => ({ name: `${row.entry}: ${row.what}${row.direction === 'backward' ? ', back' : ''}`, round_trip: row.round_trip, ...row.latency }));
  return [...sizes, ...streams].filter((one) => one.histogram_ps.length);
}

export function cdf(histogram) {
  const all = histogram.reduce((sum, [, count]) => sum + count, 0);
  let sum = 0;
  return { x: histogram.map(([ps]) => Math.max(ps, 1) * 1e-6), y: histogram.map(([, count]) => 100 * (sum += count) / all) };
}

// Bins of equal width on a logarithmic axis.
export function bins(histogram) {
  const low = Math.log(Math.max(1, histogram[0][0])), high = Math.log(Math.max(1, histogram.at(-1)[0]));
  const width = Math.max((high - low) / kBins, 1e-4);
  const counts = Array(Math.floor((high - low) / width + 1e-9) + 1).fill(0);
  for (const [ps, count] of histogram) counts[Math.min(counts.length - 1, Math.floor((Math.log(Math.max(1, ps)) - low) / width))] += count;
  return { x: counts.map((_, i) => Math.exp(low + (i + 0.5) * width) * 1e-6), y: counts };
}

// What the latency of requests consists of.
function roundTrip(one) {
  if (!one.round_trip?.length) return [];
  return [table('Parts of the round trip', ['part', 'mean us', 'p50 us', 'p99 us', 'p99.9 us'],
    one.round_trip.map((part) => [part.part, part.mean_us, part.p50_us, part.p99_us, part['p99.9_us']]))];
}

export function latency(run) {
  const all = measured(run);
  if (!all.length) return [h('p', { class: 'soft' }, 'This run measured no latency. Use test: latency, or a stream with several queue pairs, a mix or an open loop.')];
  const place = h('div');
  const show = (i) => {
    const one = all[i], c = cdf(one.histogram_ps), b = bins(one.histogram_ps);
    const wide = one.histogram_ps.at(-1)[0] > one.histogram_ps[0][0] * 1.5;
    const x = { label: 'latency, us', log: wide };
    place.replaceChildren(
      h('p', {}, `${short(one.samples)} samples; p50 ${short(one.p50_us)} us`, one.p99_us === null ? '' : `, p99 ${short(one.p99_us)} us`, one['p99.9_us'] === null ? '' : `, p99.9 ${short(one['p99.9_us'])} us`, `; from ${short(c.x[0])} to ${short(c.x.at(-1))} us.`),
      ...roundTrip(one),
      chart({ title: 'Samples up to this latency, %', x: { ...x, values: c.x }, y: { label: '% of samples' }, lines: [{ name: 'share', values: c.y, steps: true }] }),
      chart({ title: 'Samples in each bin', x: { ...x, values: b.x }, y: { label: 'samples' }, lines: [{ name: 'samples', values: b.y, bars: true }] }));
  };
  show(0);
  return [h('div', { class: 'controls' }, select('Of', all.map((one) => one.name), show)), place];
}
