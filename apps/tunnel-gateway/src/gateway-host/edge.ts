import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  TunnelError,
  type AgentState,
  type TunnelLogger,
  type TunnelServer,
  type TunnelState,
} from '@gatehouse/tunnel-kernel';
import { AcmeAnswers } from './acme-answers.js';
import { ClientDirectory } from './client-directory.js';
import { servedElsewhere, WorkerShare } from './door/worker-share.js';
import { ConfigFeed } from './config-feed.js';
import { toServerConfig, type MappedConfig } from './config-mapper.js';
import { readConfigRows } from './config-changes.js';
import { findClientByKey, readAllRows, readRevision, type ConfigRows } from './config-rows.js';
import { CountryFile } from './country-file.js';
import { DatabasePresence } from './database-presence.js';
import { EdgeDatabase } from './edge-database.js';
import { EdgeEvents } from './edge-events.js';
import { EdgeGrants } from './edge-grants.js';
import type { ConnectionList, EdgeOptions, EdgePorts, EdgeStatus, PortName } from './edge-ipc.js';
import type { EdgeRole } from './edge-role.js';
import { createEdgeServer, listenAtPorts, serveBehind } from './edge-server.js';
import type { UnsentFlows } from './flow-batch.js';
import { FlowWriter } from './flow-writer.js';
import { HostCertificates } from './host-certificates.js';
import { PolicySecrets } from './policy-secrets.js';
import { RunStatusWriter } from './run-status.js';
import { SnapshotFile } from './snapshot-file.js';

const COUNT_MS = 1_000;
const POLL_MS = 10_000;
const FIRST_RETRY_MS = 500;
const NO_PORTS: EdgePorts = { agents: 0, http: 0, https: 0 };

/** The data plane of one process: a tunnel server on what the database says, and what it tells the database. */
export class Edge implements EdgeRole {
  private readonly options: EdgeOptions;
  private readonly logger: TunnelLogger;
  private readonly database: EdgeDatabase;
  private readonly presence: DatabasePresence;
  private readonly server: TunnelServer;
  /** Null: this process serves everybody. */
  private readonly share: WorkerShare | null;
  private readonly directory: ClientDirectory;
  private readonly certificates: HostCertificates;
  private readonly acme = new AcmeAnswers();
  private readonly grants: EdgeGrants;
  private readonly events: EdgeEvents;
  private readonly policySecrets: PolicySecrets;
  private readonly countries: CountryFile;
  private readonly snapshot: SnapshotFile;
  private readonly flows: FlowWriter;
  private readonly runStatus: RunStatusWriter;
  private readonly feed: ConfigFeed;
  private readonly timers: NodeJS.Timeout[] = [];
  private rows: ConfigRows | null = null;
  private mapped: MappedConfig | null = null;
  private source: EdgeStatus['source'] = 'database';
  private ports = NO_PORTS;
  private loading: Promise<void> | null = null;
  private stale = false;
  /** What is known may be of another database: nothing of it is kept. */
  private anew = false;
  /** Ports are given up: what is left only ends, and another edge may say how the tunnels are. */
  private draining = false;
  private closed = false;

  constructor(options: EdgeOptions, logger: TunnelLogger) {
    this.options = options;
    this.logger = logger;
    this.database = new EdgeDatabase(options.databaseUrl);
    this.presence = new DatabasePresence(logger);
    this.directory = new ClientDirectory({
      now: Date.now,
      find: (keyHash) => findClientByKey(this.database, keyHash),
    });
    const certificateKey = Buffer.from(options.certificateKey, 'base64');
    this.certificates = new HostCertificates(options.certificateFolder, certificateKey, logger);
    this.grants = new EdgeGrants(this.database, Date.now);
    this.events = new EdgeEvents({
      queries: this.database,
      now: Date.now,
      ownerOf: (clientId) => this.directory.ownerOf(clientId),
      onProblem: (problem, fields) => logger.warn(problem, fields),
    });
    this.policySecrets = new PolicySecrets(options.visitorSecret);
    this.countries = new CountryFile(options.geoFile, (problem) => logger.warn(problem));
    this.snapshot = new SnapshotFile(join(options.folder, 'snapshot.json'));
    this.share = options.worker && new WorkerShare(options.worker);
    this.server = this.createServer();
    this.flows = new FlowWriter({
      queries: this.database,
      now: Date.now,
      collect: (unsent) => this.collect(unsent),
      folder: options.folder,
    });
    this.runStatus = new RunStatusWriter(this.database, () => this.share?.clientIds() ?? null);
    this.feed = new ConfigFeed({
      database: this.database,
      onNews: (anew) => void this.reload(anew),
      onChallenges: () => void this.loadChallenges(),
      onGrants: (news) => void this.grants.receive(news).catch(this.presence.failed),
      onProblem: (problem) => logger.debug('the database cannot be listened to', { problem }),
    });
  }

