import { spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { connect } from 'node:net';
import { once } from 'node:events';
import type { RunningServer } from './echo-servers.js';
import { reservePort } from './reserve-port.js';
import { waitFor } from './wait-for.js';

/** Path of a real program: from GATEHOUSE_PEERS_BIN, else from PATH. */
export function findPeer(program: string): string | undefined {
  const { GATEHOUSE_PEERS_BIN: peers, PATH: path = '' } = process.env;
  for (const folder of [peers, ...path.split(delimiter), '/usr/sbin']) {
    if (folder === undefined || folder === '') continue;
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/** Raised where a suite must not pass without a peer: in CI, a missing one is a failure and not a skip. */
export class PeerMissingError extends Error {
  override readonly name = 'PeerMissingError';
}

/** The program's path, or undefined when it may be skipped. @throws PeerMissingError when CI is set. */
export function peerOrSkip(program: string): string | undefined {
  const file = findPeer(program);
  if (file === undefined && process.env['CI']) {
    throw new PeerMissingError(`${program} not found: npm run peers`);
  }
  return file;
}

export interface RedisServer extends RunningServer {
  url: string;
  /** Ends the server at once and starts it again on the same port, with nothing in it. */
  restartEmpty(): Promise<void>;
}

/** A server that speaks TLS only, and lets one user in. */
export interface RedisSecurity {
  /** PEM. */
  certificate: string;
  key: string;
  user: string;
  /** Letters and digits. */
  password: string;
}

/** Starts a real redis-server on a free loopback port, without persistence. */
export async function startRedis(program: string, security?: RedisSecurity): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-redis-'));
  const port = await reservePort();
  let stop: (signal: NodeJS.Signals) => Promise<void> = () => Promise.resolve();
  const close = async (): Promise<void> => {
    await stop('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    stop = await launch(program, port, folder, security);
  } catch (error) {
    await close();
    throw error;
  }
  const restartEmpty = async (): Promise<void> => {
    await stop('SIGKILL');
    stop = await launch(program, port, folder, security);
  };
  const url = security
    ? `rediss://${security.user}:${security.password}@127.0.0.1:${port}`
    : `redis://127.0.0.1:${port}`;
  return { host: '127.0.0.1', port, url, restartEmpty, close, [Symbol.asyncDispose]: close };
}

/** Resolves when the server answers, with how to stop it. */
async function launch(
  program: string,
  port: number,
  folder: string,
  security?: RedisSecurity,
): Promise<(signal: NodeJS.Signals) => Promise<void>> {
  const place = security ? securedPlace(port, folder, security) : ['--port', `${port}`];
  const args = [...place, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const child = spawn(program, args, { stdio: 'ignore' });
  let failure: Error | undefined;
  child.on('error', (error) => (failure = error));
  const exited = once(child, 'exit');
  await waitFor(() => failure !== undefined || child.exitCode !== null || answers(port, security !== undefined));
  if (failure !== undefined || child.exitCode !== null)
    throw new Error('redis-server ended at once', { cause: failure });
  return async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await exited;
  };
}

function securedPlace(port: number, folder: string, { certificate, key, user, password }: RedisSecurity): string[] {
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.cert, certificate);
  writeFileSync(files.key, key);
  const tls = ['--tls-port', `${port}`, '--tls-cert-file', files.cert, '--tls-key-file', files.key];
  const access = ['--user', 'default', 'off', '--user', user, 'on', `>${password}`, '~*', '&*', '+@all'];
  return ['--port', '0', ...tls, '--tls-auth-clients', 'no', ...access];
}

/** One that speaks TLS answers nothing to what is not: that it accepts has to do. */
function answers(port: number, accepting: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      if (!accepting) return void socket.write('PING\r\n');
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
    socket.on('data', (reply) => {
      socket.destroy();
      resolve(reply.toString().startsWith('+PONG'));
    });
  });
}
