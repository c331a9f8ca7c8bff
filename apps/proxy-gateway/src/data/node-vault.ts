import type { ProxyNode } from '@gatehouse/contracts';
import { openFromRow, sealForRow, SecretBoxError, type SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { SECRET_BOX } from '../secret-box.token.js';

const TABLE = 'nodes';

/** What people read of a node whose definition nobody can open. */
export const UNREADABLE_NODE =
  'its stored definition does not open: it was sealed with another key, or in another row. Define the node again or delete it';

/** The columns of a node's row that its definition is opened from. */
export interface SealedNode {
  readonly id: number;
  readonly config: string;
}

/** Nodes as they rest in the database: sealed, because they hold credentials. Each opens in its own row alone. */
@Injectable()
export class NodeVault {
  constructor(@Inject(SECRET_BOX) private readonly box: SecretBox) {}

  seal(id: number, node: ProxyNode): string {
    return sealForRow(this.box, { table: TABLE, id }, JSON.stringify(node));
  }

  /** @throws SecretBoxError for a text that another key sealed, or that is another row's. */
  open({ id, config }: SealedNode): ProxyNode {
    return JSON.parse(openFromRow(this.box, { table: TABLE, id }, config)) as ProxyNode;
  }

  /** Null where `open` throws SecretBoxError: one such node must not stop what concerns all of them. */
  tryOpen(row: SealedNode): ProxyNode | null {
    try {
      return this.open(row);
    } catch (error) {
      if (error instanceof SecretBoxError) return null;
      throw error;
    }
  }
}
