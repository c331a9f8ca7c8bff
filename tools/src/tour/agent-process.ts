import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { NewTunnelClientView } from '@gatehouse/contracts';
import { ROOT } from '../../bootstrap/layout.mjs';
import { TourFailure } from './script.js';

const PROGRAM = 'apps/tunnel-agent/dist/gatehouse-agent.mjs';
const MAX_OUTPUT = 4_000;
const STOP_MS = 10_000;
/** MiB. A defect may cost the agent, not the machine that it is tried on. */
const MAX_HEAP = 1_024;

type NewClient = Pick<NewTunnelClientView, 'command' | 'key'>;

/** The program that people run beside their service. */
export class AgentProcess {
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;
  private output = '';

  private constructor(child: ChildProcess) {
    this.child = child;
    this.ended = once(child, 'close').then(([code]) => code as number | null);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (part) => (this.output = (this.output + String(part)).slice(-MAX_OUTPUT)));
    }
  }

  /** `client`: as it was answered when it was made. `root`: the folder of a build. @throws TourFailure when its command names no server */
  static start({ command, key }: NewClient, more: readonly string[] = [], root = ROOT): AgentProcess {
    const server = /--server (\S+)/.exec(command)?.[1];
    if (server === undefined) throw new TourFailure('the command names no server');
    const options = ['--server', server, '--allow', '127.0.0.1', '--grace-seconds', '1', ...more];
    return AgentProcess.run(root, options, { GATEHOUSE_AGENT_KEY: key });
  }

  /** Opens a local port that leads to a tunnel without one. `key`: the tunnel's, for visitors. */
  static visit({ server, key, port }: { server: string; key: string; port: number }, root = ROOT): AgentProcess {
    const options = ['visit', '--server', server, '--listen', `127.0.0.1:${port}`];
    return AgentProcess.run(root, options, { GATEHOUSE_VISITOR_KEY: key });
  }

  private static run(root: string, options: readonly string[], environment: NodeJS.ProcessEnv): AgentProcess {
    const args = [`--max-old-space-size=${MAX_HEAP}`, join(root, PROGRAM), ...options];
    const env = { PATH: process.env['PATH'], ...environment };
    return new AgentProcess(spawn(process.execPath, args, { env, stdio: 'pipe' }));
  }

  /** Undefined once it has ended. */
  get pid(): number | undefined {
    const { exitCode, signalCode, pid } = this.child;
    return exitCode === null && signalCode === null ? pid : undefined;
  }

  /** @throws TourFailure with its last words when it has ended. */
  requireRunning(): void {
    const { exitCode } = this.child;
    if (exitCode !== null) throw new TourFailure(`the agent ended with ${exitCode}: ${this.output.trim()}`);
  }

  /** Ends it without a chance to do anything. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Its exit code. */
  async stop(patienceMs = STOP_MS): Promise<number | null> {
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), patienceMs);
    const code = await this.ended;
    clearTimeout(timer);
    return code;
  }
}
