import type { ConnectionMetadata } from '../interfaces/index.js';

const LOOPBACK = /^(?:127\.|::1$)/;

/** How many flows each client address and each user has open. */
export class FlowShares {
  private readonly most: number;
  private readonly counts = new Map<string, number>();

  constructor(most: number) {
    this.most = most;
  }

  /** `change`: 1 for a flow that began, -1 for one that ended. */
  add(flow: ConnectionMetadata, change: 1 | -1): void {
    for (const key of keysOf(flow)) {
      const count = (this.counts.get(key) ?? 0) + change;
      if (count > 0) this.counts.set(key, count);
      else this.counts.delete(key);
    }
  }

  isOver(flow: ConnectionMetadata): boolean {
    return keysOf(flow).some((key) => (this.counts.get(key) ?? 0) > this.most);
  }
}

/** Programs of this machine have its address in common, and no other client suffers more from them. */
function keysOf({ sourceIp, inboundUser }: ConnectionMetadata): string[] {
  const keys = inboundUser === null ? [] : [`user ${inboundUser}`];
  return LOOPBACK.test(sourceIp) ? keys : [...keys, `address ${sourceIp}`];
}
