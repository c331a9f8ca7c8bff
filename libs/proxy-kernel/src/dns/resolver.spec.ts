import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { DnsConfig } from '../interfaces/config.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { DialError } from '../interfaces/outbound.js';
import { exchangeHttps } from './exchange-https.js';
import { type ResolverOptions, createResolver } from './index.js';
import { TYPE, encodeQuestion } from './message.js';

/** A certificate made for this test, for `proxy.test`. */
const CERT = `-----BEGIN CERTIFICATE-----
MIIBlzCCAT6gAwIBAgIUEEAqnS27FfAW5P9ap/bZIE4oyK8wCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKcHJveHkudGVzdDAgFw0yNjExMjAyMTE5MzZaGA8yMTI2MTAy
NzIxMTkzNlowFTETMBEGA1UEAwwKcHJveHkudGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABIvbmMiWDj3HSsV+sKjmExvb+mr/imy/G7b6A6z68FeEh00K0k4l
5GvHZEjUZow5FGEN0U6iTESpx+xC0Cgmr06jajBoMB0GA1UdDgQWBBRfvdya6Qfp
KomnHScI9vrxVHC63jAfBgNVHSMEGDAWgBRfvdya6QfpKomnHScI9vrxVHC63jAP
BgNVHRMBAf8EBTADAQH/MBUGA1UdEQQOMAyCCnByb3h5LnRlc3QwCgYIKoZIzj0E
AwIDRwAwRAIgfUyigL74gvVlH/8OtSl/NzgC2xD35fMpOLDsESkBXuwCIFWwbCEo
fjcCXsPcpG980JkPsTG2DLVw14dZrDehcVxS
-----END CERTIFICATE-----`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmEmHVL5nhmXj7s9U
9ZYUEqrBxHV4N7Ql0HGb1xq3MgahRANCAASL25jIlg49x0rFfrCo5hMb2/pq/4ps
vxu2+gOs+vBXhIdNCtJOJeRrx2RI1GaMORRhDdFOokxEqcfsQtAoJq9O
-----END PRIVATE KEY-----`;

type Reply = string[] | 'nxdomain' | 'servfail' | 'silence' | 'truncated' | 'nonsense';
type Answerer = (name: string, over: 'udp' | 'tcp' | 'https') => Reply;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const v4 = (ip: string) => Buffer.from(ip.split('.').map(Number));

/** The reply to a query for an IPv4 address; there is none for IPv6. */
function replyTo(query: Buffer, answer: Answerer, over: 'udp' | 'tcp' | 'https', asked: string[]) {
  const labels: string[] = [];
  let at = 12;
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += size + 1;
  }
  const name = labels.join('.');
  const type = query.readUInt16BE(at + 1);
  if (type === 1) asked.push(`${over} ${name}`);
  const said = answer(name, over);
  if (said === 'silence') return null;
  if (said === 'nonsense') return Buffer.from('nonsense of some length');
  const addresses = typeof said === 'string' || type !== 1 ? [] : said;
  const head = Buffer.from(query.subarray(0, 12));
  const code = said === 'nxdomain' ? 3 : said === 'servfail' ? 2 : 0;
  head.writeUInt16BE(0x8180 | code | (said === 'truncated' ? 0x200 : 0), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt16BE(0, 10);
  const fields = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
  return Buffer.concat([head, query.subarray(12, at + 5), ...addresses.flatMap((ip) => [fields, v4(ip)])]);
}

interface TestServer {
  port: number;
  asked: string[];
}

/** Listens on the same port over UDP and TCP. */
async function nameServer(answer: Answerer): Promise<TestServer> {
  const asked: string[] = [];
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const reply = replyTo(Buffer.from(bytes).subarray(2), answer, 'tcp', asked);
      if (!reply) return;
      const length = Buffer.from([reply.length >> 8, reply.length & 255]);
      // In two pieces, as TCP may deliver it.
      socket.write(Buffer.concat([length, reply.subarray(0, 5)]));
      setImmediate(() => socket.write(reply.subarray(5)));
    });
  });
  const port = await listen(tcp);
  const udp: UdpSocket = createSocket('udp4');
  udp.on('message', (query, from) => {
    const reply = replyTo(query, answer, 'udp', asked);
    if (reply) udp.send(reply, from.port, from.address);
  });
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');
  closers.push(() => udp.close());
  return { port, asked };
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

async function dohServer(
  answer: Answerer,
  version: 1 | 2,
): Promise<TestServer & { connections: () => number; drop: () => void }> {
  const asked: string[] = [];
  let connections = 0;
  const handle = async (
    request: AsyncIterable<Buffer> & { url?: string | undefined },
    respond: (status: number, body: Buffer) => void,
  ): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const reply = replyTo(Buffer.concat(chunks), answer, 'https', asked);
    respond(request.url === '/dns-query' ? 200 : 404, reply ?? Buffer.alloc(0));
  };
  const headers = { 'content-type': 'application/dns-message' };
  const server =
    version === 2
      ? createSecureServer({ cert: CERT, key: KEY }, (request, response) => {
          void handle(request, (status, body) => response.writeHead(status, headers).end(body));
        })
      : createHttpsServer({ cert: CERT, key: KEY }, (request, response) => {
          void handle(request, (status, body) => response.writeHead(status, headers).end(body));
        });
  const open = new Set<Socket>();
  server.on('secureConnection', (socket: Socket) => {
    connections++;
    open.add(socket);
  });
  const port = await listen(server);
  const drop = (): void => {
    for (const socket of open) socket.destroy();
  };
  return { port, asked, connections: () => connections, drop };
}

const resolver = (config: Partial<DnsConfig>, options: ResolverOptions = {}) =>
  createResolver({ nameservers: ['system'], ...config }, options);

async function failureOf(work: Promise<unknown>): Promise<DialError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof DialError) return error;
  throw new Error('did not fail as it should');
}

describe('configured resolver', () => {
  it('asks over UDP, and again over TCP if the reply is truncated', async () => {
    const { port, asked } = await nameServer((name, over) =>
      name === 'long.test' && over === 'udp' ? 'truncated' : ['1.2.3.4', '1.2.3.5'],
    );
    const dns = resolver({ nameservers: [`127.0.0.1:${port}`] });
    expect(await dns.resolve('Short.test.')).toEqual(['1.2.3.4', '1.2.3.5']);
    expect(await dns.resolve('long.test')).toEqual(['1.2.3.4', '1.2.3.5']);
    expect(asked).toEqual(['udp short.test', 'udp long.test', 'tcp long.test']);
    expect(await resolver({ nameservers: [`tcp://127.0.0.1:${port}`] }).resolve('c.test')).toHaveLength(2);
    expect(asked.at(-1)).toBe('tcp c.test');
  });

  it('caches answers and missing names, and asks once at a time', async () => {
    let now = 0;
    const { port, asked } = await nameServer((name) => (name === 'no.test' ? 'nxdomain' : ['1.2.3.4']));
    const dns = resolver({ nameservers: [`127.0.0.1:${port}`] }, { now: () => now });
    await Promise.all([dns.resolve('a.test'), dns.resolve('a.test'), dns.resolve('A.test')]);
    for (let i = 0; i < 2; i++) {
      expect((await failureOf(dns.resolve('no.test'))).message).toBe('no.test: no such name');
    }
    expect(asked).toEqual(['udp a.test', 'udp no.test']);
    now = 61_000;
    await dns.resolve('a.test');
    expect(asked).toHaveLength(3);
  });

  it('tries the next server if one fails in any way, but not if a name does not exist', async () => {
    const silent = await nameServer(() => 'silence');
    const failing = await nameServer(() => 'servfail');
    const mad = await nameServer(() => 'nonsense');
    const good = await nameServer((name) => (name === 'no.test' ? 'nxdomain' : ['9.9.9.9']));
    const closed = createSocket('udp4');
    closed.bind(0, '127.0.0.1');
    await once(closed, 'listening');
    const gone = closed.address().port;
    closed.close();
    const nameservers = [silent.port, failing.port, mad.port, gone, good.port].map((port) => `127.0.0.1:${port}`);
    const dns = resolver({ nameservers }, { attemptMs: 150 });
    expect(await dns.resolve('a.test')).toEqual(['9.9.9.9']);
    expect(silent.asked).toEqual(['udp a.test', 'udp a.test']);
    const first = resolver({ nameservers: [`127.0.0.1:${good.port}`, `127.0.0.1:${failing.port}`] });
    await failureOf(first.resolve('no.test'));
    expect(failing.asked).toEqual(['udp a.test']);
  });

  it('fails with a timeout within its time', async () => {
    const silent = await nameServer(() => 'silence');
    const started = performance.now();
    const dns = resolver(
      { nameservers: Array.from({ length: 8 }, () => `127.0.0.1:${silent.port}`) },
      { attemptMs: 100, timeoutMs: 250 },
    );
    expect(await failureOf(dns.resolve('a.test'))).toMatchObject({ stage: 'dns', kind: 'timeout' });
    expect(performance.now() - started).toBeLessThan(2000);
    const one = resolver({ nameservers: [`127.0.0.1:${silent.port}`] }, { attemptMs: 50 });
    expect(await failureOf(one.resolve('a.test'))).toMatchObject({ stage: 'dns', kind: 'timeout' });
  });

  it('does not accept a reply to another question', async () => {
    const { port } = await nameServer(() => ['6.6.6.6']);
    const other = await nameServer(() => ['1.1.1.1']);
    const liar = createSocket('udp4');
    liar.on('message', (query, from) => {
      const forged = Buffer.from(query);
      forged.writeUInt16BE((query.readUInt16BE(0) + 1) & 0xffff, 0);
      const reply = replyTo(forged, () => ['6.6.6.6'], 'udp', []);
      if (reply) liar.send(reply, from.port, from.address);
    });
    liar.bind(0, '127.0.0.1');
    await once(liar, 'listening');
    closers.push(() => liar.close());
    const nameservers = [`127.0.0.1:${liar.address().port}`, `127.0.0.1:${other.port}`];
    expect(await resolver({ nameservers }, { attemptMs: 100 }).resolve('a.test')).toEqual(['1.1.1.1']);
    expect(port).toBeGreaterThan(0);
  });

  it.each([1, 2] as const)(
    'asks over HTTPS, HTTP/%d, by the bootstrap servers, with the certificate checked',
    async (version) => {
      const bootstrap = await nameServer((name) => (name === 'proxy.test' ? ['127.0.0.1'] : 'nxdomain'));
      const doh = await dohServer((name) => (name === 'no.test' ? 'nxdomain' : ['5.5.5.5']), version);
      const config = {
        nameservers: [`https://proxy.test:${doh.port}/dns-query`],
        bootstrap: [`127.0.0.1:${bootstrap.port}`],
      };
      const dns = resolver(config, { ca: CERT });
      expect(await dns.resolve('a.test')).toEqual(['5.5.5.5']);
      expect(await dns.resolve('b.test')).toEqual(['5.5.5.5']);
      await failureOf(dns.resolve('no.test'));
      expect(doh.asked).toEqual(['https a.test', 'https b.test', 'https no.test']);
      expect(bootstrap.asked).toEqual(['udp proxy.test']);
      if (version === 2) expect(doh.connections()).toBeLessThan(4);
      expect(await failureOf(resolver(config).resolve('a.test'))).toMatchObject({ stage: 'dns' });
      const wrongPath = { ...config, nameservers: [`https://proxy.test:${doh.port}/other`] };
      expect(await failureOf(resolver(wrongPath, { ca: CERT }).resolve('a.test'))).toMatchObject({ kind: 'dns_error' });
    },
  );

  it('keeps an HTTPS connection for later questions, and opens another if it is closed', async () => {
    const doh = await dohServer(() => ['5.5.5.5'], 2);
    const exchange = exchangeHttps({
      host: 'proxy.test',
      port: doh.port,
      url: new URL(`https://proxy.test:${doh.port}/dns-query`),
      addresses: () => Promise.resolve(['127.0.0.1']),
      ca: CERT,
    });
    const ask = (signal: AbortSignal) => exchange(encodeQuestion(1, 'a.test', TYPE.A), () => true, signal);
    const first = new AbortController();
    await ask(first.signal);
    first.abort();
    await ask(new AbortController().signal);
    expect(doh.connections()).toBe(1);
    doh.drop();
    await ask(new AbortController().signal);
    expect(doh.connections()).toBe(2);
    const given = new AbortController();
    given.abort(new Error('given up'));
    await expect(ask(given.signal)).rejects.toThrow();
  });

  it('asks other servers by domain, the most specific first, and gives fixed answers', async () => {
    const [general, inner, exact] = await Promise.all(
      ['1.1.1.1', '2.2.2.2', '3.3.3.3'].map((ip) => nameServer(() => [ip])),
    );
    const at = (server: TestServer | undefined) => [`127.0.0.1:${server?.port}`];
    const dns = resolver({
      nameservers: at(general),
      policy: { '+.corp.test, +.lan.test': at(inner), 'www.corp.test': at(exact), '*.a.corp.test': at(exact) },
      hosts: { 'router.test': ['192.168.0.1'], '+.fixed.test': ['10.0.0.1', '::1'] },
    });
    const answers = await Promise.all(
      ['x.test', 'corp.test', 'mail.corp.test', 'www.corp.test', 'y.lan.test', 'b.a.corp.test', 'c.b.a.corp.test'].map(
        async (name) => (await dns.resolve(name))[0],
      ),
    );
    expect(answers).toEqual(['1.1.1.1', '2.2.2.2', '2.2.2.2', '3.3.3.3', '2.2.2.2', '3.3.3.3', '2.2.2.2']);
    expect(await dns.resolve('router.test')).toEqual(['192.168.0.1']);
    expect(await dns.resolve('deep.under.fixed.test')).toEqual(['10.0.0.1', '::1']);
  });

  it.each<[Partial<DnsConfig>, string]>([
    [{ nameservers: [] }, 'dns.nameservers'],
    [{ nameservers: ['system', 'quic://1.1.1.1'] }, 'dns.nameservers[1]'],
    [{ nameservers: ['udp://1.1.1.1/path'] }, 'dns.nameservers[0]'],
    [{ nameservers: ['https://user@dns.test/'] }, 'dns.nameservers[0]'],
    [{ nameservers: ['1.1.1.1:99999'] }, 'dns.nameservers[0]'],
    [{ bootstrap: ['dns.test'] }, 'dns.bootstrap[0]'],
    [{ policy: { 'a b': ['1.1.1.1'] } }, 'dns.policy["a b"]'],
    [{ policy: { 'a.test': ['x y'] } }, 'dns.policy["a.test"][0]'],
    [{ hosts: { 'a.test': ['b.test'] } }, 'dns.hosts["a.test"]'],
  ])('refuses %j', (config, path) => {
    let found: unknown = null;
    try {
      resolver(config);
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(KernelConfigError);
    expect((found as KernelConfigError).path).toBe(path);
  });
});
