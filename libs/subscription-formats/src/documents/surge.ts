import { looksLikeSurgeLine, parseSurgeLine, readSurgeLine } from '../client-lines/surge-line.js';
import type { EntrySink } from '../entry-sink.js';
import { eachLine } from '../text/lines.js';

const SECTION = /^\[[ \t]*([A-Za-z][A-Za-z ]*)\]$/;
const COMMENT = /^(?:#|\/\/|;)/;
/** Of a document, to find out what it is. */
const LOOKED_AT = 20;

/** Whether the text is a configuration of Surge or Loon, or a list of their lines. Looks at the first lines only. */
export function looksLikeSurge(text: string): boolean {
  let looked = 0;
  for (const raw of eachLine(text)) {
    const line = raw.trim();
    if (line === '' || COMMENT.test(line)) continue;
    if (SECTION.test(line) || looksLikeSurgeLine(line)) return true;
    looked += 1;
    if (looked >= LOOKED_AT) return false;
  }
  return false;
}

/** Reads the lines of the `[Proxy]` section, or of the whole text where there are no sections. */
export function readSurge(text: string, sink: EntrySink): void {
  sink.result.format = 'surge';
  let line = 0;
  let section = 'proxy';
  for (const raw of eachLine(text)) {
    line += 1;
    const entry = raw.trim();
    if (entry === '' || COMMENT.test(entry)) continue;
    const heading = SECTION.exec(entry)?.[1];
    if (heading !== undefined) section = heading.toLowerCase();
    else if (section === 'proxy') addSurgeLine(entry, line, sink);
  }
}

function addSurgeLine(entry: string, line: number, sink: EntrySink): void {
  const found = readSurgeLine(entry);
  if (found?.kind === 'builtin') {
    sink.ignore();
    return;
  }
  sink.add({
    line,
    read: () => parseSurgeLine(entry),
    raw: () => entry,
    label: () => found?.name,
    shown: () => ({ name: found?.name ?? '', type: found?.type ?? '' }),
  });
}
