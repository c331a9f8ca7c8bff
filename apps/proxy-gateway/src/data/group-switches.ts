import type { GroupSwitchRecord, GroupSwitchView, Page } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { GroupSwitchEntity } from './group-switch.entity.js';

/** The kernels of several replicas, and a lost choice beside the kernel that noticed it, tell of one switch. */
const SAME_WITHIN = '10 seconds';
/** A kernel tells within a fraction of it. */
const EXPECTED_MS = 5_000;
/** Entries kept of one group, however often it switches. */
const MAX_PER_GROUP = 10_000;

export interface SwitchEnd {
  /** Kernel tag; null for a group without members. */
  tag: string | null;
  name: string;
}

export interface GroupSwitch {
  group: string;
  at: Date;
  from: SwitchEnd | null;
  to: SwitchEnd;
  reason: string;
}

/** What a kernel tells late of another group that had the same name is nothing of this one. */
const INSERT = `
  INSERT INTO group_switches (group_id, at, from_tag, from_name, to_tag, to_name, reason)
  SELECT owner.id, $2, $3, $4, $5, $6, $7 FROM outbound_groups owner
  WHERE owner.name = $1 AND ($7 = 'manual' OR owner.created_at <= $2) AND NOT EXISTS (
    SELECT 1 FROM (
      SELECT * FROM group_switches WHERE group_id = owner.id AND at <= $2 ORDER BY at DESC, id DESC LIMIT 1
    ) latest
    WHERE $7 <> 'manual' AND latest.at > $2::timestamptz - interval '${SAME_WITHIN}'
      AND latest.from_tag IS NOT DISTINCT FROM $3 AND latest.to_tag IS NOT DISTINCT FROM $5
  )
  RETURNING id`;

/** What groups used before, and why they left it. */
@Injectable()
export class GroupSwitches {
  /** Choices under way or just made here: the kernel will tell of them too. */
  private chosen: { group: string; to: string | null; at: number }[] = [];

  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Somebody chooses `to` in this process, or gives the choice back (null), and writes it down. */
  expect(group: string, to: string | null): void {
    const at = Date.now();
    this.chosen = [...this.chosen.filter((choice) => at - choice.at <= EXPECTED_MS), { group, to, at }];
  }

  /** The kernel tells of what somebody chose here. */
  isExpected(group: string, to: string | null): boolean {
    const since = Date.now() - EXPECTED_MS;
    return this.chosen.some(
      (choice) => choice.group === group && choice.at >= since && (choice.to === null || choice.to === to),
    );
  }

  /** Id of the entry; null when somebody told of the same switch already, or the group is gone. */
  async record(tx: EntityManager, { group, at, from, to, reason }: GroupSwitch): Promise<number | null> {
    // One at a time per group: what counts as told already is the entry before.
    await tx.query('SELECT id FROM outbound_groups WHERE name = $1 FOR UPDATE', [group]);
    const ends = [from?.tag ?? null, from?.name ?? null, to.tag, to.name];
    const rows: { id: number }[] = await tx.query(INSERT, [group, at, ...ends, reason]);
    const id = rows[0]?.id ?? null;
    if (id === null) return null;
    const last: GroupSwitchView = { at: at.toISOString(), from: from?.name ?? null, to: to.name, reason };
    // The kernel tells a little late: what people did since is the last all the same.
    await tx.query(
      `UPDATE outbound_groups SET last_switch = $2
       WHERE name = $1 AND (last_switch IS NULL OR (last_switch ->> 'at')::timestamptz <= $3)`,
      [group, JSON.stringify(last), at],
    );
    return id;
  }

  /** How many connections ended because of it. */
  async setClosed(id: number, count: number): Promise<void> {
    await this.unitOfWork.run((tx) => tx.update(GroupSwitchEntity, id, { closedConnections: count }));
  }

  /** The newest first. */
  async page(groupId: number, { limit, offset }: { limit: number; offset: number }): Promise<Page<GroupSwitchRecord>> {
    const [rows, total] = await this.unitOfWork.run((tx) =>
      tx.findAndCount(GroupSwitchEntity, {
        where: { groupId },
        order: { at: 'DESC', id: 'DESC' },
        take: limit,
        skip: offset,
      }),
    );
    return { items: rows.map(toRecord), total, limit, offset };
  }

  /** Forgets what is older than `before` and what is too much of one group; returns how many entries that was. */
  async prune(before: Date): Promise<number> {
    return this.unitOfWork.run(async (tx) => {
      const { affected } = await tx
        .createQueryBuilder()
        .delete()
        .from(GroupSwitchEntity)
        .where(
          `at < :before OR id IN (
             SELECT id FROM (
               SELECT id, row_number() OVER (PARTITION BY group_id ORDER BY at DESC, id DESC) AS place FROM group_switches
             ) numbered WHERE place > :most)`,
          { before, most: MAX_PER_GROUP },
        )
        .execute();
      return affected ?? 0;
    });
  }
}

function toRecord(row: GroupSwitchEntity): GroupSwitchRecord {
  return {
    id: row.id,
    at: row.at.toISOString(),
    from: row.fromName,
    from_proxy: row.fromTag,
    to: row.toName,
    to_proxy: row.toTag,
    reason: row.reason,
    closed_connections: row.closedConnections,
  };
}
