// SPDX-License-Identifier: Apache-2.0
// build.mjs OUT: the page in one file, with its style and script inside.
import { build } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';

const folder = new URL('.', import.meta.url).pathname;
const result = await build({
  entryPoints: [folder + 'main.js'], bundle: true, minify: true, write: false, outdir: 'out',
  format: 'iife', target: 'es2020', charset: 'utf8', legalComments: 'inline',
});
const text = (kind) => result.outputFiles.find((file) => file.path.endsWith(kind)).text;
const page = readFileSync(folder + 'page.html', 'utf8')
  .replace('/*style*/', () => text('.css'))
  .replace('/*script*/', () => text('.js').replaceAll('</script', '<\\/script'));
writeFileSync(process.argv[2], page);
