import type { ProxyNode } from '@gatehouse/contracts';
import { asEntry, isRecord } from '../clash/entry.js';
import { fromClashEntry } from '../clash/from-entry.js';
import type { EntrySink } from '../entry-sink.js';
import { FormatError } from '../errors.js';
import { parseSip003 } from '../stream/sip003.js';
import { decodeBase64Text } from '../text/base64.js';
import { addObject } from './object-entry.js';

/** Reads `ssd://BASE64(JSON)`. Defaults of a server come from the document, never from the server before it. */
export function readSsd(text: string, sink: EntrySink): void {
  sink.result.format = 'ssd';
  const json = decodeBase64Text(text.trim().slice('ssd://'.length));
  if (json === undefined) throw new FormatError('invalid_base64', 'the ssd:// link is not base64 text');
  let document: unknown;
  try {
    document = JSON.parse(json);
  } catch (cause) {
    throw new FormatError('invalid_json', 'the ssd:// link does not hold JSON', { cause });
  }
  if (!isRecord(document)) throw new FormatError('invalid_json', 'the ssd:// link does not hold a JSON object');
  const { servers, ...shared } = document;
  let line = 0;
  for (const value of Array.isArray(servers) ? (servers as unknown[]) : []) {
    line += 1;
    const own = isRecord(value) ? { ...shared, ...value } : value;
    addObject(sink, line, own, fromSsd, ['remarks']);
  }
}

function fromSsd(value: unknown): ProxyNode {
  const server = asEntry(value);
  const plugin = server.text('plugin');
  const parsed = plugin === undefined ? undefined : parseSip003(`${plugin};${server.text('plugin_options') ?? ''}`);
  return fromClashEntry({
    type: 'ss',
    name: server.text('remarks'),
    server: server.text('server'),
    port: server.text('port'),
    cipher: server.text('encryption'),
    password: server.text('password'),
    ...(parsed === undefined ? {} : { plugin: parsed.name, 'plugin-opts': parsed.options }),
  });
}
