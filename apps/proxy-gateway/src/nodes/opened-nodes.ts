import type { KernelSupport, ProxyNode } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { kernelSupport } from '../kernel-host/kernel-support.js';
import { maskSecrets } from './mask-secrets.js';
import { NodeVault } from './node-vault.js';
import { shareLink, writeRawConfig } from './raw-config.js';

/** Opening and writing out one node takes tens of microseconds: a page of five hundred would spend them anew each time. */
const MAX_WEIGHT = 48 * 1_048_576;
/** What an entry takes beside its texts, roughly. */
const ENTRY_WEIGHT = 1_024;

/** What a node's definition says in the forms that lists show. Each is made when it is first asked for. */
export class OpenedNode {
  readonly node: ProxyNode;
  #rawConfig: string | undefined;
  #maskedConfig: string | undefined;
  #shareLink: string | null | undefined;
  #support: { support: KernelSupport; reason: string | null } | undefined;

  constructor(node: ProxyNode) {
    this.node = node;
  }

  get rawConfig(): string {
    return (this.#rawConfig ??= writeRawConfig(this.node));
  }

  get maskedConfig(): string {
    return (this.#maskedConfig ??= writeRawConfig(maskSecrets(this.node)));
  }

  get shareLink(): string | null {
    if (this.#shareLink === undefined) this.#shareLink = shareLink(this.node);
    return this.#shareLink;
  }

  get support(): { support: KernelSupport; reason: string | null } {
    return (this.#support ??= kernelSupport(this.node));
  }
}

/** Nodes opened lately, by their sealed text: another definition is another text. The least recently used go first. */
@Injectable()
export class OpenedNodes {
  private readonly opened = new Map<string, OpenedNode>();
  private weight = 0;

  constructor(private readonly vault: NodeVault) {}

  /** @throws SecretBoxError for a text sealed with another key. */
  get(sealed: string): OpenedNode {
    const present = this.opened.get(sealed);
    if (present) {
      this.opened.delete(sealed);
      this.opened.set(sealed, present);
      return present;
    }
    const opened = new OpenedNode(this.vault.open(sealed));
    this.opened.set(sealed, opened);
    this.weight += weightOf(sealed);
    this.shrink();
    return opened;
  }

  private shrink(): void {
    for (const [oldest] of this.opened) {
      if (this.weight <= MAX_WEIGHT) return;
      this.opened.delete(oldest);
      this.weight -= weightOf(oldest);
    }
  }
}

/** The sealed text, and about as much for each form made of it. */
function weightOf(sealed: string): number {
  return sealed.length * 5 + ENTRY_WEIGHT;
}
