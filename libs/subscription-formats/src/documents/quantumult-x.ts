import { looksLikeQuantumultXLine, parseQuantumultXLine, quantumultXLabel } from '../client-lines/quantumult-x-line.js';
import type { EntrySink } from '../entry-sink.js';
import { contentLines, isOneOfFirstLines } from '../text/lines.js';

const SECTION = /^\[[ \t]*([A-Za-z][A-Za-z_ ]*)\]$/;
const SERVERS = /^\[[ \t]*server_(?:local|remote)[ \t]*\]/im;

/** Whether a configuration is one of Quantumult X, whose sections have names of their own. */
export function hasQuantumultXSection(text: string): boolean {
  return SERVERS.test(text);
}

/** Whether the text is a list of lines of Quantumult X. Looks at the first lines only. */
export function looksLikeQuantumultX(text: string): boolean {
  return isOneOfFirstLines(text, looksLikeQuantumultXLine);
}

/** Reads the lines of the `[server_local]` section, or of the whole text where there are no sections. */
export function readQuantumultX(text: string, sink: EntrySink): void {
  sink.result.format = 'quantumult-x';
  let isServers = true;
  for (const { line, entry } of contentLines(text)) {
    const heading = SECTION.exec(entry)?.[1];
    if (heading !== undefined) isServers = heading.toLowerCase() === 'server_local';
    else if (isServers) addLine(entry, line, sink);
  }
}

function addLine(entry: string, line: number, sink: EntrySink): void {
  sink.add({
    line,
    read: () => parseQuantumultXLine(entry),
    raw: () => entry,
    label: () => quantumultXLabel(entry).name,
    shown: () => {
      const { name = '', type } = quantumultXLabel(entry);
      return { name, type };
    },
  });
}
