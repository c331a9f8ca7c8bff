/** The agent's program, as agent and as visitor, where the only way to the gateway is an HTTPS reverse proxy. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@gatehouse/testing';
import { agentKeyHash, createAgentSecret, formatVisitorKey, type FlowRecord } from '@gatehouse/tunnel-kernel';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { CERTIFICATE, PRIVATE_KEY } from '../support/tls-identity.js';
import { TunnelYard, type YardClient } from '../support/tunnel-yard.js';
import { exchange } from '../support/visitors.js';

const BUNDLE = fileURLToPath(new URL('../../apps/tunnel-agent/dist/gatehouse-agent.mjs', import.meta.url));
const programs = new Programs();
const children: ChildProcess[] = [];
const closed: FlowRecord[] = [];
let folder: string;
let yard: TunnelYard;
let client: YardClient;
let secret: string;

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-visit-'));
  closed.length = 0;
  yard = await TunnelYard.start({
    trustedProxies: ['127.0.0.0/8'],
    events: { flowClosed: (record) => closed.push(record) },
  });
  client = yard.client();
  secret = createAgentSecret();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await programs.stopAll();
  await yard.close();
  rmSync(folder, { recursive: true });
});

/** nginx with a site of its own, and the gateway's WebSockets beside it. */
async function nginx(context: TestContext, upstream: number): Promise<number> {
  const program = requirePeer(context, 'nginx');
  writeFileSync(path.join(folder, 'cert.pem'), CERTIFICATE);
  writeFileSync(path.join(folder, 'key.pem'), PRIVATE_KEY);
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return programs.start(program, (port) => {
    const text = `${user}
      daemon off; master_process off; pid ${folder}/nginx.pid; events { worker_connections 256; }
      http {
        access_log off; ${temporary.join(' ')}
        server {
          listen 127.0.0.1:${port} ssl;
          ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
          location / { return 404; }
          location /__gw/agent {
            proxy_pass http://127.0.0.1:${upstream};
            proxy_http_version 1.1;
            proxy_set_header Host $host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection "upgrade";
            proxy_set_header X-Forwarded-For 198.51.100.23;
          }
        }
      }`;
    writeFileSync(path.join(folder, 'nginx.conf'), text);
    return ['-p', folder, '-e', path.join(folder, 'error.log'), '-c', path.join(folder, 'nginx.conf')];
  });
}

interface Started {
  child: ChildProcess;
  output: () => string;
  code: Promise<number | null>;
}

function start(args: string[], environment: Record<string, string>): Started {
  const child = spawn(process.execPath, [BUNDLE, ...args, '--log', 'text'], { env: environment, stdio: 'pipe' });
  children.push(child);
  let text = '';
  child.stdout.on('data', (part) => (text += String(part)));
  child.stderr.on('data', (part) => (text += String(part)));
  return { child, output: () => text, code: once(child, 'close').then(([code]) => code as number | null) };
}

const visitorKey = (said = secret): string =>
  formatVisitorKey({ tunnelId: 7, secret: said, fingerprint: client.key.split('.')[2] ?? '' });

function startVisitor(server: string, key = visitorKey()): Started {
  return start(['visit', '--server', server, '--listen', '127.0.0.1:0'], { GATEHOUSE_VISITOR_KEY: key });
}

async function portOf(visitor: Started): Promise<number> {
  await waitFor(() => visitor.output().includes('leads to the tunnel'));
  return Number(/127\.0\.0\.1:(\d+) leads/.exec(visitor.output())?.[1]);
}

describe.each(['agents', 'http'] as const)('behind nginx, before the port for %s', (which) => {
  for (const mode of ['secret', 'p2p'] as const) {
    it(`a tunnel of mode ${mode} is served and visited`, async (context) => {
      const proxy = await nginx(context, which === 'agents' ? yard.port : yard.http);
      const server = `wss://127.0.0.1:${proxy}`;
      await yard.open(client, [await yard.echo()], { mode, visitorKeyHash: agentKeyHash(secret) });
      const agent = start(['--server', server], { GATEHOUSE_AGENT_KEY: client.key });
      await yard.online(client);
      expect(yard.server.agents()).toMatchObject([{ via: 'websocket', address: '198.51.100.23' }]);
      const visitor = startVisitor(server);
      const port = await portOf(visitor);
      expect(visitor.output()).toContain(`the gateway is reached over a WebSocket address=${server}/__gw/agent`);
      const texts = Array.from({ length: 4 }, () => randomBytes(300_000).toString('latin1'));
      const answers = await Promise.all(texts.map((text) => exchange(port, Buffer.from(text, 'latin1'))));
      expect(answers.every((answer, at) => answer === texts[at])).toBe(true);
      await waitFor(() => closed.filter(({ upload }) => upload === 300_000).length === 4);
      expect(closed.every(({ visitor: { address } }) => address === '198.51.100.23')).toBe(true);
      visitor.child.kill('SIGTERM');
      expect(await visitor.code).toBe(0);
      agent.child.kill('SIGTERM');
      expect(await agent.code).toBe(0);
    });
  }
});

describe('a visitor behind nginx', () => {
  it('exits with 3 for a key that is not valid, and with 4 if another gateway answers', async (context) => {
    const server = `wss://127.0.0.1:${await nginx(context, yard.http)}`;
    expect(await startVisitor(server, visitorKey(createAgentSecret())).code).toBe(3);
    const elsewhere = formatVisitorKey({ tunnelId: 7, secret, fingerprint: Buffer.alloc(32).toString('base64url') });
    expect(await startVisitor(server, elsewhere).code).toBe(4);
  });

  it('waits for a gateway that is away, and for an agent, and reports it', async (context) => {
    const server = `wss://127.0.0.1:${await nginx(context, yard.http)}`;
    await yard.open(client, [await yard.echo()], { mode: 'secret', visitorKeyHash: agentKeyHash(secret) });
    await yard.server.stop();
    const visitor = startVisitor(server);
    const port = await portOf(visitor);
    expect(visitor.output()).toContain('the tunnel is not there yet: no WebSocket: the answer is 502');
    await yard.restart();
    await yard.open(client, [await yard.echo()], { mode: 'secret', visitorKeyHash: agentKeyHash(secret) });
    expect(await exchange(port, 'early')).toBeNull();
    await waitFor(() => visitor.output().includes('the agent of the tunnel is not connected'));
    yard.agent(client);
    await yard.online(client);
    expect(await exchange(port, 'now')).toBe('now');
  });
});
