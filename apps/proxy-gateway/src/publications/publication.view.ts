import type { PublicationPreview, PublicationTarget, PublicationView } from '@gatehouse/contracts';
import type { PublicationEntity } from '../data/publication.entity.js';
import { fullDefinition } from './definition.js';
import type { WrittenPublication } from './publication-writer.js';

const MAX_PREVIEW = 200_000;
const MAX_NAMES = 500;

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

export function toPreview(target: PublicationTarget, written: WrittenPublication): PublicationPreview {
  return {
    target,
    sources_total: written.sourcesTotal,
    selected_total: written.selectedTotal,
    nodes: written.nodes,
    names: written.names.slice(0, MAX_NAMES),
    remarks: written.remarks,
    document: written.text.slice(0, MAX_PREVIEW),
    truncated: written.text.length > MAX_PREVIEW,
  };
}
