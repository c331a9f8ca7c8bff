import type { AddressListView } from '@gatehouse/contracts';
import type { AddressList } from '../data/address-list.entity.js';
import { readerText } from '../reader-text.js';
import { instant } from '../wire/view-parts.js';

/** `rules`: how many rules name it. */
export function toAddressListView(list: AddressList, rules: number): AddressListView {
  return {
    id: list.id,
    name: list.name,
    url: list.url,
    allow_private: list.allowPrivate,
    interval_minutes: list.intervalMinutes,
    rules,
    entries: list.entries,
    bytes: list.bytes,
    bad_line_count: list.badLineCount,
    bad_lines: list.badLines,
    refreshed_at: instant(list.refreshedAt),
    checked_at: instant(list.checkedAt),
    last_error: list.lastError === null ? null : readerText(list.lastError),
    created_at: list.createdAt.toISOString(),
    updated_at: list.updatedAt.toISOString(),
  };
}
