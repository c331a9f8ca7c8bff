import { fromClashEntry, isBuiltinEntry } from '../clash/from-entry.js';
import { readFastEntry, UNUSUAL } from '../clash/fast-entry.js';
import { blankUnrelated, cutEntries, usesAliases } from '../clash/sections.js';
import type { EntryText } from '../clash/sections.js';
import { MAX_PACKAGE_LENGTH, readYaml, readYamlList } from '../clash/yaml-package.js';
import type { EntrySink } from '../entry-sink.js';
import { FormatError } from '../errors.js';
import { addObject } from './object-entry.js';

const LIST_KEYS = ['proxies', 'Proxy'];
const MAX_ENTRY_LENGTH = 65_536;

/** Reads the `proxies:` of a Clash document, entry by entry where the layout allows it, so that a bad one affects no other. */
export function readClashYaml(text: string, sink: EntrySink): void {
  sink.result.format = 'clash';
  const entries = cutEntries(text);
  if (entries === undefined) {
    readWhole(text, sink);
    return;
  }
  if (usesAliases(entries) && readWithAnchors(text, sink)) return;
  const budget = { left: MAX_PACKAGE_LENGTH };
  for (const entry of entries) addEntryText(entry, sink, budget);
}

/** Reads the document as a whole, because anchors may be anywhere. False if it is not YAML; its entries may still be. */
function readWithAnchors(text: string, sink: EntrySink): boolean {
  try {
    readWhole(blankUnrelated(text), sink);
    return true;
  } catch (error) {
    if (error instanceof FormatError && error.code === 'invalid_yaml') return false;
    throw error;
  }
}

function readWhole(text: string, sink: EntrySink): void {
  const list = readYamlList(text, LIST_KEYS);
  if (list === undefined) throw new FormatError('unknown_format', 'the document has no list of proxies');
  for (const { line, value } of list) addClashValue(sink, line, value);
}

function addEntryText(entry: EntryText, sink: EntrySink, budget: { left: number }): void {
  let value: unknown = readFastEntry(entry.lines);
  let failure: FormatError | undefined;
  if (value === UNUSUAL) {
    value = undefined;
    const text = entry.lines.join('\n');
    if (text.length > MAX_ENTRY_LENGTH) {
      failure = new FormatError('entry_too_large', 'the entry is longer than 64 KiB');
    } else {
      budget.left -= text.length;
      if (budget.left < 0) throw new FormatError('too_large', 'YAML of this kind is read up to 2 MiB only');
      try {
        value = firstItem(readYaml(text));
      } catch (error) {
        if (!(error instanceof FormatError)) throw error;
        failure = error;
      }
    }
  }
  if (failure === undefined) addClashValue(sink, entry.line, value);
  else addFailure(sink, entry, failure);
}

function firstItem(value: unknown): unknown {
  return Array.isArray(value) ? (value[0] as unknown) : undefined;
}

function addFailure(sink: EntrySink, entry: EntryText, failure: FormatError): void {
  const text = entry.lines.join(' ').slice(0, 4096);
  sink.add({
    line: entry.line,
    read: () => {
      throw failure;
    },
    raw: () => '',
    label: () => /name["']?:[ ]*["']?([^"',}]+)/.exec(text)?.[1],
    // In the text of a broken entry, secrets cannot be distinguished from other values.
    shown: () => ({ type: /type["']?:[ ]*["']?([a-z0-9]{2,12})\b/.exec(text)?.[1] ?? '' }),
  });
}

export function addClashValue(sink: EntrySink, line: number, value: unknown): void {
  if (isBuiltinEntry(value)) sink.ignore({ name: value['name'], type: value['type'] });
  else addObject(sink, line, value, fromClashEntry);
}
