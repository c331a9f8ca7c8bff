import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import type { ShareLink } from '@gatehouse/share-links';
import { Injectable } from '@nestjs/common';
import { QueryFailedError, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { readLink } from '../links/read-link.js';
import type { UserCaller } from '../credentials/caller.js';
import { ShareFees } from '../points/share-fees.js';
import { ResourceSharingSettings } from '../settings.js';
import { changesOf, linkColumns, priceOf, type Changes, type PresentLink } from './share-changes.js';
import { ShareReader } from './share-reader.js';
import { ShareRelations } from './share-relations.js';
import type { ShareRow } from './share-rows.js';
import { parseSlug } from './share-slug.js';
import type { CreateShareBody, UpdateShareBody } from './share.dto.js';

/** The permission to change and withdraw shares of others. */
const MANAGE = 'share:manage';
/** The permission to have followers notified of a change. */
const NOTIFY = 'resource:notify';

/** The sharer: a caller of the open API, or a member on the site itself, who needs no credential. */
export type Sharer = Pick<UserCaller, 'userId' | 'permissions' | 'applicationId' | 'grantId'> & {
  readonly credentialId: number | null;
};

interface LockedShare extends PresentLink {
  readonly id: number;
  readonly owner_id: number;
}

/** Creates, changes and withdraws shares, each in one transaction. */
@Injectable()
export class ShareWriter {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly relations: ShareRelations,
    private readonly reader: ShareReader,
    private readonly fees: ShareFees,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /**
   * In `tx` or in its own transaction.
   * @throws INVALID_ARGUMENT, or SHARE_LINK_EXISTS for a link that is already shared.
   */
  async create(caller: Sharer, body: CreateShareBody, tx?: EntityManager): Promise<ShareRow> {
    this.assertPrice(body.unlock_points);
    const link = readLink(body.url, body.access_code);
    const work = (own: EntityManager): Promise<ShareRow> => this.store(own, caller, body, link);
    return tx === undefined ? this.unitOfWork.run(work) : work(tx);
  }

  /** @throws NOT_FOUND, FORBIDDEN, INVALID_ARGUMENT or SHARE_LINK_EXISTS. */
  async update(caller: Sharer, slug: string, { notify, ...body }: UpdateShareBody): Promise<ShareRow> {
    this.assertPrice(body.unlock_points);
    return this.unitOfWork.run(async (tx) => {
      const share = await lockShare(tx, slug);
      assertMayChange(caller, share);
      if (notify === true && !caller.permissions.includes(NOTIFY)) {
        throw new AppError('FORBIDDEN', `notify needs the permission ${NOTIFY}`);
      }
      const changes = changesOf(body, share);
      if (notify === undefined && Object.keys(changes).length === 0) {
        throw new AppError('INVALID_ARGUMENT', 'Name at least one field to change');
      }
      await applyChanges(tx, share.id, changes, notify === true);
      await recordShareEvent(tx, 'share.updated', caller, share, { fields: Object.keys(changes) });
      if (notify === true) await recordShareEvent(tx, 'share.notified', caller, share);
      return this.reader.item(tx, share.id, caller.userId);
    });
  }

  /** Users who unlocked the share keep it; its sharer pays a fee. @throws NOT_FOUND or FORBIDDEN. */
  async delete(caller: Sharer, slug: string): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const share = await lockShare(tx, slug);
      assertMayChange(caller, share);
      await tx.query('UPDATE shares SET deleted_at = now(), updated_at = now() WHERE id = $1', [share.id]);
      const fee = await this.fees.chargeDeletion(tx, { shareId: share.id, ownerId: share.owner_id });
      await recordShareEvent(tx, 'share.deleted', caller, share, { fee });
    });
  }

  private async store(tx: EntityManager, caller: Sharer, body: CreateShareBody, link: ShareLink): Promise<ShareRow> {
    const relation = await this.relations.of(tx, body);
    const columns = { owner_id: caller.userId, ...relation, ...linkColumns(link), ...describing(body) };
    const id = await insert(tx, columns);
    if (id === undefined) throw linkExists();
    await recordShareEvent(tx, 'share.created', caller, { id, owner_id: caller.userId });
    return this.reader.item(tx, id, caller.userId);
  }

  private assertPrice(points: number | null | undefined): void {
    const most = this.settings.shareMaxUnlockPoints;
    if (points == null || points <= most) return;
    const message = `must not be greater than ${most}`;
    throw new AppError('INVALID_ARGUMENT', `unlock_points: ${message}`, {
      details: [{ field: 'unlock_points', message }],
    });
  }
}

