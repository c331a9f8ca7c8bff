import type { Actor } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { NewAuthPolicyBody } from '../../auth-policies/auth-policy.dto.js';
import { AuthPoliciesService } from '../../auth-policies/auth-policies.service.js';
import { NewClientBody } from '../../clients/client.dto.js';
import { ClientsService } from '../../clients/clients.service.js';
import { NewHostBody } from '../../hosts/host.dto.js';
import { HostsService } from '../../hosts/hosts.service.js';
import { parseAddressPattern } from '../../common/address-pattern.js';
import { OwnedRows } from '../../data/owned-rows.js';
import { NewTunnelBody } from '../../tunnels/tunnel.dto.js';
import { TunnelsService } from '../../tunnels/tunnels.service.js';
import { fieldError, readField } from '../../wire/field-error.js';
import { checkedBody } from '../checked-body.js';
import type { PlannedClient, PlannedResource } from './import-plan.js';

/** The answer's description of a created item. */
export interface MadeItem {
  id: number;
  key: string | null;
  command: string | null;
}

/** Creates planned items as requests would. */
@Injectable()
export class ItemMaker {
  constructor(
    private readonly owned: OwnedRows,
    private readonly clients: ClientsService,
    private readonly tunnels: TunnelsService,
    private readonly hosts: HostsService,
    private readonly policies: AuthPoliciesService,
  ) {}

  /** @throws AppError VALIDATION_FAILED */
  async requireClient(id: number, actor: Actor): Promise<void> {
    const found = await this.owned.clients(actor).some([{ sql: 'row.id = :id', parameters: { id } }]);
    if (found.length === 0) throw fieldError('client_id', `there is no client ${id}`);
  }

  /** @throws AppError */
  async client({ name, body, rules }: PlannedClient, actor: Actor, tx: EntityManager): Promise<MadeItem> {
    const checked = await checkedBody(NewClientBody, { name, ...body });
    const { client, key, command } = await this.clients.add(checked, actor, tx);
    for (const { type, kind: patternKind, pattern: text } of rules) {
      const pattern = readField(`rule ${text}`, () => parseAddressPattern(patternKind, text));
      await this.owned
        .ipRules(actor, tx)
        .add({ scope: 'client', resourceId: client.id, type, pattern, patternKind, priority: 0 });
    }
    return { id: client.id, key, command };
  }

  /** @throws AppError */
  async resource(item: PlannedResource, clientId: number, actor: Actor, tx: EntityManager): Promise<MadeItem> {
    const body = { ...item.body, client_id: clientId };
    const made =
      item.kind === 'tunnel'
        ? await this.tunnel(await checkedBody(NewTunnelBody, body), actor, tx)
        : { id: (await this.hosts.add(await checkedBody(NewHostBody, body), actor, tx)).id, key: null };
    if (item.accounts.length > 0) await this.guard(item, made.id, actor, tx);
    return { ...made, command: null };
  }

  private async tunnel(
    body: NewTunnelBody,
    actor: Actor,
    tx: EntityManager,
  ): Promise<{ id: number; key: string | null }> {
    const { tunnel, visitorKey } = await this.tunnels.add(body, actor, tx);
    return { id: tunnel.id, key: visitorKey };
  }

  private async guard(item: PlannedResource, id: number, actor: Actor, tx: EntityManager): Promise<void> {
    for (const policy of policiesOf(item)) {
      const body = { resource_type: item.kind, resource_id: id, ...policy };
      const store = await this.policies.prepare(await checkedBody(NewAuthPolicyBody, body), actor);
      await store(tx);
    }
  }
}

/** Files are served on a raw port, where a login page asks for a password: any one of them is accepted. */
function policiesOf({ body, accounts }: PlannedResource): object[] {
  if (body['mode'] !== 'file') return [{ type: 'basic', users: accounts }];
  return accounts.map(({ password }) => ({ type: 'password', password }));
}
