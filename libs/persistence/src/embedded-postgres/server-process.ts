import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bilingual } from '@gatehouse/i18n';
import { keepOwner } from '@gatehouse/net';
import pg from 'pg';
import type { ClusterHome } from './cluster-home.js';
import { EmbeddedPostgresError } from './errors.js';
import { portTaken } from './port.js';
import { underAccount } from './privileged-command.js';

const LOG_LIMIT_BYTES = 4 * 1024 * 1024;
const READY_TIMEOUT_MS = 120_000;

/** The exit of the server. */
export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ServerSettings {
  port: number;
  /** False for tests: no fsync, data may be lost with the machine. */
  durable: boolean;
  /** Major version of the server: older ones do not know every setting. */
  major: number;
}

/** Nothing a test writes has to survive the machine. */
const FOR_TESTS: Record<string, string> = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  max_wal_size: '64MB',
};

/** The settings of the server, each given on its command line so that no edited file can open it to the network. */
function serverArguments(home: ClusterHome, { port, durable, major }: ServerSettings): string[] {
  const settings: Record<string, string> = {
    port: `${port}`,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    password_encryption: 'scram-sha-256',
    max_connections: '200',
    // Idle memory counts on a machine that runs everything; the kernel's page cache does the rest.
    shared_buffers: '32MB',
    wal_buffers: '1MB',
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    // Inside the data directory: systemd removes /dev/shm of a user who logs out, and containers have little of it.
    dynamic_shared_memory_type: 'mmap',
    max_worker_processes: '2',
    max_parallel_workers: '2',
    max_parallel_workers_per_gather: '0',
    ...(major >= 18 && { io_method: 'sync' }),
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: '%m [%p] %a ',
    log_checkpoints: 'off',
    log_min_messages: 'warning',
    // Statements and key values may hold secrets.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...(durable ? {} : FOR_TESTS),
  };
  return ['-D', home.data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** The running server process, a session of its own so that Ctrl-C in the terminal reaches only its supervisor. */
export class ServerProcess {
  readonly child: ChildProcess;
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<ServerExit>;
  private ended: ServerExit | undefined;
  private spawnError: Error | undefined;
  private readonly logStart: number;
  private readonly home: ClusterHome;

  constructor(home: ClusterHome, settings: ServerSettings) {
    this.home = home;
    const program = join(home.native, 'bin', 'postgres');
    const { command, args, ...identity } = underAccount(home.account, 'INT', program, serverArguments(home, settings));
    this.logStart = rotateLog(home.logFile);
    const log = openSync(home.logFile, 'a', 0o600);
    keepOwner(home.logFile);
    this.child = spawn(command, args, {
      ...identity,
      cwd: home.record.cluster,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.exited = new Promise((resolve) => {
      const end = (exit: ServerExit): void => {
        this.ended ??= exit;
        resolve(this.ended);
      };
      this.child.once('exit', (code, signal) => end({ code, signal }));
      this.child.once('error', (error) => {
        this.spawnError = error;
        end({ code: null, signal: null });
      });
    });
  }

  /** Waits until the server answers a query. @throws PORT_TAKEN, START_FAILED or START_TIMED_OUT. */
  async ready(url: string, settings: ServerSettings, portVariable: string): Promise<void> {
    const end = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      if (this.ended !== undefined) throw this.startFailure(settings.port, portVariable);
      const answer = await tryConnect(url);
      if (answer === undefined) return;
      if (performance.now() > end) {
        throw new EmbeddedPostgresError(
          'START_TIMED_OUT',
          bilingual(
            `PostgreSQL did not answer within ${READY_TIMEOUT_MS / 1000} s (see ${this.home.logFile}).`,
            `PostgreSQL 在 ${READY_TIMEOUT_MS / 1000} 秒内没有响应（见 ${this.home.logFile}）。`,
          ),
          { cause: answer },
        );
      }
      await delay(10);
    }
  }

  /** Ends all sessions and stops the server, if necessary by force. Resolves when the process is gone. */
  async stop(): Promise<void> {
    for (const [signal, patienceMs] of [
      ['SIGINT', 15_000],
      ['SIGQUIT', 5_000],
      ['SIGKILL', 5_000],
    ] as const) {
      if (this.ended !== undefined) return;
      this.child.kill(signal);
      const patience = new AbortController();
      await Promise.race([
        this.exited,
        delay(patienceMs, undefined, { signal: patience.signal, ref: false }).catch(() => undefined),
      ]);
      patience.abort();
    }
  }

  private startFailure(port: number, portVariable: string): EmbeddedPostgresError {
    const log = readFileSync(this.home.logFile).subarray(this.logStart).toString('utf8');
    if (/could not bind .*address already in use/is.test(log)) return portTaken(port, portVariable);
    const reason = log.split('\n').filter((line) => /FATAL|PANIC|error while loading/.test(line));
    const exit = this.spawnError?.message ?? `it ended with ${this.ended?.signal ?? this.ended?.code}`;
    return new EmbeddedPostgresError(
      'START_FAILED',
      bilingual(
        `PostgreSQL did not start: ${reason.join(' ').trim() || exit} (see ${this.home.logFile}).`,
        `PostgreSQL 未能启动：${reason.join(' ').trim() || exit}（见 ${this.home.logFile}）。`,
      ),
      { cause: this.spawnError },
    );
  }
}

/** Keeps one previous log; returns the offset at which the lines of this start begin. */
function rotateLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= LOG_LIMIT_BYTES) return size;
  renameSync(file, `${file}.1`);
  return 0;
}

async function tryConnect(url: string): Promise<Error | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return undefined;
  } catch (error) {
    return error as Error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
