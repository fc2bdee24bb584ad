// SPDX-License-Identifier: Apache-2.0
// embed.mjs PAGE SOURCE: the bytes of a file as a C source.
import { readFileSync, writeFileSync } from 'node:fs';

const [page, source] = process.argv.slice(2);
const bytes = readFileSync(page);
writeFileSync(source, `extern const unsigned char hca_report_page[];
extern const unsigned long hca_report_page_bytes;
const unsigned char hca_report_page[] = {${bytes.join(',')}};
const unsigned long hca_report_page_bytes = ${bytes.length};
`);
