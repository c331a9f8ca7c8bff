import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatHostPort } from '@gatehouse/net';
import { explainFullDisk, PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { OwnedLock } from '../../bootstrap/process-lock.mjs';
import { openDatabase, type PlatformDatabase } from './database.js';
import { requireFreePorts } from './free-ports.js';
import { takeHome } from './home-lock.js';
import { clearLeftovers } from './leftovers.js';
import type { PlatformSettings } from './platform-settings.js';
import { serviceEnvironment } from './service-environment.js';
import { SERVICES, type ServiceEntry } from './service-list.js';
import { ServiceProcess, ServiceStartError } from './service-process.js';
import { settingProblems, UNKNOWN_DATABASE } from './settings-check.js';
import { identityOf, removeState, writeState, type PlatformState } from './state-file.js';
import { localized } from '../../bootstrap/language.mjs';

const SERVICE_PATIENCE_MS = 3_500;
const READY_TIMEOUT_MS = 30_000;

/** What `npm start` shows when everything is up. */
export interface StartedPlatform {
  home: string;
  services: { entry: ServiceEntry; url: string }[];
  databaseUrl: string;
  isEmbedded: boolean;
  firstLogin: { file: string; password: string | undefined; isNew: boolean };
}

export interface PlatformOptions {
  /** Flags of Node for a service. */
  nodeFlags?: (entry: ServiceEntry) => string[];
  /** Runs the compiled files, which change while somebody edits, instead of the bundles. */
  isUnbundled?: boolean;
}

/** Database and services of one home, started together and stopped together. */
export class Platform {
  private readonly services = new Map<string, ServiceProcess>();
  private readonly state: PlatformState;
  private lock: OwnedLock | undefined;
  private database: PlatformDatabase | undefined;
  private starting: Promise<unknown> = Promise.resolve();
  private isStopping = false;

  constructor(
    private readonly settings: PlatformSettings,
    private readonly env: NodeJS.ProcessEnv,
    private readonly notify: (line: string) => void,
    private readonly options: PlatformOptions = {},
  ) {
    const isEmbedded = settings.databaseUrl === undefined;
    this.state = { ...identityOf(process.pid), isEmbedded, services: [], ports: settings.ports };
  }

  /** Whether anything was started that had to be stopped. */
  get hasStarted(): boolean {
    return this.database !== undefined;
  }

  /** Starts everything, or nothing: after a failure call stop(). @throws PlainFailure */
  start(): Promise<StartedPlatform> {
    const started = this.startAll().catch((error: unknown) => {
      throw explainFullDisk(error, this.settings.home);
    });
    this.starting = started;
    return started;
  }

  /** Services first and side by side, the database last. `patienceMs` 0 ends the services at once. */
  async stop(patienceMs = SERVICE_PATIENCE_MS): Promise<void> {
    this.isStopping = true;
    this.attempt(() => this.lock?.update({ state: 'stopping' }));
    await this.stopServices(patienceMs);
    await this.starting.catch(() => undefined); // start() has already rejected for its caller
    await this.stopServices(patienceMs);
    await this.database?.stop();
    if (this.lock !== undefined) this.attempt(() => removeState(this.settings.home));
    this.lock?.release();
  }

  /**
   * Stops a service and starts it again, with the code that is there now.
   * @throws ServiceStartError; it is down then.
   */
  async restart(name: string): Promise<void> {
    if (!this.isStopping) await this.services.get(name)?.replace(SERVICE_PATIENCE_MS);
  }

  private async startAll(): Promise<StartedPlatform> {
    const { home } = this.settings;
    this.lock = await takeHome(home, this.notify);
    await clearLeftovers(home, this.notify);
    await this.requireGoodSettings();
    await requireFreePorts(this.settings);
    this.requireGoingOn();
    const database = await openDatabase({
      ...this.settings,
      notify: this.notify,
      onRestart: (pid) => this.keep({ postgresPid: pid }),
    });
    this.database = database;
    this.keep({ databaseUrl: database.url, postgresPid: database.pid });
    this.requireGoingOn();
    const file = join(home, 'first-login.txt');
    const wasThere = existsSync(file);
    const services = await Promise.all(SERVICES.map((entry) => this.startService(entry, database.url)));
    const password = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
    const { url: databaseUrl, isEmbedded } = database;
    return { home, services, databaseUrl, isEmbedded, firstLogin: { file, password, isNew: !wasThere } };
  }

  private async requireGoodSettings(): Promise<void> {
    const env = this.serviceEnv(UNKNOWN_DATABASE);
    const advice = await settingProblems(env, this.env, this.options.isUnbundled);
    if (advice.length > 0)
      throw new PlainFailure(localized('the environment is not usable:', '环境变量设置有误：'), { advice });
  }

  private serviceEnv(databaseUrl: string): NodeJS.ProcessEnv {
    return serviceEnvironment(this.env, this.settings, this.settings.databaseUrl ?? databaseUrl);
  }

  private requireGoingOn(): void {
    if (this.isStopping) throw new PlainFailure(localized('stopped while starting', '启动过程中被停止'));
  }

  private async startService(entry: ServiceEntry, databaseUrl: string): Promise<{ entry: ServiceEntry; url: string }> {
    const { home, bindAddress } = this.settings;
    const program = this.options.isUnbundled === true ? entry.main : entry.bundle;
    const service = new ServiceProcess({
      name: entry.name,
      command: process.execPath,
      args: [...(this.options.nodeFlags?.(entry) ?? []), join(ROOT, program)],
      cwd: ROOT,
      env: this.serviceEnv(databaseUrl),
      logFile: join(home, 'logs', `${entry.name}.log`),
      notify: this.notify,
      onSpawn: (pid) => this.record(entry.name, pid),
    });
    this.services.set(entry.name, service);
    try {
      const url = baseUrl(bindAddress, await service.start());
      await this.waitUntilHealthy(entry.name, url);
      return { entry, url };
    } catch (cause) {
      if (!(cause instanceof ServiceStartError)) throw cause;
      const advice = [...cause.tail, localized('Full log: ', '完整日志：') + join(home, 'logs', `${entry.name}.log`)];
      throw new PlainFailure(cause.message, { advice, cause });
    }
  }

  private record(name: string, pid: number): void {
    const others = this.state.services.filter((service) => service.name !== name);
    // One that is started again has the address that it had.
    const url = this.state.services.find((service) => service.name === name)?.url;
    this.keep({ services: [...others, { name, ...identityOf(pid), url }] });
  }

  /** What other commands find. A disk that is full must not end what runs. */
  private keep(changes: Partial<PlatformState>): void {
    Object.assign(this.state, changes);
    this.attempt(() => writeState(this.settings.home, this.state));
  }

  private attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.notify(`[supervisor] ${(error as Error).message}`);
    }
  }

  private async waitUntilHealthy(name: string, url: string): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    let answer = 'no answer';
    while (Date.now() < deadline && !this.isStopping) {
      try {
        const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
        answer = `${response.status} ${await response.text()}`;
        if (response.ok) {
          const services = this.state.services.map((service) =>
            service.name === name ? { ...service, url } : service,
          );
          this.keep({ services });
          return;
        }
      } catch (error) {
        answer = error instanceof Error ? error.message : String(error);
      }
      await delay(50);
    }
    throw new ServiceStartError(`${name} started, but is not ready: ${answer}`, []);
  }

  private async stopServices(patienceMs: number): Promise<void> {
    await Promise.all([...this.services.values()].map((service) => service.stop(patienceMs)));
  }
}

/** An address to reach a service at from this machine. */
export function baseUrl(bindAddress: string, port: number): string {
  const isWildcard = bindAddress === '0.0.0.0' || bindAddress === '::';
  const host = isWildcard ? '127.0.0.1' : bindAddress;
  return `http://${formatHostPort(host, port)}`;
}
