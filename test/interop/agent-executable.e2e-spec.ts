/** The agent with Node inside, made and run here, without a Node on its PATH. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askHttp } from '../support/raw-http.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

const run = promisify(execFile);
const MANIFEST = new URL('../../apps/tunnel-agent/package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string };
const COMMANDS = fileURLToPath(new URL('../../tools/dist/cli.js', import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const canMake = major > 25 || (major === 25 && minor >= 7);
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-agent-executable-'));
const program = path.join(folder, `gatehouse-agent-${process.platform}-${process.arch}`);
const started: ChildProcess[] = [];
let gateway: RunningTunnelGateway | undefined;
let site: Server | undefined;

/** No Node is found there, and what it would be given is not for the agent. */
const environment = {
  PATH: path.join(folder, 'nothing'),
  RUNTIME_DIRECTORY: path.join(folder, 'run'),
  NODE_OPTIONS: '--require /no/such/file.js',
};

beforeAll(async () => {
  if (!canMake) return;
  mkdirSync(environment.PATH);
  await run(process.execPath, [COMMANDS, 'agent-executable', '--out', folder]);
  gateway = await RunningTunnelGateway.start();
  site = createServer((_, response) => response.end('from the site')).listen(0, '127.0.0.1');
  await once(site, 'listening');
}, 300_000);
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  site?.close();
  await gateway?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe.skipIf(!canMake)(`the agent's executable (made by Node 25.7 or newer; this is ${process.version})`, () => {
  it('says its version, and is what a service would start', async () => {
    expect((await run(program, ['--version'], { env: environment })).stdout).toBe(`${version}\n`);
    const args = ['service', 'install', '--dry-run', '--user', '--server', 'gw', '--key', await newKey()];
    const { stdout } = await run(program, args, { env: { ...environment, HOME: folder } });
    expect(stdout).toContain(`a copy of ${program})`);
    expect(stdout).toContain(
      `ExecStart="${folder}/.local/share/gatehouse-agent/tunnel-agent/gatehouse-agent" --config`,
    );
  });

  it('connects to a gateway, carries a request, and says so', async () => {
    const { id, key } = await gateway!.call('POST', '/clients', { name: 'executable' });
    const { port } = site!.address() as AddressInfo;
    const host = 'executable.example.org';
    await gateway!.call('POST', '/hosts', { client_id: id, host, target_addr: `http://127.0.0.1:${port}` });
    const args = ['--server', `127.0.0.1:${gateway!.ports.agents}`, '--log', 'text'];
    const child = spawn(program, args, { env: { ...environment, GATEHOUSE_AGENT_KEY: key }, stdio: 'pipe' });
    started.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
    await waitFor(() => output.includes('online'));
    const answer = await waitFor(async () => {
      const asked = await askHttp({ port: gateway!.ports.http, host });
      return asked.status === 200 ? asked : undefined;
    });
    expect(answer.body).toBe('from the site');
    const { stdout } = await run(program, ['status', '--json'], { env: environment });
    expect(JSON.parse(stdout)).toMatchObject({ agents: [{ pid: child.pid, version, state: 'online' }] });
    child.kill('SIGTERM');
    expect((await once(child, 'close'))[0]).toBe(0);
  });
});

async function newKey(): Promise<string> {
  return (await gateway!.call('POST', '/clients', { name: 'for a service' })).key;
}
