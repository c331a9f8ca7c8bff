import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import {
  brotliDecompressSync,
  gunzipSync,
  zstdDecompressSync,
  createGunzip,
  createBrotliDecompress,
  createZstdDecompress,
} from 'node:zlib';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig, type Answer, type Asked } from '../../test/host-rig.js';
import { createServerIdentity } from '../wire/server-identity.js';
import { AnswerCompressor, MAX_COMPRESSORS } from './answer-compressor.js';
import { negotiate } from './compression.js';

let rig: HostRig;
afterEach(() => rig.close());

const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(2_000);
const UNPACK = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };
const STREAMS = { gzip: createGunzip, br: createBrotliDecompress, zstd: createZstdDecompress };
type Coding = keyof typeof UNPACK;
const CODINGS = Object.keys(UNPACK) as Coding[];

async function serve(answer: (response: ServerResponse, asked: IncomingMessage) => void): Promise<void> {
  rig = await HostRig.start();
  const port = await rig.origin((asked, response) => {
    asked.resume();
    answer(response, asked);
  });
  await rig.serve(rig.hostConfig([port], { compress: true }));
}

const ask = (accepted: string, more: Asked = {}): Promise<Answer> =>
  rig.ask({ ...more, headers: { 'accept-encoding': accepted, ...more.headers } });
const unpack = ({ body }: Answer, coding: Coding): string => UNPACK[coding](Buffer.from(body, 'latin1')).toString();

function text(response: ServerResponse, fields: Record<string, string> = {}, body = TEXT): void {
  response
    .writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body), ...fields })
    .end(body);
}

