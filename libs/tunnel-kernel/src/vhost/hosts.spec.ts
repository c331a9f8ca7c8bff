import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig, textOf, readUntilEnd } from '../../test/host-rig.js';
import type { VisitorVerifier } from '../access/visitor-verifier.js';

let rig: HostRig;
afterEach(() => rig.close());

const GET = 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n';

/** A target that answers with what it got. */
async function mirror(): Promise<number> {
  return rig.origin((asked, response) => {
    let body = '';
    asked.setEncoding('latin1');
    asked.on('data', (part: string) => (body += part));
    asked.on('end', () => {
      const { method, url, headers } = asked;
      response.end(JSON.stringify({ method, url, headers, body }));
    });
  });
}

describe('a host', () => {
  it.each([false, true])('is served by its target; data channels in TLS: %s', async (encrypt) => {
    rig = await HostRig.start({}, { encrypt });
    await rig.serve(rig.hostConfig([await mirror()]));
    const answer = await rig.ask({ method: 'POST', path: '/x?y=1', headers: { 'X-Mine': 'z' }, body: 'hello' });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({
      method: 'POST',
      url: '/x?y=1',
      body: 'hello',
      headers: {
        host: 'a.test',
        connection: 'keep-alive',
        'content-length': '5',
        'x-mine': 'z',
        'x-forwarded-for': '127.0.0.1',
        'x-real-ip': '127.0.0.1',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': 'a.test',
        'x-forwarded-port': String(rig.http),
      },
    });
  });

  it('does not get the withheld cookies in any version of HTTP, and gets all others unchanged', async () => {
    rig = await HostRig.start({ withheldCookies: ['gw_session', 'site'] });
    await rig.serve(rig.hostConfig([await mirror()]));
    const seen = async (cookie: string): Promise<unknown> => {
      const { body } = await rig.ask({ headers: { cookie } });
      return (JSON.parse(body) as { headers: Record<string, string> }).headers['cookie'];
    };
    expect(await seen('a=1; gw_session=x; b="2;3"; __Host-site=y;c=gw_session')).toBe('a=1; b="2;3";c=gw_session');
    expect(await seen('__Host-gw_session=x; site=y; gw_session=z')).toBeUndefined();
    for (const other of ['my_gw_session=1; website=2', 'flag; a=b=c;  d', 'gw_sessions=1']) {
      expect(await seen(other)).toBe(other);
    }
  });

  it('is found only by its name and location', async () => {
    rig = await HostRig.start();
    const [one, two] = [await rig.origin((_, r) => r.end('one')), await rig.origin((_, r) => r.end('two'))];
    await rig.serve(rig.hostConfig([one]), rig.hostConfig([two], { id: 13, host: '*.test', location: '/api' }));
    const bodies = await Promise.all(
      [{ host: 'A.TEST.:80' }, { host: 'b.test', path: '/api/x' }, { host: 'a.test', path: '/api' }].map((asked) =>
        rig.ask(asked),
      ),
    );
    expect(bodies.map(({ body }) => body)).toEqual(['one', 'two', 'one']);
    for (const asked of [{ host: 'b.test' }, { host: 'other.example' }, { host: 'b.test', path: '/apix' }]) {
      expect(await rig.ask(asked)).toMatchObject({ status: 404, headers: { 'x-gw-error': 'no_host' }, body: '' });
    }
  });

  it('changes the header fields in its configuration', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((asked, response) => {
      response.setHeader('Server', 'secret');
      response.setHeader('X-Own', 'target');
      response.setHeader('Set-Cookie', ['a=1', 'b=2']);
      response.end(JSON.stringify(asked.headers));
    });
    await rig.serve(
      rig.hostConfig([port], {
        rewriteHost: 'inner.local:8080',
        requestHeaders: { 'X-Key': 'k', 'User-Agent': '', 'Transfer-Encoding': 'x', 'X-Real-IP': 'hidden' },
        responseHeaders: { server: '', 'X-Own': 'gateway', 'Content-Length': '1' },
      }),
    );
    const answer = await rig.ask({ headers: { 'x-key': 'visitor', 'User-Agent': 'curl' } });
    const got = JSON.parse(answer.body) as Record<string, string>;
    expect(got).toMatchObject({ host: 'inner.local:8080', 'x-key': 'k', 'x-real-ip': 'hidden' });
    expect(got).not.toHaveProperty('user-agent');
    expect(got['x-forwarded-host']).toBe('a.test');
    expect(answer.headers).toMatchObject({ 'x-own': 'gateway', 'set-cookie': ['a=1', 'b=2'] });
    expect(answer.headers).not.toHaveProperty('server');
  });

  it('trusts forwarded addresses of trusted proxies, from the right', async () => {
    rig = await HostRig.start({}, { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] });
    await rig.serve(rig.hostConfig([await mirror()]));
    const { body } = await rig.ask({
      headers: {
        'X-Forwarded-For': '6.6.6.6, 203.0.113.7, 10.1.1.1',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'public.example',
        'X-Forwarded-Port': '8443',
        'X-Real-IP': '6.6.6.6',
      },
    });
    expect((JSON.parse(body) as { headers: unknown }).headers).toMatchObject({
      'x-forwarded-for': '6.6.6.6, 203.0.113.7, 10.1.1.1, 127.0.0.1',
      'x-real-ip': '203.0.113.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'public.example',
      'x-forwarded-port': '8443',
    });
    await waitFor(() => rig.records.length === 1);
    expect(rig.records[0]?.visitor.address).toBe('203.0.113.7');
  });

  it('passes on all kinds of responses', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((asked, response) => {
      if (asked.url === '/204') return void response.writeHead(204).end();
      if (asked.url === '/304') return void response.writeHead(304, { ETag: '"x"', 'Content-Length': '9' }).end();
      if (asked.url === '/head') return void response.writeHead(200, { 'Content-Length': '1234' }).end();
      if (asked.url === '/reason')
        return void response.writeHead(299, 'Odd But Fine', { 'X-Latin': 'caf\u00e9' }).end('x');
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(200, { Trailer: 'X-Sum' });
      response.write('one,');
      response.addTrailers({ 'X-Sum': '7' });
      response.end('two');
    });
    await rig.serve(rig.hostConfig([port]));
    expect(await rig.ask({ path: '/204' })).toMatchObject({ status: 204, body: '' });
    expect(await rig.ask({ path: '/304' })).toMatchObject({ status: 304, headers: { etag: '"x"' }, body: '' });
    expect(await rig.ask({ path: '/head', method: 'HEAD' })).toMatchObject({
      status: 200,
      headers: { 'content-length': '1234' },
      body: '',
    });
    const answer = await rig.raw(GET.replace('/ ', '/full '));
    expect(answer).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nlink: <\/style\.css>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n/i,
    );
    expect(answer).toMatch(/\r\n0\r\nX-Sum: 7\r\n\r\n$/i);
    const odd = await rig.raw(GET.replace('/ ', '/reason '));
    expect(odd).toMatch(/^HTTP\/1\.1 299 Odd But Fine\r\n/);
    expect(odd).toContain('caf\u00e9');
    const old = await rig.raw('GET /full HTTP/1.0\r\nHost: a.test\r\n\r\n');
    expect(old).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(old).toMatch(/\r\n\r\none,two$/);
  });

  it('sends the head of a response before a slow body', async () => {
    rig = await HostRig.start();
    let finish = (): void => undefined;
    const port = await rig.origin((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      finish = () => response.end('data: x\n\n');
    });
    await rig.serve(rig.hostConfig([port]));
    const asked = request({ port: rig.http, host: '127.0.0.1', headers: { host: 'a.test' } }).end();
    const [answer] = (await once(asked, 'response')) as [NodeJS.ReadableStream];
    finish();
    const [part] = (await once(answer, 'data')) as [Buffer];
    expect(part.toString()).toBe('data: x\n\n');
  });

  it('answers Expect: 100-continue when the target wants the body, not before', async () => {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([await mirror()]), rig.hostConfig([1], { id: 13, host: 'dead.test' }));
    const ask = (host: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ port: rig.http, host: '127.0.0.1', allowHalfOpen: true });
        let read = '';
        socket.on('data', (part: Buffer) => {
          read += part.toString('latin1');
          if (read.endsWith('100 Continue\r\n\r\n')) socket.write('hello');
        });
        socket.on('end', () => socket.end());
        socket.on('close', () => resolve(read));
        socket.write(
          `PUT / HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-Continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n`,
        );
      });
    expect(await ask('a.test')).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    expect(await ask('dead.test')).toMatch(/^HTTP\/1\.1 502 /);
  });

  it('redirects to https', async () => {
    rig = await HostRig.start({
      publicHttpsPort: 443,
      acmeChallenge: (token) => (token === 'tok-1' ? 'tok-1.key' : null),
    });
    await rig.serve(rig.hostConfig([1], { redirectToHttps: true }));
    expect(await rig.ask({ path: '/x?y', method: 'POST', body: 'z' })).toMatchObject({
      status: 308,
      headers: { location: 'https://a.test/x?y' },
    });
    const challenge = { host: 'anything.test', path: '/.well-known/acme-challenge/tok-1' };
    expect(await rig.ask(challenge)).toMatchObject({ status: 200, body: 'tok-1.key' });
    expect((await rig.ask({ ...challenge, path: '/.well-known/acme-challenge/other' })).status).toBe(404);
  });
});

