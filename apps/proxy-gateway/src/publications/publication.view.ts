import type { PublicationView } from '@gatehouse/contracts';
import type { PublicationEntity } from '../data/publication.entity.js';
import { fullDefinition } from './definition.js';

export function toPublicationView(row: PublicationEntity): PublicationView {
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    last_four: row.lastFour,
    ...fullDefinition(row.definition),
    expires_at: row.expiresAt?.toISOString() ?? null,
    fetches_per_hour: row.fetchesPerHour,
    allowed_addresses: row.allowedAddresses,
    fetch_count: row.fetchCount,
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    last_used_ip: row.lastUsedIp,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