  /** Reads the configuration: from the database, else from the snapshot, else it waits for one of them. */
  async prepare(): Promise<void> {
    await this.flows.recover();
    for (;;) {
      try {
        this.take(await this.database.snapshot(readAllRows), 'database');
        return await this.grants.read();
      } catch (error) {
        this.presence.failed(error);
      }
      const rows = await this.snapshot.read();
      if (rows) return this.take(rows, 'snapshot');
      await new Promise((resolve) => setTimeout(resolve, FIRST_RETRY_MS));
    }
  }

  /** Binds the ports and begins to work. @throws EdgePortError for a port of the gateway itself. */
  async open(given: EdgePorts | null): Promise<EdgePorts> {
    await this.applyRows();
    this.ports = given ?? (await listenAtPorts(this.server, this.options));
    if (given) await serveBehind(this.server, given, this.options);
    void this.feed.start();
    this.timers.push(
      setInterval(() => void this.tick(), COUNT_MS),
      setInterval(() => void this.poll(), POLL_MS),
    );
    return this.ports;
  }

  status(): EdgeStatus {
    return {
      pid: process.pid,
      revision: this.rows?.revision ?? 0,
      source: this.source,
      databaseAnswers: this.database.answers,
      agents: this.server.agents().length,
      connections: this.server.flows,
      ports: this.ports,
    };
  }

  agents(clientIds: readonly number[] | null): AgentState[] {
    const wanted = clientIds && new Set(clientIds);
    return this.server.agents().filter(({ clientId }) => !wanted || wanted.has(clientId));
  }

  tunnels(ids: readonly number[]): TunnelState[] {
    const wanted = new Set(ids);
    return this.states().filter(({ id }) => wanted.has(id));
  }

  connections(clientId: number, limit: number): ConnectionList {
    const all = this.server.connections(clientId);
    const items = all.slice(0, limit).map(({ resource, visitor, startedAt, upload, download }) => ({
      ...resource,
      ...visitor,
      startedAt,
      upload,
      download,
    }));
    return { items, total: all.length };
  }

  kick(clientId: number): boolean {
    const online = this.agents([clientId]).length > 0;
    this.server.disconnect(clientId);
    return online;
  }

  /** Gives up the ports; resolves when the last connection has ended or the time is over. */
  async drain(spreadMs: number, deadlineMs: number): Promise<void> {
    this.draining = true;
    this.events.silence();
    await this.server.drain({ spreadMs, deadlineMs });
  }

  /** Resolves when the ports of the tunnels are given up, after `drain` was called. */
  async released(): Promise<void> {
    while (this.server.tunnels().length > 0) await setImmediate();
  }

  /** A connection that the door accepted, and what it read of it. */
  receive(port: PortName, socket: Socket, head: Buffer): void {
    socket.unshift(head);
    this.server.take(port, socket);
  }

  async shutdown(graceMs: number): Promise<void> {
    await this.drain(0, graceMs);
    await this.close({ stays: false });
  }

  /** Ends everything and writes the last of what was counted. `stays`: another edge serves on. */
  async close({ stays }: { stays: boolean }): Promise<void> {
    this.draining = true;
    this.events.silence();
    this.closed = true;
    await this.server.stop();
    for (const timer of this.timers) clearInterval(timer);
    // First what only this process knows: a database that hangs keeps the rest waiting until somebody kills it.
    await this.flows.close();
    await this.events.write().catch(this.presence.failed);
    await this.grants.write().catch(this.presence.failed);
    await this.loading;
    if (!stays) await this.runStatus.clear().catch(this.presence.failed);
    await this.feed.close();
    await this.database.close();
  }

  private createServer(): TunnelServer {
    const { options, logger, directory, share, countries, grants, acme } = this;
    const events = this.events.listener(logger, () => void this.writeRunStatus());
    return createEdgeServer(options, { logger, clients: directory, share, countries, grants, acme, events });
  }

  /** One load at a time; news that come meanwhile make one more. */
  private reload(anew = false): Promise<void> {
    this.stale = true;
    this.anew ||= anew;
    this.loading ??= this.loadWhileStale().finally(() => {
      this.loading = null;
    });
    return this.loading;
  }

