import { createApiKey, keepAnswer, parseApiKey, readKeyExpiry } from '@gatehouse/auth';
import type {
  PublicationCreated,
  PublicationDeleted,
  PublicationList,
  PublicationPreview,
  PublicationView,
} from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { PublicationEntity } from '../data/publication.entity.js';
import { checkAddresses } from '../wire/allowed-addresses.js';
import { readDefinition } from './definition.js';
import { PublicationWriter } from './publication-writer.js';
import type { NewPublication, PublicationChanges, PublicationPreviewRequest } from './publication.dto.js';
import { nextVersion, requireVersion } from '../wire/if-match.js';
import { toPreview, toPublicationView } from './publication.view.js';
import { holdTemplates } from './template-store.js';

/** Logs hide whatever begins like this, as they do with API keys. */
export const TOKEN_PREFIX = 'gsubk_';

@Injectable()
export class PublicationsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly writer: PublicationWriter,
  ) {}

  async list(): Promise<PublicationList> {
    const rows = await this.unitOfWork.run((tx) => tx.find(PublicationEntity, { order: { id: 'ASC' } }));
    return { items: rows.map(toPublicationView), total: rows.length };
  }

  /** @throws AppError NOT_FOUND */
  async get(id: number): Promise<PublicationView> {
    return toPublicationView(await this.unitOfWork.run((tx) => find(tx, id)));
  }

  /** @throws AppError INVALID_ARGUMENT */
  create(body: NewPublication): Promise<PublicationCreated> {
    const definition = readDefinition(body);
    checkAddresses(body.allowed_addresses ?? []);
    const { token, ...columns } = newToken();
    return this.unitOfWork.run(async (tx) => {
      await holdTemplates(tx, definition.template_ids ?? []);
      const row = tx.create(PublicationEntity, {
        name: body.name,
        enabled: body.enabled ?? true,
        definition,
        ...columns,
        expiresAt: readKeyExpiry(body.expires_at),
        fetchesPerHour: body.fetches_per_hour ?? null,
        allowedAddresses: body.allowed_addresses ?? [],
      });
      const { id } = await tx.save(row);
      // Read again for the columns that the database fills.
      return keepAnswer(tx, withToken(await find(tx, id), token));
    });
  }

  /**
   * @param ifMatch the version that the caller has read; undefined: any.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, PRECONDITION_FAILED
   */
  update(id: number, body: PublicationChanges, ifMatch?: string): Promise<PublicationView> {
    const changes = readDefinition(body);
    checkAddresses(body.allowed_addresses ?? []);
    return this.unitOfWork.run(async (tx) => {
      const row = await find(tx, id, true);
      requireVersion(row.updatedAt, ifMatch);
      await holdTemplates(tx, changes.template_ids ?? []);
      row.name = body.name ?? row.name;
      row.enabled = body.enabled ?? row.enabled;
      row.definition = { ...row.definition, ...changes };
      if (body.expires_at !== undefined) row.expiresAt = readKeyExpiry(body.expires_at);
      if (body.fetches_per_hour !== undefined) row.fetchesPerHour = body.fetches_per_hour;
      row.allowedAddresses = body.allowed_addresses ?? row.allowedAddresses;
      row.updatedAt = nextVersion(row.updatedAt);
      return toPublicationView(await tx.save(row));
    });
  }

  /** Gives it another token; the one before is invalid at once. @throws AppError NOT_FOUND */
  renewToken(id: number): Promise<PublicationCreated> {
    const { token, ...columns } = newToken();
    return this.unitOfWork.run(async (tx) => {
      const row = Object.assign(await find(tx, id, true), columns);
      return keepAnswer(tx, withToken(await tx.save(row), token));
    });
  }

  /** @throws AppError NOT_FOUND */
  remove(id: number): Promise<PublicationDeleted> {
    return this.unitOfWork.run(async (tx) => {
      await find(tx, id, true);
      await tx.delete(PublicationEntity, id);
      return { id, deleted: true };
    });
  }

  /** What a definition gives a client, without storing it. @throws AppError INVALID_ARGUMENT */
  async preview({ target = 'clash', ...body }: PublicationPreviewRequest): Promise<PublicationPreview> {
    const definition = readDefinition(body);
    await this.unitOfWork.run((tx) => holdTemplates(tx, definition.template_ids ?? []));
    return toPreview(target, await this.writer.write(definition, { target }));
  }
}

function newToken(): { token: string; tokenHash: Buffer; lastFour: string } {
  const token = createApiKey(TOKEN_PREFIX);
  const parsed = parseApiKey(token, TOKEN_PREFIX);
  if (parsed === undefined) throw new TypeError(`tokens cannot begin with ${TOKEN_PREFIX}`);
  return { token, tokenHash: parsed.hash, lastFour: parsed.lastFour };
}

function withToken(row: PublicationEntity, token: string): PublicationCreated {
  return { ...toPublicationView(row), token, path: `/api/v1/sub/${token}` };
}

async function find(tx: EntityManager, id: number, lock = false): Promise<PublicationEntity> {
  const row = await tx.findOne(PublicationEntity, {
    where: { id },
    ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
  });
  if (!row) throw new AppError('NOT_FOUND', `There is no publication ${id}`);
  return row;
}
