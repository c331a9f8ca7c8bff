import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@gatehouse/net';
import { canConnect } from '../ports.js';

const START_TIMEOUT_MS = 15_000;

type Arguments = (port: number, folder: string) => string[];

/** How each server is started for a moment on a free port of the loopback; the others only have to print their version. */
const SERVERS: Record<string, Arguments> = {
  'ss-server': (port) => ['-s', '127.0.0.1', '-p', String(port), '-k', 'verify', '-m', 'aes-256-gcm'],
  'obfs-server': (port) => ['-s', '127.0.0.1', '-p', String(port), '--obfs', 'http', '-r', '127.0.0.1:9'],
  'ss-v2ray-plugin': (port) => ['-server', '-localAddr', '127.0.0.1', '-localPort', String(port)],
  microsocks: (port) => ['-i', '127.0.0.1', '-p', String(port)],
  'redis-server': (port, folder) => ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder],
  iperf3: (port) => ['-s', '-B', '127.0.0.1', '-p', String(port)],
  nginx: (port, folder) => {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path t_${kind};`,
    );
    const http = `access_log off; ${temporary.join(' ')} server { listen 127.0.0.1:${port}; return 204; }`;
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; pid nginx.pid; error_log stderr; events {} http { ${http} }`,
    );
    return ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
  },
  v2ray: (port, folder) => {
    const inbound = { listen: '127.0.0.1', port, protocol: 'socks', settings: { auth: 'noauth' } };
    const config = { inbounds: [inbound], outbounds: [{ protocol: 'freedom' }] };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    return ['-config', join(folder, 'config.json')];
  },
  // As a client: a server needs a certificate and something to hand strangers to.
  trojan: (port, folder) => {
    const addresses = { local_addr: '127.0.0.1', local_port: port, remote_addr: '127.0.0.1', remote_port: 1 };
    const ssl = { verify: false, verify_hostname: false, cert: '' };
    const config = { run_type: 'client', ...addresses, password: ['verify'], log_level: 5, ssl };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    return ['-c', join(folder, 'config.json')];
  },
};

const PRINT_VERSION: Record<string, string[]> = {
  curl: ['--version'],
  pgbouncer: ['--version'],
  wrk: ['-v'],
  // It has to draw text: that takes fonts besides its libraries.
  chromium: ['--headless', '--no-sandbox', '--disable-gpu', '--print-to-pdf=/dev/null', 'data:text/html,<p>text</p>'],
  // Its usage: a server needs host keys.
  sshd: ['-?'],
  haproxy: ['-v'],
  caddy: ['help'],
  // Its usage: a server needs a configuration.
  pebble: ['-h'],
  named: ['-v'],
  slowhttptest: ['-h'],
  testssl: ['--help'],
  promtool: ['--version'],
};

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

/** The whole group: nginx has workers that would outlive their master. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has already ended
  }
}

async function waitUntilItAnswers(child: ChildProcess, port: number): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    if (await canConnect(port)) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

async function verifyServer(file: string, args: Arguments): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-peer-'));
  try {
    const port = await freePort();
    let output = '';
    const child = spawn(file, args(port, folder), { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const keepTail = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-500));
    child.stdout.on('data', keepTail);
    child.stderr.on('data', keepTail);
    const failure = new Promise<string>((resolve) => child.once('error', (error) => resolve(error.message)));
    const answers = await Promise.race([waitUntilItAnswers(child, port), failure]);
    if (child.pid !== undefined) {
      killGroup(child.pid);
      await ended(child);
    }
    if (answers === true) return undefined;
    return answers || output.trim().split('\n').at(-1) || 'it did not answer';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * What must be seen of programs whose own name proves nothing: it is in the errors of a library that is missing, too.
 * A page without fonts is a file of some hundred bytes.
 */
const PROOF: Record<string, RegExp> = {
  chromium: /\d{4,} bytes written to file/,
  pgbouncer: /PgBouncer \d/,
  named: /BIND \d/,
};

function verifyVersion(file: string, program: string, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout: START_TIMEOUT_MS }, (error, stdout, stderr) => {
      // wrk prints its version and exits with 1
      const output = `${stdout}${stderr}`;
      if (PROOF[program]?.test(output) ?? output.includes(program)) resolve(undefined);
      else resolve(error?.message.split('\n')[0] ?? 'it printed no version');
    });
  });
}

/** Runs a program for a moment; the reason why it does not work, or undefined when it does. */
export async function verifyProgram(program: string, file: string): Promise<string | undefined> {
  const server = SERVERS[program];
  if (server !== undefined) return verifyServer(file, server);
  return verifyVersion(file, program, PRINT_VERSION[program] ?? ['--version']);
}
