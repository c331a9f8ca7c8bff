// A built proxy gateway with a PostgreSQL of its own, for benchmarks.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@gatehouse/persistence';

const MAIN = fileURLToPath(new URL('../../apps/proxy-gateway/dist/main.js', import.meta.url));
const PASSWORD = 'a-password-for-benchmarks';

/**
 * `call(method, route, body)` is signed in; `databaseUrl` is the service's own; `end()` stops and removes everything.
 * `output`: where its log goes, a file descriptor.
 */
export async function startProxyGateway(env = {}, { output = 'ignore' } = {}) {
  const home = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
  chmodSync(home, 0o711);
  const postgres = await startEmbeddedPostgres({ home });
  const databaseUrl = postgres.url('postgres');
  const child = fork(MAIN, [], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      GATEHOUSE_HOME: home,
      DATABASE_URL: databaseUrl,
      GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
      AUTO_MIGRATE: 'true',
      PROXY_GATEWAY_PORT: '0',
      PROXY_KERNEL_PORT: '0',
      LOG_LEVEL: 'error',
      ...env,
    },
    stdio: ['ignore', output, 'inherit', 'ipc'],
  });
  const { port } = await Promise.race([
    ready(child),
    once(child, 'exit').then(async ([code]) => {
      await postgres.stop();
      throw new Error(`proxy-gateway ended with ${code}`);
    }),
  ]);
  // Whatever becomes of the benchmark: nothing of this stays.
  process.on('exit', () => {
    child.kill('SIGKILL');
    if (postgres.pid) killQuietly(postgres.pid);
    rmSync(home, { recursive: true, force: true });
  });
  const base = `http://127.0.0.1:${port}`;
  let token = '';
  const call = async (method, route, body) => {
    const response = await fetch(`${base}/api/v1${route}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  ({ token } = await call('POST', '/auth/login', { password: PASSWORD }));
  return {
    base,
    call,
    databaseUrl,
    password: PASSWORD,
    pid: child.pid,
    async end() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await postgres.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function killQuietly(pid) {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // It has ended by itself.
  }
}

async function ready(child) {
  for (;;) {
    const [message] = await once(child, 'message');
    if (message.type === 'ready') return message;
  }
}
