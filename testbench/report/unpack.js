// SPDX-License-Identifier: Apache-2.0
// The data that page_pack.cpp packed; its header has the forms.

const kForms = {
  '~o': (keys, { c }, words) => {
    const columns = c.map((column) => unpack(column, words));
    return columns[0].map((_, row) => Object.fromEntries(keys.map((key, i) => [words[key], columns[i][row]])));
  },
  '~l': (lengths, { c }, words) => {
    const columns = c.map((column) => unpack(column, words));
    return unpack(lengths, words).map((length, row) => columns.slice(0, length).map((column) => column[row]));
  },
  '~s': (places, _, words) => unpack(places, words).map((place) => words[place]),
  '~r': (runs) => runs.flatMap((value, i) => i % 2 ? [] : Array(runs[i + 1]).fill(value)),
  '~d': (differences, _, words) => {
    let sum = 0;
    return unpack(differences, words).map((difference) => sum += difference);
  },
  '~g': (divisor, { v }, words) => unpack(v, words).map((value) => value * divisor),
};

function unpack(data, words) {
  if (Array.isArray(data)) return data.map((one) => unpack(one, words));
  if (data === null || typeof data !== 'object') return data;
  const form = Object.keys(data).find((key) => key.startsWith('~'));
  if (form) return kForms[form](data[form], data, words);
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, unpack(value, words)]));
}

// Data that are not packed stay as they are.
export const unpacked = (all) => '~' in all ? unpack(all.data, all['~']) : all;
