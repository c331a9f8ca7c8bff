import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningServer } from './echo-servers.js';

import { reservePort } from './reserve-port.js';
import { waitFor } from './wait-for.js';

export interface PgBouncerOptions {
  /** Path of the program. */
  program: string;
  /** Connection string of the database behind it. */
  url: string;
  mode: 'session' | 'transaction' | 'statement';
  /** More of its section `pgbouncer`. */
  settings?: Record<string, string>;
}

export interface PgBouncer extends RunningServer {
  /** Connection string of the same database through it. */
  url: string;
}

/** Starts a real PgBouncer on a free loopback port. */
export async function startPgBouncer({ program, url, mode, settings = {} }: PgBouncerOptions): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pgbouncer-'));
  const port = await reservePort();
  const target = new URL(url);
  const database = target.pathname.slice(1);
  const [user, password] = [target.username, target.password].map(decodeURIComponent);
  const place = `host=${target.hostname} port=${target.port} dbname=${database} user=${user} password='${password}'`;
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    max_client_conn: 500,
    default_pool_size: 150,
    // It does not run as root.
    ...(process.getuid?.() === 0 && { user: 'nobody' }),
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `[databases]\n${database} = ${place}\n[pgbouncer]\n${lines.join('\n')}\n`);
  chmodSync(folder, 0o755);
  const child = spawn(program, [file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.on('error', (error) => (errors += error.message));
  child.stderr.on('data', (part) => (errors = (errors + String(part)).slice(-2000)));
  const exited = once(child, 'close').catch(() => undefined);
  const close = async (): Promise<void> => {
    // Its way to end at once.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitFor(() => child.pid === undefined || child.exitCode !== null || accepts(port));
    if (child.pid === undefined || child.exitCode !== null) throw new Error(`pgbouncer ended at once: ${errors}`);
  } catch (error) {
    await close();
    throw error;
  }
  target.port = String(port);
  return { host: '127.0.0.1', port, url: target.href, close, [Symbol.asyncDispose]: close };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
