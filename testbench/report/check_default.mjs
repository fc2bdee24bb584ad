// SPDX-License-Identifier: Apache-2.0
// check_default.mjs HCA OUT [SCREENSHOTS]: the page of the run without a scenario, of 124 parts: it stays small and shows each.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { check, checkPage, chartsOf, equal } from './check.mjs';

const kMostBytes = 1e6;
const [hca, out, pictures] = process.argv.slice(2);
if (hca !== '-') execFileSync(hca, ['run', '--out', out], { stdio: ['ignore', 'ignore', 'inherit'] });
const { size } = statSync(`${out}/report.html`);
check(size < kMostBytes, `${size} bytes, at most ${kMostBytes} are wanted`);
const { phases } = JSON.parse(readFileSync(`${out}/summary.json`, 'utf8')).recording;
const names = phases.map((one) => one.what);

await checkPage(`${out}/report.html`, async (page, name) => {
  await chartsOf(page, name);
  for (const section of ['resources', 'messages'])
    equal(await page.evaluate((id) => [...document.querySelectorAll(`#${id} option`)].map((one) => one.textContent), section), names, `${name}: parts of ${section}`);
  await page.selectOption('#messages select', String(names.length - 1));
  check(await page.evaluate(() => document.querySelectorAll('#messages [aria-label="Steps of this message"] tbody tr').length) > 20, `${name}: steps of a message of the last part`);
}, pictures);
