import { deriveControlKey, type ControlKey } from '@gatehouse/net';
import type { ChildMessage, EventBatch, KernelReady, ParentMessage } from './kernel-ipc.js';

/** The key of the channel between the service and a separate kernel. Both derive it from GATEHOUSE_SECRET_KEY. */
export function kernelChannelKey(secretKey: Buffer): ControlKey {
  return deriveControlKey(secretKey, 'proxy-kernel');
}

/** The kernel's first message on a new connection. */
export type KernelGreeting = Required<KernelReady>;

/** A batch that the kernel repeats until it is acknowledged. */
export type NumberedBatch = { type: 'events'; number: number } & EventBatch;
export type FromKernel = KernelReady | NumberedBatch | Extract<ChildMessage, { type: 'response' | 'left' | 'live' }>;

/** Databases for rules, base64-encoded: the two sides may not share a file system. */
export interface GeoContents {
  country: string | null;
  asn: string | null;
}

export type FromService =
  ParentMessage | { type: 'ack'; number: number } | { type: 'geo'; id: number; contents: GeoContents };
