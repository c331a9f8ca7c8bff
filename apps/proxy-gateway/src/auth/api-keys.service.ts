import { allows, ApiKeyStore, keepAnswer, readKeyExpiry } from '@gatehouse/auth';
import type { Actor, ApiKeyRecord } from '@gatehouse/auth';
import { API_KEY_SCOPES } from '@gatehouse/contracts';
import type {
  ApiKeyCreatedResponse,
  ApiKeyListResponse,
  ApiKeyRevokedResponse,
  ApiKeyView,
} from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { ApiKeyQuery, NewApiKeyBody } from './auth.dto.js';

const DEFAULT_NAME = 'API key';

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly keys: ApiKeyStore,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async list({ limit, offset }: ApiKeyQuery): Promise<ApiKeyListResponse> {
    const [records, total] = await Promise.all([this.keys.list({ limit, offset }), this.keys.count()]);
    return { items: records.map(toApiKeyView), total, limit, offset };
  }

  /** @throws AppError INVALID_ARGUMENT for an expiry in the past, FORBIDDEN for scopes that the actor does not have. */
  async create(body: NewApiKeyBody, actor: Actor | null): Promise<ApiKeyCreatedResponse> {
    const scopes = API_KEY_SCOPES.filter((scope) => body.scopes?.includes(scope) ?? true);
    if (actor === null || !scopes.every((scope) => allows(actor, scope))) {
      throw new AppError('FORBIDDEN', 'A key cannot have scopes that its creator does not have');
    }
    const wanted = { name: body.name ?? DEFAULT_NAME, scopes, expiresAt: readKeyExpiry(body.expires_at) };
    return this.unitOfWork.run(async (tx) => {
      const { key, record } = await this.keys.create(wanted, tx);
      return keepAnswer(tx, { ...toApiKeyView(record), key });
    });
  }

  /** Takes effect at once, here and on every replica. @throws AppError NOT_FOUND */
  async revoke(id: number): Promise<ApiKeyRevokedResponse> {
    const { revokedAt } = await this.keys.revoke(id);
    return { id, revoked_at: (revokedAt ?? new Date()).toISOString() };
  }
}

function toApiKeyView(key: ApiKeyRecord): ApiKeyView {
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.keyPrefix,
    last_four: key.lastFour,
    scopes: [...key.scopes],
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    last_used_ip: key.lastUsedIp,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
