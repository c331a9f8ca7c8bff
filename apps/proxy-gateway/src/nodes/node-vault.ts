import type { ProxyNode } from '@gatehouse/contracts';
import type { SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { SECRET_BOX } from '../secret-box.token.js';

/** Nodes as they rest in the database: sealed, because they hold credentials. */
@Injectable()
export class NodeVault {
  constructor(@Inject(SECRET_BOX) private readonly box: SecretBox) {}

  seal(node: ProxyNode): string {
    return this.box.seal(JSON.stringify(node), 'nodes');
  }

  /** @throws SecretBoxError for a text sealed with another key. */
  open(sealed: string): ProxyNode {
    return JSON.parse(this.box.open(sealed, 'nodes')) as ProxyNode;
  }
}
