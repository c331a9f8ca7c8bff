import { randomUUID } from 'node:crypto';
import { type ControlEndpoint, type ControlKey, type ControlLink, ControlServer, guardPromise } from '@gatehouse/net';
import type { Endpoint, KernelLogger, ProxyKernel } from '@gatehouse/proxy-kernel';
import { KernelChild, answerTo } from '../kernel-child.js';
import { KernelEventQueue } from '../kernel-event-queue.js';
import type { KernelGeo } from '../kernel-geo.js';
import type {
  ChildMessage,
  EventBatch,
  KernelLogEntry,
  LiveTraffic,
  ParentMessage,
  RevisedConfig,
} from '../../common/kernel-ipc.js';
import type { FromKernel, FromService, KernelGreeting } from '../../common/kernel-channel.js';
import type { KernelFigures, KernelIdentity } from '../../common/kernel-figures.js';
import type { RecordSpool } from '../record-spool.js';
import { EventOutbox } from './event-outbox.js';
import { onAddress, withoutListeners } from './listening.js';
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
  identity: KernelIdentity;
  /** Replaces the address of every listener, where several kernels share a machine; null: as configured. */
  listenAddress: string | null;
  /** How long the kernel still accepts connections after it has said that it is draining. */
  drainDelayMs: number;
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
  private readonly greeting: KernelGreeting;
  /** Services that show traffic as it flows. */
  private readonly watchers = new Set<ControlLink>();
  /** Where each connected service and its database are: no client may reach them through the proxy. */
  private readonly services = new Map<ControlLink, readonly Endpoint[]>();
  /** Not ready for load balancers. */
  private draining = false;
  /** The listeners are closed, whatever the configuration says. */
  private shut = false;
  private shutting: NodeJS.Timeout | undefined;
  private config: RevisedConfig | null = null;
  /** Ports of this process, which the proxy must not lead to either. */
  private ownPorts: Endpoint[] = [];

  constructor(parts: SeparateKernelParts) {
    this.parts = parts;
    this.greeting = { type: 'ready', pid: process.pid, instance: randomUUID(), identity: parts.identity };
    parts.kernel.on('traffic', ({ at, upload, download }) => this.showLive({ at, upload, download }));
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

  get isDraining(): boolean {
    return this.draining;
  }

  /** True while it accepts connections and is not draining. */
  get ready(): boolean {
    if (this.draining) return false;
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

  /**
   * Lets load balancers see that the kernel is going, then gives flows `graceMs` to end. Records that no service
   * receives are kept for the next start.
   */
  async stop(graceMs: number): Promise<void> {
    clearTimeout(this.shutting);
    if (!this.draining) {
      this.draining = true;
      await new Promise((resolve) => setTimeout(resolve, this.parts.drainDelayMs));
    }
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
    link.onClose(() => {
      this.watchers.delete(link);
      this.services.delete(link);
    });
    guardPromise(null, this.send(link, this.greeting));
    this.outbox.attach(link);
    this.askForStored(link);
  }

  /** Asks which records are stored, of those an earlier service received and those of earlier runs. */
  private askForStored(link: ControlLink | undefined): void {
    const spools = this.events.leftSpools;
    if (link && spools.length > 0) guardPromise(null, this.send(link, { type: 'left', spools }));
  }

  private async receive(link: ControlLink, received: FromService): Promise<void> {
    const message = this.withAllServices(link, received);
    if (message.type === 'ack') return this.outbox.acknowledged(message.number, link);
    if (message.type === 'geo') return this.send(link, this.takeGeo(message));
    if (message.type !== 'request') return;
    // The service must not end a separate kernel.
    if (message.method === 'shutdown') return;
    const answer = await this.answer(link, message);
    this.remember(message, answer);
    await this.send(link, answer as FromKernel);
  }

  private answer(link: ControlLink, message: ParentMessage): Promise<ChildMessage> {
    const { id } = message;
    if (message.method === 'figures') return answerTo(id, async () => this.figures());
    if (message.method === 'drain') return answerTo(id, () => this.drain(message.params.draining));
    if (message.method !== 'watch') return this.child.answer(this.adapted(message));
    this.watchers.add(link);
    return answerTo(id, async () => true);
  }

  private figures(): KernelFigures {
    return this.child.figures(this.draining);
  }

  /** @throws KernelConfigError when the listeners cannot be opened again; the kernel stays as it is. */
  private async drain(draining: boolean): Promise<KernelFigures> {
    if (draining === this.draining) return this.figures();
    const { drainDelayMs, logger } = this.parts;
    clearTimeout(this.shutting);
    if (!draining) {
      await this.setShut(false);
      this.draining = false;
      logger.info('The kernel accepts connections again');
      return this.figures();
    }
    this.draining = true;
    logger.info('The kernel is draining: it accepts no more connections');
    if (drainDelayMs === 0) await this.setShut(true);
    else this.shutting = setTimeout(() => guardPromise(null, this.setShut(true)), drainDelayMs);
    return this.figures();
  }

  private async setShut(shut: boolean): Promise<void> {
    const before = this.shut;
    this.shut = shut;
    if (shut === before || !this.config) return;
    await this.child.apply(this.guarded(this.config)).catch((error: unknown) => {
      this.shut = before;
      throw error;
    });
  }

  private showLive(traffic: LiveTraffic): void {
    for (const link of this.watchers) guardPromise(null, this.send(link, { type: 'live', traffic }));
  }

  private takeGeo({ id, contents }: Extract<FromService, { type: 'geo' }>): FromKernel {
    try {
      this.parts.geo.reload(this.parts.store.saveGeo(contents));
      return { type: 'response', id, ok: true, result: null };
    } catch (error) {
      return { type: 'response', id, ok: false, error: { name: 'Error', message: String(error) } };
    }
  }

  private async apply(config: RevisedConfig): Promise<void> {
    await this.child.apply(this.guarded(config));
    this.config = config;
  }

  /** A service knows only its own place, so the places of the others are added to its configuration. */
  private withAllServices(link: ControlLink, message: FromService): FromService {
    if (message.type !== 'request' || message.method !== 'apply' || !message.params.guard) return message;
    const { guard } = message.params;
    this.services.set(link, guard.own);
    const all = [...this.services.values()].flat();
    const own = [...new Map(all.map((endpoint) => [JSON.stringify(endpoint), endpoint])).values()];
    return { ...message, params: { ...message.params, guard: { ...guard, own } } };
  }

  /** The configuration with what only this process knows. */
  private guarded(config: RevisedConfig): RevisedConfig {
    const { own, refusePrivate } = config.guard ?? { own: [], refusePrivate: false };
    const { listenAddress } = this.parts;
    const here = listenAddress === null ? config : onAddress(config, listenAddress);
    return {
      ...(this.shut ? withoutListeners(here) : here),
      guard: { own: [...own, ...this.ownPorts], refusePrivate },
    };
  }

  private adapted(message: ParentMessage): ParentMessage {
    if (message.method === 'apply') return { ...message, params: this.guarded(message.params) };
    const { listenAddress } = this.parts;
    if (message.method !== 'canListen' || listenAddress === null) return message;
    return { ...message, params: message.params.map((one) => ({ ...one, address: listenAddress })) };
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

function withChoice(config: RevisedConfig, { group, member }: { group: string; member: string | null }): RevisedConfig {
  const groups = config.groups.map(({ selected, ...one }) => {
    const chosen = one.name === group ? member : (selected ?? null);
    return chosen === null ? one : { ...one, selected: chosen };
  });
  return { ...config, groups };
}
