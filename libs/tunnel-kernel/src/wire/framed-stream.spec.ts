import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { FramedStream } from './framed-stream.js';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

async function pair(): Promise<{ raw: Socket; framed: FramedStream; far: FramedStream; farRaw: Socket }> {
  const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const raw = connect({ port: (listener.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [farRaw] = (await once(listener, 'connection')) as [Socket];
  raw.pause();
  cleanups.push(() => {
    raw.destroy();
    farRaw.destroy();
    listener.close();
  });
  const [framed, far] = [new FramedStream(raw), new FramedStream(farRaw)];
  for (const stream of [framed, far]) stream.on('error', () => undefined);
  return { raw, framed, far, farRaw };
}

function collect(stream: FramedStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    stream.on('data', (part) => parts.push(part));
    stream.on('end', () => resolve(Buffer.concat(parts)));
    stream.on('error', reject);
    stream.resume();
  });
}

describe('a framed stream', () => {
  it('ends each direction separately', async () => {
    const { framed, far } = await pair();
    const received = collect(far);
    framed.write(Buffer.from('question'));
    framed.end();
    expect((await received).toString()).toBe('question');
    const answer = collect(framed);
    const closed = Promise.all([once(framed, 'close'), once(far, 'close')]);
    far.write(Buffer.from('answer'));
    far.end();
    expect((await answer).toString()).toBe('answer');
    await closed;
  });

  it('treats a transport that ends without an end frame as aborted', async () => {
    const { raw, far } = await pair();
    const received = collect(far);
    raw.write(Buffer.from([0, 0, 5, 1, 2]));
    raw.end();
    await expect(received).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(far.readableEnded).toBe(false);
  });

  it('reports a reset as an abort', async () => {
    const { framed, far } = await pair();
    const received = collect(far);
    framed.write(Buffer.from('half'));
    framed.resetAndDestroy();
    await expect(received).rejects.toThrow();
  });

  it('is closed by bytes after the end', async () => {
    const { raw, far } = await pair();
    const closed = new Promise<void>((resolve) => far.on('close', resolve));
    far.resume();
    raw.write(Buffer.from([0, 0, 0, 9]));
    await closed;
  });

  it('delivers the bytes in order, however they are split, paused and pushed back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 1, max: 5 }),
        async (chunks, cuts, every) => {
          const { raw, far } = await pair();
          const parts: Buffer[] = [];
          let count = 0;
          far.on('data', (part) => {
            count += 1;
            if (count % every !== 0) return void parts.push(part);
            // Takes half of it, puts the rest back.
            const half = (part.length + 1) >> 1;
            parts.push(part.subarray(0, half));
            far.pause();
            if (half < part.length) far.unshift(part.subarray(half));
            setImmediate(() => far.resume());
          });
          const ended = once(far, 'end');
          far.resume();
          const wire = Buffer.concat([
            ...chunks.flatMap((chunk) => [Buffer.from([0, chunk.length >> 8, chunk.length & 255]), chunk]),
            Buffer.alloc(3),
          ]);
          for (let at = 0, turn = 0; at < wire.length; turn++) {
            const size = cuts[turn % cuts.length] ?? 1;
            raw.write(wire.subarray(at, at + size));
            at += size;
            if (turn % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
          }
          await ended;
          expect(Buffer.concat(parts)).toEqual(Buffer.concat(chunks));
          raw.destroy();
          far.destroy();
        },
      ),
      { numRuns: 40 },
    );
  });
});
