import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import { createServerIdentity } from '../index.js';

const STALL_MS = 200;
const SLOW = 20;
let rig: HostRig;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) cleanup();
  await rig.close();
});

/** A target that sends as much as the reader accepts, and reports when the connection ends. */
async function pouring(): Promise<{ port: number; answers: ServerResponse[] }> {
  const answers: ServerResponse[] = [];
  const part = Buffer.alloc(256 * 1024);
  const port = await rig.origin((_, response) => {
    answers.push(response);
    const pour = (): void => {
      while (!response.destroyed && response.write(part));
    };
    response.on('drain', pour);
    pour();
  });
  return { port, answers };
}

async function asking(): Promise<Socket> {
  const socket = connect({ port: rig.http, host: '127.0.0.1' }).on('error', () => undefined);
  cleanups.push(() => socket.destroy());
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
  return socket;
}

const start = (): Promise<HostRig> => {
  const { certificate, key } = createServerIdentity('a.test');
  return HostRig.start({ timeouts: { stall: STALL_MS }, defaultCertificate: { chain: certificate, key } });
};

describe('a visitor who does not read', () => {
  it('delays no other request on the same connection to a target over HTTP/2', async () => {
    rig = await HostRig.start();
    const server = createHttp2Server();
    let sessions = 0;
    let begun = 0;
    const part = Buffer.alloc(64 * 1024);
    server.on('session', () => (sessions += 1));
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200 });
      // What a target keeps for its readers is bounded for each connection, in Node's server, too.
      const pour = (): void => void (stream.write(part) && setImmediate(pour));
      if (headers[':path'] === '/') {
        stream.on('drain', pour);
        pour();
      } else stream.end(Buffer.alloc(1_000_000, 'x'));
      begun += 1;
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    await rig.serve(rig.hostConfig([{ host: '127.0.0.1', port, weight: 1, scheme: 'h2c', insecure: false }]));
    for (let visitor = 1; visitor <= SLOW; visitor++) {
      await asking();
      await waitFor(() => begun === visitor);
    }
    for (let visitor = 0; visitor < 5; visitor++) {
      expect((await rig.ask({ path: '/quick' })).body).toHaveLength(1_000_000);
    }
    expect([sessions, rig.server.flows]).toEqual([1, SLOW]);
  });
});

describe('a visitor who does not read the response', () => {
  it('is disconnected, together with its connection to the target', async () => {
    rig = await start();
    const { port, answers } = await pouring();
    await rig.serve(rig.hostConfig([port]));
    await asking();
    await waitFor(() => answers.length === 1);
    await waitFor(() => answers[0]?.destroyed && rig.server.flows === 0);
    expect(rig.records).toMatchObject([{ reason: 'client_error' }]);
  });

  it('is cut over HTTP/2 without the other streams of its connection', async () => {
    rig = await start();
    const { port, answers } = await pouring();
    const quick = await rig.origin((_, response) => response.end('quick'));
    await rig.serve(rig.hostConfig([port]), rig.hostConfig([quick], { id: 13, location: '/quick' }));
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { rejectUnauthorized: false });
    session.on('error', () => undefined);
    cleanups.push(() => session.destroy());
    const ask = (path: string) =>
      session.request({ ':path': path, ':authority': 'a.test' }).on('error', () => undefined);
    const slow = ask('/');
    await once(slow, 'response');
    slow.pause();
    await waitFor(() => answers[0]?.destroyed && rig.server.flows === 0);
    const other = ask('/quick');
    expect(String((await once(other, 'data'))[0])).toBe('quick');
  });

  it('is not confused with one whose target is silent, or who continues in time', async () => {
    rig = await start();
    const big = Buffer.alloc(16 * 1024 * 1024);
    const target = await rig.origin((_, response) => {
      response.setHeader('content-length', big.length + 4);
      // Long after it was all taken.
      response.write(big, () => setTimeout(() => response.end('last'), 2 * STALL_MS));
    });
    await rig.serve(rig.hostConfig([target]));
    const visitor = await asking();
    let received = 0;
    visitor.on('data', (bytes) => (received += bytes.length));
    await waitFor(() => received > big.length + 4);
    await waitFor(() => rig.server.flows === 0);
    expect(rig.records).toMatchObject([{ reason: 'remote_closed' }]);
  });

  it('is also disconnected with a small response', async () => {
    rig = await start();
    const body = Buffer.alloc(15 * 1024);
    let [asked, answered] = [1, 0];
    const socket = rig.visitor(rig.http);
    const ask = (): void => {
      for (; asked < answered + 5; asked++) socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
    };
    const port = await rig.origin((_, response) => {
      response.end(body);
      answered += 1;
      // One after the other, until the system takes no more of the answers.
      ask();
    });
    await rig.serve(rig.hostConfig([port]));
    ask();
    // A socket that nobody reads from notices a reset only when it writes.
    await waitFor(() => (socket.write(''), socket.destroyed));
    expect(rig.server.flows).toBe(0);
    expect(answered).toBeGreaterThan(10);
  });

  it('is also cut over HTTP/2 with a small response', async () => {
    rig = await start();
    await rig.serve(rig.hostConfig([await rig.origin((_, response) => response.end('small'))]));
    const settings = { initialWindowSize: 0 };
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { rejectUnauthorized: false, settings });
    cleanups.push(() => session.destroy());
    session.on('error', () => undefined);
    await once(session, 'localSettings');
    const stream = session.request({ ':authority': 'a.test' }).on('error', () => undefined);
    await once(stream, 'response');
    await waitFor(() => rig.records.length === 1);
    expect(rig.server.flows).toBe(0);
  });
});
