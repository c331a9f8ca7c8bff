import { EventEmitter } from 'node:events';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import type { EdgeMessage, EdgeOptions, ParentMessage } from '../../common/edge-ipc.js';
import { EdgeUnavailableError } from '../../common/edge-process.js';
import { EdgeDoor } from './edge-door.js';

const quiet = (): void => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const STATUS = {
  revision: 5,
  source: 'database',
  databaseAnswers: true,
  agents: 2,
  connections: 3,
  agentPort: { silent: 9, handshaking: 2, unauthenticated: 1, most: 9, evicted: 4 },
  httpsPort: { handshaking: 5, most: 9, evicted: 2 },
  datagrams: { sessions: 7, evicted: 1 },
};
const PORTS = { agents: 1, http: 2, https: 3 };

/** Answers what it is asked, unless it hangs. */
class FakeWorker extends EventEmitter<{
  message: [EdgeMessage];
  exit: [number | null, string | null];
  error: [Error];
}> {
  readonly pid: number;
  hangs = false;

  constructor(pid: number) {
    super();
    this.pid = pid;
  }

  send(message: ParentMessage): boolean {
    if (message.type !== 'request' || (this.hangs && message.method !== 'shutdown')) return true;
    const result = message.method === 'status' ? STATUS : message.method === 'agents' ? [{ clientId: this.pid }] : null;
    queueMicrotask(() => this.emit('message', { type: 'response', id: message.id, ok: true, result }));
    if (message.method === 'shutdown') setImmediate(() => this.kill());
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

let door: EdgeDoor;
afterEach(() => door.close());

function rig(): FakeWorker[] {
  const workers: FakeWorker[] = [];
  // Nobody is there, and nothing is asked of it here.
  const own: Partial<EdgeOptions> = {
    databaseUrl: 'postgres://127.0.0.1:1/none',
    folder: tmpdir(),
    trustedProxies: [],
  };
  const options = { ...own, workers: 3 } as EdgeOptions;
  door = new EdgeDoor(
    options,
    logger,
    () => undefined,
    () => {
      const worker = new FakeWorker(101 + workers.length);
      workers.push(worker);
      return worker;
    },
  );
  void door.prepare();
  for (const worker of workers) worker.serve();
  return workers;
}

describe('a door', () => {
  it('answers for all workers', async () => {
    rig();
    expect(await door.status()).toMatchObject({ revision: 5, agents: 6, connections: 9, workers: [101, 102, 103] });
    expect((await door.status()).agentPort).toEqual({
      silent: 27,
      handshaking: 6,
      unauthenticated: 3,
      most: 4096,
      evicted: 12,
    });
    expect(await door.status()).toMatchObject({
      httpsPort: { handshaking: 15, most: 4096, evicted: 6 },
      datagrams: { sessions: 21, evicted: 3 },
    });
    expect(await door.agents(null)).toEqual([{ clientId: 101 }, { clientId: 102 }, { clientId: 103 }]);
  });

  it('answers for the remaining workers in time if one hangs and one has ended', async () => {
    const workers = rig();
    if (workers[1]) workers[1].hangs = true;
    workers[2]?.kill();
    const began = performance.now();
    const [status, agents] = await Promise.all([door.status(), door.agents(null)]);
    expect(performance.now() - began).toBeLessThan(1_950);
    expect(status).toMatchObject({ agents: 2, workers: [101, null, null] });
    expect(agents).toEqual([{ clientId: 101 }]);
  });

  it('reports when no worker answers', async () => {
    for (const worker of rig()) worker.kill();
    await expect(door.status()).rejects.toThrow(EdgeUnavailableError);
  });
});
