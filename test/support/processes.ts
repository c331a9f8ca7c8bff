import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '@gatehouse/net';

const MAX_RESTARTS = 3;

interface Started {
  command: string;
  args: string[];
  account: Account;
}

interface Running {
  child: ChildProcess;
  /** The first 4,000 characters of what it wrote to stderr. */
  errors: () => string;
}

interface Account {
  uid?: number;
  gid?: number;
}

/**
 * Programs that a suite starts, and ends whatever happens. One that crashes is started again, as systemd would: that fails
 * the test that saw it and none after it. (v2ray 4.34 panics now and then when it answers datagrams over WebSocket.)
 */
export class Programs {
  #running = new Set<ChildProcess>();
  #folders: string[] = [];

  /** A temporary folder for files of the programs, there until they are stopped. */
  folder(prefix: string): string {
    const folder = mkdtempSync(path.join(os.tmpdir(), prefix));
    this.#folders.push(folder);
    return folder;
  }

  /** Starts a program that listens on a port of its own and waits until it does. */
  async start(command: string, argumentsFor: (port: number) => string[], account: Account = {}): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      const program = { command, args: argumentsFor(port), account };
      const running = this.#spawn(program);
      if (await opens(running.child, port)) {
        this.#restartWhenItEnds(program, running);
        return port;
      }
      await this.#stop(running.child);
      if (attempt === 3) throw new Error(`${command} did not open its port: ${running.errors()}`);
    }
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.#stop(child)));
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  }

  #spawn({ command, args, account }: Started): Running {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], ...account });
    this.#running.add(child);
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(0, 4000)));
    child.on('error', (error) => (errors += error.message));
    return { child, errors: () => errors };
  }

  #restartWhenItEnds(program: Started, { child, errors }: Running, restarts = MAX_RESTARTS): void {
    child.once('exit', (code, signal) => {
      if (!this.#running.delete(child)) return;
      console.error(`${program.command} ended (${signal ?? code}), ${restarts} more restarts: ${errors()}`);
      if (restarts > 0) this.#restartWhenItEnds(program, this.#spawn(program), restarts - 1);
    });
  }

  async #stop(child: ChildProcess): Promise<void> {
    this.#running.delete(child);
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

/** Whether the port takes connections before the program ends or five seconds pass. */
async function opens(child: ChildProcess, port: number): Promise<boolean> {
  const deadline = Date.now() + 5000;
  while (Date.now() < deadline && child.exitCode === null && child.pid !== undefined) {
    if (await accepts(port)) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
