import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { freePort } from '@gatehouse/net';

/** Programs that a suite starts, and ends whatever happens. */
export class Programs {
  #running = new Set<ChildProcess>();

  /** Starts a program that listens on a port of its own and waits until it does. */
  async start(
    command: string,
    argumentsFor: (port: number) => string[],
    account: { uid?: number; gid?: number } = {},
  ): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      const child = spawn(command, argumentsFor(port), { stdio: ['ignore', 'ignore', 'pipe'], ...account });
      this.#running.add(child);
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2000)));
      child.on('error', (error) => (errors += error.message));
      if (await opens(child, port)) return port;
      await this.#stop(child);
      if (attempt === 3) throw new Error(`${command} did not open its port: ${errors}`);
    }
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.#stop(child)));
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