describe('a host that compresses', () => {
  it.each(CODINGS)(
    'sends %s to visitors that accept it, complete and without the length of the target',
    async (coding) => {
      await serve((response) => text(response, { ETag: '"1"', 'Accept-Ranges': 'bytes', Vary: 'Origin' }));
      const answer = await ask(coding);
      expect(answer.headers).toMatchObject({
        'content-encoding': coding,
        vary: 'Origin, Accept-Encoding',
        etag: 'W/"1"',
      });
      expect(answer.headers).not.toHaveProperty('content-length');
      expect(answer.headers).not.toHaveProperty('accept-ranges');
      expect(answer.body.length).toBeLessThan(TEXT.length / 20);
      expect(unpack(answer, coding)).toBe(TEXT);
      await waitFor(() => rig.records.length === 1);
      expect(rig.records[0]?.download).toBeLessThan(TEXT.length / 10);
    },
  );

  it('leaves answers as they are for others, and says that they depend on Accept-Encoding', async () => {
    await serve((response) => text(response, { ETag: '"1"' }));
    for (const accepted of ['identity', 'deflate', 'gzip;q=0', 'br;q=0, *;q=0']) {
      const answer = await ask(accepted);
      expect(answer.headers).toMatchObject({
        vary: 'Accept-Encoding',
        etag: '"1"',
        'content-length': `${TEXT.length}`,
      });
      expect(answer.headers).not.toHaveProperty('content-encoding');
      expect(answer.body).toBe(TEXT);
    }
  });

  it.each<[string, Record<string, string>, string?]>([
    ['a type that does not shrink', { 'Content-Type': 'image/png' }],
    ['no type', { 'Content-Type': '' }],
    ['gRPC', { 'Content-Type': 'application/grpc' }],
    ['what is compressed already', { 'Content-Encoding': 'x-own' }],
    ['no-transform', { 'Cache-Control': 'public,no-transform' }],
    ['a digest of the content', { 'Content-Digest': 'sha-256=:AA==:' }],
    ['a short answer', {}, 'short'],
  ])('leaves %s alone', async (_, fields, body = TEXT) => {
    await serve((response) => text(response, fields, body));
    const answer = await ask('gzip, br, zstd');
    expect(answer.headers['content-encoding']).toBe(fields['Content-Encoding']);
    expect(answer.headers).not.toHaveProperty('vary');
    expect(answer.body).toBe(body);
  });

  it('leaves parts of a file alone', async () => {
    await serve((response) =>
      response
        .writeHead(206, {
          'Content-Type': 'text/plain',
          'Content-Range': 'bytes 0-4999/90000',
          'Content-Length': 5_000,
        })
        .end(TEXT.slice(0, 5_000)),
    );
    const answer = await ask('gzip', { headers: { range: 'bytes=0-4999' } });
    expect(answer).toMatchObject({ status: 206, headers: { 'content-length': '5000' }, body: TEXT.slice(0, 5_000) });
  });

  it('answers HEAD with the fields of GET', async () => {
    await serve((response) => text(response, { ETag: '"1"' }));
    const { date: _, ...ofGet } = (await ask('br')).headers;
    const { status, headers, body } = await ask('br', { method: 'HEAD' });
    const { date: __, ...ofHead } = headers;
    delete ofGet['transfer-encoding'];
    delete ofHead['transfer-encoding'];
    expect({ status, body }).toEqual({ status: 200, body: '' });
    expect(ofHead).toEqual(ofGet);
  });

  it.each(CODINGS)('passes each event of a stream on at once, as %s', async (coding) => {
    let stream: ServerResponse | null = null;
    await serve((response) => {
      stream = response;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 0\n\n');
    });
    const asked = request({
      port: rig.http,
      host: '127.0.0.1',
      headers: { host: 'a.test', 'accept-encoding': coding },
    }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    const events = answer.pipe(STREAMS[coding]()).setEncoding('utf8');
    let seen = '';
    events.on('data', (part: string) => (seen += part));
    for (let number = 0; number < 5; number += 1) {
      // The next event is sent only when this one has arrived.
      await waitFor(() => seen.endsWith(`data: ${number}\n\n`));
      (stream as ServerResponse | null)?.write(`data: ${number + 1}\n\n`);
    }
    (stream as ServerResponse | null)?.end();
    await once(events, 'end');
    expect(seen).toBe([0, 1, 2, 3, 4, 5].map((number) => `data: ${number}\n\n`).join(''));
  });

  it('stops reading from the target while the visitor does not read, and delivers everything afterwards', async () => {
    const size = 36 * 1024 * 1024;
    // Longer than the window, so that repetitions are not found: digits shrink to half.
    const part = Buffer.from(randomBytes(192 * 1024).toString('hex'));
    let sent = 0;
    await serve((response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      const more = (): void => {
        while (sent < size) {
          sent += part.length;
          if (!response.write(part)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const asked = request({
      port: rig.http,
      host: '127.0.0.1',
      headers: { host: 'a.test', 'accept-encoding': 'zstd' },
    });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    let before = -1;
    await waitFor(
      () => {
        const stands = before === sent;
        before = sent;
        return stands && sent > 0;
      },
      { intervalMs: 200 },
    );
    // What the buffers of the sockets in between can hold, twice as long before it was compressed.
    expect(sent).toBeLessThan(size * 0.75);
    let got = 0;
    for await (const chunk of answer.pipe(createZstdDecompress())) got += (chunk as Buffer).length;
    expect(got).toBe(size);
  });

  it('breaks off visibly when the target does, and ends the target when the visitor leaves', async () => {
    let stream: ServerResponse | null = null;
    await serve((response) => {
      stream = response;
      response.writeHead(200, { 'Content-Type': 'text/plain' }).write(TEXT);
    });
    const open = async (): Promise<IncomingMessage> => {
      const asked = request({
        port: rig.http,
        host: '127.0.0.1',
        headers: { host: 'a.test', 'accept-encoding': 'br' },
      });
      asked.on('error', () => undefined).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      return answer;
    };
    const cut = await open();
    (stream as ServerResponse | null)?.destroy();
    await expect(cut.toArray()).rejects.toThrow('aborted');
    const left = await open();
    const gone = once(stream as unknown as ServerResponse, 'close');
    left.destroy();
    await gone;
  });

  it('sends trailers after the compressed body, and serves HTTP/2 in the same way', async () => {
    await serve((response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', Trailer: 'X-Sum' });
      response.write(JSON.stringify(TEXT));
      response.addTrailers({ 'X-Sum': '7' });
      response.end();
    });
    const answer = await ask('zstd');
    expect(answer.trailers).toEqual({ 'x-sum': '7' });
    expect(unpack(answer, 'zstd')).toBe(JSON.stringify(TEXT));
    const { certificate: chain, key } = createServerIdentity('a.test');
    const port = await rig.origin((_, response) => text(response));
    await rig.serve(rig.hostConfig([port], { compress: true, certificate: { chain, key } }));
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { servername: 'a.test', rejectUnauthorized: false });
    session.on('error', () => undefined);
    const stream = session.request({ ':path': '/', ':authority': 'a.test', 'accept-encoding': 'br, gzip' });
    const [headers] = (await once(stream, 'response')) as [Record<string, string>];
    expect(headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(Buffer.concat((await stream.toArray()) as Buffer[])).toString()).toBe(TEXT);
    session.destroy();
  });

  it('leaves answers as they are while it compresses as many as it may', async () => {
    await serve((response) => text(response));
    const ignored = () => undefined;
    const handlers = { onPart: ignored, onDrain: ignored, onEnd: ignored, onError: ignored };
    const others = Array.from(
      { length: MAX_COMPRESSORS },
      () => new AnswerCompressor({ coding: 'gzip', flushes: false, ...handlers }),
    );
    const answer = await ask('gzip');
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(answer).toMatchObject({ body: TEXT, headers: { vary: 'Accept-Encoding' } });
    for (const other of others) other.destroy();
    await waitFor(async () => (await ask('gzip')).headers['content-encoding'] === 'gzip');
  });

  it('shows the owner what the target sent', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((_, response) => text(response));
    await rig.serve(rig.hostConfig([port], { compress: true, record: 'full' }));
    await ask('zstd');
    const list = await waitFor(() => {
      const found = rig.server.requests.list(12, {}, 1, 1_000_000);
      return typeof found.items[0]?.endedMs === 'number' ? found : null;
    });
    expect(list.items[0]?.answered?.body?.content).toBe(TEXT.slice(0, 65_536));
  });
});

it.each([
  ['', null],
  ['*', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br;q=0, *', 'zstd'],
  ['identity, gzip;q=0.5', null],
  ['gzip;q=2', null],
  ['gzip;q=x', null],
  ['compress', null],
])('of Accept-Encoding %j, %s is chosen', (accepted, coding) => {
  expect(negotiate(accepted)).toBe(coding);
});
