/** `gatehouse-agent status`: the built program asks the built program. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AgentPrograms, type StartedAgent } from '../support/agent-program.js';
import { TunnelYard, type YardClient } from '../support/tunnel-yard.js';
import { exchange, visit } from '../support/visitors.js';

const agents = new AgentPrograms(process.execPath);
let yard: TunnelYard;
let client: YardClient;
let port: number;
let folder: string;
const silent: Server[] = [];

beforeAll(async () => {
  yard = await TunnelYard.start();
  client = yard.client();
  const [state] = await yard.apply({
    tunnels: [yard.tunnel(client, [await yard.echo()])],
    hosts: [yard.host(client, [1])],
  });
  port = state?.port ?? 0;
});
beforeEach(() => void (folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-status-'))));
afterEach(async () => {
  agents.killAll();
  for (const server of silent.splice(0)) server.close();
  rmSync(folder, { recursive: true });
  await waitFor(() => yard.server.agents().length === 0);
});
afterAll(() => yard?.close());

function start(args: readonly string[], environment: Record<string, string> = {}): StartedAgent {
  return agents.start(args, { RUNTIME_DIRECTORY: folder, ...environment });
}

async function startAgent(server = `127.0.0.1:${yard.port}`): Promise<StartedAgent> {
  const before = new Set(readdirSync(folder));
  const agent = start(['--server', server, '--log', 'text'], { GATEHOUSE_AGENT_KEY: client.key });
  await waitFor(() => readdirSync(folder).some((name) => !before.has(name)));
  return agent;
}

async function ask(...args: string[]): Promise<{ code: number | null; text: string }> {
  const asked = start(['status', ...args]);
  const code = await asked.code;
  return { code, text: asked.output() };
}

describe('gatehouse-agent status', () => {
  it('shows a connected agent, what it publishes and what it carried', async () => {
    const agent = await startAgent();
    await yard.online(client);
    expect(await exchange(port, 'x'.repeat(2048))).toHaveLength(2048);
    const open = await visit(port);
    open.write('y');
    await waitFor(async () => JSON.parse((await ask('--json')).text).agents[0].traffic.connections === 2);

    const { code, text } = await ask('--json');
    expect(code).toBe(0);
    expect(text).not.toContain(client.key);
    expect(JSON.parse(text)).toMatchObject({
      silent: 0,
      agents: [
        {
          format: 1,
          pid: agent.child.pid,
          gateway: `127.0.0.1:${yard.port}`,
          proxy: null,
          state: 'online',
          via: 'raw',
          client_id: client.id,
          open_connections: 1,
          traffic: { upload: 2049, download: 2049, connections: 2 },
          resources: [
            { kind: 'tunnel', id: 7, mode: 'tcp', upload: 2049, download: 2049, connections: 2 },
            { kind: 'host', id: 11, mode: 'host', address: 'a.test/', leads_to: '127.0.0.1:1', upload: 0 },
          ],
          last_error: null,
        },
      ],
    });
    const people = await ask();
    expect(people.text).toMatch(/online over TCP as client 1 since/);
    expect(people.text).toMatch(/tcp +127\.0\.0\.1:\d+ +tunnel 7 +127\.0\.0\.1:\d+ +2\.0 KiB +2\.0 KiB +2/);
    open.destroy();
  });

  it('is for this user alone, and leaves nothing behind', async () => {
    const agent = await startAgent();
    const [socket = ''] = readdirSync(folder);
    // A moment after it is there; until then the mode of the folder keeps others out.
    await waitFor(() => (statSync(path.join(folder, socket)).mode & 0o777) === 0o600);
    agent.child.kill('SIGTERM');
    expect(await agent.code).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
    expect(await ask()).toEqual({ code: 9, text: 'No agent of this user is running.\n' });
    expect(await ask('--json')).toMatchObject({ code: 9, text: expect.stringContaining('"agents": []') });
  });

  it('shows several agents, one of which cannot connect, and why', async () => {
    await startAgent();
    await yard.online(client);
    await startAgent('127.0.0.1:1');
    const { code, text } = await waitFor(async () => {
      const asked = await ask();
      return asked.text.includes('last error') ? asked : undefined;
    });
    expect(code).toBe(8);
    expect(text).toMatch(/127\.0\.0\.1:1 {2}(offline|connecting) since[\s\S]*last error .*ECONNREFUSED/);
    expect(text).toMatch(/online over TCP as client 1/);
  });

  it('survives sockets of killed agents, which the next agent removes, and of those that say nothing', async () => {
    const killed = await startAgent();
    killed.child.kill('SIGKILL');
    await killed.code;
    const stale = readdirSync(folder);
    expect(stale).toHaveLength(1);
    expect((await ask()).code).toBe(9);
    await startAgent();
    await waitFor(() => !existsSync(path.join(folder, stale[0] ?? '')));

    const held: Socket[] = [];
    const server = createServer((socket) => void held.push(socket.on('error', () => undefined)));
    silent.push(server.listen(path.join(folder, 'silent.sock')));
    await waitFor(() => server.listening);
    const { code, text } = await ask();
    expect([code, text.includes('1 did not answer.')]).toEqual([8, true]);
    for (const socket of held) socket.destroy();
  });

  it('is refused in a folder of others, where the agent works all the same', async () => {
    const open = path.join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const args = ['--server', `127.0.0.1:${yard.port}`, '--log', 'text'];
    const agent = start(args, { RUNTIME_DIRECTORY: open, GATEHOUSE_AGENT_KEY: client.key });
    await yard.online(client);
    await waitFor(() => agent.output().includes('is not a folder of this user alone'));
    expect(readdirSync(open)).toEqual([]);
  });

  it('takes nothing else', async () => {
    expect(await ask('--jsn')).toMatchObject({ code: 2, text: expect.stringContaining('--jsn is not an option') });
    expect((await ask('--help')).text).toContain('gatehouse-agent status');
  });
});
