import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { rowsOf } from '../data/rows-of.js';
import { ResourceSharingSettings } from '../settings.js';
import { literally } from '../titles/title-search.js';
import type { MediaType } from '../titles/titles.js';

/** A title that a user wants to hear of. */
export interface Subscription {
  readonly id: number;
  readonly title_id: number;
  readonly media_type: MediaType;
  readonly tmdb_id: string;
  readonly title: string | null;
  /** `YYYY-MM-DD HH:mm:ss` in the zone of the service. */
  readonly created_at: string;
}

export interface SubscriptionPage {
  readonly rows: Subscription[];
  readonly total: number;
}

/** Of one user. */
export const MAX_SUBSCRIPTIONS = 500;

const KEY = "t.media_type || ':' || t.id";
const SELECT = `SELECT s.id, t.id AS title_id, t.media_type, t.tmdb_id, t.title,
    to_char(s.created_at AT TIME ZONE $2, 'YYYY-MM-DD HH24:MI:SS') AS created_at
  FROM title_subscriptions s JOIN titles t ON t.id = s.title_id WHERE s.user_id = $1`;
const LIST = `${SELECT} AND ($3 = '' OR ${KEY} = $3 OR t.tmdb_id = $3 OR t.title ILIKE $4)
  ORDER BY s.id DESC LIMIT $5 OFFSET $6`;
const COUNT = `SELECT count(*)::integer AS total FROM title_subscriptions s JOIN titles t ON t.id = s.title_id
  WHERE s.user_id = $1 AND ($2 = '' OR ${KEY} = $2 OR t.tmdb_id = $2 OR t.title ILIKE $3)`;

/** The titles that users subscribed to. Every method sees those of `userId` alone. */
@Injectable()
export class Subscriptions {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /** Newest first; `search`: the key of a title, its TMDB id or a part of its name. */
  async list(userId: number, search: string, page: number, pageSize: number): Promise<SubscriptionPage> {
    const pattern = `%${literally(search)}%`;
    const values = [userId, this.settings.timeZone, search, pattern, pageSize, (page - 1) * pageSize];
    const pool = pgPool(this.dataSource);
    const { rows } = await pool.query<Subscription>({ name: 'subscriptions', text: LIST, values });
    const counted = await pool.query<{ total: number }>({
      name: 'subscription_count',
      text: COUNT,
      values: [userId, search, pattern],
    });
    return { rows, total: counted.rows[0]?.total ?? 0 };
  }

  /**
   * The subscription that is there, or a new one.
   * @throws NOT_FOUND for an unknown title, CONFLICT above the most.
   */
  async subscribe(userId: number, type: MediaType, titleId: number): Promise<Subscription> {
    return this.unitOfWork.run(async (tx) => {
      const [title] = await rowsOf(tx, 'SELECT id FROM titles WHERE id = $1 AND media_type = $2', [titleId, type]);
      if (title === undefined) throw new AppError('NOT_FOUND', 'The title does not exist');
      const present = await this.find(tx, userId, titleId);
      if (present !== undefined) return present;
      await this.assertRoom(tx, userId);
      await tx.query(
        'INSERT INTO title_subscriptions (user_id, title_id) VALUES ($1, $2) ON CONFLICT (user_id, title_id) DO NOTHING',
        [userId, titleId],
      );
      const made = await this.find(tx, userId, titleId);
      if (made === undefined) throw new Error('the subscription was neither found nor made');
      return made;
    });
  }

  /** @throws NOT_FOUND for another user's, so that ids reveal nothing. */
  async unsubscribe(userId: number, id: number): Promise<void> {
    const removed = 'DELETE FROM title_subscriptions WHERE id = $2 AND user_id = $1 RETURNING id';
    const rows = await this.unitOfWork.run((tx) => rowsOf(tx, removed, [userId, id]));
    if (rows.length === 0) throw new AppError('NOT_FOUND', `There is no subscription ${id}`);
  }

  private async find(tx: EntityManager, userId: number, titleId: number): Promise<Subscription | undefined> {
    const values = [userId, this.settings.timeZone, titleId];
    return (await rowsOf<Subscription>(tx, `${SELECT} AND s.title_id = $3`, values))[0];
  }

  /** Those of one user come one after another, so that together they cannot pass the most. */
  private async assertRoom(tx: EntityManager, userId: number): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`subscriptions ${userId}`]);
    const [row] = await rowsOf<{ n: number }>(
      tx,
      'SELECT count(*)::integer AS n FROM title_subscriptions WHERE user_id = $1',
      [userId],
    );
    if ((row?.n ?? 0) < MAX_SUBSCRIPTIONS) return;
    throw new AppError('CONFLICT', `A user may have ${MAX_SUBSCRIPTIONS} subscriptions`);
  }
}
