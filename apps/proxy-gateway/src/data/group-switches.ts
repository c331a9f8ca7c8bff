import type { GroupSwitchRecord, GroupSwitchView, Page } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { GroupSwitchEntity } from './group-switch.entity.js';

/**
 * One switch can be reported several times: by the kernels of several replicas, and by the service when it finds a
 * choice lost. Reports within this time count as one.
 */
const SAME_WITHIN = '10 seconds';
/** The kernel reports a switch in a fraction of this time. */
const EXPECTED_MS = 5_000;
/** Entries kept for each group, however often it switches. */
const MAX_PER_GROUP = 10_000;

export interface SwitchEnd {
  /** A kernel tag; null for a group without members. */
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

/** A late report about a group must not be stored for a newer group with the same name. */
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

/** The history of groups: which members they used, and why they switched. */
@Injectable()
export class GroupSwitches {
  /** Choices that this process is making or has just made: the kernel will report them as well. */
  private chosen: { group: string; to: string | null; at: number }[] = [];

  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Call before this process stores the choice of `to`, or gives a choice back (null). */
  expect(group: string, to: string | null): void {
    const at = Date.now();
    this.chosen = [...this.chosen.filter((choice) => at - choice.at <= EXPECTED_MS), { group, to, at }];
  }

  /** Whether a switch that the kernel reports follows from a choice made in this process. */
  isExpected(group: string, to: string | null): boolean {
    const since = Date.now() - EXPECTED_MS;
    return this.chosen.some(
      (choice) => choice.group === group && choice.at >= since && (choice.to === null || choice.to === to),
    );
  }

  /** Stores a switch and returns its id; null if the same switch is stored already, or the group is gone. */
  async record(tx: EntityManager, { group, at, from, to, reason }: GroupSwitch): Promise<number | null> {
    // One writer per group at a time: the previous entry decides whether this is a duplicate.
    await tx.query('SELECT id FROM outbound_groups WHERE name = $1 FOR UPDATE', [group]);
    const ends = [from?.tag ?? null, from?.name ?? null, to.tag, to.name];
    const rows: { id: number }[] = await tx.query(INSERT, [group, at, ...ends, reason]);
    const id = rows[0]?.id ?? null;
    if (id === null) return null;
    const last: GroupSwitchView = { at: at.toISOString(), from: from?.name ?? null, to: to.name, reason };
    // The kernel's report arrives late: a choice stored meanwhile must stay the newest entry.
    await tx.query(
      `UPDATE outbound_groups SET last_switch = $2
       WHERE name = $1 AND (last_switch IS NULL OR (last_switch ->> 'at')::timestamptz <= $3)`,
      [group, JSON.stringify(last), at],
    );
    return id;
  }

  /** Stores how many connections were closed because of the switch. */
  async setClosed(id: number, count: number): Promise<void> {
    await this.unitOfWork.run((tx) => tx.update(GroupSwitchEntity, id, { closedConnections: count }));
  }

  /** The newest entries first. */
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

  /** Deletes entries older than `before` and those beyond the limit of a group; returns how many. */
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
