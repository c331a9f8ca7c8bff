import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { reservePort } from './reserve-port.js';
import { waitFor } from './wait-for.js';

/** A real name server on loopback (pebble's): every name is 127.0.0.1, TXT records are what a test sets. */
export class TestNames {
  /** `127.0.0.1:port` of the name server. */
  readonly address: string;
  private readonly management: number;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, port: number, management: number) {
    this.child = child;
    this.address = `127.0.0.1:${port}`;
    this.management = management;
  }

  static async start(program: string): Promise<TestNames> {
    const [port, management] = [await reservePort(), await reservePort()];
    const off = ['http01', 'https01', 'tlsalpn01'].flatMap((kind) => [`-${kind}`, '']);
    const addresses = ['-defaultIPv4', '127.0.0.1', '-defaultIPv6', ''];
    const listen = ['-dns01', `127.0.0.1:${port}`, '-management', `127.0.0.1:${management}`];
    const child = spawn(program, [...off, ...addresses, ...listen], { stdio: 'ignore' });
    await waitFor(() => takes(management));
    return new TestNames(child, port, management);
  }

  async setTxt(name: string, value: string): Promise<void> {
    await this.manage('set-txt', { host: `${name}.`, value });
  }

  async close(): Promise<void> {
    await endProgram(this.child);
  }

  private async manage(path: string, body: object): Promise<void> {
    const url = `http://127.0.0.1:${this.management}/${path}`;
    const { status } = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`${path}: ${status}`);
  }
}

/** Ends a program that a test started. */
export async function endProgram(child: ChildProcess | null): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Whether a program listens on the port of loopback. */
export function takes(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
