import { looksLikeSurgeLine, parseSurgeLine, readSurgeLine } from '../client-lines/surge-line.js';
import type { EntrySink } from '../entry-sink.js';
import { contentLines, isOneOfFirstLines } from '../text/lines.js';

const SECTION = /^\[[ \t]*([A-Za-z][A-Za-z ]*)\]$/;

/** Whether the text is a configuration of Surge or Loon, or a list of their lines. Looks at the first lines only. */
export function looksLikeSurge(text: string): boolean {
  return isOneOfFirstLines(text, (entry) => SECTION.test(entry) || looksLikeSurgeLine(entry));
}

/** Reads the lines of the `[Proxy]` section, or of the whole text where there are no sections. */
export function readSurge(text: string, sink: EntrySink): void {
  sink.result.format = 'surge';
  let section = 'proxy';
  for (const { line, entry } of contentLines(text)) {
    const heading = SECTION.exec(entry)?.[1];
    if (heading !== undefined) section = heading.toLowerCase();
    else if (section === 'proxy') addSurgeLine(entry, line, sink);
  }
}

function addSurgeLine(entry: string, line: number, sink: EntrySink): void {
  const found = readSurgeLine(entry);
  if (found?.kind === 'builtin') {
    sink.ignore(found);
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
