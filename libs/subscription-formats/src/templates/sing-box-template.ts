import { isRecord } from '../clash/entry.js';
import type { Filling, NamedNode, OwnTemplate } from '../targets/own-template.js';
import { parseJson } from './json-text.js';
import { filterOf, readMember, resolveMembers, type Member } from './placeholder.js';
import {
  checkTarget,
  compileIntake,
  MAX_GROUPS,
  noteMembers,
  OwnNames,
  refuseCircles,
  TemplateFailure,
  type CompileFilter,
} from './template.js';

type Options = Record<string, unknown>;

interface Group {
  tag: string;
  options: Options;
  members: Member[];
}

const GROUP_TYPES: ReadonlySet<string> = new Set(['selector', 'urltest']);
/** Words of templates that sing-box would refuse. */
const OWN_WORDS: ReadonlySet<string> = new Set(['include-all', 'filter', 'exclude-filter']);
const REJECT = 'REJECT';

/** Reads a configuration of sing-box as a template. @throws TemplateFailure */
export function readSingBoxTemplate(text: string, compile: CompileFilter): OwnTemplate {
  const document = parseJson(text);
  if (!isRecord(document)) throw new TemplateFailure(null, 'the document must be a mapping');
  const outbounds = listOf(document, 'outbounds');
  const endpoints = listOf(document, 'endpoints');
  const names = new OwnNames();
  for (const { tag } of [...outbounds, ...endpoints]) if (typeof tag === 'string') names.add(tag, null);
  const groups = new Map(outbounds.filter(isGroup).map((options) => [options, readGroup(options, compile)]));
  if (groups.size > MAX_GROUPS) throw new TemplateFailure(null, `there are more than ${MAX_GROUPS} groups`);
  const links = [...groups.values()].map(({ tag, members }) => ({
    name: tag,
    line: null,
    members: members.flatMap((member) => ('name' in member ? [member.name] : [])),
  }));
  refuseCircles(links);
  checkReferences(document, outbounds, (name) => names.has(name));
  return { names: names.list(), fill: (filling) => fill({ document, outbounds, endpoints, groups, names }, filling) };
}

/** @throws TemplateFailure */
function listOf(document: Options, key: string): Options[] {
  const list = document[key] ?? [];
  if (!Array.isArray(list) || !list.every(isRecord)) {
    throw new TemplateFailure(null, `${key} must be a list of objects`);
  }
  return list;
}

function isGroup({ type }: Options): boolean {
  return typeof type === 'string' && GROUP_TYPES.has(type);
}

/** @throws TemplateFailure */
function readGroup(options: Options, compile: CompileFilter): Group {
  const { tag, outbounds: listed = [] } = options;
  if (typeof tag !== 'string' || tag === '') throw new TemplateFailure(null, 'a selector or urltest must have a tag');
  if (!Array.isArray(listed) || !listed.every((member) => typeof member === 'string')) {
    throw new TemplateFailure(null, `the outbounds of ${JSON.stringify(tag)} must be a list of tags`);
  }
  const { takes, excludes } = compileIntake(filterIn(options), compile, null, tag);
  const members = listed.map((text): Member => {
    const member = readMember(text, null, tag, compile);
    if ('name' in member) return member;
    // The filter of a group holds for all its nodes; a placeholder may choose among these.
    return { takes: (node: NamedNode) => takes(node) && !excludes(node) && member.takes(node) };
  });
  if (options['include-all'] === true) members.push({ takes: (node) => takes(node) && !excludes(node) });
  if (members.length === 0) {
    throw new TemplateFailure(
      null,
      `${JSON.stringify(tag)} has neither outbounds nor include-all; "{all}" stands for all nodes`,
    );
  }
  return { tag, options, members };
}

