import type { Actor } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Client } from '../data/client.entity.js';
import { EventLog } from '../events/event-log.js';
import type { Host } from '../data/host.entity.js';

/** Records changes of hosts by users. */
@Injectable()
export class HostHistory {
  constructor(private readonly events: EventLog) {}

  async record(what: 'added' | 'changed' | 'removed', host: Host, actor: Actor, tx: EntityManager): Promise<void> {
    const client = await tx.findOneBy(Client, { id: host.clientId });
    const { id, clientId, host: name, location } = host;
    await this.events.record(
      {
        type: 'host.updated',
        resource: { kind: 'host', id },
        ownerUserId: client?.ownerUserId ?? null,
        message: `${name}${location ?? '/'} was ${what} by ${actor.name}`,
        data: { action: what, client_id: clientId, host: name, user_id: actor.userId },
      },
      tx,
    );
  }
}
