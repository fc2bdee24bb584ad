// SPDX-License-Identifier: Apache-2.0
// build.mjs SOURCE: each page in one file, with its style and script inside, NAME.html; and all of them as bytes in a
// C++ source.
import { build } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';

const kPages = [['run', 'Run of the HCA model'], ['calibration', 'HCA model against measurements']];

const folder = new URL('.', import.meta.url).pathname;
let source = '// Made from testbench/report/.\n#include "testbench/report/report_page.h"\n';
for (const [name, title] of kPages) {
  const result = await build({
    entryPoints: [`${folder}${name}.js`], bundle: true, minify: true, write: false, outdir: 'out',
    format: 'iife', target: 'es2020', charset: 'utf8', legalComments: 'inline',
  });
  const text = (kind) => result.outputFiles.find((file) => file.path.endsWith(kind)).text;
  const page = readFileSync(folder + 'page.html', 'utf8')
    .replaceAll('/*title*/', title)
    .replace('/*style*/', () => text('.css'))
    .replace('/*script*/', () => text('.js').replaceAll('</script', '<\\/script'));
  writeFileSync(`${name}.html`, page);
  source += `namespace { const unsigned char ${name}_bytes[] = {${Buffer.from(page).join(',')}}; }
std::string_view hca::testbench::${name}_page() { return {reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes}; }
`;
}
writeFileSync(process.argv[2], source);
