import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';

export type RiskTier = 0 | 1 | 2 | 3;

export interface RiskState {
  readonly userId: number;
  /** The current tier: it falls by one for every clean day. */
  readonly tier: RiskTier;
  readonly changedAt: Date;
  /** Unlocks are refused until then; null: no pause. */
  readonly pausedUntil: Date | null;
  readonly needsReview: boolean;
}

export interface RiskEvent {
  readonly id: number;
  readonly kind: string;
  readonly tier: RiskTier;
  readonly applicationId: number | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

const COLUMNS = `r.user_id AS "userId", current_tier(r, s.clean_time, now()) AS tier, r.changed_at AS "changedAt",
  CASE WHEN r.paused_until > now() THEN r.paused_until END AS "pausedUntil", r.needs_review AS "needsReview"`;

const STATE = `SELECT ${COLUMNS} FROM risk_states r, risk_settings s WHERE r.user_id = $1`;
const RAISED = `SELECT ${COLUMNS} FROM risk_states r, risk_settings s
  WHERE (r.tier > 0 OR r.needs_review) AND r.user_id > $1 ORDER BY r.user_id LIMIT $2`;
const EVENTS = `SELECT id, kind, tier, application_id AS "applicationId", details, created_at AS at FROM risk_events
  WHERE user_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`;

const RESET = `UPDATE risk_states SET tier = 0, changed_at = now(), troubled_at = NULL, incident_at = NULL,
  paused_at = NULL, paused_until = NULL, needs_review = false, minute_tat = NULL, hour_tat = NULL, hits_at = '{}',
  paid_at = '{}', applications = '{}', applications_at = '{}', seen = '{}' WHERE user_id = $1`;

/** What is known about users' unlocks, for administrators. */
@Injectable()
export class RiskStates {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Tier 0 for a user who has never unlocked anything. */
  async read(userId: number): Promise<RiskState> {
    const { rows } = await pgPool(this.dataSource).query<RiskState>({
      name: 'risk_state',
      text: STATE,
      values: [userId],
    });
    return rows[0] ?? { userId, tier: 0, changedAt: new Date(0), pausedUntil: null, needsReview: false };
  }

  /** Users above tier 0 or to be reviewed, by id; `after`: the last id that was read. */
  async listRaised({ after = 0, limit = 50 }: { after?: number; limit?: number } = {}): Promise<RiskState[]> {
    const { rows } = await pgPool(this.dataSource).query<RiskState>(RAISED, [after, limit]);
    return rows;
  }

  /** Newest first; `before`: the last id that was read. */
  async events(userId: number, { before, limit = 50 }: { before?: number; limit?: number } = {}): Promise<RiskEvent[]> {
    const values = [userId, before ?? Number.MAX_SAFE_INTEGER, limit];
    const { rows } = await pgPool(this.dataSource).query<RiskEvent>(EVENTS, values);
    return rows;
  }

  /** Resets to tier 0; earlier events no longer count. @throws NOT_FOUND for a user without a state. */
  async reset(userId: number, actorId: number | null): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const [, changed] = (await tx.query(RESET, [userId])) as [unknown, number];
      if (changed === 0) throw new AppError('NOT_FOUND', 'This user has no risk record');
      await tx.query(
        `INSERT INTO risk_events (user_id, kind, tier, details) VALUES ($1, 'reset', 0, jsonb_build_object('by', $2::bigint))`,
        [userId, actorId],
      );
      await recordEvent(tx, { type: 'risk.reset', userId, actorId });
    });
  }
}
