// SPDX-License-Identifier: Apache-2.0
// What is asked of every page, in Chromium: no message on the console, nothing from the network, nothing wider than the
// screen, light and dark, the keyboard gets everywhere. Exits 77 where there is no Chromium.
import { existsSync, mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!browserPath) {
  console.log('skipped: there is no Chromium here (scripts/setup.sh installs it)');
  process.exit(77);
}

const failures = [];
export function check(holds, what) {
  if (!holds) failures.push(what);
}
export const equal = (got, expected, what) => check(JSON.stringify(got) === JSON.stringify(expected), `${what}: ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`);

// Opens the page in both colours and widths; content(page, name) looks at it. Ends the program.
export async function checkPage(path, content, pictures) {
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  for (const colorScheme of ['light', 'dark'])
    for (const width of [1280, 390]) {
      const name = `${colorScheme}-${width}`;
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      page.on('console', (message) => check(false, `${name}: console: ${message.text()}`));
      page.on('pageerror', (error) => check(false, `${name}: ${error}`));
      page.on('request', (request) => check(/^(file|data):/.test(request.url()), `${name}: asks for ${request.url()}`));
      await page.goto(`file://${path}`);
      await page.waitForFunction(() => [...document.querySelectorAll('figure[data-chart] > [role=img]')].every((place) => place.plot), undefined, { timeout: 100000 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${name}: ${wide} px wider than the screen`);
      const cut = await page.evaluate(() => [...document.querySelectorAll('.scroll:not(.long)')].filter((one) => one.scrollHeight > one.clientHeight + 1).map((one) => one.getAttribute('aria-label')));
      equal(cut, [], `${name}: short tables that are cut`);
      const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
      check(colorScheme === 'dark' ? back < 200 : back > 600, `${name}: background ${back}`);
      if (pictures) {
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
      }
      await checkKeyboard(page, name);
      await content(page, name);
      await page.close();
    }
  await browser.close();
  for (const failure of failures) console.log(failure);
  console.log(`${failures.length} failures`);
  process.exit(failures.length ? 1 : 0);
}

// Each chart of the page: its section, its title, the points of each line, their sum.
export async function chartsOf(page, name) {
  const charts = await page.evaluate(() => [...document.querySelectorAll('figure[data-chart]')].map((figure) => ({
    section: figure.closest('section').id, title: figure.dataset.chart,
    points: figure.querySelector('[role=img]').plot.data.slice(1).map((values) => values.filter((v) => v !== null).length),
    sum: figure.querySelector('[role=img]').plot.data.slice(1).flat().reduce((a, b) => a + b, 0),
    // Pixels that are drawn: a chart without data has its axes alone, in shades of grey.
    coloured: (() => {
      const canvas = figure.querySelector('canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) count += data[i + 3] > 100 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60;
      return count;
    })(),
  })));
  for (const chart of charts) {
    check(chart.sum > 0, `${name}: ${chart.title}: no data`);
    check(chart.coloured > 20, `${name}: ${chart.title}: ${chart.coloured} coloured pixels`);
  }
  return charts;
}

// Tab reaches each control, the first is the skip link; the switch of colours switches.
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
  if (await page.$('.skip')) equal(first, 'skip', `${name}: first stop of Tab`);
  equal(await page.evaluate((found) => [...document.querySelectorAll('[data-stop]')].filter((one) => one.checkVisibility() && !found.includes(one.dataset.stop)).map((one) => one.outerHTML.slice(0, 60)), [...reached]), [], `${name}: out of reach by Tab`);
  const theme = await page.$('#theme');
  if (!theme) return;
  const wasDark = await page.evaluate(() => document.documentElement.classList.contains('dark'));
  await theme.focus();
  await page.keyboard.press('Enter');
  equal(await page.evaluate(() => document.documentElement.classList.contains('dark')), !wasDark, `${name}: the switch of colours`);
}
