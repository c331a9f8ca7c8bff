import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase, programEnvironment, type TestDatabase } from '@gatehouse/testing';

const APPS = new URL('../../apps/', import.meta.url);

const runFile = promisify(execFile);

/** A database as the built `migrate` program of the service leaves it: copied, since migrations take a second each time. */
export function createMigratedDatabase(app: string): Promise<TestDatabase> {
  const program = fileURLToPath(new URL(`${app}/bundle/migrate.js`, APPS));
  const prepare = async (url: string): Promise<void> => {
    await runFile(process.execPath, [program], { env: programEnvironment({ DATABASE_URL: url }) });
  };
  return createTestDatabase({ template: { key: `built_${app.replaceAll('-', '_')}`, prepare } });
}

/** A service as `npm start` runs it, as a process of its own, on a database and a home of its own. */
export class BuiltService implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly home: string;
  /** All that it was given. */
  readonly env: NodeJS.ProcessEnv;
  /** Where it listens, once it is ready. */
  port = 0;
  readonly #process: ChildProcess;
  #printed = '';

  private constructor(database: TestDatabase, home: string, app: string, settings: Record<string, string>) {
    this.database = database;
    this.home = home;
    this.env = {
      ...programEnvironment(),
      NODE_ENV: 'production',
      DATABASE_URL: database.url,
      GATEHOUSE_HOME: home,
      AUTO_MIGRATE: 'true',
      LOG_LEVEL: 'warn',
      ...settings,
    };
    this.#process = fork(fileURLToPath(new URL(`${app}/bundle/main.js`, APPS)), [], {
      env: this.env,
      execArgv: [], // the test runner's own would make the built files import sources
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
  }

  /** Resolves when it is ready. @throws Error with what it printed if it ends before */
  static async start(app: string, settings: Record<string, string>): Promise<BuiltService> {
    const home = mkdtempSync(path.join(os.tmpdir(), `gatehouse-${app}-`));
    const service = new BuiltService(await createMigratedDatabase(app), home, app, settings);
    try {
      await service.#untilReady(app);
      return service;
    } catch (error) {
      await service[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The last lines of its log. */
  get printed(): string {
    return this.#printed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGTERM');
      await once(this.#process, 'exit');
    }
    await this.database.drop();
    rmSync(this.home, { recursive: true, force: true });
  }

  async #untilReady(app: string): Promise<void> {
    const keep = (chunk: Buffer): void => void (this.#printed = (this.#printed + chunk.toString()).slice(-40_000));
    this.#process.stdout?.on('data', keep);
    this.#process.stderr?.on('data', keep);
    const [message] = (await Promise.race([
      once(this.#process, 'message'),
      once(this.#process, 'exit').then(([code]) => {
        throw new Error(`${app} ended with ${code} before it was ready:\n${this.#printed.slice(-4000)}`);
      }),
    ])) as [ServiceMessage];
    if (message.type === 'failed') throw new Error(`${app} did not start: ${message.lines.join('\n')}`);
    this.port = message.port;
  }
}

/** First word of a service to its parent. */
type ServiceMessage = { type: 'ready'; port: number } | { type: 'failed'; lines: string[] };
