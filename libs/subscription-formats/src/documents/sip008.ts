import type { ProxyNode } from '@gatehouse/contracts';
import { asEntry } from '../clash/entry.js';
import { fromClashEntry } from '../clash/from-entry.js';
import type { EntrySink } from '../entry-sink.js';
import { parseSip003 } from '../stream/sip003.js';
import { addObject } from './object-entry.js';

/** Reads the `servers` of a SIP008 document, or a bare list of such servers. */
export function readSip008(servers: readonly unknown[], sink: EntrySink): void {
  sink.result.format = 'sip008';
  let line = 0;
  for (const value of servers) {
    line += 1;
    addObject(sink, line, value, fromSip008, ['remarks', 'name']);
  }
}

/** Reads one server of SIP008. @throws FormatError */
export function fromSip008(value: unknown): ProxyNode {
  const server = asEntry(value);
  const plugin = server.text('plugin');
  const parsed = plugin === undefined ? undefined : parseSip003(`${plugin};${server.text('plugin_opts') ?? ''}`);
  return fromClashEntry({
    type: 'ss',
    name: server.text('remarks', 'name'),
    server: server.text('server'),
    port: server.text('server_port', 'port'),
    cipher: server.text('method'),
    password: server.text('password'),
    ...(parsed === undefined ? {} : { plugin: parsed.name, 'plugin-opts': parsed.options }),
  });
}
