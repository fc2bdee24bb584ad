// SPDX-License-Identifier: Apache-2.0
// The context caches: their hit rates, and the misses in flight over time.
import { group } from './over_time.js';
import { h, percent, table } from './html.js';

// [{cache: 'hca0 qp_cache', hits, misses, ...}] from the counters.
export function cachesOf(run) {
  const found = new Map();
  for (const [name, value] of Object.entries(run.counters)) {
    const [, chip, cache, counter] = name.match(/^(hca\d+)\.(\w+_cache)\.(\w+)$/) ?? [];
    if (chip) found.set(`${chip} ${cache}`, { ...found.get(`${chip} ${cache}`), [counter]: value });
  }
  return [...found].map(([cache, counters]) => ({ cache, ...counters }));
}

// What the root complex of each host has: translations of the IOMMU, and the last-level cache.
function rootCaches(run) {
  const rows = ['pcie0', 'pcie1'].flatMap((side) => [['IOMMU', 'translations', 'walks'], ['last-level cache', 'llc_reads', 'llc_hits']].flatMap(([name, of, some]) => {
    const all = run.counters[`${side}.${of}`], part = run.counters[`${side}.${some}`];
    return all ? [[`${side} ${name}`, percent(name === 'IOMMU' ? 1 - part / all : part / all), all, name === 'IOMMU' ? all - part : part, name === 'IOMMU' ? part : all - part]] : [];
  }));
  return rows.length ? [h('h3', {}, 'Root complex'), table('Root complex', ['cache', 'hit rate', 'asked', 'hits', 'misses'], rows)] : [];
}

export function caches(run) {
  const all = cachesOf(run), root = rootCaches(run);
  if (!all.length) return [h('p', { class: 'soft' }, 'The chips have no caches and hold all contexts. hca.qp_cache.entries and similar knobs add caches.'), ...root];
  const names = [...new Set(all.flatMap(Object.keys))].filter((name) => name !== 'cache');
  return [table('Caches', ['cache', 'hit rate', ...names], all.map((one) => [one.cache, one.hits + one.misses ? percent(one.hits / (one.hits + one.misses)) : 'not asked', ...names.map((name) => one[name])])),
    ...root, ...group(run.recording, 'caches')];
}
