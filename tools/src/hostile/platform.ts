import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@gatehouse/net';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { eventuallyTrue } from '../faults/stage.js';
import { KERNEL_PORT, SERVICES, TUNNEL_PORTS } from '../supervisor/service-list.js';
import { readState, runningState, type PlatformState } from '../supervisor/state-file.js';
import { findPassword } from '../tour/tour-command.js';

const READY_MS = 180_000;

/** A platform that runs as `npm start` runs it. */
export interface Platform {
  readonly home: string;
  readonly password: string;
  /** @throws Error where it has ended */
  readonly state: PlatformState;
  close(): Promise<void>;
}

/** The one that runs in this home; it stays. @throws PlainFailure where there is none */
export function runningPlatform(home: string, env: NodeJS.ProcessEnv): Platform {
  if (runningState(home) === undefined) {
    throw new PlainFailure('no platform runs in this home.', { advice: [`home: ${home}`] });
  }
  return {
    home,
    password: findPassword(env, home),
    get state() {
      return live(home);
    },
    close: () => Promise.resolve(),
  };
}

/** One in a new home, with ports of its own; it is gone after close(), its home too. */
export async function startPlatform(): Promise<Platform> {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-hostile-'));
  chmodSync(home, 0o711);
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    GATEHOUSE_HOME: home,
    TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
  };
  const services = SERVICES.map(({ portVariable }) => portVariable);
  const ports = [...services, ...TUNNEL_PORTS.map(({ variable }) => variable), KERNEL_PORT.variable];
  for (const variable of ports) env[variable] = String(await freePort());
  const launcher = spawn(process.execPath, [join(ROOT, 'tools/up.mjs')], {
    env,
    // It stops when this process is gone, however it ended.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const close = async (): Promise<void> => {
    await stop(launcher);
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await awaitReady(launcher);
    return {
      home,
      password: findPassword(env, home),
      get state() {
        return live(home);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function live(home: string): PlatformState {
  const state = readState(home);
  if (state === undefined) throw new PlainFailure('the platform has ended.');
  return state;
}

async function awaitReady(launcher: ChildProcess): Promise<void> {
  let output = '';
  for (const stream of [launcher.stdout, launcher.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-8_000)));
  }
  const hasEnded = (): boolean => launcher.exitCode !== null || launcher.signalCode !== null;
  await eventuallyTrue(() => Promise.resolve(output.includes('Ready in') || hasEnded()), READY_MS);
  if (!output.includes('Ready in')) {
    throw new PlainFailure('the platform did not start:', { advice: output.trim().split('\n') });
  }
}

async function stop(launcher: ChildProcess): Promise<void> {
  if (launcher.exitCode !== null || launcher.signalCode !== null) return;
  const gone = once(launcher, 'exit');
  launcher.kill('SIGTERM');
  // With the channel open it would not end.
  if (launcher.connected) launcher.disconnect();
  await gone;
}
