// SPDX-License-Identifier: Apache-2.0
// check_run.mjs HCA SCENARIO OUT [SCREENSHOTS]: runs a scenario and looks at its report: each chart has the points that
// summary.json names.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chartsOf, check, checkPage, equal } from './check.mjs';
import { unpacked } from './unpack.js';

const [hca, scenario, out, pictures] = process.argv.slice(2);
if (hca !== '-') execFileSync(hca, ['run', scenario, '--out', out], { stdio: ['ignore', 'ignore', 'inherit'] });
const summary = JSON.parse(readFileSync(`${out}/summary.json`, 'utf8'));
const { rows, series, phases, ladders } = summary.recording;
const csv = readFileSync(`${out}/series.csv`, 'utf8').trim().split('\n');
check(rows > 0 && rows <= 400, `${rows} rows of series`);
equal(csv.length, rows + 1, 'lines of series.csv');
check(phases.length > 0 && phases.every((p) => p.messages > 0 && p.to_ps > p.from_ps), 'a part of the run without messages');

// The page has the figures of summary.json and series.csv, to five digits, and each message's times from its doorbell on.
const data = unpacked(JSON.parse(readFileSync(`${out}/report.html`, 'utf8').match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1]));
const isNear = (a, b) => Math.abs(a - b) <= 1e-4 * Math.abs(b);
const heads = [...csv[0].matchAll(/"([^"]*)"/g)].map(([, name]) => name), cells = csv.slice(1).map((line) => line.split(',').slice(1).map(Number));
for (const one of data.recording.series) {
  const head = `${one.group}: ${one.name} (${one.unit})`, column = heads.indexOf(head);
  if (heads.lastIndexOf(head) !== column) continue; // of several, which says only its place
  equal(one.values.length, rows, `values of ${one.name}`);
  one.values.forEach((value, row) => check(isNear(value, cells[row][column]), `${one.name}, row ${row}: ${value}, expected ${cells[row][column]}`));
}
equal(data.recording.ladders, ladders, 'the ladders of the page');
for (const [i, { times }] of phases.entries())
  equal(data.recording.phases[i].times.messages.map((row) => row.length), data.recording.phases[i].times.messages.map((row) => 6 + times.ways[row[5]].length), 'the steps of messages');
for (const key of ['sizes', 'streams', 'counters', 'knobs', 'breakdowns']) equal(data[key], summary[key], `${key} of the page`);

// As report_page.cpp leaves small shares out.
const isShown = (one) => one.share >= 0.0005;

