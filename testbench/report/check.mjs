// SPDX-License-Identifier: Apache-2.0
// check.mjs HCA SCENARIO OUT [SCREENSHOTS]: runs a scenario and looks at its report in Chromium: no message on the
// console, each chart has the points that summary.json names, nothing is wider than the screen, the keyboard gets
// everywhere. Exits 77 where there is no Chromium.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [hca, scenario, out, pictures] = process.argv.slice(2);
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!browserPath) {
  console.log('skipped: there is no Chromium here (scripts/setup.sh installs it)');
  process.exit(77);
}

const failures = [];
function check(holds, what) {
  if (!holds) failures.push(what);
}
const equal = (got, expected, what) => check(JSON.stringify(got) === JSON.stringify(expected), `${what}: ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`);

if (hca !== '-') execFileSync(hca, ['run', scenario, '--out', out], { stdio: ['ignore', 'ignore', 'inherit'] });
const summary = JSON.parse(readFileSync(`${out}/summary.json`, 'utf8'));
const { rows, series, phases, ladders } = summary.recording;
const csv = readFileSync(`${out}/series.csv`, 'utf8').trim().split('\n');
check(rows > 0 && rows <= 400, `${rows} rows of series`);
equal(csv.length, rows + 1, 'lines of series.csv');
check(phases.length > 0 && phases.every((p) => p.messages > 0 && p.to_ps > p.from_ps), 'a part of the run without messages');

const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
for (const colorScheme of ['light', 'dark'])
  for (const width of [1280, 390]) {
    const name = `${colorScheme}-${width}`;
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on('console', (message) => check(false, `${name}: console: ${message.text()}`));
    page.on('pageerror', (error) => check(false, `${name}: ${error}`));
    page.on('request', (request) => check(/^(file|data):/.test(request.url()), `${name}: asks for ${request.url()}`));
    await page.goto(`file://${out}/report.html`);
    await page.waitForFunction(() => [...document.querySelectorAll('figure[data-chart] > [role=img]')].every((place) => place.plot), undefined, { timeout: 10000 });
    await checkContent(page, name);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(wide <= 0, `${name}: ${wide} px wider than the screen`);
    const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
    check(colorScheme === 'dark' ? back < 200 : back > 600, `${name}: background ${back}`);
    if (pictures) {
      mkdirSync(pictures, { recursive: true });
      await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
    }
    await checkKeyboard(page, name);
    await page.close();
  }
await browser.close();

async function checkContent(page, name) {
  const seen = await page.evaluate(() => ({
    charts: [...document.querySelectorAll('figure[data-chart]')].map((figure) => ({
      section: figure.closest('section').id, title: figure.dataset.chart,
      points: figure.querySelector('[role=img]').plot.data.slice(1).map((values) => values.length),
      sum: figure.querySelector('[role=img]').plot.data.slice(1).flat().reduce((a, b) => a + b, 0),
      // Pixels that are drawn: a chart without data has its axes alone, in shades of grey.
      coloured: (() => {
        const canvas = figure.querySelector('canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) count += data[i + 3] > 100 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60;
        return count;
      })(),
    })),
    strips: [...document.querySelectorAll('.heat canvas')].map((canvas) => canvas.width),
    rungs: document.querySelectorAll('#packets svg line:not(.axis)').length,
    parts: document.querySelectorAll('#breakdown tbody tr').length,
    messages: document.querySelectorAll('#breakdown option').length,
    resources: document.querySelectorAll('#resources tbody tr').length,
    parameters: document.querySelectorAll('#parameters tbody tr').length,
  }));
  const of = (section) => seen.charts.filter((chart) => chart.section === section);
  const lines = (...groups) => series.filter((one) => groups.includes(one.group)).length;
  for (const chart of seen.charts) {
    check(chart.sum > 0, `${name}: ${chart.title}: no data`);
    check(chart.coloured > 20, `${name}: ${chart.title}: ${chart.coloured} coloured pixels`);
  }
  for (const [section, count] of [['throughput', lines('throughput', 'messages')], ['links', lines('PCIe', 'links', 'hosts')]])
    equal(of(section).flatMap((chart) => chart.points), Array(count).fill(rows), `${name}: points of ${section}`);
  equal(seen.strips, Array(series.filter((one) => one.group.startsWith('blocks')).length).fill(rows), `${name}: strips of the heat map`);
  const measured = [...summary.sizes.map((row) => row.latency), ...summary.streams.map((row) => row.latency)].filter((one) => one?.samples);
  equal(of('latency').length, measured.length ? 2 : 0, `${name}: latency charts`);
  if (measured.length) {
    equal(of('latency')[0].points, [measured[0].histogram_ps.length], `${name}: points of the CDF`);
    equal(of('latency')[1].sum, measured[0].samples, `${name}: samples in the bins`);
  }
  equal(seen.rungs, Math.min(40, ladders[0].frames.length), `${name}: frames of the ladder`);
  equal(seen.messages, summary.breakdowns.length, `${name}: messages with a breakdown`);
  equal(seen.parts, summary.breakdowns[0]?.parts.length ?? 0, `${name}: parts of the first`);
  equal(seen.resources, phases[0].resources.length, `${name}: resources`);
  equal(seen.parameters, Object.keys(summary.knobs).length + Object.keys(summary.counters).length, `${name}: parameters and counters`);
}

// Tab reaches each control, the first is the skip link; the switch and the search do what they say.
async function checkKeyboard(page, name) {
  await page.evaluate(() => {
    document.querySelectorAll('a, button, select, input, summary, [tabindex="0"]').forEach((one, i) => { one.dataset.stop = i; });
    document.activeElement?.blur();
  });
  const all = await page.evaluate(() => document.querySelectorAll('[data-stop]').length);
  const reached = new Set();
  let first;
  for (let i = 0; i < 2 * all + 10 && reached.size < all; ++i) {
    await page.keyboard.press('Tab');
    const [stop, kind] = await page.evaluate(() => [document.activeElement.dataset.stop, document.activeElement.className]);
    first ??= kind;
    if (stop !== undefined) reached.add(stop);
  }
  equal(first, 'skip', `${name}: first stop of Tab`);
  equal(await page.evaluate((found) => [...document.querySelectorAll('[data-stop]')].filter((one) => one.checkVisibility() && !found.includes(one.dataset.stop)).map((one) => one.outerHTML.slice(0, 60)), [...reached]), [], `${name}: out of reach by Tab`);
  const wasDark = await page.evaluate(() => document.documentElement.classList.contains('dark'));
  await page.focus('#theme');
  await page.keyboard.press('Enter');
  equal(await page.evaluate(() => document.documentElement.classList.contains('dark')), !wasDark, `${name}: the switch of colours`);
  await page.focus('#search');
  await page.keyboard.type('pcie0.read_tags');
  const wanted = Object.keys(summary.knobs).filter((key) => key === 'pcie0.read_tags').length;
  equal(await page.evaluate(() => [...document.querySelectorAll('#parameters tbody tr')].filter((row) => !row.hidden).length), wanted, `${name}: what the search finds`);
}

for (const failure of failures) console.log(failure);
console.log(`${failures.length} failures`);
process.exit(failures.length ? 1 : 0);
