import type { Actor } from '@gatehouse/auth';
import { agentKeyHash, createAgentSecret, formatVisitorKey } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AuthPolicy } from '../data/auth-policy.entity.js';
import { VISITOR_KEY_PREFIX } from '../auth-policies/visitor-key.js';
import { Edges } from '../edge-host/edges.service.js';
import { OwnedRows } from '../data/owned-rows.js';
import { ListenPorts } from './listen-port.js';
import type { Tunnel } from '../data/tunnel.entity.js';

/**
 * Keys for visitors of `secret` and `p2p` tunnels. Each is stored as a password policy of its tunnel with a plain hash:
 * keys are random, so a slow hash gains nothing.
 */
@Injectable()
export class VisitorKeys {
  constructor(
    private readonly owned: OwnedRows,
    private readonly edges: Edges,
  ) {}

  /** Creates a key for a tunnel that needs one and has none; otherwise null. */
  async ensure(tunnel: Tunnel, actor: Actor, tx: EntityManager): Promise<string | null> {
    if (ListenPorts.needsPort(tunnel.mode)) return null;
    return (await this.keyOf(tunnel, actor, tx)) ? null : this.renew(tunnel, actor, tx);
  }

  /** The previous key is invalid from now on. */
  async renew(tunnel: Tunnel, actor: Actor, tx: EntityManager): Promise<string> {
    const secret = createAgentSecret();
    const password = `${VISITOR_KEY_PREFIX}${agentKeyHash(secret)}`;
    const policies = this.owned.authPolicies(actor, tx);
    const known = await this.keyOf(tunnel, actor, tx);
    if (known) await policies.change(known.id, { password });
    else await policies.add({ resourceType: 'tunnel', resourceId: tunnel.id, type: 'password', password });
    return formatVisitorKey({ tunnelId: tunnel.id, secret, ...this.edges.pins });
  }

  /** A tunnel with a port needs no such key. */
  async drop(tunnel: Tunnel, actor: Actor, tx: EntityManager): Promise<void> {
    if (!ListenPorts.needsPort(tunnel.mode)) return;
    const known = await this.keyOf(tunnel, actor, tx);
    if (known) await this.owned.authPolicies(actor, tx).remove(known.id);
  }

  private async keyOf(tunnel: Tunnel, actor: Actor, tx: EntityManager): Promise<AuthPolicy | undefined> {
    const found = await this.owned
      .authPolicies(actor, tx)
      .some([
        { sql: `row.resource_type = 'tunnel' AND row.resource_id = :tunnelId`, parameters: { tunnelId: tunnel.id } },
        { sql: `row.password LIKE '${VISITOR_KEY_PREFIX}%'` },
      ]);
    return found[0];
  }
}
