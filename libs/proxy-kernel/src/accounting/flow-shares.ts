import { networkOf } from '@gatehouse/net';
import type { ConnectionMetadata } from '../interfaces/index.js';

const LOOPBACK = /^(?:127\.|::1$)/;

/** Counts the open flows of each client address and each user. */
export class FlowShares {
  private readonly most: number;
  private readonly counts = new Map<string, number>();

  constructor(most: number) {
    this.most = most;
  }

  /** @param change 1 for a flow that began, -1 for one that ended. */
  add(flow: ConnectionMetadata, change: 1 | -1): void {
    for (const key of keysOf(flow)) {
      const count = (this.counts.get(key) ?? 0) + change;
      if (count > 0) this.counts.set(key, count);
      else this.counts.delete(key);
    }
  }

  ofUser(user: string): number {
    return this.counts.get(userKey(user)) ?? 0;
  }

  isOver(flow: ConnectionMetadata): boolean {
    return keysOf(flow).some((key) => (this.counts.get(key) ?? 0) > this.most);
  }
}

/** Programs on this machine share its address and are not limited by it. */
function keysOf({ sourceIp, inboundUser }: ConnectionMetadata): string[] {
  const keys = inboundUser === null ? [] : [userKey(inboundUser)];
  return LOOPBACK.test(sourceIp) ? keys : [...keys, `address ${networkOf(sourceIp)}`];
}

function userKey(user: string): string {
  return `user ${user}`;
}
