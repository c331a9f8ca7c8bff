import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { createServerIdentity, type HostConfig } from '@gatehouse/tunnel-kernel';
import { expect, it } from 'vitest';
import { optionalPeer } from '../support/peers.js';
import { Tunnel } from '../support/tunnel.js';

const run = promisify(execFile);
const LIMIT_MS = 60_000;

/** What a caller sees of one call. */
interface Outcome {
  name: string;
  code: string;
  message: string;
  received: number;
  header: string[] | null;
  trailer: string[] | null;
}

/** The port of grpc-go’s service. */
async function serve(program: string, cleanups: DisposableStack): Promise<number> {
  const child = spawn(program, ['serve'], { stdio: ['ignore', 'pipe', 'ignore'] });
  child.on('error', () => undefined);
  cleanups.defer(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return Number(line);
}

async function call(program: string, port: number, secure: string[] = []): Promise<Outcome[]> {
  const { stdout } = await run(program, ['call', `127.0.0.1:${port}`, ...secure], { timeout: LIMIT_MS });
  return JSON.parse(stdout) as Outcome[];
}

it('looks to a caller of grpc-go exactly as without the gateway', async (context) => {
  const program = optionalPeer(context, 'grpc-go');
  using cleanups = new DisposableStack();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-grpc-'));
  cleanups.defer(() => rmSync(folder, { recursive: true }));
  const service = await serve(program, cleanups);
  const { certificate, key } = createServerIdentity('a.test');
  const file = path.join(folder, 'certificate.pem');
  writeFileSync(file, certificate);
  const host: HostConfig = {
    id: 1,
    clientId: 1,
    host: 'a.test',
    location: '/',
    scheme: 'all',
    targets: [{ host: '127.0.0.1', port: service, weight: 1, scheme: 'h2c', insecure: false }],
    certificate: { chain: certificate, key },
    redirectToHttps: false,
    rewriteHost: null,
    requestHeaders: {},
    responseHeaders: {},
  };
  const tunnel = await Tunnel.start();
  try {
    const https = await tunnel.server.listenHttps({ host: '127.0.0.1', port: 0 });
    await tunnel.open(1, {}, { hosts: [host] });

    const direct = await call(program, service);
    const through = await call(program, https, [file, 'a.test']);

    expect(through).toEqual(direct);
    const of = (name: string): Outcome | undefined => through.find((each) => each.name === name);
    expect(through).toHaveLength(17 * 3 + 5);
    expect(of('NotFound after 0 messages')).toMatchObject({ code: 'NotFound', message: 'says “no”, 100 %' });
    expect(of('a missing method')).toMatchObject({ code: 'Unimplemented' });
    expect(of('a deadline')).toMatchObject({ code: 'DeadlineExceeded' });
    expect(of('a cancelled call')).toMatchObject({ code: 'Canceled' });
    expect(of('metadata')?.trailer).toEqual(['tail: "12288 bytes"', 'tail: "a second one"']);
    // The service noticed that its callers had left.
    expect(of('calls that still wait')).toMatchObject({ message: '0' });
  } finally {
    await tunnel.close();
  }
});
