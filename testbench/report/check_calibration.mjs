// SPDX-License-Identifier: Apache-2.0
// check_calibration.mjs HCA FOLDER OUT [SCREENSHOTS]: calibrates and looks at the page: each curve stands in a chart
// with as many points measured and of the model as its csv file has.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chartsOf, check, checkPage, equal } from './check.mjs';

const [hca, folder, out, pictures] = process.argv.slice(2);
if (hca !== '-') {
  let lines;
  try {
    lines = execFileSync(hca, ['calibrate', folder, '--out', out], { stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    if (error.status !== 1) throw error;  // a curve that is not as near as wanted
    lines = error.stdout;
  }
  check(!/ $/m.test(lines.toString()), 'a line of the table ends with a blank');
}
const { curves } = JSON.parse(readFileSync(`${out}/calibration.json`, 'utf8'));

// Cells with a value in each column but the first, by file.
const cells = Object.fromEntries(readdirSync(folder).filter((name) => name.endsWith('.csv')).map((name) => {
  const [heads, ...rows] = readFileSync(`${folder}/${name}`, 'utf8').split('\n').filter((line) => line && !line.startsWith('#')).map((line) => line.split(','));
  return [name.slice(0, -4), Object.fromEntries(heads.map((head, i) => [head, rows.filter((row) => row[i]).length]).slice(1))];
}));

await checkPage(`${out}/calibration.html`, async (page, name) => {
  const charts = await chartsOf(page, name);
  for (const [file, columns] of Object.entries(cells)) {
    const of = curves.filter((one) => one.curve.startsWith(`${file}/`));
    check(of.length > 0, `${name}: ${file}: no curve`);
    const expected = of.flatMap((one) => Array(2).fill(columns[one.curve.split('/')[1]]));
    equal(charts.filter((chart) => chart.section === file).flatMap((chart) => chart.points).sort(), expected.sort(), `${name}: points of ${file}`);
  }
  equal(await page.evaluate(() => document.querySelectorAll('#summary tbody tr').length), curves.length, `${name}: rows of the table`);
  equal(await page.evaluate(() => document.querySelectorAll('#summary .bad').length), curves.filter((one) => !one.misses && (one.mean_abs_rel_error > one.wanted || (!one.held_out && !one.knee.agrees))).length, `${name}: curves that miss`);
}, pictures);
