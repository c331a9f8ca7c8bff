import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PointsLedger, type LedgerLine } from './points-ledger.js';
import { runStatement, type Statement } from './run-statement.js';

/** A movement of points with its reason. */
export interface StoryLine extends LedgerLine {
  /** The share that was unlocked or deleted. */
  readonly share: { readonly slug: string; readonly name: string | null; readonly isDeleted: boolean } | null;
  /** The application through which the user unlocked it; absent for unlocks by others. */
  readonly application: string | null;
}

export interface StoryPage {
  readonly lines: StoryLine[];
  /** `before` of the next page; null at the end. */
  readonly next: number | null;
}

interface ShareRow {
  id: number;
  slug: string;
  name: string | null;
  is_deleted: boolean;
  application: string | null;
}

const SHARES: Statement = {
  name: 'points_story_shares',
  text: `SELECT s.id, replace(s.slug::text, '-', '') AS slug, coalesce(s.title, t.title) AS name,
      s.deleted_at IS NOT NULL AS is_deleted, a.name AS application
    FROM shares s JOIN titles t ON t.id = coalesce(s.movie_id, s.tv_id, s.collection_id)
    LEFT JOIN unlocks u ON u.share_id = s.id AND u.user_id = $2
    LEFT JOIN applications a ON a.id = u.application_id
    WHERE s.id = ANY ($1::bigint[])`,
};

/** How users earned and spent their points. */
@Injectable()
export class PointsStory {
  constructor(
    private readonly dataSource: DataSource,
    private readonly ledger: PointsLedger,
  ) {}

  /** Newest first; `before`: `next` of the page before. */
  async of(userId: number, { before, limit = 50 }: { before?: number; limit?: number }): Promise<StoryPage> {
    const read = await this.ledger.history(userId, { ...(before !== undefined && { before }), limit: limit + 1 });
    const lines = read.slice(0, limit);
    const ids = lines.flatMap((line) => shareIdOf(line) ?? []);
    const rows =
      ids.length === 0 ? [] : await runStatement<ShareRow>(this.dataSource, undefined, SHARES, [ids, userId]);
    const shares = new Map(rows.map((row) => [row.id, row]));
    return {
      lines: lines.map((line) => withShare(line, shares.get(shareIdOf(line) ?? 0))),
      next: read.length > limit ? (lines.at(-1)?.version ?? null) : null,
    };
  }
}

/** From `ref`: "user:share" of an unlock, the share of a deletion. */
function shareIdOf({ kind, ref }: LedgerLine): number | undefined {
  if (kind === 'share_deletion') return Number(ref);
  return kind === 'unlock' ? Number(ref.slice(ref.indexOf(':') + 1)) : undefined;
}

function withShare(line: LedgerLine, row: ShareRow | undefined): StoryLine {
  if (row === undefined) return { ...line, share: null, application: null };
  const { slug, name, is_deleted: isDeleted, application } = row;
  const isOwnUnlock = line.kind === 'unlock' && line.amount < 0;
  return { ...line, share: { slug, name, isDeleted }, application: isOwnUnlock ? application : null };
}
