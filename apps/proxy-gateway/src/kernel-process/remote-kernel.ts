import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { callbackify } from 'node:util';
import {
  dialControl,
  formatControlEndpoint,
  type ControlEndpoint,
  type ControlKey,
  type ControlLink,
} from '@gatehouse/net';
import type { ChildMessage, ParentMessage } from '../common/kernel-ipc.js';
import { Logger } from '@nestjs/common';
import { KernelLauncher, type FoundKernel } from './kernel-launcher.js';
import type { KernelChild } from './kernel-process.js';
import { KernelPlaces } from './kernel-places.js';
import type { FromKernel, FromService } from '../common/kernel-channel.js';

/** "Starts" separate kernels by connecting to them. */
export class RemoteKernelLauncher extends KernelLauncher {
  private readonly endpoints: readonly ControlEndpoint[];
  private readonly key: ControlKey;
  private readonly logger = new Logger('Kernel');

  constructor(endpoints: readonly ControlEndpoint[], key: ControlKey) {
    super();
    this.endpoints = endpoints;
    this.key = key;
  }

  override readonly leavesKernelRunning = true;

  override find(onFound: (kernels: readonly FoundKernel[]) => void): () => void {
    let known: ReadonlyMap<string, FoundKernel> = new Map();
    const places = new KernelPlaces(this.endpoints, {
      warn: (message) => this.logger.warn(message),
      onFound: (endpoints) => {
        known = new Map(endpoints.map((endpoint) => this.kernelAt(endpoint, known)));
        onFound([...known.values()]);
      },
    });
    return () => places.close();
  }

  private kernelAt(endpoint: ControlEndpoint, known: ReadonlyMap<string, FoundKernel>): [string, FoundKernel] {
    const place = formatControlEndpoint(endpoint);
    return [place, known.get(place) ?? { place, launch: this.launcherOf(endpoint) }];
  }

  private launcherOf(endpoint: ControlEndpoint): () => KernelChild {
    // Batches received from one run of the kernel: one that was not acknowledged in time is sent again.
    const taken = { instance: '', number: 0 };
    return () => new RemoteKernel(endpoint, this.key, taken);
  }
}

/** One connection to a kernel, with the interface of a child process: it "exits" when the connection closes. */
class RemoteKernel extends EventEmitter implements KernelChild {
  pid: number | undefined;
  private readonly place: string;
  private readonly taken: { instance: string; number: number };
  private readonly dialling = new AbortController();
  private link: ControlLink | null = null;

  constructor(endpoint: ControlEndpoint, key: ControlKey, taken: { instance: string; number: number }) {
    super();
    this.place = formatControlEndpoint(endpoint);
    this.taken = taken;
    dialControl({ endpoint, key, signal: this.dialling.signal }).then(
      (link) => this.connected(link),
      (error: Error) => this.end(error),
    );
  }

  send(message: ParentMessage, callback: (error: Error | null) => void): boolean {
    const { link } = this;
    if (!link) {
      callback(new Error('not connected'));
      return false;
    }
    const deliver = callbackify(async () => link.send(await this.translated(message)));
    deliver((error) => callback(error));
    return true;
  }

  /** Closes the connection; the kernel keeps running. */
  kill(): boolean {
    this.dialling.abort();
    this.link?.close();
    return true;
  }

  private connected(link: ControlLink): void {
    this.link = link;
    link.onMessage((message) => this.receive(link, message as FromKernel));
    link.onClose((reason) => this.end(reason ?? new Error('the connection was closed')));
  }

  private receive(link: ControlLink, message: FromKernel): void {
    if (message.type === 'ready') {
      this.pid = message.pid;
      const { instance = '' } = message;
      if (this.taken.instance !== instance) Object.assign(this.taken, { instance, number: 0 });
    }
    if (message.type !== 'events') return void this.emit('message', message satisfies ChildMessage);
    if (message.number > this.taken.number) {
      this.taken.number = message.number;
      this.emit('message', message satisfies ChildMessage);
    }
    void link.send({ type: 'ack', number: message.number } satisfies FromService).catch(() => undefined);
  }

  /** Sends the content of files instead of their paths. */
  private async translated(message: ParentMessage): Promise<FromService> {
    if (message.method !== 'reloadGeo') return message;
    const { country, asn } = message.params;
    return { type: 'geo', id: message.id, contents: { country: contentsOf(country), asn: contentsOf(asn) } };
  }

  private end(reason: Error): void {
    // An error of a child without a process id stands for its end.
    this.pid = undefined;
    this.emit('error', new Error(`The kernel at ${this.place} cannot be reached: ${reason.message}`));
    this.removeAllListeners();
  }
}

function contentsOf(path: string | null): string | null {
  return path === null ? null : readFileSync(path, 'base64');
}
