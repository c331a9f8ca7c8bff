import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { dialControl } from './control-client.js';
import { formatControlEndpoint, parseControlEndpoint, type ControlEndpoint } from './control-endpoint.js';
import { deriveControlKey, type ControlKey } from './control-key.js';
import { ControlLink } from './control-link.js';
import { ControlServer, SPARE_CONNECTIONS } from './control-server.js';

const SECRET = randomBytes(32);
const KEY = deriveControlKey(SECRET, 'kernel');
const endings: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface Served {
  endpoint: ControlEndpoint;
  links: ControlLink[];
  refused: Promise<Error>;
}

async function serve(endpoint: ControlEndpoint, keys: readonly ControlKey[] = [KEY]): Promise<Served> {
  const links: ControlLink[] = [];
  const { promise: refused, resolve: onRefused } = Promise.withResolvers<Error>();
  const onLink = (link: ControlLink): void => {
    links.push(link);
    link.onMessage((message) => void link.send({ received: message }));
  };
  const server = new ControlServer({ keys, onLink, onRefused });
  endings.push(() => server.close());
  return { endpoint: await server.listen(endpoint), links, refused };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-control-'));
  endings.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function ask(endpoint: ControlEndpoint, message: unknown, key = KEY): Promise<unknown> {
  const link = await dialControl({ endpoint, key });
  endings.push(() => link.close());
  const answer = Promise.withResolvers<unknown>();
  link.onMessage(answer.resolve);
  link.onClose((reason) => answer.reject(reason ?? new Error('closed')));
  await link.send(message);
  return answer.promise;
}

describe('control channel', () => {
  it.each(['unix', 'tcp'])('carries messages both ways over %s, even large ones', async (kind) => {
    const { endpoint } = await serve(
      kind === 'unix' ? { path: join(folder(), 'control.sock') } : { host: '127.0.0.1', port: 0 },
    );
    const text = 'ü'.repeat(3_000_000);
    await expect(ask(endpoint, { text })).resolves.toEqual({ received: { text } });
    if ('path' in endpoint) expect(statSync(endpoint.path).mode & 0o777).toBe(0o600);
  });

  it('refuses another key, including that of another channel', async () => {
    const { endpoint, links, refused } = await serve({ host: '127.0.0.1', port: 0 });
    await expect(ask(endpoint, 1, deriveControlKey(randomBytes(32), 'kernel'))).rejects.toThrow(/secret key/);
    await expect(ask(endpoint, 1, deriveControlKey(SECRET, 'edge'))).rejects.toThrow(/secret key/);
    await expect(ask(endpoint, 1, { ...KEY, psk: randomBytes(32) })).rejects.toThrow(/secret key/);
    await expect(refused).resolves.toBeInstanceOf(Error);
    expect(links).toEqual([]);
  });

  it('sends nothing to a client without TLS, and refuses a server without the key', async () => {
    const { endpoint, links } = await serve({ host: '127.0.0.1', port: 0 });
    const socket = connect(endpoint as { host: string; port: number });
    socket.on('error', () => undefined);
    socket.write('{"type":"apply"}\n'.repeat(100));
    await once(socket, 'close');
    expect(links).toEqual([]);
    const impostor = createServer((client) => client.on('error', () => undefined).end('HTTP/1.1 200 OK\r\n\r\n'));
    endings.push(() => impostor.close());
    await once(impostor.listen(0, '127.0.0.1'), 'listening');
    const { port } = impostor.address() as AddressInfo;
    await expect(dialControl({ endpoint: { host: '127.0.0.1', port }, key: KEY })).rejects.toThrow();
  });

  it('accepts the old and the new key while a secret is replaced', async () => {
    const before = deriveControlKey(randomBytes(32), 'kernel');
    const { endpoint } = await serve({ host: '127.0.0.1', port: 0 }, [KEY, before]);
    await expect(ask(endpoint, 1, before)).resolves.toEqual({ received: 1 });
    await expect(ask(endpoint, 2)).resolves.toEqual({ received: 2 });
  });

  it('replaces the socket of a killed process, but not one in use', async () => {
    const path = join(folder(), 'control.sock');
    await serve({ path });
    await expect(serve({ path })).rejects.toThrow(/EADDRINUSE/);
  });

  it('has room for as many clients as are expected, and releases its port without ending them', async () => {
    const clients = SPARE_CONNECTIONS + 8;
    const links: ControlLink[] = [];
    const server = new ControlServer({ keys: [KEY], onLink: (link) => links.push(link) });
    endings.push(() => server.close());
    const endpoint = await server.listen({ host: '127.0.0.1', port: 0 });
    const dial = async (): Promise<ControlLink> => {
      const link = await dialControl({ endpoint, key: KEY });
      endings.push(() => link.close());
      return link;
    };
    const earliest = await dial();
    for (let count = 1; count < SPARE_CONNECTIONS; count += 1) await dial();
    await expect(dial()).rejects.toThrow();
    server.expect(clients);
    for (let count = SPARE_CONNECTIONS; count < clients; count += 1) await dial();

    server.stopListening();
    const next = new ControlServer({ keys: [KEY], onLink: () => undefined });
    endings.push(() => next.close());
    await expect(next.listen(endpoint)).resolves.toEqual(endpoint);
    await dial();
    expect(links).toHaveLength(clients);
    const received = new Promise((resolve) => earliest.onMessage(resolve));
    await links[0]?.send('still there');
    expect(await received).toBe('still there');
  });

  it('notifies each side when the other is gone', async () => {
    const { endpoint, links } = await serve({ host: '127.0.0.1', port: 0 });
    const link = await dialControl({ endpoint, key: KEY });
    const gone = new Promise((resolve) => link.onClose(resolve));
    await link.send('hello');
    await new Promise<void>((resolve) => link.onMessage(() => resolve()));
    links[0]!.close();
    await expect(gone).resolves.toBeNull();
    await expect(link.send('more')).rejects.toThrow(/closed/);
  });
});

describe('ControlLink', () => {
  it('ends on a message that is too long, is not JSON, or does not arrive', async () => {
    for (const [bytes, said] of [
      [Buffer.from([0, 1, 0, 0]), /over the limit/],
      [Buffer.from([0, 0, 0, 2, 0x7b, 0x7b]), /JSON/],
      [Buffer.from([0, 0, 0, 9, 0x7b]), /the other side was silent/],
    ] as const) {
      const stream = new PassThrough();
      const link = new ControlLink(stream, { maxMessageBytes: 1_000, heartbeatMs: 5, silentMs: 20 });
      // A PassThrough receives its own heartbeats, which must not count as those of the other side.
      stream.write = () => true;
      const reason = new Promise<Error | null>((resolve) => link.onClose(resolve));
      stream.push(bytes);
      expect(String(await reason)).toMatch(said);
    }
  });

  it('reassembles messages, no matter how they are cut', async () => {
    const stream = new PassThrough();
    const link = new ControlLink(stream, { heartbeatMs: 60_000 });
    stream.write = () => true;
    const received: unknown[] = [];
    link.onMessage((message) => received.push(message));
    const frames = [{ a: 1 }, 'x'.repeat(70_000), [null]].map((message) => Buffer.from(JSON.stringify(message)));
    const bytes = Buffer.concat(
      frames.flatMap((body) => {
        const head = Buffer.alloc(4);
        head.writeUInt32BE(body.length);
        return [head, body, Buffer.alloc(4)];
      }),
    );
    for (let at = 0; at < 40; at++) stream.push(bytes.subarray(at, at + 1));
    stream.push(bytes.subarray(40));
    stream.push(null);
    await new Promise<void>((resolve) => link.onClose(() => resolve()));
    expect(received).toEqual([{ a: 1 }, 'x'.repeat(70_000), [null]]);
  });

  it('refuses to send a message over the limit', async () => {
    const link = new ControlLink(new PassThrough(), { maxMessageBytes: 10 });
    await expect(link.send('x'.repeat(10))).rejects.toThrow(/over the limit/);
    link.close();
  });
});

describe('control endpoints', () => {
  it.each([
    ['/run/kernel.sock', { path: '/run/kernel.sock' }],
    ['unix:/run/kernel.sock', { path: '/run/kernel.sock' }],
    ['kernel:7891', { host: 'kernel', port: 7891 }],
    ['[::1]:7891', { host: '::1', port: 7891 }],
  ])('%s', (text, endpoint) => {
    expect(parseControlEndpoint(text)).toEqual(endpoint);
    expect(parseControlEndpoint(formatControlEndpoint(endpoint))).toEqual(endpoint);
  });

  it.each(['', 'kernel', 'kernel:', 'kernel:99999', '[x]:1', 'a:b:1', 'http://kernel:1', 'run/kernel.sock'])(
    '%j is none',
    (text) => {
      expect(parseControlEndpoint(text)).toBeNull();
    },
  );
});
