import { readOutboundUrl } from '@gatehouse/net';
import type { NewAddressListBody } from '../../address-lists/address-list.dto.js';
import { DEFAULT_INTERVAL, lockAddressLists, MAX_LISTS } from '../../address-lists/list-limits.js';
import { parseAddressPattern } from '../../common/address-pattern.js';
import { AddressList } from '../../data/address-list.entity.js';
import type { NewIpRuleBody } from '../../ip-rules/ip-rule.dto.js';
import { fieldError, readField } from '../../wire/field-error.js';
import type { CheckedRow } from './archive-reader.js';
import { idOf, push, type RestoreContext } from './restore-context.js';

/** A list of that name that is here stays. The others are fetched soon. */
export async function restoreAddressLists(
  rows: readonly CheckedRow<NewAddressListBody>[],
  context: RestoreContext,
): Promise<void> {
  if (rows.length === 0) return;
  await lockAddressLists(context.tx);
  const present = await namesHere(context);
  for (const [index, { id, body, createdAt, updatedAt }] of rows.entries()) {
    const path = `archive.address_lists[${index}]`;
    const { allow_private: allowPrivate = false, interval_minutes: intervalMinutes = DEFAULT_INTERVAL } = body;
    const name = readField(`${path}.name`, () => parseAddressPattern('list', body.name));
    const url = readField(`${path}.url`, () => readOutboundUrl(body.url, allowPrivate));
    const isPresent = present.has(name);
    push(context, { kind: 'address_list', id, note: isPresent ? 'was here already, and stays as it is' : null });
    if (isPresent) continue;
    if (present.size >= MAX_LISTS) throw fieldError(path, `There are ${MAX_LISTS} lists already`);
    present.add(name);
    await context.tx.insert(AddressList, {
      id: idOf(context, 'address_list', id),
      name,
      url,
      allowPrivate,
      intervalMinutes,
      ...(createdAt && { createdAt }),
      ...(updatedAt && { updatedAt }),
    });
  }
}

/** @throws AppError VALIDATION_FAILED for a rule whose list is neither in the archive nor here */
export async function requireLists(rows: readonly CheckedRow<NewIpRuleBody>[], context: RestoreContext): Promise<void> {
  if (!rows.some(({ body }) => body.pattern_kind === 'list')) return;
  await lockAddressLists(context.tx);
  const present = await namesHere(context);
  for (const [index, { body }] of rows.entries()) {
    if (body.pattern_kind !== 'list') continue;
    const path = `archive.ip_rules[${index}].pattern`;
    const name = readField(path, () => parseAddressPattern('list', body.pattern));
    if (!present.has(name)) throw fieldError(path, `there is no list ${name}`);
  }
}

async function namesHere({ tx }: RestoreContext): Promise<Set<string>> {
  const rows = await tx.find(AddressList, { select: { id: true, name: true } });
  return new Set(rows.map(({ name }) => name));
}
