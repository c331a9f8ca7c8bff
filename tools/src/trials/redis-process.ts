import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@gatehouse/net';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { eventuallyTrue } from './eventually-true.js';

/** Redis's own name for what it saves. */
const DUMP = 'dump.rdb';

/** A Redis that the platform uses, started and emptied at will. */
export class RedisProcess {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly program: string,
    private readonly folder: string,
    readonly port: number,
  ) {}

  /** `folder`: where it keeps what it writes. */
  static async start(program: string, folder: string): Promise<RedisProcess> {
    const redis = new RedisProcess(program, folder, await freePort());
    await redis.start();
    return redis;
  }

  async start(): Promise<void> {
    const options = ['--save', '', '--appendonly', 'no', '--dir', this.folder];
    const args = ['--port', `${this.port}`, '--bind', '127.0.0.1', ...options];
    this.child = spawn(this.program, args, { stdio: 'ignore' });
    const answers = await eventuallyTrue(async () => (await this.command('PING')).startsWith('+PONG'));
    if (answers) return;
    await this.stop();
    throw new PlainFailure(`${this.program} did not start.`);
  }

  /** Everything it held is lost. */
  async stop(): Promise<void> {
    await this.end((child) => child.kill('SIGKILL'));
    rmSync(join(this.folder, DUMP), { force: true });
  }

  /** It comes back with everything it held. */
  async park(): Promise<void> {
    await this.end(() => void this.command('SHUTDOWN SAVE'));
  }

  private async end(how: (child: ChildProcess) => unknown): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    how(child);
    await gone;
  }

  async command(line: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`${line}\r\n`);
    try {
      const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(2_000) })) as [Buffer];
      return answer.toString();
    } catch {
      return '';
    } finally {
      socket.destroy();
    }
  }
}
