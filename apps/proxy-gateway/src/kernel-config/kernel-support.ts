import type { KernelSupport, ProxyNode } from '@gatehouse/contracts';
import { supportsNode } from '@gatehouse/proxy-kernel';

export interface KernelSupportVerdict {
  support: KernelSupport;
  /** Null for `embedded`. */
  reason: string | null;
}

/** Who can dial a node. Asked anew each time: it depends on the program, not on the row. */
export function kernelSupport(node: ProxyNode): KernelSupportVerdict {
  const { support, reason } = supportsNode(node);
  return {
    support,
    reason: support === 'embedded' ? null : (reason ?? `${node.type} is not carried by the embedded kernel`),
  };
}
