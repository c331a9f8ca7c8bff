import { ClashEntry, isRecord } from '../clash/entry.js';
import { FormatError } from '../errors.js';
import { readNameFilter } from '../profile/name-filter.js';
import type { Remarks } from '../targets/target.js';
import type { NamedNode } from '../targets/own-template.js';
import {
  compileIntake,
  MAX_GROUPS,
  noteMembers,
  TemplateFailure,
  type CompileFilter,
  type Intake,
} from './template.js';

type Options = Record<string, unknown>;

/** A group of a Clash document, as its template has it. */
export interface ClashTemplateGroup {
  name: string;
  line: number | null;
  /** As written, with the types that Clash has. */
  options: Options;
  proxies: string[];
  /** Takes nodes of the document. */
  includesNodes: boolean;
  /** Takes nodes that the client fetches itself, so the client also decides about the filter. */
  usesProviders: boolean;
  intake: Intake;
}

const TYPES: ReadonlySet<string> = new Set(['select', 'url-test', 'fallback', 'load-balance', 'relay', 'smart']);
const NUMBERS: ReadonlySet<string> = new Set(['interval', 'tolerance', 'timeout', 'max-failed-times', 'routing-mark']);
const SWITCHES: ReadonlySet<string> = new Set([
  'lazy',
  'hidden',
  'disable-udp',
  'include-all',
  'include-all-proxies',
  'include-all-providers',
]);
/** Words that have done their work once the members are written out. */
const SPENT: ReadonlySet<string> = new Set([
  'include-all',
  'include-all-proxies',
  'filter',
  'exclude-filter',
  'exclude-type',
]);

interface Surroundings {
  lineOf: (index: number) => number | null;
  providers: ReadonlySet<string>;
  compile: CompileFilter;
}

/** @throws TemplateFailure */
export function readClashGroups(value: unknown, around: Surroundings): ClashTemplateGroup[] {
  if (value === undefined || value === null || value === '') return [];
  if (!Array.isArray(value)) throw new TemplateFailure(around.lineOf(0), 'proxy-groups must be a list');
  if (value.length > MAX_GROUPS) throw new TemplateFailure(null, `proxy-groups has more than ${MAX_GROUPS} entries`);
  return value.map((item: unknown, index) => {
    const line = around.lineOf(index);
    try {
      return readGroup(item, line, around);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      throw new TemplateFailure(line, error.message, { cause: error });
    }
  });
}

/** @throws TemplateFailure, FormatError */
function readGroup(item: unknown, line: number | null, { providers, compile }: Surroundings): ClashTemplateGroup {
  if (!isRecord(item)) throw new TemplateFailure(line, 'a group must be a mapping of options');
  const entry = new ClashEntry(item);
  const name = entry.required('name');
  const type = entry.required('type').toLowerCase();
  if (!TYPES.has(type)) {
    throw new TemplateFailure(
      line,
      `the type of group ${JSON.stringify(name)} must be select, url-test, fallback or load-balance`,
    );
  }
  const use = entry.list('use') ?? [];
  const missing = use.find((provider) => !providers.has(provider));
  if (missing !== undefined) throw new TemplateFailure(line, `there is no proxy provider ${JSON.stringify(missing)}`);
  const all = entry.flag('include-all') ?? false;
  const includesNodes = all || (entry.flag('include-all-proxies') ?? false);
  const allProviders = (all || (entry.flag('include-all-providers') ?? false)) && providers.size > 0;
  const proxies = entry.list('proxies') ?? [];
  const usesProviders = use.length > 0 || allProviders;
  if (proxies.length === 0 && !includesNodes && !usesProviders) {
    throw new TemplateFailure(line, `group ${JSON.stringify(name)} has neither proxies nor include-all nor use`);
  }
  const intake = compileIntake(readNameFilter(entry), compile, line, name);
  return { name, line, options: typed(item), proxies, includesNodes, usesProviders, intake };
}

/** Texts of YAML have the types here that Clash expects; names such as `0123` stay texts. */
function typed(item: Options): Options {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => {
      if (typeof value !== 'string') return [key, value];
      if (NUMBERS.has(key) && /^\d{1,9}$/.test(value)) return [key, Number(value)];
      return SWITCHES.has(key) && /^(?:true|false)$/i.test(value)
        ? [key, value.toLowerCase() === 'true']
        : [key, value];
    }),
  );
}

/** The group with its members written out, except for those that the client fetches itself. */
export function fillClashGroup(
  group: ClashTemplateGroup,
  nodes: readonly NamedNode[],
  has: (name: string) => boolean,
  remarks: Remarks,
): Options {
  const { name, options, proxies, includesNodes, usesProviders, intake } = group;
  const missing = proxies.filter((member) => !has(member));
  const named = proxies.filter((member) => has(member) && !intake.excludes({ name: member, type: '' }));
  if (usesProviders) {
    noteMembers(remarks, name, { missing, isEmpty: false });
    return { ...options, ...(proxies.length > 0 && { proxies: named }) };
  }
  const taken = includesNodes ? nodes.filter(intake.takes).map((node) => node.name) : [];
  const members = [...new Set([...named, ...taken])];
  noteMembers(remarks, name, { missing, isEmpty: members.length === 0 });
  const kept = Object.entries(options).filter(([key]) => !SPENT.has(key) && key !== 'proxies');
  return { ...Object.fromEntries(kept), proxies: members.length === 0 ? ['REJECT'] : members };
}
