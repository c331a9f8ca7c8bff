import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { reservePort, waitFor } from '@gatehouse/testing';
import type { Programs } from './processes.js';

/** Starts a mihomo with one listener, which leads its clients wherever they want; the listener's port. */
export async function startMihomo(
  programs: Programs,
  binary: string,
  listener: Record<string, unknown>,
): Promise<number> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-mihomo-'));
  const file = path.join(folder, 'config.json');
  const plainPort = await reservePort();
  const port = await programs.start(binary, (candidate) => {
    const config = {
      mode: 'rule',
      'log-level': 'silent',
      'geo-auto-update': false,
      listeners: [
        { name: 'in', listen: '127.0.0.1', port: candidate, ...listener },
        { name: 'plain', type: 'http', listen: '127.0.0.1', port: plainPort },
      ],
      rules: ['MATCH,DIRECT'],
    };
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(config));
    return ['-d', folder, '-f', file];
  });
  await untilCarrying(plainPort);
  rmSync(folder, { recursive: true, force: true });
  return port;
}

/** mihomo listens before it carries anything, and closes what comes in between. */
async function untilCarrying(proxyPort: number): Promise<void> {
  const target = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const { port } = target.address() as AddressInfo;
  const statusThrough = (): Promise<number | undefined> =>
    new Promise((resolve) => {
      const asked = request({ host: '127.0.0.1', port: proxyPort, path: `http://127.0.0.1:${port}/`, agent: false });
      asked.setHeader('host', `127.0.0.1:${port}`);
      asked.on('response', (response) => resolve(response.resume().statusCode));
      asked.on('error', () => resolve(undefined));
      asked.end();
    });
  await waitFor(async () => (await statusThrough()) === 200);
  target.close();
}
