import { deriveControlKey, type ControlKey } from '@gatehouse/net';
import type { ChildMessage, EventBatch, ParentMessage } from './kernel-ipc.js';

/** The key of the channel between the service and a separate kernel. Both derive it from GATEHOUSE_SECRET_KEY. */
export function kernelChannelKey(secretKey: Buffer): ControlKey {
  return deriveControlKey(secretKey, 'proxy-kernel');
}

/** The kernel's first message on a new connection. */
export interface KernelGreeting {
  type: 'ready';
  pid: number;
  /** Identifies this run of the kernel: each run numbers its batches from 1. */
  instance: string;
}

/** A batch that the kernel repeats until it is acknowledged. */
export type NumberedBatch = { type: 'events'; number: number } & EventBatch;
export type FromKernel = KernelGreeting | NumberedBatch | Extract<ChildMessage, { type: 'response' | 'left' }>;

/** Databases for rules, base64-encoded: the two sides may not share a file system. */
export interface GeoContents {
  country: string | null;
  asn: string | null;
}

export type FromService =
  ParentMessage | { type: 'ack'; number: number } | { type: 'geo'; id: number; contents: GeoContents };
