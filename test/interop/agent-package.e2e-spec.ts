/** The npm package of the agent: packed and installed by the real npm, without a network, and run on the oldest Node. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requirePeer } from '../support/peers.js';
import { askHttp } from '../support/raw-http.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

const OLDEST = 'node-20.19.0';
const MANIFEST = new URL('../../apps/tunnel-agent/package.json', import.meta.url);
const { version: AGENT_VERSION } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string };
const COMMANDS = fileURLToPath(new URL('../../tools/dist/cli.js', import.meta.url));
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-agent-package-'));
const archive = path.join(folder, `gatehouse-agent-${AGENT_VERSION}.tgz`);
const installed = path.join(folder, 'empty');
const started: ChildProcess[] = [];
let gateway: RunningTunnelGateway | undefined;
let site: Server | undefined;

beforeAll(async () => {
  execFileSync(process.execPath, [COMMANDS, 'agent-package', '--out', folder]);
  mkdirSync(installed);
  writeFileSync(path.join(installed, 'package.json'), '{"private": true}');
  const args = ['install', '--offline', '--no-audit', '--no-fund', '--engine-strict', archive];
  const env = { ...process.env, npm_config_cache: path.join(folder, 'cache') };
  execFileSync('npm', args, { cwd: installed, env });
  gateway = await RunningTunnelGateway.start('password', { TUNNEL_PUBLISH_DOMAIN: 'demo.example.org' });
  site = createServer((_, response) => response.end('from the site')).listen(0, '127.0.0.1');
  await once(site, 'listening');
});
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  site?.close();
  await gateway?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe('the npm package of the agent', () => {
  it('has one program, no dependencies, and the licences of what is in it', () => {
    const place = path.join(installed, 'node_modules/gatehouse-agent');
    const manifest = JSON.parse(readFileSync(path.join(place, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      name: 'gatehouse-agent',
      version: AGENT_VERSION,
      engines: { node: '>=20.19' },
      bin: { 'gatehouse-agent': 'gatehouse-agent.mjs' },
    });
    for (const field of ['dependencies', 'devDependencies', 'scripts', 'private'])
      expect(manifest).not.toHaveProperty(field);
    const licences = readFileSync(path.join(place, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['yaml', 'undici', 'qrcode-generator', 'intl-messageformat'])
      expect(licences).toContain(`\n${name} `);
    expect(licences).not.toContain('@gatehouse/');
    const files = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n');
    const names = ['THIRD-PARTY-LICENSES.txt', 'README.md', 'gatehouse-agent.mjs', 'package.json'];
    expect(files.filter((name) => !/LICEN[CS]E$/.test(name)).toSorted()).toEqual(
      names.map((name) => `package/${name}`).toSorted(),
    );
  });

  it('publishes a site, run by its name on the oldest Node', async (context) => {
    const node = requirePeer(context, OLDEST);
    const bin = path.join(folder, 'bin');
    mkdirSync(bin);
    symlinkSync(node, path.join(bin, 'node'));
    const apiKey = await gateway?.keyOfUser('ann');
    const { port = 0 } = (site?.address() ?? {}) as Partial<AddressInfo>;
    // What `npx gatehouse-agent` runs in this folder.
    const program = path.join(installed, 'node_modules/.bin/gatehouse-agent');
    const env = {
      PATH: `${bin}:/usr/bin:/bin`,
      RUNTIME_DIRECTORY: path.join(folder, 'run'),
      GATEHOUSE_GATEWAY: gateway?.url ?? '',
      GATEHOUSE_API_KEY: apiKey ?? '',
    };
    expect(execFileSync(program, ['--version'], { env, encoding: 'utf8' })).toBe(`${AGENT_VERSION}\n`);
    const child = spawn(program, ['http', String(port), '--log', 'text'], { env, stdio: 'pipe' });
    started.push(child);
    let output = '';
    child.stdout.on('data', (part) => (output += String(part)));
    const host = await waitFor(() => /^ {2}http:\/\/(\S+):\d+\/ leads to /m.exec(output)?.[1]);
    const answer = await waitFor(async () => {
      const asked = await askHttp({ port: gateway?.ports.http ?? 0, host });
      return asked.status === 200 ? asked : undefined;
    });
    expect(answer.body).toBe('from the site');
    child.kill('SIGINT');
    expect((await once(child, 'close'))[0]).toBe(0);
  });
});
