import { Injectable } from '@nestjs/common';
import { mapKernelConfig, nodeTag } from '../kernel-config/kernel-config.mapper.js';
import type { KernelConfigRows } from '../kernel-config/kernel-config.mapper.js';
import { KernelConfigSource } from '../kernel-config/kernel-config.source.js';
import { Preferences } from '../preferences/preferences.service.js';

/** Nodes to measure with a test address that groups set. */
export interface GroupTestTarget {
  testUrl: string;
  /** From the first group with this address. */
  expectedStatus: string;
  /** The shortest interval of those groups. */
  intervalSec: number;
  /** All groups with this address are lazy: they need no measurements while unused. */
  lazy: boolean;
  /** The names of those groups. */
  groups: string[];
  /** Their members, including those of nested groups. */
  nodeIds: number[];
}

/** Finds the measurements needed by groups with their own test addresses. */
@Injectable()
export class GroupTestTargets {
  constructor(
    private readonly source: KernelConfigSource,
    private readonly preferences: Preferences,
  ) {}

  async list(): Promise<GroupTestTarget[]> {
    const rows = await this.source.load();
    const members = nodesOfGroups(rows);
    const targets = new Map<string, GroupTestTarget>();
    for (const { name, testUrl, expectedStatus, intervalSec, lazy } of rows.groups) {
      if (testUrl === null) continue;
      const interval = intervalSec ?? this.preferences.get('health.interval_sec');
      const target = targets.get(testUrl) ?? {
        testUrl,
        expectedStatus: expectedStatus ?? this.preferences.get('health.expected_status'),
        intervalSec: interval,
        lazy,
        groups: [],
        nodeIds: [],
      };
      targets.set(testUrl, target);
      target.intervalSec = Math.min(target.intervalSec, interval);
      target.lazy &&= lazy;
      target.groups.push(name);
      target.nodeIds = [...new Set([...target.nodeIds, ...(members.get(name) ?? [])])];
    }
    return [...targets.values()];
  }
}

function nodesOfGroups(rows: KernelConfigRows): Map<string, Set<number>> {
  const ids = new Map(rows.nodes.map(({ id }) => [nodeTag(id), id]));
  const groups = new Map(mapKernelConfig(rows).config.groups.map(({ name, members }) => [name, members]));
  const collect = (name: string, into: Set<number>, seen: Set<string>): Set<number> => {
    if (seen.has(name)) return into;
    seen.add(name);
    for (const tag of groups.get(name) ?? []) {
      const id = ids.get(tag);
      if (id !== undefined) into.add(id);
      else collect(tag, into, seen);
    }
    return into;
  };
  return new Map([...groups.keys()].map((name) => [name, collect(name, new Set(), new Set())]));
}
