import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TunnelError } from '../errors.js';
import { MuxConnection } from './mux-connection.js';
import { MUX_FRAME, muxNumber } from './mux-frames.js';
import type { MuxTransport, MuxTransportHandlers } from './mux-transport.js';

const EVERY_MS = 10_000;
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A line that answers what it is asked, as long as it is alive. */
class Line implements MuxTransport {
  readonly writableLength = 0;
  readonly remoteAddress = undefined;
  readonly remotePort = undefined;
  handlers: MuxTransportHandlers | null = null;
  alive = true;
  destroyed = false;
  asked = 0;

  start(handlers: MuxTransportHandlers): void {
    this.handlers = handlers;
  }

  send(parts: readonly Uint8Array[]): boolean {
    this.asked += parts.length;
    if (this.alive) this.handlers?.data(muxNumber(MUX_FRAME.pong, 0, 0));
    return true;
  }

  close(): void {}

  destroy(): void {
    this.destroyed = true;
  }
}

function connect(): { line: Line; ends: TunnelError[] } {
  const line = new Line();
  const ends: TunnelError[] = [];
  new MuxConnection(line, { keepAliveMs: EVERY_MS, onClose: (error) => ends.push(error) });
  return { line, ends };
}

describe('a connection that is kept alive', () => {
  it('is pinged from time to time, and stays open while it answers', async () => {
    const { line, ends } = connect();
    await vi.advanceTimersByTimeAsync(20 * EVERY_MS);
    expect([line.asked, ends, line.destroyed]).toEqual([20, [], false]);
  });

  it('is given up once when nothing arrives', async () => {
    const { line, ends } = connect();
    line.alive = false;
    await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(10 * EVERY_MS);
    expect(ends).toMatchObject([{ code: 'silent' }]);
    expect([line.asked, line.destroyed]).toEqual([3, true]);
  });
});
