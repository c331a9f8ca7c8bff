import type { EventView } from '@gatehouse/contracts';
import type { EventRow } from '../data/event.entity.js';

export function toEventView(row: EventRow): EventView {
  return {
    id: row.id,
    type: row.type,
    resource_type: row.resourceType,
    resource_id: row.resourceId,
    owner_user_id: row.ownerUserId,
    message: row.message,
    data: row.data,
    created_at: row.createdAt.toISOString(),
  };
}
