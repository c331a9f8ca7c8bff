import { isRecord } from '../clash/entry.js';
import type { EntrySink } from '../entry-sink.js';
import { FormatError } from '../errors.js';
import { addClashValue, readClashYaml } from './clash.js';
import { readLines } from './lines.js';
import { readSingBox } from './sing-box.js';
import { readSip008 } from './sip008.js';

/** Reads JSON of any known shape: sing-box, SIP008, a Clash document, or a list of entries or links. */
export function readJson(text: string, sink: EntrySink): void {
  const document = parse(text);
  if (document === undefined) {
    // Flow YAML begins like JSON does.
    if (!/\bproxies["']?[ \t]*:/.test(text)) throw new FormatError('invalid_json', 'the document is not valid JSON');
    readClashYaml(text, sink);
  } else if (Array.isArray(document)) readList(document as unknown[], sink);
  else readObject(document, sink);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller says so, or tries YAML.
    return undefined;
  }
}

function readObject(document: unknown, sink: EntrySink): void {
  if (!isRecord(document)) throw new FormatError('unknown_format', 'the JSON has no list of servers');
  const proxies = document['proxies'] ?? document['Proxy'];
  if (Array.isArray(proxies)) readClashList(proxies, sink);
  else if (Array.isArray(document['outbounds']) || Array.isArray(document['endpoints'])) readSingBox(document, sink);
  else if (Array.isArray(document['servers'])) readSip008(document['servers'], sink);
  else throw new FormatError('unknown_format', 'the JSON has no list of servers');
}

function readList(list: readonly unknown[], sink: EntrySink): void {
  const [first] = list;
  if (typeof first === 'string') {
    readLines(list.map((item) => (typeof item === 'string' ? item.replace(/[\r\n]+/g, ' ') : '?')).join('\n'), sink);
    sink.result.format = 'links';
  } else if (isRecord(first) && first['type'] === undefined && first['method'] !== undefined) readSip008(list, sink);
  else if (isRecord(first) && first['server_port'] !== undefined) readSingBox({ outbounds: list }, sink);
  else readClashList(list, sink);
}

function readClashList(list: readonly unknown[], sink: EntrySink): void {
  sink.result.format = 'clash';
  let position = 0;
  for (const value of list) {
    position += 1;
    addClashValue(sink, position, value);
  }
}
