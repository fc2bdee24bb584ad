// SPDX-License-Identifier: Apache-2.0
// check_sweep.mjs HCA SWEEP OUT [SCREENSHOTS]: sweeps and looks at the page: as many marks as points that are done, a
// table with each cell of sweep.csv, the reasons of those that failed, a front that no point beats, whatever the axes.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { check, checkPage, equal } from './check.mjs';

const [hca, sweep, out, pictures] = process.argv.slice(2);
// Points that fail make the exit code 1.
if (hca !== '-') equal(spawnSync(hca, ['sweep', sweep, '--out', out, '--restart', '-j', '2'], { stdio: 'ignore' }).status, 1, 'the exit code of a sweep with points that fail');
const cells = (line) => [...`${line},`.matchAll(/("((?:[^"]|"")*)"|[^,]*),/g)].map(([, plain, quoted]) => quoted?.replaceAll('""', '"') ?? plain);
const [heads, ...rows] = readFileSync(`${out}/sweep.csv`, 'utf8').trim().split('\n').map(cells);
const done = rows.filter((row) => row[heads.indexOf('state')] === 'done');

await checkPage(`${out}/sweep.html`, async (page, name) => {
  const seen = () => page.evaluate(() => ({
    marks: document.querySelectorAll('#chart .dot').length, front: document.querySelectorAll('#chart .dot.front').length,
    cells: [...document.querySelectorAll('#table tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent)),
    reasons: [...document.querySelectorAll('#failed:not([hidden]) li')].map((line) => line.textContent),
    frontRows: document.querySelectorAll('#table tr.front').length,
  }));
  const first = await seen();
  equal(first.marks, done.length, `${name}: marks`);
  equal(first.cells.map((row) => row[0]), rows.map((row) => row[0]), `${name}: points of the table`);
  for (const [i, row] of first.cells.entries())
    for (const [c, text] of row.entries()) {
      const exact = rows[i][c];
      check(text === exact || (exact && Math.abs(Number(text) / Number(exact) - 1) < 1e-3), `${name}: cell ${heads[c]} of ${rows[i][0]}: ${text}, expected ${exact}`);
    }
  const failed = rows.filter((row) => row[heads.indexOf('state')] === 'failed');
  equal(first.reasons.length, new Set(failed.map((row) => row.at(-1))).size, `${name}: reasons of failed points`);
  for (const row of failed)
    check(first.reasons.some((line) => line.endsWith(`: ${row.at(-1)}`) && line.split(': ')[0].split(', ').includes(row[0])), `${name}: the reason of ${row[0]}: ${first.reasons}`);
  check(first.front > 0 && first.front === first.frontRows, `${name}: ${first.front} marks, ${first.frontRows} rows of the front`);
  // Against itself with both small better: the front is the smallest value alone.
  const column = heads.indexOf('gbit_s'), values = done.map((row) => Number(row[column]));
  for (const axis of ['x', 'y']) await page.selectOption(`#${axis}`, { label: 'gbit_s' }), await page.selectOption(`#${axis}b`, '-1');
  equal((await seen()).front, values.filter((v) => v === Math.min(...values)).length, `${name}: the front of one column`);
  await page.click('#table th:nth-child(1) button');
  equal((await seen()).cells.map((row) => row[0]), rows.map((row) => row[0]).reverse(), `${name}: sorted the other way round`);
}, pictures);