describe('a target that does not answer', () => {
  it('causes a status with the reason', async () => {
    rig = await HostRig.start({ timeouts: { answer: 1000 } });
    const silent = await rig.target(() => undefined);
    const rude = await rig.target((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const liar = await rig.target((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n')));
    await rig.serve(
      rig.hostConfig([1], { id: 1, host: 'refused.test' }),
      rig.hostConfig([silent], { id: 2, host: 'silent.test' }),
      rig.hostConfig([rude], { id: 3, host: 'rude.test' }),
      rig.hostConfig([liar], { id: 4, host: 'liar.test' }),
      rig.hostConfig([silent], { id: 5, host: 'offline.test', clientId: 99 }),
    );
    const ask = async (host: string): Promise<[number, unknown]> => {
      const { status, headers } = await rig.ask({ host });
      return [status, headers['x-gw-error']];
    };
    expect(await ask('refused.test')).toEqual([502, 'target_refused']);
    expect(await ask('silent.test')).toEqual([504, 'target_timeout']);
    expect(await ask('rude.test')).toEqual([502, 'bad_response']);
    expect(await ask('liar.test')).toEqual([502, 'bad_response']);
    // A client that the configuration does not have.
    expect(await ask('offline.test')).toEqual([503, 'client_disabled']);
  });

  it('is explained on a page for people', async () => {
    rig = await HostRig.start();
    rig.client();
    await rig.serve(rig.hostConfig([1]), rig.hostConfig([1], { id: 13, host: 'b.test', clientId: 2 }));
    const html = await rig.ask({ headers: { accept: 'text/html,*/*' } });
    expect(html.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(html.body).toContain('<h1>Bad gateway</h1>');
    expect((await rig.ask()).body).toBe('');
    expect((await rig.ask({ host: 'b.test' })).headers).toMatchObject({
      'x-gw-error': 'agent_offline',
      'retry-after': '5',
    });
  });

  it.each([
    [undefined, 'en', 'Bad gateway', 'The site could not be reached.'],
    ['en-GB,zh;q=0.5', 'en', 'Bad gateway', 'The site could not be reached.'],
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN', '网关错误', '无法连接到此网站。'],
  ])('is explained to a reader of %s in %s', async (wanted, language, title, text) => {
    rig = await HostRig.start();
    rig.client();
    await rig.serve(rig.hostConfig([1]));
    // The cookie of the consoles is not read on hosts of other people.
    const cookie = `gatehouse_language=${language === 'en' ? 'zh-CN' : 'en'}`;
    const headers = { accept: 'text/html', cookie, ...(wanted && { 'accept-language': wanted }) };
    const page = await rig.ask({ headers });
    expect(page.headers).toMatchObject({ 'content-language': language, 'cache-control': 'no-store' });
    expect(page.headers['vary']).toContain('accept-language');
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(textOf(page)).toContain(`<html lang="${language}">`);
    expect(textOf(page)).toContain(`<h1>${title}</h1>`);
    expect(textOf(page)).toContain(`<p>${text}</p>`);
    expect(page.body).not.toMatch(/<script|src=|href=|url\(/);
  });

  it('is replaced by another target', async () => {
    rig = await HostRig.start();
    const port = await mirror();
    await rig.serve(rig.hostConfig([1, port]));
    for (let at = 0; at < 4; at++) {
      expect((await rig.ask({ method: 'POST', body: 'once' })).body).toContain('"body":"once"');
    }
    // The one that is dead was tried once and is left alone since.
    expect(rig.failures).toEqual(['refused']);
  });

  it('causes a reset, so that a cut response does not look complete', async () => {
    rig = await HostRig.start();
    const cut = await rig.target((socket) =>
      socket.once('data', (head: Buffer) => {
        const length = head.includes('/length') ? 'Content-Length: 100\r\n' : '';
        const chunked = head.includes('/chunks') ? 'Transfer-Encoding: chunked\r\n' : '';
        socket.write(`HTTP/1.1 200 OK\r\n${length}${chunked}\r\n${chunked ? '4\r\n' : ''}part`, () => {
          setTimeout(() => socket.resetAndDestroy(), 20);
        });
      }),
    );
    await rig.serve(rig.hostConfig([cut]));
    for (const path of ['/length', '/chunks', '/end']) {
      await expect(rig.ask({ path })).rejects.toThrow();
    }
  });

  it('is asked again if its idle connection was closed', async () => {
    rig = await HostRig.start();
    const sockets: Socket[] = [];
    let asked = 0;
    const port = await rig.target((socket) => {
      sockets.push(socket);
      socket.on('data', () => {
        asked += 1;
        // The second request on the first connection meets a target that has just let go of it.
        if (socket === sockets[0] && asked === 2) socket.destroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    await rig.serve(rig.hostConfig([port]));
    expect((await rig.ask()).body).toBe('ok');
    expect((await rig.ask()).body).toBe('ok');
    expect([asked, sockets.length]).toEqual([3, 2]);
    expect((await rig.ask({ method: 'POST', body: 'x' })).body).toBe('ok');
  });
});

describe('an agent that disconnects', () => {
  it('takes along nothing that the next agent cannot serve', async () => {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([await mirror()]));
    expect((await rig.ask()).status).toBe(200);
    await rig.served?.stop();
    await waitFor(() => rig.server.agents().length === 0);
    expect(await rig.ask()).toMatchObject({ status: 503, headers: { 'x-gw-error': 'agent_offline' } });
    rig.agent(rig.owner.key);
    await rig.online(rig.owner.record.id);
    expect((await rig.ask({ method: 'POST', body: 'again' })).body).toContain('"body":"again"');
  });
});

describe('bodies', () => {
  const SIZE = 64 * 1024 * 1024;

  it('are transferred at the speed of the slower end, with limited memory', async () => {
    rig = await HostRig.start();
    let received = 0;
    let sent = 0;
    const port = await rig.origin((asked, response) => {
      if (asked.method === 'PUT') {
        asked.on('data', (part: Buffer) => (received += part.length));
        asked.pause();
        setTimeout(() => asked.resume(), 300);
        return void asked.on('end', () => response.end('done'));
      }
      const part = Buffer.alloc(64 * 1024);
      const more = (): void => {
        while (sent < SIZE) {
          sent += part.length;
          if (!response.write(part)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    await rig.serve(rig.hostConfig([port]));

    const upload = request({ port: rig.http, host: '127.0.0.1', method: 'PUT', headers: { host: 'a.test' } });
    const part = Buffer.alloc(256 * 1024);
    for (let at = 0; at < SIZE; at += part.length) if (!upload.write(part)) await once(upload, 'drain');
    upload.end();
    const [done] = (await once(upload, 'response')) as [NodeJS.ReadableStream];
    done.resume();
    expect(received).toBe(SIZE);

    const download = request({ port: rig.http, host: '127.0.0.1', headers: { host: 'a.test' } }).end();
    const [answer] = (await once(download, 'response')) as [NodeJS.ReadableStream];
    await new Promise((resolve) => setTimeout(resolve, 300));
    // What the sockets and buffers in between can hold.
    expect(sent).toBeLessThan(SIZE / 2);
    let got = 0;
    for await (const chunk of answer) got += (chunk as Buffer).length;
    expect(got).toBe(SIZE);
    await waitFor(() => rig.records.length === 2);
    expect(rig.records[0]?.upload).toBeGreaterThan(SIZE);
    expect(rig.records[1]?.download).toBeGreaterThan(SIZE);
  });

  it('end at the target when the visitor leaves, in both directions', async () => {
    rig = await HostRig.start();
    const ends: string[] = [];
    const port = await rig.origin((asked, response) => {
      asked.on('aborted', () => ends.push(`up ${asked.url}`));
      response.on('close', () => !response.writableFinished && ends.push(`down ${asked.url}`));
      asked.resume();
      if (asked.url === '/down') response.write('x');
    });
    await rig.serve(rig.hostConfig([port]));
    const up = connect(rig.http, '127.0.0.1');
    up.write('POST /up HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\npart');
    const down = connect(rig.http, '127.0.0.1');
    down.write('GET /down HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await once(down, 'data');
    await waitFor(() => rig.server.flows === 2);
    up.destroy();
    down.destroy();
    await waitFor(() => ends.includes('up /up') && ends.includes('down /down') && rig.server.flows === 0);
    expect(rig.records.map(({ reason }) => reason)).toEqual(['client_error', 'client_error']);
  });

  it('of requests that were answered early are not awaited', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((_, response) => response.writeHead(413, { Connection: 'close' }).end('too much'));
    await rig.serve(rig.hostConfig([port]));
    const answer = await rig.raw(
      'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\nx',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('visitors that leave at any moment', () => {
  it('leave nothing behind', async () => {
    rig = await HostRig.start();
    let open = 0;
    const port = await rig.origin((asked, response) => {
      open += 1;
      response.on('close', () => (open -= 1));
      asked.resume();
      const part = Buffer.alloc(100_000);
      const more = (): void => void (response.write(part) ? setImmediate(more) : response.once('drain', more));
      if (asked.url === '/endless') more();
    });
    await rig.serve(rig.hostConfig([port]));
    const heads = [
      'GET /endless HTTP/1.1\r\nHost: a.test\r\n\r\n',
      'GET /silent HTTP/1.1\r\nHost: a.test\r\n\r\n',
      `PUT /silent HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(100_000)}`,
      'GET /silent HTTP/1.1\r\nHost: a.test\r\n\r\n'.repeat(3),
      'GET /half HTTP/1.1\r\nHo',
    ];
    for (let at = 0; at < 200; at++) {
      const socket = connect(rig.http, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(heads[at % heads.length] ?? '');
      // From before anything was read until after some of an answer was.
      for (let turns = at % 7; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      if (at % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      if (at % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
    await waitFor(() => rig.server.flows === 0 && open === 0);
    const config = rig.config({ hosts: [rig.hostConfig([await mirror()])] });
    for (const client of config.clients) client.maxConnections = 1;
    await rig.server.apply(config);
    // No connection is left.
    expect((await rig.ask()).status).toBe(200);
  });
});

describe('visitors', () => {
  it('use one connection of the client while they are being answered', async () => {
    rig = await HostRig.start();
    let finish = (): void => undefined;
    const port = await rig.origin((_, response) => {
      response.write('x');
      finish = () => response.end();
    });
    const config = rig.config({ hosts: [rig.hostConfig([port])] });
    for (const client of config.clients) client.maxConnections = 1;
    await rig.server.apply(config);
    const first = request({ port: rig.http, host: '127.0.0.1', headers: { host: 'a.test' } }).end();
    const [answer] = (await once(first, 'response')) as [NodeJS.ReadableStream];
    expect(await rig.ask()).toMatchObject({ status: 429, headers: { 'x-gw-error': 'max_conn', 'retry-after': '1' } });
    finish();
    answer.resume();
    await waitFor(() => rig.server.flows === 0);
    const second = rig.ask();
    await waitFor(() => rig.server.flows === 1);
    finish();
    expect((await second).status).toBe(200);
  });

  it('are cut when the client is disabled, and get no more bytes', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((_, response) => void response.write('x'));
    await rig.serve(rig.hostConfig([port]));
    const socket = connect(rig.http, '127.0.0.1');
    const ended = readUntilEnd(socket, GET);
    await once(socket, 'data');
    rig.owner.record.enabled = false;
    await rig.serve(rig.hostConfig([port]));
    expect(await ended).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(rig.server.flows).toBe(0);
    expect(await rig.ask()).toMatchObject({ status: 503, headers: { 'x-gw-error': 'client_disabled' } });
  });

  it('from a denied address get no hint', async () => {
    rig = await HostRig.start();
    const hosts = [rig.hostConfig([1])];
    const deny = {
      id: 1,
      scope: 'host',
      resourceId: 12,
      type: 'deny',
      kind: 'exact',
      pattern: '127.0.0.1',
      priority: 1,
    };
    await rig.server.apply(rig.config({ hosts, ipRules: [deny as never] }));
    const { status, body, headers } = await rig.ask({ headers: { accept: 'text/html' } });
    expect([status, body, headers['x-gw-error']]).toEqual([403, '', undefined]);
  });

  it('are counted byte by byte', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((_, response) => {
      response.sendDate = false;
      response.writeHead(200, { 'Content-Length': '5', Connection: 'close' }).end('hello');
    });
    await rig.serve(rig.hostConfig([port]));
    const text = 'GET /x HTTP/1.1\r\nHost: a.test\r\nA: b\r\n\r\n';
    await rig.ask({ path: '/x', headers: { A: 'b' } });
    await waitFor(() => rig.records.length === 1);
    const [record] = rig.records;
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n';
    expect(record).toMatchObject({ resource: { kind: 'host', id: 12 }, reason: 'remote_closed' });
    expect(record?.upload).toBe(text.length + 'Connection: close\r\n'.length);
    expect(record?.download).toBe(head.length + 5);
    expect(rig.server.takeDeltas()).toMatchObject([
      { connections: 1, upload: record?.upload, download: record?.download },
    ]);
  });

  it('are counted byte by byte where the gateway answers itself', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((request) => void request.socket.destroy());
    await rig.serve(rig.hostConfig([port]));
    const socket = connect(rig.http, '127.0.0.1');
    socket.write('POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi');
    const parts: Buffer[] = [];
    for await (const part of socket) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    expect(text).toContain('HTTP/1.1 502 Bad Gateway\r\n');
    await waitFor(() => rig.records.length === 1);
    expect(rig.records[0]?.download).toBe(text.length - 'Connection: close\r\n'.length);
  });

  it('are verified before any of their bytes reaches a target', async () => {
    const verifier: VisitorVerifier = {
      allows: () => true,
      checkPassword: () => false,
      guards: () => true,
      verify: async (asked) => {
        if (asked.target.startsWith('/__gw/auth')) {
          const body = await asked.readBody(100);
          return {
            allowed: false,
            answer: { status: 303, headers: [['set-cookie', `seen=${body.toString()}`]], body: '' },
          };
        }
        if (asked.headers.cookie !== 'ok=1')
          return { allowed: false, answer: { status: 401, headers: [], body: 'who?' } };
        return {
          allowed: true,
          dropHeaders: ['cookie', 'authorization'],
          requestHeaders: [['X-User', 'me']],
          responseHeaders: [['Set-Cookie', 'fresh=1']],
        };
      },
    };
    rig = await HostRig.start({}, { verifier });
    await rig.serve(rig.hostConfig([await mirror()]));
    expect(await rig.ask()).toMatchObject({ status: 401, body: 'who?' });
    expect(await rig.ask({ method: 'POST', path: '/__gw/auth/1', body: 'pw=x' })).toMatchObject({
      status: 303,
      headers: { 'set-cookie': ['seen=pw=x'] },
    });
    expect((await rig.ask({ method: 'POST', path: '/__gw/auth/1', body: 'x'.repeat(101) })).status).toBe(413);
    const headers = { cookie: 'ok=1', authorization: 'Basic x', 'x-user': 'root' };
    const answer = await rig.ask({ method: 'POST', body: 'payload', headers });
    const got = JSON.parse(answer.body) as { headers: Record<string, string>; body: string };
    expect(got.body).toBe('payload');
    expect(got.headers).toMatchObject({ 'x-user': 'me' });
    expect(got.headers).not.toHaveProperty('cookie');
    expect(got.headers).not.toHaveProperty('authorization');
    expect(answer.headers['set-cookie']).toEqual(['fresh=1']);
    for (const path of ['/__gw/x', '//__gw/x', '/__gw%2fx', '/x/../__gw/', '/__gw']) {
      expect((await rig.ask({ path, headers })).status).toBe(404);
    }
  });

  it('share the rate of the client', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((_, response) => response.end(Buffer.alloc(96 * 1024)));
    const config = rig.config({ hosts: [rig.hostConfig([port])] });
    for (const client of config.clients) client.rateLimit = 64 * 1024;
    await rig.server.apply(config);
    const started = performance.now();
    const answers = await Promise.all([rig.ask(), rig.ask()]);
    const seconds = (performance.now() - started) / 1000;
    expect(answers.map(({ body }) => body.length)).toEqual([96 * 1024, 96 * 1024]);
    // 192 KiB at 64 KiB a second, one second's worth at once; the last part goes before it is waited for.
    expect(seconds).toBeGreaterThan(0.5);
  });
});

describe('a server that drains', () => {
  it('finishes open requests and accepts no new ones', async () => {
    rig = await HostRig.start();
    let finish = (): void => undefined;
    const port = await rig.origin((_, response) => {
      response.write('x');
      finish = () => response.end('y');
    });
    await rig.serve(rig.hostConfig([port]));
    const socket = connect(rig.http, '127.0.0.1');
    const read = readUntilEnd(socket, GET.replace('Connection: close\r\n', ''));
    await once(socket, 'data');
    const idle = connect(rig.http, '127.0.0.1');
    await once(idle, 'connect');
    const idleEnd = readUntilEnd(idle, '');
    const drained = rig.server.drain({ spreadMs: 1000, deadlineMs: 5000 });
    await idleEnd;
    finish();
    expect(await read).toMatch(/x\r\n1\r\ny\r\n0\r\n\r\n$/);
    await drained;
    await expect(rig.ask()).rejects.toThrow('ECONNREFUSED');
  });
});