async function checkContent(page, name) {
  const seen = await page.evaluate(() => ({
    strips: [...document.querySelectorAll('.heat canvas')].map((canvas) => canvas.width),
    rungs: document.querySelectorAll('#packets svg line:not(.axis)').length,
    parts: document.querySelectorAll('#breakdown tbody tr').length,
    messages: document.querySelectorAll('#breakdown option').length,
    resources: document.querySelectorAll('#resources [aria-label=Resources] tbody tr').length,
    blocks: document.querySelectorAll('#resources [aria-label=Blocks] tbody tr').length,
    steps: document.querySelectorAll('#messages [aria-label="Steps of all messages"] tbody tr').length,
    caches: [...document.querySelectorAll('#caches [aria-label=Caches] tbody tr')].map((row) => row.cells[0].textContent),
    parameters: document.querySelectorAll('#parameters tbody tr').length,
  }));
  check(/; hca \d+\.\d+\.\d+; \d{4}-\d\d-\d\d \d\d:\d\d UTC$/.test(await page.evaluate(() => document.getElementById('origin').textContent)), `${name}: scenario, version and date`);
  const charts = await chartsOf(page, name);
  const of = (section) => charts.filter((chart) => chart.section === section);
  const lines = (...groups) => series.filter((one) => groups.includes(one.group)).length;
  for (const [section, count] of [['throughput', lines('throughput', 'messages') + Math.min(8, lines('throughput by entry'))], ['links', lines('PCIe', 'links', 'hosts')]])
    equal(of(section).flatMap((chart) => chart.points), Array(count).fill(rows), `${name}: points of ${section}`);
  equal(seen.strips, Array(series.filter((one) => one.group.startsWith('blocks')).length).fill(rows), `${name}: strips of the heat map`);
  const measured = [...summary.sizes.map((row) => row.latency), ...summary.streams.map((row) => ({ ...row.latency, trip: row.round_trip }))].filter((one) => one?.samples);
  equal(of('latency').length, measured.length ? 2 : 0, `${name}: latency charts`);
  if (measured.length) {
    equal(of('latency')[0].points, [measured[0].histogram_ps.length], `${name}: points of the CDF`);
    equal(of('latency')[1].sum, measured[0].samples, `${name}: samples in the bins`);
  }
  equal(await page.evaluate(() => [...document.querySelectorAll('#queues [aria-label="Peak occupancy"] tbody tr')].map((row) => `${row.cells[0].textContent} ${row.cells[1].textContent.replaceAll(',', '')}`).sort()), summary.recording.peaks.map((one) => `${one.place} ${one.most}`).sort(), `${name}: peaks`);
  const answered = measured.findIndex((one) => one.trip?.length);
  await page.selectOption('#latency select', String(answered));
  equal(await page.evaluate(() => document.querySelectorAll('#latency [aria-label="Parts of the round trip"] tbody tr').length), measured[answered].trip.length, `${name}: parts of a round trip`);
  equal(seen.rungs, Math.min(40, ladders[0].frames.length), `${name}: frames of the ladder`);
  equal(seen.messages, summary.breakdowns.length, `${name}: messages with a breakdown`);
  equal(seen.parts, summary.breakdowns[0]?.parts.length ?? 0, `${name}: parts of the first`);
  const { times } = phases.find((phase) => phase.times.count);
  equal(seen.steps, times.steps.length + 1, `${name}: steps of messages`);
  equal(await page.evaluate(() => document.querySelectorAll('#messages [aria-label="By entry, operation, size and queue pair"] tbody tr').length), times.groups.length, `${name}: groups of messages`);
  // The parts of the message that is shown are its whole, which is within those of all.
  const way = await page.evaluate(() => [...document.querySelectorAll('#messages [aria-label="Steps of this message"] tbody tr')].map((row) => Number(row.cells[1].textContent.replaceAll(',', ''))));
  const whole = way.reduce((sum, ns) => sum + ns, 0);
  check(Math.abs(whole - times.whole.max_ns) < 1e-3 * whole + way.length, `${name}: the slowest message takes ${whole} ns, expected ${times.whole.max_ns}`);
  equal(of('messages')[0].points[0] > 0, true, `${name}: messages to choose`);
  await page.fill('#messages input[type=number]', '0');
  await page.press('#messages input[type=number]', 'Enter');
  check(await page.evaluate(() => document.querySelector('#messages').textContent.includes('#0: QP ')), `${name}: the message that was asked for`);
  check(await page.evaluate(() => document.querySelectorAll('#messages [aria-label="Steps of this message"] tbody tr').length) > 20, `${name}: steps of the first message`);
  equal(seen.caches, [...new Set(Object.keys(summary.counters).filter((key) => key.includes('_cache.')).map((key) => key.split('.').slice(0, 2).join(' ')))], `${name}: caches`);
  const nearness = (phase) => phase.limits.length ? 1 + phase.limits[0].share : phase.resources[0].share;
  const most = phases.reduce((best, one) => nearness(one) > nearness(best) ? one : best);
  equal(seen.blocks, most.blocks.filter(isShown).length, `${name}: blocks with waiting work`);
  equal(seen.resources, most.resources.filter(isShown).length, `${name}: resources`);
  equal(await page.evaluate(() => document.querySelectorAll('#resources [aria-label="Stalls by cause"] tbody tr').length), most.stalls.filter(isShown).length, `${name}: stalls`);
  equal(seen.parameters, Object.keys(summary.knobs).length + Object.keys(summary.counters).length, `${name}: parameters and counters`);
  await page.focus('#search');
  await page.keyboard.type('pcie0.read_tags');
  const wanted = Object.keys(summary.knobs).filter((key) => key === 'pcie0.read_tags').length;
  equal(await page.evaluate(() => [...document.querySelectorAll('#parameters tbody tr')].filter((row) => !row.hidden).length), wanted, `${name}: what the search finds`);
}

await checkPage(`${out}/report.html`, checkContent, pictures);
