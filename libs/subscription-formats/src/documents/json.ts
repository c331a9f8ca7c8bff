import { isRecord } from '../clash/entry.js';
import type { EntrySink } from '../entry-sink.js';
import { FormatError } from '../errors.js';
import { addClashValue, readClashYaml } from './clash.js';
import { MAX_LINK_LENGTH } from '../links/registry.js';
import { readLines } from './lines.js';
import { readSingBox } from './sing-box.js';
import { readSip008 } from './sip008.js';
import { toStrictJson } from '../text/relaxed-json.js';

/** Reads JSON of any known shape: sing-box, SIP008, a Clash document, or a list of entries or links. */
export function readJson(text: string, sink: EntrySink): void {
  const document = parse(text) ?? (isLineOfJson(text) ? undefined : parseRelaxed(text));
  if (Array.isArray(document)) readList(document as unknown[], sink);
  else if (document !== undefined) readObject(document, sink);
  else if (isLineOfJson(text)) readLines(text, sink);
  // YAML in flow style begins like JSON.
  else if (/\bproxies["']?[ \t]*:/.test(text)) readClashYaml(text, sink);
  else throw new FormatError('invalid_json', 'the document is not valid JSON');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller reports that, or tries another format.
    return undefined;
  }
}

/** Parses JSON with the extensions of sing-box and JSON5. */
function parseRelaxed(text: string): unknown {
  const strict = toStrictJson(text);
  return strict === undefined ? undefined : parse(strict);
}

/** Whether the first line is a complete object, as in lists with one entry a line. */
function isLineOfJson(text: string): boolean {
  const start = text.trimStart();
  const end = start.search(/[\r\n]/);
  return end > 0 && end <= MAX_LINK_LENGTH && isRecord(parse(start.slice(0, end)));
}

function readObject(document: unknown, sink: EntrySink): void {
  if (!isRecord(document)) throw new FormatError('unknown_format', 'the JSON has no list of servers');
  const proxies = document['proxies'] ?? document['Proxy'];
  if (Array.isArray(proxies)) readClashList(proxies, sink);
  else if (Array.isArray(document['outbounds']) || Array.isArray(document['endpoints'])) readSingBox(document, sink);
  else if (Array.isArray(document['servers'])) readSip008(document['servers'], sink);
  else if (typeof document['type'] === 'string' && document['server'] !== undefined) readList([document], sink);
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
