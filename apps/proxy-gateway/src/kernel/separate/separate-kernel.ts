import { randomUUID } from 'node:crypto';
import { type ControlEndpoint, type ControlKey, type ControlLink, ControlServer, guardPromise } from '@gatehouse/net';
import type { Endpoint, KernelConfig, KernelLogger, ProxyKernel } from '@gatehouse/proxy-kernel';
import { KernelChild } from '../kernel-child.js';
import { KernelEventQueue } from '../kernel-event-queue.js';
import type { KernelGeo } from '../kernel-geo.js';
import type { ChildMessage, EventBatch, KernelLogEntry, ParentMessage } from '../../common/kernel-ipc.js';
import type { FromKernel, FromService, KernelGreeting } from '../../common/kernel-channel.js';
import type { RecordSpool } from '../record-spool.js';
import { EventOutbox } from './event-outbox.js';
import type { KernelStore } from './kernel-store.js';

const FLUSH_MS = 2_000;

export interface SeparateKernelParts {
  kernel: ProxyKernel;
  store: KernelStore;
  geo: KernelGeo;
  /** Null if nothing can be kept on disk. */
  spool: RecordSpool | null;
  logger: KernelLogger;
  /** Newest first. */
  keys: readonly ControlKey[];
}

/**
 * A kernel without a parent process. Any connected service may ask and configure; the one that connected last receives
 * the events. Without a service the kernel keeps its last configuration, also over a restart, and keeps its records.
 */
export class SeparateKernel {
  private readonly parts: SeparateKernelParts;
  private readonly outbox = new EventOutbox((ranges) => {
    this.events.lost(ranges);
    this.askForStored(this.outbox.newest);
  });
  private readonly events: KernelEventQueue;
  private readonly child: KernelChild;
  private readonly server: ControlServer;
  private readonly greeting: KernelGreeting = { type: 'ready', pid: process.pid, instance: randomUUID() };
  private config: KernelConfig | null = null;
  /** Ports of this process, which the proxy must not lead to either. */
  private ownPorts: Endpoint[] = [];

  constructor(parts: SeparateKernelParts) {
    this.parts = parts;
    this.events = new KernelEventQueue((batch) => this.outbox.send(batch), undefined, parts.spool);
    this.child = new KernelChild(parts.kernel, this.events, {
      send: () => Promise.resolve(),
      exit: () => undefined,
    });
    this.server = new ControlServer({
      keys: parts.keys,
      onLink: (link) => this.serve(link),
      onRefused: (error) =>
        parts.logger.warn('A connection to the control channel was refused', { error: error.message }),
    });
  }

  /** True once it carries traffic. */
  get ready(): boolean {
    const { generation, listeners } = this.parts.kernel.status();
    return generation > 0 && listeners.some(({ state }) => state === 'listening');
  }

  /**
   * @throws Error of `listen`. A stored configuration that cannot be used is only logged, since the service will send
   * another.
   */
  async start(endpoint: ControlEndpoint, ownPorts: readonly number[]): Promise<ControlEndpoint> {
    const bound = await this.server.listen(endpoint);
    const ports = 'port' in bound ? [bound.port, ...ownPorts] : ownPorts;
    this.ownPorts = ports.map((port) => ({ host: '*', port }));
    await this.restore();
    return bound;
  }

  /** Queues a line for the service's log; without a service the newest lines are kept. */
  log(entry: KernelLogEntry): void {
    this.events.log(entry);
  }

  /** Gives flows `graceMs` to end. Records that no service receives are kept for the next start. */
  async stop(graceMs: number): Promise<void> {
    await this.parts.kernel.close(graceMs);
    const flushed = this.events.flush();
    await Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, FLUSH_MS))]);
    const { unsent } = this.outbox;
    this.parts.store.saveUnsent([...(unsent ? [unsent] : []), ...this.events.drain()].map(withoutKept));
    await this.server.close();
  }

  private async restore(): Promise<void> {
    const { store, geo, logger } = this.parts;
    try {
      for (const batch of store.takeUnsent()) this.events.restore(batch);
      const files = store.geoFiles();
      if (files.country !== null || files.asn !== null) geo.reload(files);
      const config = store.configuration();
      if (config === null) return;
      await this.apply(config);
      logger.info('The configuration of the previous run is in use until the service connects');
    } catch (error) {
      logger.error('The state of the previous run cannot be used', { error: String(error) });
    }
  }

  private serve(link: ControlLink): void {
    link.onMessage((message) => guardPromise(null, this.receive(link, message as FromService)));
    guardPromise(null, this.send(link, this.greeting));
    this.outbox.attach(link);
    this.askForStored(link);
  }

  /** Asks which records are stored, of those an earlier service received and those of earlier runs. */
  private askForStored(link: ControlLink | undefined): void {
    const spools = this.events.leftSpools;
    if (link && spools.length > 0) guardPromise(null, this.send(link, { type: 'left', spools }));
  }

  private async receive(link: ControlLink, message: FromService): Promise<void> {
    if (message.type === 'ack') return this.outbox.acknowledged(message.number, link);
    if (message.type === 'geo') return this.send(link, this.takeGeo(message));
    if (message.type !== 'request') return;
    // The service must not end a separate kernel.
    if (message.method === 'shutdown') return;
    const answer = await this.child.answer(this.withOwnPorts(message));
    this.remember(message, answer);
    await this.send(link, answer as FromKernel);
  }

  private takeGeo({ id, contents }: Extract<FromService, { type: 'geo' }>): FromKernel {
    try {
      this.parts.geo.reload(this.parts.store.saveGeo(contents));
      return { type: 'response', id, ok: true, result: null };
    } catch (error) {
      return { type: 'response', id, ok: false, error: { name: 'Error', message: String(error) } };
    }
  }

  private async apply(config: KernelConfig): Promise<void> {
    await this.parts.kernel.apply(this.guarded(config));
    this.config = config;
  }

  private guarded(config: KernelConfig): KernelConfig {
    const { own, refusePrivate } = config.guard ?? { own: [], refusePrivate: false };
    return { ...config, guard: { own: [...own, ...this.ownPorts], refusePrivate } };
  }

  private withOwnPorts(message: ParentMessage): ParentMessage {
    return message.method === 'apply' ? { ...message, params: this.guarded(message.params) } : message;
  }

  /** Stores what the kernel needs to restart in its present state. */
  private remember(message: ParentMessage, answer: ChildMessage): void {
    if (answer.type !== 'response' || !answer.ok) return;
    if (message.method === 'apply') this.config = message.params;
    else if (message.method === 'select' && this.config) this.config = withChoice(this.config, message.params);
    else return;
    try {
      this.parts.store.saveConfiguration(this.config);
    } catch (error) {
      this.parts.logger.error('The configuration cannot be kept for the next start', { error: String(error) });
    }
  }

  /** If the link closes meanwhile, another will follow. */
  private async send(link: ControlLink, message: FromKernel): Promise<void> {
    await link.send(message).catch(() => undefined);
  }
}

/** Without the records that are already in the spool. */
function withoutKept(batch: EventBatch): EventBatch {
  return batch.source ? { ...batch, closed: [], traffic: [], source: null } : batch;
}

function withChoice(config: KernelConfig, { group, member }: { group: string; member: string | null }): KernelConfig {
  const groups = config.groups.map(({ selected, ...one }) => {
    const chosen = one.name === group ? member : (selected ?? null);
    return chosen === null ? one : { ...one, selected: chosen };
  });
  return { ...config, groups };
}
