import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@gatehouse/net';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { KERNEL_PORT, SERVICES, TUNNEL_PORTS } from '../supervisor/service-list.js';
import { readState, type PlatformState } from '../supervisor/state-file.js';
import { findPassword } from '../supervisor/running-platform.js';
import { eventuallyTrue } from './eventually-true.js';

const READY_MS = 180_000;

/** An empty folder that PostgreSQL's own account can reach. */
export function makeHome(): { home: string; remove: () => void } {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-trial-'));
  chmodSync(home, 0o711);
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

/** @throws PlainFailure where the platform of this home has ended */
export function liveState(home: string): PlatformState {
  const state = readState(home);
  if (state === undefined) throw new PlainFailure('the platform has ended.');
  return state;
}

/** A platform that `npm start` runs for a trial, with ports of its own. */
export class OwnPlatform {
  private constructor(
    readonly home: string,
    readonly env: NodeJS.ProcessEnv,
    private readonly launcher: ChildProcess,
  ) {}

  /** `home`: an empty folder, see {@link makeHome}. `settings` goes before the environment that it has by default. */
  static async start(home: string, settings: NodeJS.ProcessEnv = {}): Promise<OwnPlatform> {
    const env = { ...(await environment(home)), ...settings };
    const launcher = spawn(process.execPath, [join(ROOT, 'tools/up.mjs')], {
      env,
      // It stops when this process is gone, however it ended.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const platform = new OwnPlatform(home, env, launcher);
    try {
      await platform.awaitReady();
      return platform;
    } catch (error) {
      await platform.stop();
      throw error;
    }
  }

  get isRunning(): boolean {
    return this.launcher.exitCode === null && this.launcher.signalCode === null;
  }

  /** @throws PlainFailure where it has ended */
  get state(): PlatformState {
    return liveState(this.home);
  }

  /** The password of the first administrators. */
  get password(): string {
    return findPassword(this.env, this.home);
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    const gone = once(this.launcher, 'exit');
    this.launcher.kill('SIGTERM');
    // With the channel open it would not end.
    if (this.launcher.connected) this.launcher.disconnect();
    await gone;
  }

  private async awaitReady(): Promise<void> {
    let output = '';
    for (const stream of [this.launcher.stdout, this.launcher.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-8_000)));
    }
    await eventuallyTrue(() => Promise.resolve(output.includes('Ready in') || !this.isRunning), READY_MS);
    if (output.includes('Ready in')) return;
    throw new PlainFailure('the platform did not start:', { advice: output.trim().split('\n') });
  }
}

async function environment(home: string): Promise<NodeJS.ProcessEnv> {
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    GATEHOUSE_HOME: home,
    TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
  };
  const services = SERVICES.map(({ portVariable }) => portVariable);
  const ports = [...services, ...TUNNEL_PORTS.map(({ variable }) => variable), KERNEL_PORT.variable];
  for (const variable of ports) env[variable] = String(await freePort());
  return env;
}