/** Patterns as mihomo has them, or the list of objects that other generators of templates use. */
function filterIn({ filter, 'exclude-filter': excluded }: Options) {
  const list = Array.isArray(filter) ? filter.filter(isRecord) : [];
  const patterns = (action: string): string =>
    list
      .filter((part) => part['action'] === action)
      .flatMap(({ keywords }) => (Array.isArray(keywords) ? keywords : []))
      .filter((word) => typeof word === 'string')
      .join('`');
  if (list.length > 0) return filterOf(patterns('include'), patterns('exclude'));
  return filterOf(typeof filter === 'string' ? filter : '', typeof excluded === 'string' ? excluded : '');
}

/** sing-box does not start with a tag that nothing has. @throws TemplateFailure */
function checkReferences(document: Options, outbounds: readonly Options[], isTag: (name: string) => boolean): void {
  const { route, dns, ntp } = document;
  const check = (holder: unknown, key: string): void => {
    const tag = isRecord(holder) ? holder[key] : undefined;
    if (typeof tag === 'string' && tag !== '') checkTarget(tag, null, isTag);
  };
  const each = (list: unknown, key: string): void => {
    if (Array.isArray(list)) for (const holder of list) check(holder, key);
  };
  check(route, 'final');
  if (isRecord(route)) {
    each(route['rules'], 'outbound');
    each(route['rule_set'], 'download_detour');
    checkSets(route);
  }
  if (isRecord(dns)) each(dns['servers'], 'detour');
  each(outbounds, 'detour');
  check(ntp, 'detour');
}

/** @throws TemplateFailure */
function checkSets({ rules, rule_set: sets }: Options): void {
  const tags = new Set((Array.isArray(sets) ? sets : []).map((set) => (isRecord(set) ? set['tag'] : undefined)));
  for (const rule of Array.isArray(rules) ? rules : []) {
    const named = isRecord(rule) ? rule['rule_set'] : undefined;
    for (const tag of Array.isArray(named) ? named : named === undefined ? [] : [named]) {
      if (!tags.has(tag)) throw new TemplateFailure(null, `there is no rule set ${JSON.stringify(tag)}`);
    }
  }
}

interface Parts {
  document: Options;
  outbounds: readonly Options[];
  endpoints: readonly Options[];
  groups: ReadonlyMap<Options, Group>;
  names: OwnNames;
}

function fill({ document, outbounds, endpoints, groups, names }: Parts, { nodes, remarks }: Filling): string {
  const present = new Set([...names.list(), ...nodes.map(({ name }) => name)]);
  let reject = REJECT;
  for (let next = 2; present.has(reject); next += 1) reject = `${REJECT} ${next}`;
  let rejects = false;
  const own = outbounds.map((outbound) => {
    const group = groups.get(outbound);
    if (group === undefined) return outbound;
    const { found, missing } = resolveMembers(group.members, nodes, (name) => present.has(name));
    // sing-box refuses a default that is no member.
    const { default: preferred } = group.options;
    const isLost = typeof preferred === 'string' && !found.includes(preferred);
    const gone = isLost ? [...new Set([...missing, preferred])] : missing;
    noteMembers(remarks, group.tag, { missing: gone, isEmpty: found.length === 0 });
    rejects ||= found.length === 0;
    const kept = Object.entries(group.options).filter(([key]) => !OWN_WORDS.has(key) && !(isLost && key === 'default'));
    return { ...Object.fromEntries(kept), outbounds: found.length === 0 ? [reject] : found };
  });
  const entries = nodes.map(({ entry }) => entry as Options);
  const isEndpoint = ({ type }: Options): boolean => type === 'wireguard';
  const inEndpoints = [...endpoints, ...entries.filter(isEndpoint)];
  const filled = {
    ...document,
    ...(inEndpoints.length > 0 && { endpoints: inEndpoints }),
    outbounds: [...own, ...entries.filter((entry) => !isEndpoint(entry)), ...(rejects ? [rejecting(reject)] : [])],
  };
  return `${JSON.stringify(filled, null, 2)}\n`;
}

/** No outbound of sing-box rejects. Nothing listens there: the port needs the rights of an administrator. */
function rejecting(tag: string): Options {
  return { type: 'socks', tag, server: '127.0.0.1', server_port: 1 };
}
