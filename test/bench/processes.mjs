// Starting, finding and measuring the processes of a benchmark. Linux only: CPU time comes from /proc.
import { fork, spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TICKS_PER_SECOND = 100;
const running = new Set();

/** Path of a peer program, or null. Looks where `npm run peers` puts them, then in PATH. */
export function findPeer(name) {
  const directories = [
    process.env.GATEHOUSE_PEERS_BIN ?? path.join(ROOT, '.gatehouse/peers/bin'),
    ...(process.env.PATH ?? '').split(path.delimiter),
    '/usr/sbin',
  ];
  return directories.map((directory) => path.join(directory, name)).find((file) => existsSync(file)) ?? null;
}

/** A program that a benchmark cannot do without. @throws Error that says how it comes here */
export function requirePeer(name) {
  const program = findPeer(name);
  if (program === null) throw new Error(`${name} is not installed: npm run peers`);
  return program;
}

/** Forks a Node script and waits for its first message. */
export async function startScript(file, args = [], options = {}) {
  const child = fork(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], ...options });
  running.add(child);
  const first = await Promise.race([
    once(child, 'message').then(([message]) => message),
    once(child, 'exit').then(([code]) => {
      throw new Error(`${path.basename(file)} ended with ${code} before it was ready`);
    }),
  ]);
  return { child, first };
}

/** Starts a program and waits until its TCP port takes connections. */
export async function startProgram(command, args, port, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], ...options });
  running.add(child);
  let errors = '';
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-2000)));
  child.on('error', () => {});
  const ended = () => child.exitCode !== null;
  if (await untilItAccepts(port, ended)) return { child };
  const what = ended() ? `ended with ${child.exitCode}` : `did not open port ${port} within 5 s`;
  throw new Error(`${command} ${what}: ${errors}`);
}

/** False if nobody took connections at the port within 5 s. */
export function untilItAccepts(port, givenUp) {
  return untilTrue(() => accepts(port), givenUp);
}

/** False if no HTTP server answered behind the port within 5 s. */
export function untilItAnswers(port) {
  return untilTrue(() => answers(port));
}

async function untilTrue(look, givenUp = () => false) {
  for (let attempt = 0; attempt < 100 && !givenUp(); attempt++) {
    if (await look()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1', timeout: 1000 });
    socket.write('GET / HTTP/1.0\r\n\r\n');
    const settle = (answered) => {
      resolve(answered);
      socket.destroy();
    };
    socket.on('data', () => settle(true));
    for (const event of ['error', 'timeout', 'close']) socket.on(event, () => settle(false));
  });
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

export async function freePort() {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * CPU seconds that a process and its children have used, user and system: those that have ended too, such as the server
 * process of a database connection that was closed.
 */
export function cpuSeconds(pid) {
  for (let attempt = 1; ; attempt++) {
    try {
      return tree(pid).reduce((sum, member) => sum + ticksOf(member) / TICKS_PER_SECOND, 0);
    } catch (error) {
      // A child ended while it was looked at: its parent has its time now.
      if (error.code !== 'ENOENT' || attempt === 5) throw error;
    }
  }
}

/** proc_pid_stat(5): utime, stime, cutime, cstime. */
function ticksOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

/** Resident bytes of a process and its children. */
export function residentBytes(pid) {
  return tree(pid).reduce((sum, member) => {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${member}/status`, 'utf8'));
    return sum + Number(line?.[1] ?? 0) * 1024;
  }, 0);
}

function tree(pid) {
  let children = [];
  try {
    children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' }).split('\n');
  } catch {
    // ps ends with 1 where there are no children
  }
  return [
    pid,
    ...children
      .map((text) => Number(text))
      .filter(Boolean)
      .flatMap((child) => tree(child)),
  ];
}

export async function stop(child) {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

export async function stopAll() {
  await Promise.all([...running].map((child) => stop(child)));
}

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
