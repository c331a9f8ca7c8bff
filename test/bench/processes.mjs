// Starting, finding and measuring the processes of a benchmark. Linux only: CPU time comes from /proc.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
export async function startProgram(command, args, port, { waitSeconds = 5, ...options } = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], ...options });
  running.add(child);
  let errors = '';
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-2000)));
  child.on('error', () => {});
  const ended = () => child.exitCode !== null;
  if (await untilItAccepts(port, ended, waitSeconds)) return { child };
  const what = ended() ? `ended with ${child.exitCode}` : `did not open port ${port} within ${waitSeconds} s`;
  throw new Error(`${command} ${what}: ${errors}`);
}

/** False if nobody took connections at the port in time. */
export function untilItAccepts(port, givenUp, seconds = 5) {
  return untilTrue(() => accepts(port), givenUp, seconds);
}

/** False if no HTTP server answered behind the port within 5 s. */
export function untilItAnswers(port) {
  return untilTrue(() => answers(port));
}

async function untilTrue(look, givenUp = () => false, seconds = 5) {
  for (let attempt = 0; attempt < seconds * 20 && !givenUp(); attempt++) {
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

/** Processes as they were last looked at, by their number. */
const lastSeen = new Map();

/**
 * CPU seconds that a process and its children have used, user and system: those that have ended too, such as the server
 * process of a database connection that was closed, for its parent has its time then. One that ends while it is looked
 * at counts as it was last seen.
 */
export function cpuSeconds(pid, proc = '/proc') {
  // First: a process that is listed afterwards is not yet in the time of its parent.
  const root = statOf(proc, pid);
  if (root === null) throw new Error(`there is no process ${pid}`);
  const listed = processesIn(proc);
  const sum = descendants(pid, listed).reduce((ticks, one) => ticks + one.ticks, root.ticks);
  for (const one of listed) lastSeen.set(one.pid, one);
  return sum / TICKS_PER_SECOND;
}

/** All threads of one process, without its children. */
export function ownCpuMicroseconds(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1_000)
    .reduce((sum, value) => sum + value, 0);
}

/** Resident bytes of a process and its children. */
export function residentBytes(pid) {
  return [pid, ...descendants(pid, processesIn('/proc')).map((one) => one.pid)].reduce((sum, member) => {
    const line = /VmRSS:\s+(\d+) kB/.exec(textOf(`/proc/${member}/status`) ?? '');
    return sum + Number(line?.[1] ?? 0) * 1024;
  }, 0);
}

/** All processes; parents mostly come before their children. */
function processesIn(proc) {
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((one, other) => one - other)
    .map((pid) => statOf(proc, pid) ?? lastSeen.get(pid))
    .filter((one) => one !== undefined);
}

function descendants(pid, processes) {
  return processes
    .filter(({ parent }) => parent === pid)
    .flatMap((child) => [child, ...descendants(child.pid, processes)]);
}

/** proc_pid_stat(5): ppid, and utime, stime, cutime, cstime. Null for a process that has ended. */
function statOf(proc, pid) {
  const text = textOf(`${proc}/${pid}/stat`);
  if (text === null) return null;
  // The name before it may contain anything.
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(fields[1]), ticks };
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  }
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
