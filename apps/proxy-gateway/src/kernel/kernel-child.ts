import { networkInterfaces } from 'node:os';
import { KernelConfigError } from '@gatehouse/proxy-kernel';
import type { ApplyResult, ConnectionSnapshot, ProxyKernel } from '@gatehouse/proxy-kernel';
import type { KernelEventQueue } from './kernel-event-queue.js';
import type {
  ChildMessage,
  CloseFilter,
  GroupInUse,
  ParentMessage,
  RemoteError,
  RevisedConfig,
  TagUsage,
} from '../common/kernel-ipc.js';

import type { KernelFigures } from '../common/kernel-figures.js';
import { findRefused } from './can-listen.js';
import { FigureMeter } from './figure-meter.js';
import type { GeoFilePaths } from './kernel-geo.js';

/** What the child needs from its process. */
export interface ChildChannel {
  send(message: ChildMessage): Promise<void>;
  exit(code: number): void;
  /** Whether other kernels listen on the same ports. Absent: no. */
  sharesPorts?: boolean;
  /** @throws GeoDatabaseError */
  reloadGeo?(paths: GeoFilePaths): void;
}

/** Answers the service's requests from one kernel. */
export class KernelChild {
  readonly #kernel: ProxyKernel;
  readonly #events: KernelEventQueue;
  readonly #channel: ChildChannel;
  readonly #meter: FigureMeter;
  #ending: Promise<void> | null = null;
  #revision: string | null = null;

  constructor(kernel: ProxyKernel, events: KernelEventQueue, channel: ChildChannel) {
    this.#kernel = kernel;
    this.#events = events;
    this.#channel = channel;
    this.#meter = new FigureMeter(kernel);
    kernel.on('closed', (record) => events.closed(record));
    kernel.on('traffic', (delta) => events.traffic(delta));
    kernel.on('switched', (change) => events.switched(change));
    kernel.on('circuit', (change) => events.circuit(change));
  }

  async handle(message: ParentMessage): Promise<void> {
    const answer = await this.answer(message);
    // If the channel is closed, this process is already ending (`disconnect`).
    await this.#channel.send(answer).catch(() => undefined);
    if (message.method === 'shutdown') this.#channel.exit(0);
  }

  /** Ends every flow and sends the last events, once. */
  end(graceMs: number): Promise<void> {
    this.#ending ??= this.#kernel.close(graceMs).then(() => this.#events.flush());
    return this.#ending;
  }

  /** @throws KernelConfigError */
  async apply({ revision, ...config }: RevisedConfig): Promise<ApplyResult> {
    const result = await this.#kernel.apply(config);
    this.#revision = revision ?? null;
    return result;
  }

  figures(draining: boolean): KernelFigures {
    return { ...this.#meter.read(), revision: this.#revision, draining };
  }

  /** Handles one request. Never rejects: the answer carries the error. */
  answer(message: ParentMessage): Promise<ChildMessage> {
    return answerTo(message.id, () => this.#perform(message));
  }

  async #perform(message: ParentMessage): Promise<unknown> {
    switch (message.method) {
      case 'ping':
        return null;
      case 'apply':
        return this.apply(message.params);
      case 'select':
        this.#kernel.select(message.params.group, message.params.member);
        return null;
      case 'setHealth':
        this.#kernel.setHealth(message.params.testUrl, message.params.report);
        return null;
      case 'groupsInUse':
        return groupsInUse(this.#kernel);
      case 'connections':
        return this.#kernel.connections();
      case 'closeConnection':
        return this.#kernel.closeConnection(message.params.id);
      case 'closeConnections':
        return this.#closeConnections(message.params);
      case 'usage':
        return usageByTag(this.#kernel.connections());
      case 'inUse':
        return { groups: groupsInUse(this.#kernel), usage: usageByTag(this.#kernel.connections()) };
      case 'clientOf':
        return this.#kernel.clientOf(message.params);
      case 'addresses':
        return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
      case 'testRoute':
        return this.#kernel.testRoute(message.params);
      case 'refusedRules':
        return (await this.#kernel.refusedRules?.(message.params)) ?? [];
      case 'probe':
        if (!this.#kernel.probe) throw new Error('this kernel does not measure nodes');
        return this.#kernel.probe(message.params);
      case 'status':
        return this.#kernel.status();
      case 'figures':
        return this.figures(false);
      case 'canListen':
        return findRefused(message.params, this.#kernel.status().listeners, this.#channel.sharesPorts);
      case 'watch':
      case 'drain':
        return undefined;
      case 'reloadGeo':
        this.#channel.reloadGeo?.(message.params);
        return null;
      case 'stored':
        this.#events.stored(message.params);
        return null;
      case 'resume':
        this.#events.lost(message.params.lost);
        this.#events.resume(message.params.stored);
        return null;
      case 'shutdown':
        await this.end(message.params.graceMs);
        return null;
    }
  }

  #closeConnections(filter: CloseFilter): number {
    if (filter.group === undefined && filter.ids === undefined) return this.#kernel.closeConnections();
    const ids = filter.ids && new Set(filter.ids);
    const meant = this.#kernel
      .connections()
      .filter((connection) => (!ids || ids.has(connection.id)) && wentThrough(connection, filter));
    return meant.filter((connection) => this.#kernel.closeConnection(connection.id)).length;
  }
}

/** The answer to a request. Never rejects: it carries the error. */
export async function answerTo(id: number, perform: () => Promise<unknown>): Promise<ChildMessage> {
  try {
    return { type: 'response', id, ok: true, result: await perform() };
  } catch (error) {
    return { type: 'response', id, ok: false, error: toRemoteError(error) };
  }
}

function groupsInUse(kernel: ProxyKernel): GroupInUse[] {
  return kernel.groups().map(({ members: _members, ...group }) => group);
}

function usageByTag(connections: readonly ConnectionSnapshot[]): Record<string, TagUsage> {
  const usage = new Map<string, TagUsage>();
  for (const { chain, upload, download } of connections) {
    for (const tag of chain) {
      const sum = usage.get(tag) ?? { connections: 0, upload: 0, download: 0 };
      usage.set(tag, sum);
      sum.connections++;
      sum.upload += upload;
      sum.download += download;
    }
  }
  return Object.fromEntries(usage);
}

function wentThrough({ chain }: ConnectionSnapshot, { group, member }: CloseFilter): boolean {
  if (group === undefined) return true;
  const at = chain.indexOf(group);
  return at >= 0 && (member === undefined || chain[at + 1] === member);
}

function toRemoteError(error: unknown): RemoteError {
  if (error instanceof KernelConfigError) return { name: error.name, message: error.message, path: error.path };
  if (error instanceof Error) return { name: error.name, message: error.message };
  return { name: 'Error', message: String(error) };
}
