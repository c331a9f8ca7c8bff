import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TunnelRig } from '../../../test/tunnel-rig.js';
import type { FileRoot } from '../../index.js';

let rig: TunnelRig;
let folder: string;
let root: string;
let port: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'));
  root = join(folder, 'shared');
  mkdirSync(join(root, 'sub dir'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), 'not yours');
  writeFileSync(join(root, 'hello.txt'), 'hello, world');
  writeFileSync(join(root, 'sub dir', 'a & b.html'), '<p>x');
  rig = new TunnelRig();
  await rig.listen();
});
afterEach(async () => {
  await rig.close();
  rmSync(folder, { recursive: true });
});

async function share(more: Partial<FileRoot> = {}, fileRoots = [folder]): Promise<void> {
  rig.agent(rig.client().key, { fileRoots });
  await rig.online(1);
  const file = { path: root, readOnly: true, stripPrefix: '', ...more };
  port = await rig.tunnel(1, [], { mode: 'file', file });
}

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

function ask(path: string, options: RequestOptions = {}, body?: Buffer | string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false, ...options }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}

const statusOf = async (path: string, options: RequestOptions = {}): Promise<number> =>
  (await ask(path, options)).status;

describe('mode file', () => {
  it('serves files with type, length and validators', async () => {
    await share();
    const { status, headers, body } = await ask('/hello.txt');
    expect([status, String(body)]).toEqual([200, 'hello, world']);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '12',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    });
    expect(await statusOf('/hello.txt', { headers: { 'if-none-match': `"x", ${headers.etag}` } })).toBe(304);
    expect(await statusOf('/hello.txt', { headers: { 'if-modified-since': headers['last-modified'] } })).toBe(304);
    expect(await statusOf('/hello.txt', { headers: { 'if-none-match': '"x"' } })).toBe(200);
    expect((await ask('/hello.txt', { method: 'HEAD' })).body).toHaveLength(0);
  });

  it('serves ranges', async () => {
    await share();
    const part = await ask('/hello.txt', { headers: { range: 'bytes=7-' } });
    expect([part.status, String(part.body), part.headers['content-range']]).toEqual([206, 'world', 'bytes 7-11/12']);
    expect(await statusOf('/hello.txt', { headers: { range: 'bytes=12-' } })).toBe(416);
    const stale = { range: 'bytes=7-', 'if-range': '"another"' };
    expect(await statusOf('/hello.txt', { headers: stale })).toBe(200);
    const fresh = { range: 'bytes=7-', 'if-range': part.headers.etag };
    expect(await statusOf('/hello.txt', { headers: fresh })).toBe(206);
  });

  it('lists directories and escapes names', async () => {
    writeFileSync(join(root, '<img src=x>.txt'), '');
    writeFileSync(join(root, 'javascript:alert(1)'), '');
    await share();
    expect(await ask('/sub%20dir?x=1')).toMatchObject({ status: 301, headers: { location: './sub%20dir/?x=1' } });
    const { headers, body } = await ask('/');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(String(body)).toContain('href="./sub%20dir/"');
    expect(String(body)).toContain('&#60;img src=x&#62;.txt');
    expect(String(body)).toContain('href="./javascript%3Aalert(1)"');
    expect(String((await ask('/sub%20dir/')).body)).toContain('a &#38; b.html');
    writeFileSync(join(root, 'index.html'), 'the index');
    expect(String((await ask('/')).body)).toBe('the index');
  });

  it('strips a prefix', async () => {
    await share({ stripPrefix: '/web/' });
    expect(String((await ask('/web/hello.txt')).body)).toBe('hello, world');
    expect(await statusOf('/web')).toBe(301);
    expect(await statusOf('/webhello.txt')).toBe(404);
    expect(await statusOf('/hello.txt')).toBe(404);
  });

  it.each([
    ['/../secret.txt', 400],
    ['/%2e%2e/secret.txt', 400],
    ['/..%2fsecret.txt', 400],
    ['/sub%20dir/%2e%2e/%2e%2e/secret.txt', 400],
    ['/..%5csecret.txt', 400],
    ['/hello.txt%00.png', 400],
    ['/%ff', 400],
    ['/away/secret.txt', 404],
    ['/away', 404],
    ['/link.txt', 404],
    ['/nothing', 404],
    ['/hello.txt/x', 404],
  ])('does not lead out of the directory: %s', async (path, status) => {
    symlinkSync(folder, join(root, 'away'));
    symlinkSync(join(folder, 'secret.txt'), join(root, 'link.txt'));
    await share();
    const reply = await ask(path);
    expect(reply.status).toBe(status);
    expect(String(reply.body)).not.toContain('not yours');
  });

  it('follows links that stay inside', async () => {
    symlinkSync(join(root, 'hello.txt'), join(root, 'also.txt'));
    await share();
    expect(await statusOf('/also.txt')).toBe(200);
  });

  it.each([
    ['of which the agent says nothing', []],
    ['beside the one that the agent shares', ['/usr']],
  ])('serves nothing from a directory %s', async (_, fileRoots) => {
    await share({}, fileRoots);
    expect(await statusOf('/hello.txt')).toBe(403);
  });

  it('does not block on something that is not a regular file', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await share();
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask('/pipe')));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 403));
    expect((await ask('/hello.txt')).status).toBe(200);
  });

  it('refuses to write to a read-only directory', async () => {
    await share();
    for (const method of ['PUT', 'DELETE', 'MKCOL', 'POST', 'PATCH']) {
      const reply = await ask('/hello.txt', { method }, method === 'PUT' ? 'x' : undefined);
      expect([method, reply.status, reply.headers.allow]).toEqual([method, 405, 'GET, HEAD, OPTIONS']);
    }
    expect(readFileSync(join(root, 'hello.txt'), 'utf8')).toBe('hello, world');
  });

  it('writes, creates and deletes if writing is allowed', async () => {
    await share({ readOnly: false });
    expect((await ask('/new.txt', { method: 'PUT' }, 'one')).status).toBe(201);
    expect((await ask('/new.txt', { method: 'PUT' }, 'two')).status).toBe(204);
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe('two');
    expect(await statusOf('/made/', { method: 'MKCOL' })).toBe(201);
    expect(await statusOf('/made', { method: 'MKCOL' })).toBe(405);
    expect((await ask('/made/a', { method: 'PUT' }, 'x')).status).toBe(201);
    expect(await statusOf('/made/', { method: 'DELETE' })).toBe(409);
    expect(await statusOf('/made/a', { method: 'DELETE' })).toBe(204);
    expect(await statusOf('/made/', { method: 'DELETE' })).toBe(204);
    expect((await ask('/nowhere/a', { method: 'PUT' }, 'x')).status).toBe(404);
    expect((await ask('/sub%20dir', { method: 'PUT' }, 'x')).status).toBe(403);
    expect(await statusOf('/', { method: 'DELETE' })).toBe(404);
    symlinkSync(folder, join(root, 'away'));
    expect((await ask('/away/secret.txt', { method: 'PUT' }, 'x')).status).toBe(404);
    expect(await statusOf('/away/secret.txt', { method: 'DELETE' })).toBe(404);
    expect(await statusOf('/away', { method: 'DELETE' })).toBe(204);
    expect(readFileSync(join(folder, 'secret.txt'), 'utf8')).toBe('not yours');
  });

  it('leaves nothing behind after an aborted upload', async () => {
    await share({ readOnly: false });
    const socket = connect({ port, host: '127.0.0.1' });
    socket.write('PUT /half.bin HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nonly this');
    await waitFor(() => readdirSync(root).some((name) => name.endsWith('.part')));
    socket.resetAndDestroy();
    await waitFor(() => !readdirSync(root).some((name) => name.endsWith('.part')));
    expect(existsSync(join(root, 'half.bin'))).toBe(false);
  });

  it('carries large files unchanged, and counts the same bytes at both ends', async () => {
    const content = randomBytes(8 * 1024 * 1024);
    writeFileSync(join(root, 'large.bin'), content);
    await share();
    const { body } = await ask('/large.bin');
    expect(createHash('sha256').update(body).digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
    await waitFor(() => rig.records.length === 1);
    const [delta] = rig.server.takeDeltas();
    expect(delta).toMatchObject({ resource: { kind: 'tunnel', id: 7 }, connections: 1 });
    expect(delta?.download).toBeGreaterThan(content.length);
    expect(rig.records[0]).toMatchObject({ upload: delta?.upload, download: delta?.download });
  });

  it('serves the requests of one connection in order', async () => {
    writeFileSync(join(root, 'large.bin'), Buffer.alloc(16 * 1024 * 1024));
    await share();
    const openFiles = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).endsWith('large.bin');
        } catch {
          return false;
        }
      }).length;
    const socket = await rig.visit(port);
    socket.write('GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(40));
    await waitFor(() => openFiles() > 0);
    // By now the others would have been opened, too.
    const { agent } = rig.agents[0]!;
    expect((await ask('/hello.txt')).status).toBe(200);
    expect(openFiles()).toBe(1);
    socket.write('GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(4000));
    socket.resetAndDestroy();
    await waitFor(() => openFiles() === 0 && agent.flows === 0);
  });

  it('answers several requests on one connection, and ends with the visitor', async () => {
    await share();
    const { agent } = rig.agents[0]!;
    const socket = connect({ port, host: '127.0.0.1' });
    let text = '';
    socket.on('data', (part) => (text += String(part)));
    socket.write(
      'GET /hello.txt HTTP/1.1\r\nHost: a\r\n\r\nGET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    await once(socket, 'end');
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404']);
    await waitFor(() => agent.flows === 0 && rig.server.flows === 0);
    const [there] = agent.takeDeltas();
    expect(rig.server.takeDeltas()).toEqual([there]);
  });
});
