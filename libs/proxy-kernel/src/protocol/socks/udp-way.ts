import type { PacketConnection, Target } from '../../interfaces/index.js';

/** One packet connection of an association, with the flows that its answers belong to. */
export class UdpWay<F> {
  readonly packets: PacketConnection;
  /** Opened in addition to another one with the same outbound. */
  readonly isExtra: boolean;
  private readonly owners = new Map<string, F>();
  /** The flow of the last datagram, which gets answers from unknown addresses. */
  private latest: F | null = null;

  constructor(packets: PacketConnection, isExtra: boolean) {
    this.packets = packets;
    this.isExtra = isExtra;
  }

  get isUnused(): boolean {
    return this.owners.size === 0;
  }

  /**
   * The addresses that answers from `target` come from. For a name that a node resolves only the port is known before
   * the first answer; some protocols answer with the name. @throws DialError for a name without an address.
   */
  async sourcesOf(target: Target, isNamed: boolean): Promise<string[]> {
    if (!isNamed) return [keyOf(target)];
    const address = await this.packets.resolve?.(target);
    if (address !== undefined) return [keyOf({ host: address, port: target.port })];
    return [keyOf(target), anyHost(target.port)];
  }

  /** False: another flow has one of these addresses, so that its answers could not be distinguished. */
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

  /** The flow of an answer. `asked`: it came from an address that the flow sent to. */
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
