import type { ProxyNode } from '@gatehouse/contracts';
import { openFromRow, sealForRow, tryOpenFromRow, type SecretBox, SECRET_BOX } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';

const TABLE = 'nodes';

/** The error of a node whose definition cannot be opened. */
export const UNREADABLE_NODE =
  'its stored definition does not open: it was sealed with another key, or in another row. Define the node again or delete it';

/** The columns of a node that are needed to open its definition. */
export interface SealedNode {
  readonly id: number;
  readonly config: string;
}

/** Seals and opens the definitions of nodes, which hold credentials. A sealed text opens only in its own row. */
@Injectable()
export class NodeVault {
  constructor(@Inject(SECRET_BOX) private readonly box: SecretBox) {}

  seal(id: number, node: ProxyNode): string {
    return sealForRow(this.box, { table: TABLE, id }, JSON.stringify(node));
  }

  /** @throws SecretBoxError for a text that was sealed with another key or for another row. */
  open({ id, config }: SealedNode): ProxyNode {
    return JSON.parse(openFromRow(this.box, { table: TABLE, id }, config)) as ProxyNode;
  }

  /** Null where `open` throws SecretBoxError: one such node must not affect the others. */
  tryOpen({ id, config }: SealedNode): ProxyNode | null {
    const opened = tryOpenFromRow(this.box, { table: TABLE, id }, config);
    return opened === null ? null : (JSON.parse(opened) as ProxyNode);
  }
}
