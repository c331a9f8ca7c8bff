import { looksLikeQuantumultXLine, parseQuantumultXLine, quantumultXLabel } from '../client-lines/quantumult-x-line.js';
import type { EntrySink } from '../entry-sink.js';
import { eachLine } from '../text/lines.js';

const SECTION = /^\[[ \t]*([A-Za-z][A-Za-z_ ]*)\]$/;
const SERVERS = /^\[[ \t]*server_(?:local|remote)[ \t]*\]/im;
const COMMENT = /^(?:#|\/\/|;)/;
/** Lines of a document, to find out what it is. */
const LOOKED_AT = 20;

/** Whether a configuration is one of Quantumult X, whose sections have names of their own. */
export function hasQuantumultXSection(text: string): boolean {
  return SERVERS.test(text);
}

/** Whether the text is a list of lines of Quantumult X. Looks at the first lines only. */
export function looksLikeQuantumultX(text: string): boolean {
  let looked = 0;
  for (const raw of eachLine(text)) {
    const line = raw.trim();
    if (line === '' || COMMENT.test(line)) continue;
    if (looksLikeQuantumultXLine(line)) return true;
    looked += 1;
    if (looked >= LOOKED_AT) return false;
  }
  return false;
}

/** Reads the lines of the `[server_local]` section, or of the whole text where there are no sections. */
export function readQuantumultX(text: string, sink: EntrySink): void {
  sink.result.format = 'quantumult-x';
  let line = 0;
  let isServers = true;
  for (const raw of eachLine(text)) {
    line += 1;
    const entry = raw.trim();
    if (entry === '' || COMMENT.test(entry)) continue;
    const heading = SECTION.exec(entry)?.[1];
    if (heading !== undefined) isServers = heading.toLowerCase() === 'server_local';
    else if (isServers) addLine(entry, line, sink);
  }
}

function addLine(entry: string, line: number, sink: EntrySink): void {
  const { name, type } = quantumultXLabel(entry);
  sink.add({
    line,
    read: () => parseQuantumultXLine(entry),
    raw: () => entry,
    label: () => name,
    shown: () => ({ name: name ?? '', type }),
  });
}
