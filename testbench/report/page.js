// SPDX-License-Identifier: Apache-2.0
// The frame of every page: its sections, and the switch between light and dark.
import './style.css';
import { redraw } from './charts.js';
import { h } from './html.js';
import { unpacked } from './unpack.js';

// Of which scenario, which program, and when.
function origin({ scenario, settings, version, written }) {
  const set = (settings ?? []).map((one) => `--set ${one}`).join(' ');
  return h('p', { class: 'soft', id: 'origin' }, `${scenario || 'no scenario: the default workload'}${set ? ` ${set}` : ''}; hca ${version}; ${written}`);
}

// show([[id, title, content]], data): content(data) gives the elements of a section.
export function show(all, data) {
  if (data.origin) document.querySelector('h1').after(origin(data.origin));
  const main = document.getElementById('main'), sections = document.getElementById('sections'), button = document.getElementById('theme');
  for (const [id, title, content] of all) {
    sections.append(h('a', { href: `#${id}` }, title));
    main.append(h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), ...content(data)));
  }
  const setTheme = (dark) => {
    document.documentElement.classList.toggle('dark', dark);
    button.setAttribute('aria-pressed', dark);
    document.dispatchEvent(new Event('theme'));
    redraw();
  };
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', () => setTheme(system.matches));
  button.addEventListener('click', () => setTheme(!document.documentElement.classList.contains('dark')));
  setTheme(system.matches);
}

export const dataOfPage = () => unpacked(JSON.parse(document.getElementById('data').textContent));
