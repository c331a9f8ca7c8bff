import { SYSTEM_ACTOR, type Actor } from '@gatehouse/auth';
import type { AddressListPage, AddressListView } from '@gatehouse/contracts';
import { Jobs } from '@gatehouse/jobs';
import { readOutboundUrl } from '@gatehouse/net';
import { afterCommit, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { parseAddressPattern } from '../common/address-pattern.js';
import type { AddressList } from '../data/address-list.entity.js';
import { OwnedRows } from '../data/owned-rows.js';
import { containing } from '../data/sort-keys.js';
import { readField } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { ADDRESS_LIST_SORTS, type AddressListChanges, type AddressListQuery } from './address-list.dto.js';
import type { NewAddressListBody } from './address-list.dto.js';
import { toAddressListView } from './address-list.view.js';
import { DEFAULT_INTERVAL, lockAddressLists, MAX_LISTS } from './list-limits.js';
import { ListRefresher } from './list-refresher.js';

/** Lists of addresses, for administrators. */
@Injectable()
export class AddressListsService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: Jobs,
    private readonly refresher: ListRefresher,
  ) {}

  async list(query: AddressListQuery, actor: Actor): Promise<AddressListPage> {
    const wanted = query.q === undefined ? [] : [containing(query.q, ['row.name', 'row.url'])];
    const { items, next_cursor } = await this.owned.addressLists(actor).page(query, wanted, ADDRESS_LIST_SORTS);
    // There are 20 at most.
    return { items: await Promise.all(items.map((list) => this.view(list))), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<AddressListView> {
    return this.view(await this.owned.addressLists(actor).one(id));
  }

  /** It is fetched soon. @throws AppError CONFLICT for a name that there is, or too many lists */
  async create(body: NewAddressListBody, actor: Actor): Promise<AddressListView> {
    const name = readField('name', () => parseAddressPattern('list', body.name));
    const { interval_minutes: intervalMinutes = DEFAULT_INTERVAL, allow_private: allowPrivate = false } = body;
    const url = readField('url', () => readOutboundUrl(body.url, allowPrivate));
    const added = await this.unitOfWork.run(async (tx) => {
      await lockAddressLists(tx);
      const lists = this.owned.addressLists(actor, tx);
      const present = await lists.some([]);
      if (present.some((list) => list.name === name)) throw new AppError('CONFLICT', `name: ${name} is taken`);
      if (present.length >= MAX_LISTS) throw new AppError('CONFLICT', `There are ${MAX_LISTS} lists already`);
      const list = await lists.add({ name, url, allowPrivate, intervalMinutes });
      this.fetchSoon(list.id, tx);
      return list;
    });
    return this.view(added);
  }

  /** With another URL it is fetched soon; until then, its former content stays. */
  async update(
    id: number,
    body: AddressListChanges,
    actor: Actor,
    expected: ExpectedVersion | null,
  ): Promise<AddressListView> {
    const changed = await this.unitOfWork.run(async (tx) => {
      const lists = this.owned.addressLists(actor, tx);
      const before = await lists.lock(id, expected);
      const { interval_minutes: intervalMinutes, allow_private: allowPrivate = before.allowPrivate } = body;
      const url = readField('url', () => readOutboundUrl(body.url ?? before.url, allowPrivate));
      const isOther = url !== before.url || allowPrivate !== before.allowPrivate;
      const list = await lists.change(id, {
        url,
        allowPrivate,
        ...(intervalMinutes !== undefined && { intervalMinutes }),
        // It is due, and what the server said about the former body says nothing about this one.
        ...(isOther && { checkedAt: null, etag: null, lastModified: null }),
      });
      if (isOther) this.fetchSoon(id, tx);
      return list;
    });
    return this.view(changed);
  }

  /** @throws AppError CONFLICT while a rule names it */
  async remove(id: number, actor: Actor, expected: ExpectedVersion | null): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await lockAddressLists(tx);
      const { name } = await this.owned.addressLists(actor, tx).remove(id, expected);
      // Whoever writes a rule locks the list before, so no rule is missed.
      const rules = await this.rulesOf(name, tx);
      if (rules > 0) throw new AppError('CONFLICT', `Rules use the list: ${rules}. Remove them first`);
    });
  }

  async refresh(id: number, actor: Actor): Promise<AddressListView> {
    await this.owned.addressLists(actor).one(id);
    await this.refresher.refresh(id);
    return this.get(id, actor);
  }

  private fetchSoon(listId: number, tx: EntityManager): void {
    const payload = { listId, requestedAt: Date.now() };
    afterCommit(tx, async () => {
      const added = this.jobs.add('address-lists', payload, { jobId: `list-${listId}`, attempts: 1 });
      // Without the queue, the list is due when the next job looks.
      await added.catch(() => undefined);
    });
  }

  private async view(list: AddressList): Promise<AddressListView> {
    return toAddressListView(list, await this.rulesOf(list.name));
  }

  /** How many rules of anybody name a list. */
  private async rulesOf(name: string, tx?: EntityManager): Promise<number> {
    const named = { sql: `row.pattern_kind = 'list' AND row.pattern = :name`, parameters: { name } };
    return (await this.owned.ipRules(SYSTEM_ACTOR, tx).figures({ rules: 'count(*)' }, [named])).rules;
  }
}
