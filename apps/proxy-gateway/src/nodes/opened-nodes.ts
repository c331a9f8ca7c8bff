import type { KernelSupport, ProxyNode } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { kernelSupport } from '../kernel-config/kernel-support.js';
import { maskSecrets } from '../data/mask-secrets.js';
import { NodeVault, UNREADABLE_NODE, type SealedNode } from '../data/node-vault.js';
import { shareLink, writeRawConfig } from './raw-config.js';

/**
 * Opening and formatting a node takes tens of microseconds, which a page of five hundred would otherwise spend each
 * time.
 */
const MAX_WEIGHT = 48 * 1_048_576;
/** The approximate size of an entry beside its texts. */
const ENTRY_WEIGHT = 1_024;

/** A node's definition in the forms that lists show. Each form is made on first use. */
export class OpenedNode {
  /** Null if the definition cannot be opened. */
  readonly node: ProxyNode | null;
  #rawConfig: string | undefined;
  #maskedConfig: string | undefined;
  #shareLink: string | null | undefined;
  #support: { support: KernelSupport; reason: string | null } | undefined;

  constructor(node: ProxyNode | null) {
    this.node = node;
  }

  get rawConfig(): string {
    return (this.#rawConfig ??= this.node ? writeRawConfig(this.node) : '');
  }

  get maskedConfig(): string {
    return (this.#maskedConfig ??= this.node ? writeRawConfig(maskSecrets(this.node)) : '');
  }

  get shareLink(): string | null {
    if (this.#shareLink === undefined) this.#shareLink = this.node && shareLink(this.node);
    return this.#shareLink;
  }

  get support(): { support: KernelSupport; reason: string | null } {
    return (this.#support ??= this.node
      ? kernelSupport(this.node)
      : { support: 'unsupported', reason: UNREADABLE_NODE });
  }
}

interface CacheEntry {
  readonly config: string;
  readonly opened: OpenedNode;
}

/**
 * A cache of recently opened nodes by row. A changed definition is another sealed text. The least recently used are
 * evicted first.
 */
@Injectable()
export class OpenedNodes {
  private readonly entries = new Map<number, CacheEntry>();
  private weight = 0;

  constructor(private readonly vault: NodeVault) {}

  get({ id, config }: SealedNode): OpenedNode {
    const present = this.entries.get(id);
    if (present?.config === config) {
      this.entries.delete(id);
      this.entries.set(id, present);
      return present.opened;
    }
    if (present) this.remove(id, present);
    const opened = new OpenedNode(this.vault.tryOpen({ id, config }));
    this.entries.set(id, { config, opened });
    this.weight += weightOf(config);
    this.shrink();
    return opened;
  }

  private shrink(): void {
    for (const [id, oldest] of this.entries) {
      if (this.weight <= MAX_WEIGHT) return;
      this.remove(id, oldest);
    }
  }

  private remove(id: number, { config }: CacheEntry): void {
    this.entries.delete(id);
    this.weight -= weightOf(config);
  }
}

/** The sealed text, and about as much for each form made of it. */
function weightOf(sealed: string): number {
  return sealed.length * 5 + ENTRY_WEIGHT;
}
