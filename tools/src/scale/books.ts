import type { StoredData } from '@gatehouse/persistence';
import { withClient } from '@gatehouse/persistence/server';
import { brokenChain, brokenData } from '../replicas/invariants.js';
import { Load, type Work } from '../replicas/load.js';
import { administratorOf, siteAdministrator } from '../replicas/people.js';
import { ProxyWork } from '../replicas/proxy-work.js';
import { AnswerLog, type ReplicaClient } from '../replicas/replica-client.js';
import { SharingWork } from '../replicas/sharing-work.js';
import { loadStoredData } from '../database/stored-data.js';
import { Chance } from '../trials/chance.js';
import { eventuallyTrue } from '../trials/eventually-true.js';
import type { Fleet } from './fleet.js';
import type { PlatformLoad } from './platform-load.js';

/** Counters are written once a second, what waited in a queue a little later. */
const COUNTED_MS = 12_000;
/** At least so many bytes does a connection through the proxy carry, to be in the log as one that was answered. */
const PROXIED_BYTES = 2_000;
const PEOPLE_EACH = 2;

/** What counters and logs have too much, or too little when negative. */
interface Deviation {
  tunnelBytes: number;
  logRows: number;
}

/**
 * Members of resource-sharing who pay each other, administrators of proxy-gateway, and what has to be exact in the end: the
 * ledger, everything that was promised to a client, and the counters of what users' own sockets moved.
 */
export class Books implements AsyncDisposable {
  private people: Load | undefined;
  /** What was reported already. */
  private known: Deviation = { tunnelBytes: 0, logRows: 0 };

  private constructor(
    private readonly fleet: Fleet,
    private readonly load: PlatformLoad,
    private readonly works: readonly (Work & { close?: () => Promise<void> })[],
    private readonly administrators: readonly { client: ReplicaClient; path: string }[],
    private readonly stored: StoredData[],
  ) {}

  static async open(fleet: Fleet, load: PlatformLoad): Promise<Books> {
    const answers = new AnswerLog();
    const [proxy, tunnel, site] = [
      await administratorOf(fleet, answers, 'proxy-gateway'),
      await administratorOf(fleet, answers, 'tunnel-gateway'),
      await siteAdministrator(fleet, answers),
    ];
    const works = [await SharingWork.prepare(fleet, site), await ProxyWork.prepare(fleet, proxy, new Chance(1))];
    const api = [proxy, tunnel].map((client) => ({ client, path: '/api/v1' }));
    const administrators = [...api, { client: site, path: '/api/site/admin' }];
    return new Books(fleet, load, works, administrators, await loadStoredData());
  }

  begin(): void {
    this.people ??= new Load(this.works, PEOPLE_EACH, new Chance(2));
  }

  /** Ends all work and says in words what is not exact, each once. */
  async settle(): Promise<string[]> {
    await this.load.streams.pause();
    await this.people?.stop();
    const failures = this.people?.failures ?? [];
    this.people = undefined;
    const promises = [];
    for (const work of this.works) {
      const broken = await work.brokenPromises();
      promises.push(...broken.map((promise) => `${work.name}: ${promise}`));
    }
    const chains = [];
    for (const { client, path } of this.administrators) chains.push(...(await brokenChain(client, path)));
    const data = await brokenData(this.fleet, this.stored);
    return [...(await this.counterDifferences()), ...failures, ...promises, ...data, ...chains];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.people?.stop();
    for (const work of this.works) await work.close?.();
  }

  private async counterDifferences(): Promise<string[]> {
    let now = await this.deviation();
    const isExact = ({ tunnelBytes, logRows }: Deviation): boolean => tunnelBytes === 0 && logRows >= 0;
    await eventuallyTrue(async () => {
      now = await this.deviation();
      return !this.load.meter.isBusy && isExact(now);
    }, COUNTED_MS);
    this.known = { tunnelBytes: this.known.tunnelBytes + now.tunnelBytes, logRows: this.known.logRows + now.logRows };
    const { tunnelBytes, logRows } = now;
    return [
      ...(tunnelBytes === 0 ? [] : [`the tunnel's counter: ${signed(tunnelBytes)} bytes`]),
      // Connections that were cut have a row, too.
      ...(logRows >= 0 ? [] : [`the proxy's log: ${signed(logRows)} rows`]),
    ];
  }

  private async deviation(): Promise<Deviation> {
    const { load, known, fleet } = this;
    const sql = `SELECT (SELECT export_flow FROM tunnel_gateway.tunnels WHERE id = $1)::float8 AS bytes,
      (SELECT count(*) FROM proxy_gateway.traffic_logs WHERE download >= $2)::float8 AS rows`;
    const [row = { bytes: 0, rows: 0 }] = await withClient(fleet.options.databaseUrl, async (client) => {
      const { rows } = await client.query<{ bytes: number; rows: number }>(sql, [load.tunnelId, PROXIED_BYTES]);
      return rows;
    });
    const { tunnelBytes, proxied } = load.meter;
    return { tunnelBytes: row.bytes - tunnelBytes - known.tunnelBytes, logRows: row.rows - proxied - known.logRows };
  }
}

const signed = (value: number): string => (value > 0 ? `+${value}` : String(value));
