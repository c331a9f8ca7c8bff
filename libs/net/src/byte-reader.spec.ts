import { once } from 'node:events';
import { Duplex, PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ByteReader } from './index.js';

/** A stream and the end that feeds it. */
function pair(): { near: Duplex; far: PassThrough } {
  const far = new PassThrough();
  const near = duplexPair(far);
  return { near, far };
}

function duplexPair(far: PassThrough): Duplex {
  const near = new Duplex({
    read: () => far.resume(),
    write: (_chunk, _encoding, callback) => callback(),
  });
  far.on('data', (chunk) => near.push(chunk));
  far.on('end', () => near.push(null));
  return near;
}

describe('ByteReader', () => {
  it('reads exact lengths, no matter how the bytes arrive', async () => {
    const { near, far } = pair();
    const reader = new ByteReader(near);
    const first = reader.read(5);
    for (const byte of 'hello world') far.write(byte);
    expect(String(await first)).toBe('hello');
    expect(String(await reader.peek(1))).toContain(' ');
    expect(String(await reader.read(6))).toBe(' world');
  });

  it('reads through a delimiter that arrives in two parts', async () => {
    const { near, far } = pair();
    const reader = new ByteReader(near);
    const head = reader.readThrough(Buffer.from('\r\n\r\n'));
    far.write('GET /\r\n\r');
    far.write('\nbody');
    expect(String(await head)).toBe('GET /\r\n\r\n');
    expect(String(await reader.read(4))).toBe('body');
  });

  it('never holds more than its limit', async () => {
    const { near, far } = pair();
    const reader = new ByteReader(near, 8);
    const head = reader.readThrough(Buffer.from('\n'));
    far.write('0123456789');
    await expect(head).rejects.toMatchObject({ code: 'too_long' });
    await expect(reader.read(9)).rejects.toMatchObject({ code: 'too_long' });
  });

  it('refuses input over its limit even if it arrives in one piece', async () => {
    const { near, far } = pair();
    const reader = new ByteReader(near, 8);
    const head = reader.readThrough(Buffer.from('9'));
    far.write('0123456789');
    await expect(head).rejects.toMatchObject({ code: 'too_long' });
  });

  it('fails when the stream ends first', async () => {
    const { near, far } = pair();
    const reader = new ByteReader(near);
    const bytes = reader.read(3);
    far.end('ab');
    await expect(bytes).rejects.toMatchObject({ code: 'ended' });
    await expect(reader.read(3)).rejects.toMatchObject({ code: 'ended' });
  });

  it('fails when the stream fails', async () => {
    const { near } = pair();
    const reader = new ByteReader(near);
    const bytes = reader.read(1);
    near.destroy(new Error('cut'));
    await expect(bytes).rejects.toMatchObject({ code: 'failed', message: 'cut' });
  });

  it('aborts a peek on its signal, and can peek again', async () => {
    const { near, far } = pair();
    const reader = new ByteReader(near);
    const controller = new AbortController();
    const waiting = reader.peek(1, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'failed' });
    far.write('x');
    expect(String(await reader.read(1))).toBe('x');
  });

  it('puts unconsumed bytes back', async () => {
    const { near, far } = pair();
    const reader = new ByteReader(near);
    far.write('headbody');
    expect(String(await reader.read(4))).toBe('head');
    reader.restore();
    const data = once(near, 'data');
    near.resume();
    expect(String((await data)[0])).toBe('body');
  });

  it('returns unconsumed bytes and leaves the stream paused', async () => {
    const { near, far } = pair();
    const reader = new ByteReader(near);
    far.write('headbody');
    await reader.read(4);
    expect(String(reader.detach())).toBe('body');
    expect(near.isPaused()).toBe(true);
    await expect(reader.read(1)).rejects.toMatchObject({ code: 'failed' });
  });
});
