import { type Actor, allows, ApiKeyStore, keepAnswer, readKeyExpiry, requireLogin, SCOPES } from '@gatehouse/auth';
import type { NewTunnelApiKeyView, TunnelApiKeyPage, TunnelApiKeyView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { Credentials } from '../auth/credentials.js';
import { OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { Users } from '../users/users.service.js';
import { fieldError } from '../wire/field-error.js';
import { instant } from '../wire/view-parts.js';
import { API_KEY_SORT, type ApiKeyQuery, type NewApiKeyBody } from './api-key.dto.js';
import type { ApiKeyRow } from '../data/api-key.entity.js';

const VALID: Condition = { sql: 'row.revoked_at IS NULL' };

/** Keys for programs: everybody's own; administrators see and revoke all. */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly keys: ApiKeyStore,
    private readonly credentials: Credentials,
    private readonly users: Users,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async list(query: ApiKeyQuery, actor: Actor): Promise<TunnelApiKeyPage> {
    const { user_id: userId } = query;
    const own = userId === undefined ? [] : [{ sql: 'row.user_id = :userId', parameters: { userId } }];
    const { items, next_cursor } = await this.owned.apiKeys(actor).page(query, [VALID, ...own], API_KEY_SORT);
    return { items: items.map(toApiKeyView), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<TunnelApiKeyView> {
    const row = await this.owned.apiKeys(actor).one(id);
    if (row.revokedAt !== null) throw new AppError('NOT_FOUND', `There is no API key ${id}`);
    return toApiKeyView(row);
  }

  /** The answer has the key, which is not kept. @throws AppError FORBIDDEN for scopes that the user has not. */
  async create(body: NewApiKeyBody, actor: Actor, address: string): Promise<NewTunnelApiKeyView> {
    const scopes = SCOPES.filter((scope) => (body.scopes ?? ['read']).includes(scope));
    const expiresAt = readKeyExpiry(body.expires_at, fieldError);
    const userId = requireLogin(actor);
    if (!scopes.every((scope) => allows(actor, scope))) {
      throw new AppError('FORBIDDEN', 'scopes: a key cannot have more rights than its user');
    }
    const user = await this.credentials.prove(actor, body, address);
    return this.unitOfWork.run(async (tx) => {
      if ((await this.users.hold(user, tx)) === null) throw new AppError('UNAUTHORIZED');
      const { key, record } = await this.keys.create({ name: body.name, scopes, expiresAt, userId }, tx);
      return keepAnswer(tx, { ...toApiKeyView(record), key });
    });
  }

  /** Takes effect at once, on every replica. @throws AppError NOT_FOUND, for keys of others too. */
  async revoke(id: number, actor: Actor): Promise<void> {
    requireLogin(actor);
    await this.get(id, actor);
    await this.keys.revoke(id);
  }

  /** @throws AppError FORBIDDEN for logins */
  async revokeOwn({ credential, credentialId }: Actor): Promise<void> {
    if (credential !== 'api_key' || credentialId === null) throw new AppError('FORBIDDEN', 'This needs an API key');
    await this.keys.revoke(credentialId);
  }
}

type Shown = Omit<ApiKeyRow, 'revokedAt' | 'scopes'> & { readonly scopes: readonly ApiKeyRow['scopes'][number][] };

function toApiKeyView(key: Shown): TunnelApiKeyView {
  return {
    id: key.id,
    name: key.name,
    user_id: key.userId ?? 0,
    key_prefix: key.keyPrefix,
    last_four: key.lastFour,
    scopes: [...key.scopes],
    created_at: key.createdAt.toISOString(),
    expires_at: instant(key.expiresAt),
    last_used_at: instant(key.lastUsedAt),
    last_used_ip: key.lastUsedIp,
  };
}
