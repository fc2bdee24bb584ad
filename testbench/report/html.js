// SPDX-License-Identifier: Apache-2.0
// Elements, tables and numbers.

// h('p', {class: 'soft'}, 'text', child ...)
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  fill(element, attributes, children);
  return element;
}

export function s(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  fill(element, attributes, children);
  return element;
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
}

// A place for a table, as wide and as high as there is room; a long one has its own scroll bar.
const kLongTable = 40;
export function scrolled(caption, table) {
  const long = table.tBodies[0].rows.length > kLongTable;
  return h('div', { class: long ? 'scroll long' : 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, table);
}

export function table(caption, heads, rows) {
  const isNumber = (i) => rows.length > 0 && rows.every((row) => typeof row[i] !== 'string' && !(row[i] instanceof Node));
  const numbers = heads.map((_, i) => isNumber(i));
  return scrolled(caption,
    h('table', { 'aria-label': caption },
      h('thead', {}, h('tr', {}, ...heads.map((head, i) => h('th', { scope: 'col', class: numbers[i] && 'number' }, head)))),
      h('tbody', {}, ...rows.map((row) => h('tr', {},
        ...row.map((cell, i) => h('td', { class: numbers[i] && 'number' }, typeof cell === 'number' ? short(cell) : cell ?? '')))))));
}

// A table for readers who cannot use the picture.
export function folded(title, make) {
  const details = h('details', {}, h('summary', {}, title));
  details.addEventListener('toggle', () => details.open && details.children.length === 1 && details.append(make()));
  return details;
}

export function select(label, options, changed) {
  const box = h('select', { onchange: () => changed(Number(box.value)) },
    ...options.map((text, i) => h('option', { value: i }, text)));
  return h('label', {}, label, box);
}

export function short(value) {
  if (value === null || value === undefined) return '';
  if (Number.isInteger(value)) return value.toLocaleString('en');
  const size = Math.abs(value);
  return size >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(4)));
}

export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
