import { pgPool } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A call of an application that was answered with a status of 400 or above. */
export interface RefusedCall {
  readonly at: Date;
  readonly method: string;
  /** The route template: values of the call are not stored. */
  readonly endpoint: string;
  readonly status: number;
  /** As in the error answer; empty if there was none. */
  readonly code: string;
  readonly requestId: string;
  /** With a test key. */
  readonly isTest: boolean;
}

/** The number of calls that are kept for an application, and as many with its test keys. */
export const MAX_REFUSED_CALLS = 200;

const FLUSH_MS = 1_000;
/** The limit per second for all applications. */
const MAX_PENDING = 5_000;

const ADD = `
  INSERT INTO refused_calls (application_id, refused_at, method, endpoint, status, code, request_id, is_test)
  SELECT applications.id, call.refused_at, call.method, call.endpoint, call.status, call.code, call.request_id, call.is_test
  FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::smallint[], $6::text[], $7::text[],
      $8::boolean[])
    WITH ORDINALITY AS call (application_id, refused_at, method, endpoint, status, code, request_id, is_test, place)
  JOIN applications ON applications.id = call.application_id ORDER BY call.place`;

/** Replicas that delete at the same time skip each other's rows. */
const TRIM = `
  DELETE FROM refused_calls WHERE id = ANY (ARRAY(
    SELECT old.id FROM unnest($1::bigint[]) AS application (id) CROSS JOIN (VALUES (false), (true)) AS mode (is_test)
    CROSS JOIN LATERAL (SELECT id FROM refused_calls
      WHERE application_id = application.id AND refused_calls.is_test = mode.is_test ORDER BY id DESC OFFSET ${MAX_REFUSED_CALLS} FOR UPDATE SKIP LOCKED) AS old))`;

const NEWEST = `
  SELECT refused_at AS at, method, endpoint, status, code, request_id AS "requestId", is_test AS "isTest"
  FROM refused_calls WHERE application_id = $1 ORDER BY id DESC LIMIT $2`;

interface Pending {
  readonly applicationId: number;
  readonly calls: RefusedCall[];
}

/** The newest refused calls of each application. They are collected and written once a second; at most that is lost. */
@Injectable()
export class RefusedCalls implements BeforeApplicationShutdown {
  private pending = new Map<string, Pending>();
  private count = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: JsonLogger,
  ) {}

  /** The excess of one second is left out. */
  note(applicationId: number, call: RefusedCall): void {
    // Test calls do not use up the room of the others.
    const key = `${applicationId} ${call.isTest}`;
    const calls = this.pending.get(key)?.calls ?? [];
    if (calls.length >= MAX_REFUSED_CALLS || this.count >= MAX_PENDING) return;
    calls.push(call);
    this.count += 1;
    this.pending.set(key, { applicationId, calls });
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Newest first. */
  async newest(applicationId: number, limit: number): Promise<RefusedCall[]> {
    const { rows } = await pgPool(this.dataSource).query<RefusedCall>({
      name: 'refused_calls',
      text: NEWEST,
      values: [applicationId, limit],
    });
    return rows;
  }

  /** Never rejects: a lost row must not fail a shutdown. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.count === 0) return;
    const taken = [...this.pending.values()];
    this.pending = new Map();
    this.count = 0;
    try {
      await this.store(taken);
    } catch (error) {
      this.logger.warn('refused calls were not stored', { error }, 'RefusedCalls');
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  private async store(taken: readonly Pending[]): Promise<void> {
    const rows = taken.flatMap(({ applicationId, calls }) => calls.map((call) => ({ applicationId, ...call })));
    const pool = pgPool(this.dataSource);
    await pool.query(ADD, [
      rows.map(({ applicationId }) => applicationId),
      rows.map(({ at }) => at),
      rows.map(({ method }) => method),
      rows.map(({ endpoint }) => endpoint),
      rows.map(({ status }) => status),
      rows.map(({ code }) => code),
      rows.map(({ requestId }) => requestId),
      rows.map(({ isTest }) => isTest),
    ]);
    await pool.query(TRIM, [[...new Set(taken.map(({ applicationId }) => applicationId))]]);
  }
}
