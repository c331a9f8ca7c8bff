import type { DomainView } from '@gatehouse/contracts';
import { instant } from '../wire/view-parts.js';
import { recordOf } from './domain-proof.js';
import type { Domain } from '../data/domain.entity.js';

export function toDomainView(domain: Domain): DomainView {
  const { name, challenge } = domain;
  return {
    id: domain.id,
    user_id: domain.userId,
    name,
    method: domain.method,
    status: domain.verifiedAt === null ? 'pending' : 'verified',
    record: domain.method === 'dns' ? { name: recordOf(name), type: 'TXT', value: challenge } : null,
    verified_at: instant(domain.verifiedAt),
    created_at: domain.createdAt.toISOString(),
    updated_at: domain.updatedAt.toISOString(),
  };
}
