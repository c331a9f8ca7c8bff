import type { NameFilter } from '../profile/profile.js';
import type { NamedNode } from '../targets/own-template.js';
import type { Remarks } from '../targets/target.js';

/** Characters of a template. Clients fetch the whole document again and again. */
export const MAX_TEMPLATE = 512 * 1024;
/** Characters of a line in documents of lines, and of a rule: some patterns take the square of it. */
export const MAX_LINE = 16_384;
/** Each may look at every node. */
export const MAX_GROUPS = 200;

/** A text that cannot be a template. The message contains no credential. */
export class TemplateFailure extends Error {
  /** From 1; null where no line can be named. */
  readonly line: number | null;

  constructor(line: number | null, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'TemplateFailure';
    this.line = line;
  }
}

/** Makes a predicate of a filter; null for patterns that the caller's engine does not read. */
export type CompileFilter = (filter: NameFilter) => ((node: NamedNode) => boolean) | null;

/** Which nodes a group takes besides the members that it names. */
export interface Intake {
  takes: (node: NamedNode) => boolean;
  /** Also holds for members that are named, as in mihomo. */
  excludes: (node: NamedNode) => boolean;
}

/** @throws TemplateFailure for a pattern that cannot be read. */
export function compileIntake(filter: NameFilter, compile: CompileFilter, line: number | null, group: string): Intake {
  const takes = filter.readable ? compile(filter) : null;
  const kept = filter.readable ? compile({ ...filter, include: [] }) : null;
  if (takes === null || kept === null) {
    const shown = JSON.stringify(group);
    throw new TemplateFailure(
      line,
      `the filter of group ${shown} cannot be used: patterns have no back references, and look-ahead only at their start`,
    );
  }
  return { takes, excludes: (node) => !kept(node) };
}

/** Groups by their names, with the members that are named. */
export interface GroupLinks {
  name: string;
  line: number | null;
  members: readonly string[];
}

/** Clients refuse groups that contain each other. @throws TemplateFailure */
export function refuseCircles(groups: readonly GroupLinks[]): void {
  const left = new Map(groups.map((group) => [group.name, group]));
  // A group without groups inside that are still left is in no circle.
  for (let before = -1; before !== left.size;) {
    before = left.size;
    for (const [name, { members }] of left) if (!members.some((member) => left.has(member))) left.delete(name);
  }
  const [first] = left.values();
  if (first === undefined) return;
  throw new TemplateFailure(first.line, `group ${JSON.stringify(first.name)} leads back to itself through its members`);
}

/** Names of nodes and groups, each of which may occur once. */
export class OwnNames {
  readonly #all = new Set<string>();

  /** @throws TemplateFailure */
  add(name: string, line: number | null): void {
    if (this.#all.has(name)) {
      throw new TemplateFailure(line, `the name ${JSON.stringify(name)} occurs twice among groups and nodes`);
    }
    this.#all.add(name);
  }

  has(name: string): boolean {
    return this.#all.has(name);
  }

  list(): string[] {
    return [...this.#all];
  }
}

/** What became of the members of a group; without any it rejects: what it stands for must not go elsewhere. */
export function noteMembers(
  remarks: Remarks,
  group: string,
  { missing, isEmpty }: { missing: readonly string[]; isEmpty: boolean },
): void {
  for (const member of missing) remarks.add('left_out', 'group_member', null, `${group}: ${member}`);
  if (isEmpty) remarks.add('changed', 'group_empty', null, group);
}

/** @throws TemplateFailure for the target of a rule that the template does not have. */
export function checkTarget(target: string, line: number | null, isKnown: (name: string) => boolean): void {
  if (isKnown(target)) return;
  throw new TemplateFailure(
    line,
    `the target ${JSON.stringify(target)} is no group of the template; nodes of publications come into rules through groups`,
  );
}
