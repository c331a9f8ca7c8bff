import { deriveControlKey, type ControlKey } from '@gatehouse/net';
import type { ChildMessage, EventBatch, ParentMessage } from './kernel-ipc.js';

/** The key of the channel between the service and a kernel that runs on its own: both have GATEHOUSE_SECRET_KEY. */
export function kernelChannelKey(secretKey: Buffer): ControlKey {
  return deriveControlKey(secretKey, 'proxy-kernel');
}

/** What a kernel says once a link is there. */
export interface KernelGreeting {
  type: 'ready';
  pid: number;
  /** Of this run of the kernel: batches are numbered from 1 in each. */
  instance: string;
}

/** A batch that is sent again until it is acknowledged. */
export type NumberedBatch = { type: 'events'; number: number } & EventBatch;
export type FromKernel = KernelGreeting | NumberedBatch | Extract<ChildMessage, { type: 'response' | 'left' }>;

/** Databases for rules as base64: the two sides may have no file in common. */
export interface GeoContents {
  country: string | null;
  asn: string | null;
}

export type FromService =
  ParentMessage | { type: 'ack'; number: number } | { type: 'geo'; id: number; contents: GeoContents };
