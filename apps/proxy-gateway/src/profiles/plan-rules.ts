import { KernelConfigError, parseRuleLine } from '@gatehouse/proxy-kernel';
import type { RuleDefinition } from '@gatehouse/proxy-kernel';
import type { Profile, ProfileRemark } from '@gatehouse/subscription-formats';
import type { ReportBuilder } from './profile-report.js';
import { setsNamedBy } from '../kernel-config/set-states.js';

/** A rule for the kernel; its target is a tag, or the name as written if there is none. */
export interface PlannedRule extends RuleDefinition {
  note: string | null;
}

export interface RuleSurroundings {
  /** Stored names by the names of the profile's rule sets. */
  setNames: ReadonlyMap<string, string>;
  /** The tag that a target's name means; null for a name that means nothing. `replaced`: it is not quite the same. */
  target: (name: string) => { tag: string | null; replaced: boolean };
  /** What is stored for a name that means nothing here, but may later. */
  unknownTarget: (name: string) => string;
  /** Whether there is such a list of sites; null if nobody knows. */
  hasSites: (code: string) => boolean | null;
}

/** Rules that sub-rules may be written out to, in total: each is tried in turn, as the kernel has no index for them. */
const MAX_WRITTEN_OUT = 5_000;
const MAX_DEPTH = 4;
const NEEDS_SYSTEM = /^(?:PROCESS-|UID\b|DSCP\b)|\(\s*(?:PROCESS-[A-Z-]+|UID|DSCP)\s*,/i;
const SET_CONDITION = /(\(\s*RULE-SET\s*,\s*)([^,()]+?)(\s*[,)])/gi;

/** Reads the rules of a profile line by line; every line is counted once in the report. */
export class RulePlanner {
  readonly rules: PlannedRule[] = [];
  private readonly lists: ReadonlyMap<string, readonly string[]>;
  private readonly usedLists = new Set<string>();
  private writtenOut = 0;

  constructor(
    private readonly profile: Profile,
    private readonly surroundings: RuleSurroundings,
    private readonly report: ReportBuilder,
  ) {
    this.lists = new Map(profile.subRules.map(({ name, lines }) => [name, lines]));
  }

  add(line: string): void {
    const remarks: ProfileRemark[] = [];
    if (/^SUB-RULE\s*,/i.test(line)) this.addList(line, remarks);
    else {
      const rule = this.read(line, remarks);
      if (rule) this.rules.push(rule);
    }
    this.report.add('rules', line, remarks);
  }

  /** Counts the lists, once all lines have been read. */
  finish(): void {
    for (const { name } of this.profile.subRules) {
      const isUsed = this.usedLists.has(name);
      this.report.add('sub_rules', name, isUsed ? [{ outcome: 'replaced', reason: 'sub_rule_written_out' }] : []);
    }
  }

  /** Null for a line that has no effect here. */
  private read(line: string, remarks: ProfileRemark[]): PlannedRule | null {
    const rule = parse(line);
    if (rule === null) {
      remarks.push({ outcome: 'left_out', reason: reasonFor(line) });
      return null;
    }
    const renamed = this.withStoredSets(rule);
    if (setsNamedBy(rule).some((name) => !this.surroundings.setNames.has(name))) {
      remarks.push({ outcome: 'left_out', reason: 'rule_set_missing' });
    } else if (rule.type === 'GEOSITE' && this.surroundings.hasSites(rule.payload.toLowerCase()) === false) {
      remarks.push({ outcome: 'left_out', reason: 'site_list_missing' });
    }
    return this.withTarget(renamed, remarks);
  }

  private withTarget(rule: RuleDefinition, remarks: ProfileRemark[]): PlannedRule {
    const { tag, replaced } = this.surroundings.target(rule.target);
    if (tag === null) {
      remarks.push({ outcome: 'left_out', reason: 'target_missing' });
      const note = `${JSON.stringify(rule.target)} is not a group or node here`;
      return { ...rule, target: this.surroundings.unknownTarget(rule.target), note };
    }
    if (replaced) remarks.push({ outcome: 'replaced', reason: 'target_replaced' });
    return { ...rule, target: tag, note: null };
  }

  private withStoredSets(rule: RuleDefinition): RuleDefinition {
    const stored = (name: string): string => this.surroundings.setNames.get(name) ?? name;
    if (rule.type === 'RULE-SET') return { ...rule, payload: stored(rule.payload) };
    if (setsNamedBy(rule).length === 0) return rule;
    const rename = (_all: string, head: string, name: string, tail: string): string => `${head}${stored(name)}${tail}`;
    return { ...rule, payload: rule.payload.replace(SET_CONDITION, rename) };
  }

  /** `SUB-RULE,(condition),list`: each rule of the list holds together with the condition. */
  private addList(line: string, remarks: ProfileRemark[]): void {
    const before = this.rules.length;
    const found = this.writeOut(line, [], remarks);
    if (found) remarks.push({ outcome: 'replaced', reason: 'sub_rule_written_out' });
    else {
      // A part of a list would be another list.
      this.rules.length = before;
    }
  }

  private writeOut(line: string, conditions: readonly string[], remarks: ProfileRemark[]): boolean {
    const { condition, name } = splitSubRule(line);
    const list = this.lists.get(name);
    if (list === undefined || condition === '' || conditions.length >= MAX_DEPTH) {
      remarks.push({ outcome: 'left_out', reason: list === undefined ? 'sub_rule_missing' : 'rule_unreadable' });
      return false;
    }
    this.usedLists.add(name);
    const all = [...conditions, condition];
    for (const inner of list) {
      if (/^SUB-RULE\s*,/i.test(inner)) {
        if (!this.writeOut(inner, all, remarks)) return false;
        continue;
      }
      if (++this.writtenOut > MAX_WRITTEN_OUT) {
        remarks.push({ outcome: 'left_out', reason: 'too_many' });
        return false;
      }
      const rule = this.read(together(all, inner), remarks);
      if (rule) this.rules.push(rule);
    }
    return true;
  }
}

function parse(line: string): RuleDefinition | null {
  if (/\p{Cc}/u.test(line)) return null;
  try {
    return parseRuleLine(line);
  } catch (error) {
    if (error instanceof KernelConfigError) return null;
    throw error;
  }
}

function reasonFor(line: string): ProfileRemark['reason'] {
  if (NEEDS_SYSTEM.test(line)) return 'needs_operating_system';
  return /^(?:SRC-)?GEOIP\s*,\s*[\w-]{3,}\s*,/i.test(line) ? 'geo_category' : 'rule_unreadable';
}

/** The condition without its parentheses, and the name of the list. */
function splitSubRule(line: string): { condition: string; name: string } {
  const open = line.indexOf('(');
  const close = line.lastIndexOf(')');
  if (open < 0 || close < open) return { condition: '', name: line.slice(line.lastIndexOf(',') + 1).trim() };
  const name = line
    .slice(close + 1)
    .replace(/^\s*,/, '')
    .trim();
  return { condition: line.slice(open + 1, close).trim(), name };
}

/** A rule line that holds only where all conditions hold, too. An unreadable line stays as it is. */
function together(conditions: readonly string[], line: string): string {
  const rule = parse(line);
  if (rule === null) return line;
  const { type, payload, target, noResolve, src } = rule;
  const own = [type, payload, ...(noResolve ? ['no-resolve'] : []), ...(src ? ['src'] : [])].join(',');
  const parts = type === 'MATCH' ? conditions : [...conditions, own];
  const [only] = parts;
  if (parts.length === 1) return `${only},${target}`;
  return `AND,(${parts.map((part) => `(${part})`).join(',')}),${target}`;
}
