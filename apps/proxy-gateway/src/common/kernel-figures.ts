import type { ListenerState } from '@gatehouse/proxy-kernel';

/** Who a separate kernel is. Kernels of older versions do not say. */
export interface KernelIdentity {
  /** Kept in the kernel's home, so it survives restarts. */
  id: string;
  /** The name that people see, `PROXY_KERNEL_NAME`. */
  name: string;
  version: string;
  /** Where clients of the proxy reach this kernel; null: not configured. */
  publicHost: string | null;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

/** What a kernel says about itself at one moment. */
export interface KernelFigures {
  generation: number;
  /** The revision of the configuration in force; null: none, or a service of an older version sent it. */
  revision: string | null;
  draining: boolean;
  listeners: ListenerState[];
  connections: number;
  /** Bytes per second over the last second. */
  uploadSpeed: number;
  downloadSpeed: number;
  rssBytes: number;
  /** The 99th percentile over about the last minute. */
  loopDelayMs: number;
}

/** An address to listen on. */
export interface ListenPlace {
  /** The setting it comes from. */
  name: string;
  address: string;
  port: number;
  /** Over UDP as well as TCP. */
  udp: boolean;
}

/** An address that a kernel cannot listen on, and why. */
export interface RefusedListener extends ListenPlace {
  reason: string;
}
