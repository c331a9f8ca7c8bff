import type { PacketConnection, Target } from '../../interfaces/index.js';

/** One packet connection of an association, and whose the answers are that come by it. */
export class UdpWay<F> {
  readonly packets: PacketConnection;
  /** Opened beside another of the same way out. */
  readonly isExtra: boolean;
  private readonly owners = new Map<string, F>();
  /** Whose datagram went last: what comes from an address that nobody sent to counts as its. */
  private latest: F | null = null;

  constructor(packets: PacketConnection, isExtra: boolean) {
    this.packets = packets;
    this.isExtra = isExtra;
  }

  get isUnused(): boolean {
    return this.owners.size === 0;
  }

  /**
   * Where answers to datagrams for `target` come from. Of a name that a node resolves only the port is known before one
   * comes; some protocols answer with the name. @throws DialError for a name without an address.
   */
  async sourcesOf(target: Target, isNamed: boolean): Promise<string[]> {
    if (!isNamed) return [keyOf(target)];
    const address = await this.packets.resolve?.(target);
    if (address !== undefined) return [keyOf({ host: address, port: target.port })];
    return [keyOf(target), anyHost(target.port)];
  }

  /** False: some of these are another flow's, whose answers could not be told from this one's. */
  enter(flow: F, sources: readonly string[], isForced: boolean): boolean {
    if (!isForced && sources.some((source) => this.owners.has(source))) return false;
    for (const source of sources) this.owners.set(source, flow);
    return true;
  }

  leave(flow: F): void {
    for (const [source, owner] of this.owners) if (owner === flow) this.owners.delete(source);
    if (this.latest === flow) this.latest = null;
  }

  sends(flow: F): void {
    this.latest = flow;
  }

  /** Whose an answer is. `asked`: it comes from where that flow sent to. */
  ownerOf(from: Target): { flow: F; asked: boolean } | null {
    const flow = this.owners.get(keyOf(from)) ?? this.owners.get(anyHost(from.port));
    if (flow !== undefined) return { flow, asked: true };
    return this.latest && { flow: this.latest, asked: false };
  }
}

export function keyOf({ host, port }: Target): string {
  return `${host}|${port}`;
}

function anyHost(port: number): string {
  return `*|${port}`;
}
