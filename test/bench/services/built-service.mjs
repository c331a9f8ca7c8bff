// Built services with a folder and a PostgreSQL of their own, for benchmarks and for programs that ask them from outside.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@gatehouse/persistence';

const APPS = new URL('../../../apps/', import.meta.url);
const children = new Set();
const workplaces = new Set();

// Cleaned up however the script ends.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const { home, postgresPid } of workplaces) {
    killQuietly(postgresPid);
    rmSync(home, { recursive: true, force: true });
  }
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

/** `end()` stops the PostgreSQL and removes the folder: services in it have to be stopped before. */
export async function startWorkplace() {
  const home = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
  chmodSync(home, 0o711);
  const postgres = await startEmbeddedPostgres({ home });
  const workplace = {
    home,
    databaseUrl: postgres.url('postgres'),
    postgresPid: postgres.pid,
    async end() {
      workplaces.delete(workplace);
      await postgres.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
  workplaces.add(workplace);
  return workplace;
}

/** `output`: where its log goes, as `stdio` of a child process has it. @throws Error if it ends before it is ready */
export async function startService(app, { home, databaseUrl }, { env = {}, output = 'ignore' } = {}) {
  const child = fork(fileURLToPath(new URL(`${app}/dist/main.js`, APPS)), [], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      GATEHOUSE_HOME: home,
      DATABASE_URL: databaseUrl,
      AUTO_MIGRATE: 'true',
      LOG_LEVEL: 'error',
      ...env,
    },
    stdio: ['ignore', output, 'inherit', 'ipc'],
    execArgv: [],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const port = await portOf(app, child);
  return { child, pid: child.pid, port, base: `http://127.0.0.1:${port}`, stop: () => stop(child) };
}

async function portOf(app, child) {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${app} ended with ${code}`);
  });
  ended.catch(() => undefined);
  for (;;) {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    if (message.type === 'ready') return message.port;
    if (message.type === 'failed') throw new Error(`${app} did not start: ${message.lines.join('\n')}`);
  }
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** `call(method, route, body)` of a service's API, with these credentials; it logs in before the first call. */
export function callerOf({ base }, credentials) {
  let token;
  const send = async (method, route, body, headers) => {
    const response = await fetch(`${base}/api/v1${route}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  return async (method, route, body) => {
    token ??= (await send('POST', '/auth/login', credentials)).token;
    return send(method, route, body, { authorization: `Bearer ${token}` });
  };
}

function killQuietly(pid) {
  try {
    if (pid) process.kill(pid, 'SIGQUIT');
  } catch {
    // It has already ended.
  }
}