  private async loadWhileStale(): Promise<void> {
    while (this.stale && !this.closed) {
      const { anew } = this;
      this.stale = this.anew = false;
      try {
        const known = this.source === 'database' && !anew ? this.rows : null;
        const rows = await this.database.snapshot((queries) => readConfigRows(queries, known));
        this.presence.answered();
        if (rows === known) continue;
        this.take(rows, 'database');
        await this.applyRows();
      } catch (error) {
        this.anew ||= anew;
        this.presence.failed(error);
      }
    }
  }

  private take(rows: ConfigRows, source: EdgeStatus['source']): void {
    this.rows = rows;
    this.source = source;
    if (source === 'snapshot') {
      this.logger.warn('the configuration is the last snapshot', { revision: rows.revision });
      return;
    }
    this.snapshot.write(rows).catch((error: unknown) => {
      this.logger.error('the snapshot of the configuration cannot be written', { error: String(error) });
    });
  }

  /** A configuration that cannot be served is refused as a whole: what was served before still is. */
  private async applyRows(): Promise<void> {
    const { rows } = this;
    if (!rows || this.closed) return;
    try {
      await this.applyConfig(rows);
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      const { revision } = rows;
      this.logger.error('the configuration cannot be served', { revision, error: error.message });
    }
    await this.writeRunStatus();
  }

  private async applyConfig(rows: ConfigRows): Promise<void> {
    const own = this.share?.take(rows) ?? rows;
    // While they are served still, so that their agents come back soon: to the worker that has them now.
    for (const id of this.share?.left ?? []) this.server.disconnect(id, servedElsewhere());
    const mapped = toServerConfig(
      own,
      (host) => this.certificates.of(host),
      (sealed) => this.policySecrets.open(sealed),
    );
    this.certificates.settle();
    for (const [id, problem] of mapped.hostProblems) {
      if (this.share?.isOwnHost(id) ?? true) this.logger.warn('a host cannot be served', { host: id, problem });
    }
    for (const [rule, problem] of mapped.ruleProblems) this.logger.warn('a rule is about nobody', { rule, problem });
    // Bytes of clients that are gone are still theirs.
    this.flows.collect();
    this.mapped = mapped;
    this.directory.apply(rows);
    if (this.asksForCountries()) this.countries.load();
    await this.server.apply(mapped.config);
    for (const { clientId } of this.server.agents()) {
      if (this.directory.isOutdated(clientId)) this.server.disconnect(clientId);
    }
  }

  private loadChallenges(): Promise<void> {
    return this.acme.load(this.database).catch(this.presence.failed);
  }

  private states(): TunnelState[] {
    const problems = [...(this.mapped?.tunnelProblems ?? [])].map(([id, error]): TunnelState => {
      const clientId = this.rows?.tunnels.find((tunnel) => tunnel.id === id)?.clientId ?? 0;
      return { id, clientId, state: 'error', port: 0, error };
    });
    return [...this.server.tunnels(), ...problems];
  }

  private collect(unsent: UnsentFlows): void {
    for (const delta of this.server.takeDeltas()) unsent.add(delta, this.directory.ownerOf(delta.clientId));
    const lastSeen = Date.now();
    for (const hits of this.server.takeVisitors()) {
      unsent.addVisitor(hits, this.directory.ownerOf(hits.clientId), lastSeen);
    }
  }

  private async tick(): Promise<void> {
    try {
      await this.flows.write();
      await this.grants.write();
      this.events.limited(this.server.takeHeldBack());
      await this.events.write();
      this.presence.answered();
    } catch (error) {
      this.presence.failed(error);
    }
    if (this.share?.settling && this.server.tunnels().some(({ state }) => state === 'error')) await this.applyRows();
    await this.writeRunStatus();
  }

  private async writeRunStatus(): Promise<void> {
    if (this.draining || this.rows === null) return;
    const states = this.states();
    this.events.tunnels(states, this.rows, this.share?.isOwn);
    try {
      await this.runStatus.write(states);
    } catch (error) {
      this.presence.failed(error);
    }
  }

  /** For what no notification told: a lost one, files of certificates. Ports that were taken the server tries again itself. */
  private async poll(): Promise<void> {
    if (this.closed) return;
    // The last words of an edge before this one may have come after the first of this one.
    this.runStatus.doubt();
    try {
      const revision = await readRevision(this.database);
      if (revision !== this.rows?.revision || this.source === 'snapshot') await this.reload();
    } catch (error) {
      this.presence.failed(error);
    }
    const otherCountries = this.asksForCountries() && this.countries.load();
    // Who is in already is asked again.
    if (otherCountries || this.certificates.changed()) await this.applyRows();
  }

  private asksForCountries(): boolean {
    return this.rows?.ipRules.some(({ kind }) => kind === 'country') ?? false;
  }
}
