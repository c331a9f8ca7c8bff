import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { startTracing, type RunningTracing } from './start-tracing.js';
import { activeTracing, currentCarrier, currentTraceId, errorType, runSpan, traced } from './tracing.js';
import { isPair, readPairs, tracesUrl, type TracingOptions } from './tracing-options.js';

let running: RunningTracing | undefined;
/** What the running one reports: an earlier one may still report while a later one runs. */
let log: string[] = [];
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(options: Partial<TracingOptions> & { url: string }): Promise<void> {
  const usual = { serviceName: 'test', resource: {}, headers: {}, sampler: 'always_on', ratio: 1 } as const;
  const reports: string[] = [];
  log = reports;
  running = await startTracing(
    { ...usual, ...options },
    {
      failed: (reason) => void reports.push(`failed: ${reason}`),
      resumed: (lost) => void reports.push(`resumed: ${lost}`),
    },
  );
}

async function listen(answer: (server: Server) => void): Promise<{ server: Server; url: string }> {
  const server = createServer();
  answer(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces` };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

const span = { name: 'work', kind: 'internal' } as const;
const INVALID = 'http://127.0.0.1:1/v1/traces';

describe('tracing', () => {
  it('does nothing while it is off', async () => {
    running = await startTracing(null, { failed: () => undefined, resumed: () => undefined });
    expect(activeTracing()).toBeNull();
    expect(currentTraceId()).toBeUndefined();
    expect(currentCarrier()).toBeUndefined();
    expect(
      await traced(
        () => expect.fail('nothing may be made'),
        (given) => Promise.resolve(given),
      ),
    ).toBeNull();
  });

  it('continues a trace in another process, and only there', async () => {
    await start({ url: INVALID });
    const tracing = activeTracing();
    if (tracing === null) return expect.fail('it is off');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await runSpan(tracing, { ...span, parent: { traceparent, tracestate: 'a=1' } }, async () => {
      expect(currentTraceId()).toBe('0af7651916cd43dd8448eb211c80319c');
      expect(currentCarrier()).toMatchObject({
        traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)\w{16}-01$/),
        tracestate: 'a=1',
      });
      await traced(
        () => span,
        (child) => Promise.resolve(expect(child?.isRecording).toBe(true)),
      );
    });
    expect(currentTraceId()).toBeUndefined();
    expect(
      await traced(
        () => span,
        (outside) => Promise.resolve(outside),
      ),
    ).toBeNull();
    await runSpan(tracing, { ...span, parent: { traceparent: 'nonsense' } }, () =>
      Promise.resolve(expect(currentTraceId()).toMatch(/^[0-9a-f]{32}$/)),
    );
  });

  it.each([
    ['always_off', '01', false],
    ['parentbased_always_on', '00', false],
    ['parentbased_always_off', '01', true],
    ['traceidratio', '01', false],
  ] as const)('with the sampler %s and a caller’s flag %s records: %s', async (sampler, flag, isRecorded) => {
    await start({ url: INVALID, sampler, ratio: 0 });
    const parent = { traceparent: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flag}` };
    const made = activeTracing()?.start({ ...span, parent });
    expect(made?.isRecording).toBe(isRecorded);
    made?.end();
  });

  it('sends what it has when it stops, with the headers of the settings', async () => {
    const bodies: string[] = [];
    const { server, url } = await listen((made) =>
      made.on('request', (request, response) => {
        bodies.push(String(request.headers['x-key']));
        request.on('data', (chunk: Buffer) => bodies.push(chunk.toString())).on('end', () => response.end('{}'));
      }),
    );
    await start({ url, headers: { 'x-key': 'a key' } });
    activeTracing()?.start(span).end();
    await running?.stop();
    expect(bodies[0]).toBe('a key');
    expect(bodies.join('')).toContain('"name":"work"');
    await close(server);
  });

  it('keeps a bounded number of spans for a slow receiver, and loses the rest', async () => {
    let received = 0;
    const answers = Promise.withResolvers<void>();
    const { server, url } = await listen((made) =>
      made.on('request', (request, response) => {
        void text(request).then(async (body) => {
          received += body.split('"name":"work"').length - 1;
          await answers.promise;
          response.end('{}');
        });
      }),
    );
    await start({ url });
    for (let count = 0; count < 100_000; count += 1) activeTracing()?.start(span).end();
    answers.resolve();
    await running?.stop();
    // What waits, and one batch on its way.
    expect(received).toBe(2_048 + 512);
    await close(server);
  });

  it('stops although the receiver never answers', async () => {
    const { server, url } = await listen((made) => made.on('request', () => undefined));
    await start({ url });
    activeTracing()?.start(span).end();
    await running?.stop();
    expect(activeTracing()).toBeNull();
    await close(server);
  });

  it('says once that the receiver fails, and once that it is back, with the number of lost spans', async () => {
    let status = 400;
    const { server, url } = await listen((made) =>
      made.on('request', (request, response) => {
        request.resume().on('end', () => response.writeHead(status).end('{}'));
      }),
    );
    await start({ url });
    const send = (): void => {
      for (let count = 0; count < 512; count += 1) activeTracing()?.start(span).end();
    };
    send();
    await expect.poll(() => log).toHaveLength(1);
    send();
    await expect.poll(() => server.listening && log).toHaveLength(1);
    status = 200;
    await expect
      .poll(() => {
        send();
        return log;
      })
      .toEqual([expect.stringMatching(/^failed: /), expect.stringMatching(/^resumed: \d+$/)]);
    await close(server);
  });
});

describe('the type of an error', () => {
  it.each([
    [Object.assign(new Error('with a secret'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [Object.assign(new Error('x'), { code: 'a secret in a code' }), 'Error'],
    [new TypeError('x'), 'TypeError'],
    ['a secret', 'unknown'],
    [null, 'unknown'],
  ])('of %s is %s', (error, expected) => {
    expect(errorType(error)).toBe(expected);
  });
});

describe('settings of tracing', () => {
  it('reads pairs with encoded values', () => {
    expect(readPairs(['a=b%20c', 'authorization=Basic x=='])).toEqual({ a: 'b c', authorization: 'Basic x==' });
    expect(['a=b', 'a.b=', 'x-key=%E4%BD%A0'].every(isPair)).toBe(true);
    expect(['a', '=b', 'a=%', 'a b=c', 'a=%0A'].some(isPair)).toBe(false);
  });

  it('adds the path to a base address', () => {
    expect(tracesUrl('http://a:4318')).toBe('http://a:4318/v1/traces');
    expect(tracesUrl('https://a/otlp/')).toBe('https://a/otlp/v1/traces');
  });
});
