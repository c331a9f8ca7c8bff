import { EventEmitter, once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { EdgeMessage, EdgeOptions, ParentMessage } from '../../common/edge-ipc.js';
import { WorkerSlot, type WorkerChild } from './worker-slot.js';

const PORTS = { agents: 1, http: 2, https: 3 };

type Sent = (error: Error | null) => void;

/** A worker's process as far as its channel goes: it accepts what the test wants it to accept. */
class FakeWorker extends EventEmitter<{
  message: [EdgeMessage];
  exit: [number | null, string | null];
  error: [Error];
}> {
  readonly pid = 1;
  readonly said: ParentMessage[] = [];
  readonly sockets: Socket[] = [];
  /** Sockets stay underway while it does not. */
  takes = true;

  send(message: ParentMessage, socketOrSent: Socket | Sent, sent?: Sent): boolean {
    this.said.push(message);
    if (typeof socketOrSent === 'function') socketOrSent(null);
    else {
      this.sockets.push(socketOrSent);
      if (this.takes) sent?.(null);
    }
    return true;
  }

  kill(): boolean {
    this.emit('exit', null, 'SIGKILL');
    return true;
  }

  serve(): void {
    this.emit('message', { type: 'prepared' });
    this.emit('message', { type: 'ready', ports: PORTS });
  }
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function rig(): { slot: WorkerSlot; workers: FakeWorker[]; deaths: string[] } {
  const workers: FakeWorker[] = [];
  const deaths: string[] = [];
  const slot = new WorkerSlot({
    index: 0,
    launch: () => {
      const worker = new FakeWorker();
      workers.push(worker);
      return worker satisfies WorkerChild;
    },
    // Nobody looks at it here.
    edge: {} as EdgeOptions,
    onLogs: () => undefined,
    onWanted: () => undefined,
    onExit: (reason) => deaths.push(reason),
  });
  cleanups.push(() => {
    const stopping = slot.stop(0);
    for (const worker of workers) worker.kill();
    return stopping;
  });
  return { slot, workers, deaths };
}

async function socket(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const far = connect((server.address() as AddressInfo).port, '127.0.0.1');
  far.on('error', () => undefined);
  const [near] = (await once(server, 'connection')) as [Socket];
  cleanups.push(() => {
    far.destroy();
    near.destroy();
    server.close();
  });
  return { near, far };
}

describe('the slot of a worker', () => {
  it('passes connections to the worker with the bytes that were read', async () => {
    const { slot, workers } = rig();
    const [prepared, bound] = [slot.prepare(), slot.bind(PORTS)];
    workers[0]?.serve();
    await Promise.all([prepared, bound]);
    const { near } = await socket();
    slot.hand('http', near, Buffer.from('GET'));
    expect(workers[0]?.said.map(({ type }) => type)).toEqual(['start', 'bind', 'connection']);
    expect(workers[0]?.said[2]).toEqual({
      type: 'connection',
      port: 'http',
      head: Buffer.from('GET').toString('base64'),
    });
    expect(workers[0]?.sockets).toEqual([near]);
  });

  it('keeps connections for the next worker while no worker runs', async () => {
    const { slot, workers, deaths } = rig();
    void slot.prepare();
    void slot.bind(PORTS);
    workers[0]?.serve();
    workers[0]?.kill();
    const { near } = await socket();
    slot.hand('https', near, Buffer.from('x'));
    await waitFor(() => workers.length === 2);
    expect(workers[1]?.sockets).toEqual([]);
    workers[1]?.serve();
    expect(workers[1]?.sockets).toEqual([near]);
    expect(deaths).toEqual(['killed by SIGKILL']);
    expect(near.destroyed).toBe(false);
  });

  it('closes connections that a worker had not accepted when it died', async () => {
    const { slot, workers } = rig();
    void slot.prepare();
    void slot.bind(PORTS);
    workers[0]?.serve();
    if (workers[0]) workers[0].takes = false;
    const { near, far } = await socket();
    slot.hand('agents', near, Buffer.from('x'));
    workers[0]?.kill();
    await once(far.resume(), 'close');
    expect(near.destroyed).toBe(true);
  });

  it('starts no worker and accepts no connection after the last one', async () => {
    const { slot, workers } = rig();
    void slot.prepare();
    void slot.bind(PORTS);
    const waiting = await socket();
    slot.hand('http', waiting.near, Buffer.from('x'));
    workers[0]?.serve();
    const stopping = slot.stop(0);
    workers[0]?.kill();
    await stopping;
    const late = await socket();
    slot.hand('http', late.near, Buffer.from('x'));
    expect(late.near.destroyed).toBe(true);
    expect(workers).toHaveLength(1);
  });
});
