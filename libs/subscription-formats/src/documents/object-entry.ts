import type { ProxyNode } from '@gatehouse/contracts';
import { isRecord } from '../clash/entry.js';
import type { EntrySink } from '../entry-sink.js';
import { FormatError } from '../errors.js';

const MAX_DEPTH = 16;
const MAX_VALUES = 5000;
const MAX_RAW_LENGTH = 65_536;

/** Passes one object of a list to the sink. `nameKeys` are the keys of its label, which is reported if it cannot be read. */
export function addObject(
  sink: EntrySink,
  line: number,
  value: unknown,
  read: (value: unknown) => ProxyNode,
  nameKeys: readonly string[] = ['name'],
): void {
  let raw = '';
  sink.add({
    line,
    read: () => {
      checkSize(value, 0, { left: MAX_VALUES });
      raw = JSON.stringify(value);
      if (raw.length > MAX_RAW_LENGTH) throw new FormatError('entry_too_large', 'the entry is longer than 64 KiB');
      return read(value);
    },
    raw: () => raw,
    label: () => labelOf(value, nameKeys),
    shown: () => value,
  });
}

export function labelOf(value: unknown, keys: readonly string[]): string | undefined {
  if (!isRecord(value)) return undefined;
  const label = keys.map((key) => value[key]).find((item) => typeof item === 'string' && item !== '');
  return typeof label === 'string' ? label.slice(0, 1024) : undefined;
}

/** Limits the depth and number of values before anything walks the entry: aliases may expand to very many values. */
function checkSize(value: unknown, depth: number, budget: { left: number }): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) throw new FormatError('too_deep', `the entry nests deeper than ${MAX_DEPTH}`);
  for (const inner of Object.values(value)) {
    budget.left -= 1;
    if (budget.left < 0) throw new FormatError('entry_too_large', `the entry has more than ${MAX_VALUES} values`);
    checkSize(inner, depth + 1, budget);
  }
}
