import type { KernelSupport, ProxyNode } from '@gatehouse/contracts';

export interface KernelSupportVerdict {
  support: KernelSupport;
  /** Null for `embedded`. */
  reason: string | null;
}
