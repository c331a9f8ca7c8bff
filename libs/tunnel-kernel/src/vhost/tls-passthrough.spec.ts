import { once } from 'node:events';
import { connect as connectHttp2, createSecureServer } from 'node:http2';
import { createServer as createHttpsServer, request } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import {
  connect as connectTls,
  createServer as createTlsServer,
  type ConnectionOptions,
  type TLSSocket,
} from 'node:tls';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import type { VisitorVerifier } from '../access/visitor-verifier.js';
import type { HostConfig, HostTarget } from '../config.js';
import { createServerIdentity } from '../wire/server-identity.js';

const MIB = 1024 * 1024;
const identity = createServerIdentity('a.test');

let rig: HostRig;
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rig.close();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

/** A web server with the certificate of `a.test`, which the gateway does not have. */
function website(name: string): Promise<number> {
  const own = { cert: identity.certificate, key: identity.key };
  return listening(createHttpsServer(own, ({ headers }, response) => response.end(`${name} ${headers.host}`)));
}

const target = (port: number): HostTarget => ({ host: '127.0.0.1', port, weight: 1, scheme: 'tls', insecure: false });

function passing(ports: number[], more: Partial<HostConfig> = {}): HostConfig {
  return rig.hostConfig(ports.map(target), { scheme: 'https', ...more });
}

interface Visit {
  servername?: string;
  host?: string;
  ca?: string;
}

/** The answer, or the code of the error. The certificate is verified. */
function visit({ servername = 'a.test', host = servername, ca = identity.certificate }: Visit = {}): Promise<string> {
  return new Promise((resolve) => {
    const asked = request(
      { port: rig.https, host: '127.0.0.1', servername, ca, agent: false, headers: { host } },
      (answer) => {
        let text = `${answer.statusCode} `;
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () => resolve(text));
      },
    );
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end();
  });
}

async function secure(allowHalfOpen = false): Promise<TLSSocket> {
  const options = { port: rig.https, host: '127.0.0.1', servername: 'a.test', ca: identity.certificate };
  // A documented option that is missing in the types.
  const socket = connectTls({ ...options, allowHalfOpen } as ConnectionOptions);
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

describe('a host that passes TLS on', () => {
  it('leads visitors to the certificate and the server of the target', async () => {
    rig = await HostRig.start();
    await rig.serve(passing([await website('site')]));
    expect(await visit()).toBe('200 site a.test');
    expect(await visit({ servername: 'A.Test', host: 'a.test' })).toBe('200 site a.test');
    await waitFor(() => rig.server.flows === 0);
  });

  it.each([false, true])(
    'carries every byte both ways after one side has ended; data channels in TLS: %s',
    async (encrypt) => {
      rig = await HostRig.start({}, { encrypt });
      const own = { cert: identity.certificate, key: identity.key, allowHalfOpen: true };
      const port = await listening(
        createTlsServer(own, (socket) => {
          let bytes = 0;
          socket.on('error', () => undefined);
          socket.on('data', (part: Buffer) => (bytes += part.length));
          // Answers only when everything has come.
          socket.on('end', () => socket.end(Buffer.alloc(bytes, 7)));
        }),
      );
      await rig.serve(passing([port]));
      const socket = await secure(true);
      socket.end(Buffer.alloc(8 * MIB, 1));
      const parts = (await socket.toArray()) as Buffer[];
      const answer = Buffer.concat(parts);
      expect(answer.length).toBe(8 * MIB);
      expect(answer.every((byte) => byte === 7)).toBe(true);
    },
  );

  it('leaves it to the target which protocols there are', async () => {
    rig = await HostRig.start();
    const server = createSecureServer({ cert: identity.certificate, key: identity.key }, (asked, answer) =>
      answer.end(`over ${asked.httpVersion}`),
    );
    await rig.serve(passing([await listening(server)]));
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { servername: 'a.test', ca: identity.certificate });
    session.on('error', () => undefined);
    const stream = session.request({ ':path': '/', ':authority': 'a.test' }).setEncoding('utf8');
    expect((await stream.toArray()).join('')).toBe('over 2.0');
    session.destroy();
  });

  it('is chosen by its name, the most specific first, beside hosts with certificates', async () => {
    rig = await HostRig.start();
    const { certificate: chain, key } = createServerIdentity('b.test');
    const plain = await rig.origin((_, response) => response.end('plain'));
    await rig.serve(
      passing([await website('any')], { host: '*.test' }),
      rig.hostConfig([plain], { id: 13, host: 'b.test', certificate: { chain, key } }),
    );
    expect(await visit()).toBe('200 any a.test');
    expect(await visit({ servername: 'b.test', ca: chain })).toBe('200 plain');
    // A request under another certificate of this gateway does not reach the target.
    expect(await visit({ servername: 'b.test', host: 'c.test', ca: chain })).toMatch(/^421 /);
    expect((await rig.ask({ host: 'a.test' })).status).toBe(404);
  });

  it('tries another target where one cannot be reached, and resets visitors where none can', async () => {
    rig = await HostRig.start();
    const gone = await listening(createTcpServer());
    servers.pop()?.close();
    await rig.serve(passing([gone, await website('site')]));
    for (let round = 0; round < 8; round += 1) expect(await visit()).toBe('200 site a.test');
    await rig.serve(passing([gone]));
    expect(await visit()).toBe('ECONNRESET');
    await waitFor(() => rig.server.flows === 0);
  });

  it('cuts its connections when it is removed', async () => {
    rig = await HostRig.start();
    const own = { cert: identity.certificate, key: identity.key };
    await rig.serve(passing([await listening(createTlsServer(own, (socket) => socket.on('error', () => undefined)))]));
    const socket = (await secure()).resume();
    await waitFor(() => rig.server.flows === 1);
    const closed = once(socket, 'close');
    await rig.serve();
    await closed;
    await waitFor(() => rig.server.flows === 0);
  });

  it('refuses visitors who would have to sign in', async () => {
    let isKnown = false;
    const verifier: VisitorVerifier = {
      guards: () => true,
      allows: () => Promise.resolve(isKnown),
      verify: () => ({ allowed: true, dropHeaders: [], requestHeaders: [], responseHeaders: [] }),
      checkPassword: () => false,
    } as unknown as VisitorVerifier;
    rig = await HostRig.start({}, { verifier });
    await rig.serve(passing([await website('site')]));
    expect(await visit()).toBe('ECONNRESET');
    isKnown = true;
    expect(await visit()).toBe('200 site a.test');
  });
});