/** Columns of the fields of a body other than link and title. */
function describing(body: CreateShareBody): Changes {
  return {
    title: body.title ?? null,
    share_size: body.share_size ?? null,
    video_resolution: body.video_resolution ?? [],
    source: body.source ?? [],
    subtitle_language: body.subtitle_language ?? [],
    subtitle_type: body.subtitle_type ?? [],
    remark: body.remark ?? null,
    unlock_points: priceOf(body.unlock_points),
    is_anonymous: body.is_anonymous ?? false,
    hide_link: body.hide_link ?? true,
  };
}

/** Undefined if the link is already shared. */
async function insert(tx: EntityManager, columns: Changes): Promise<number | undefined> {
  const names = Object.keys(columns);
  const [row] = await tx.query<{ id: number }[]>(
    `INSERT INTO shares (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT (link_key) WHERE deleted_at IS NULL DO NOTHING RETURNING id`,
    Object.values(columns),
  );
  return row?.id;
}

async function lockShare(tx: EntityManager, slug: string): Promise<LockedShare> {
  const id = parseSlug(slug);
  const [share] =
    id === undefined
      ? []
      : await tx.query<LockedShare[]>(
          `SELECT id, owner_id, kind, access_code, plain_link_key(link_key) AS link_key FROM shares
           WHERE slug = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`,
          [id],
        );
  if (share === undefined) throw new AppError('NOT_FOUND', 'The share does not exist');
  return share;
}

function assertMayChange({ userId, permissions }: Sharer, share: LockedShare): void {
  if (share.owner_id === userId || permissions.includes(MANAGE)) return;
  throw new AppError('FORBIDDEN', 'You can change only your own shares');
}

async function applyChanges(tx: EntityManager, id: number, changes: Changes, notified: boolean): Promise<void> {
  const sets = Object.keys(changes).map((name, index) => `${name} = $${index + 2}`);
  if (notified) sets.push('notified_at = now()');
  try {
    await tx.query(`UPDATE shares SET ${[...sets, 'updated_at = now()'].join(', ')} WHERE id = $1`, [
      id,
      ...Object.values(changes),
    ]);
  } catch (error) {
    throw refusalOf(error) ?? error;
  }
}

function refusalOf(error: unknown): AppError | undefined {
  if (!(error instanceof QueryFailedError)) return undefined;
  const { code, constraint } = error.driverError as { code?: string; constraint?: string };
  if (constraint === 'shares_link_key_live_key') return linkExists(error);
  // Two shares that take over each other's link at once.
  return code === DEADLOCK
    ? new AppError('CONFLICT', 'The link is being changed: try again', { cause: error })
    : undefined;
}

const DEADLOCK = '40P01';

const linkExists = (cause?: unknown): AppError =>
  new AppError('SHARE_LINK_EXISTS', undefined, cause === undefined ? {} : { cause });

/** The event belongs to the sharer; it contains no link and no access code. */
async function recordShareEvent(
  tx: EntityManager,
  type: `share.${string}`,
  caller: Sharer,
  share: { id: number; owner_id: number },
  details: Record<string, unknown> = {},
): Promise<void> {
  await recordEvent(tx, {
    type,
    userId: share.owner_id,
    actorId: caller.userId === share.owner_id ? null : caller.userId,
    applicationId: caller.applicationId,
    credentialId: caller.credentialId,
    grantId: caller.grantId,
    details: { share_id: share.id, ...details },
  });
}
