import type { KernelSupport, ProxyNode } from '@gatehouse/contracts';
import { supportsNode } from '@gatehouse/proxy-kernel';

export interface KernelSupportVerdict {
  support: KernelSupport;
  /** Null for `embedded`. */
  reason: string | null;
}

/** Which kernel can dial a node. It depends on the version of the program, so it is not stored with the node. */
export function kernelSupport(node: ProxyNode): KernelSupportVerdict {
  const { support, reason } = supportsNode(node);
  return {
    support,
    reason: support === 'embedded' ? null : (reason ?? `${node.type} is not carried by the embedded kernel`),
  };
}
