import type { KernelListenerView } from './system.js';

/**
 * `serving`: accepts connections. `draining`: accepts none, and its open ones may end. `waiting`: nothing listens yet,
 * or a listener failed. `lost`: no service has reached it lately.
 */
export const KERNEL_VIEW_STATES = ['serving', 'draining', 'waiting', 'lost'] as const;
export type KernelViewState = (typeof KERNEL_VIEW_STATES)[number];

/** A kernel, as some service saw it last. */
export interface KernelView {
  /** `own`, and `own-2` and so on: started by the service that answers. Another one keeps its id over restarts. */
  id: string;
  name: string;
  version: string;
  state: KernelViewState;
  /** The service that answers is connected to it: the figures are of this moment. */
  reachable: boolean;
  /** Where that service reaches it; null if it does not. */
  address: string | null;
  /** Where clients of the proxy reach it, if that is configured. */
  public_host: string | null;
  listeners: KernelListenerView[];
  generation: number;
  /** Names the configuration in force; null: none. */
  revision: string | null;
  /** It has the newest configuration. */
  current: boolean;
  /** Why it refused the newest configuration. */
  error: string | null;
  connections: number;
  /** Bytes per second. */
  upload_speed: number;
  download_speed: number;
  memory_bytes: number | null;
  /** The 99th percentile over about a minute. */
  loop_delay_ms: number | null;
  started_at: string | null;
  /** Until when it counts as there without another sign of life; null for a kernel of this service. */
  lease_until: string | null;
}

/** An address of PROXY_KERNEL_CHANNEL where no kernel answers. */
export interface UnreachableKernel {
  address: string;
  reason: string;
}

/** `GET /kernels`. */
export interface KernelListResponse {
  items: KernelView[];
  total: number;
  /** Kernels run on their own, and services connect to them. */
  separate: boolean;
  /** The newest configuration; null: none was read yet. */
  revision: string | null;
  unreachable: UnreachableKernel[];
}
