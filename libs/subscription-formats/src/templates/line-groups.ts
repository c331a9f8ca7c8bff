import { LineOptions, splitLine, unquote } from '../client-lines/line-options.js';
import type { Remarks } from '../targets/target.js';
import type { NamedNode } from '../targets/own-template.js';
import type { LineDialect } from './line-dialects.js';
import { filterOf, readMember, resolveMembers, type Member } from './placeholder.js';
import { compileIntake, noteMembers, TemplateFailure, type CompileFilter } from './template.js';

/** A group in a line. */
export interface LineGroup {
  name: string;
  line: number;
  type: string;
  members: Member[];
  /** Options that stay, as written. */
  options: string[];
}

const OPTION = /^[a-z0-9_-]+[ \t]*=/i;
const ON: ReadonlySet<string> = new Set(['1', 'true', 'yes']);

/** `Name = type, members, options`, or `type = Name, …` in Quantumult X. @throws TemplateFailure */
export function readLineGroup(text: string, line: number, dialect: LineDialect, compile: CompileFilter): LineGroup {
  const equals = text.indexOf('=');
  if (equals <= 0)
    throw new TemplateFailure(line, 'a group must be a name, an equals sign, and its type with its members');
  const left = unquote(text.slice(0, equals).trim());
  const [first = '', ...parts] = splitLine(text.slice(equals + 1).trim());
  const byType = dialect.groups === 'policy';
  const [name, type] = byType ? [unquote(first), left] : [left, first];
  if (name === '' || type === '') throw new TemplateFailure(line, 'a group must have a name and a type');
  const options = parts.filter((part) => OPTION.test(part));
  const members = parts
    .filter((part) => part !== '' && !OPTION.test(part))
    .map((part) => readMember(unquote(part), line, name, compile));
  const given = new LineOptions(options, 0);
  const isOwn = given.get(...dialect.clientOptions) === undefined;
  const pattern = given.get(dialect.filter);
  const takesAll = dialect.takesAll !== '' && ON.has(given.get(dialect.takesAll)?.toLowerCase() ?? '');
  if (isOwn && (takesAll || pattern !== undefined)) {
    members.push({ takes: compileIntake(filterOf(pattern ?? ''), compile, line, name).takes });
  }
  if (isOwn && members.length === 0)
    throw new TemplateFailure(line, `group ${JSON.stringify(name)} has no members; {all} stands for all nodes`);
  const spent = new RegExp(`^(?:${[dialect.takesAll, dialect.filter].filter(Boolean).join('|')})[ \\t]*=`, 'i');
  return { name, line, type, members, options: isOwn ? options.filter((option) => !spent.test(option)) : options };
}

export interface Around {
  nodes: readonly NamedNode[];
  has: (name: string) => boolean;
  remarks: Remarks;
}

/** The line with its members written out. */
export function fillLineGroup(group: LineGroup, dialect: LineDialect, { nodes, has, remarks }: Around): string {
  const { name, type, members, options } = group;
  const { found, missing } = resolveMembers(members, nodes, has);
  const isEmpty = found.length === 0 && new LineOptions(options, 0).get(...dialect.clientOptions) === undefined;
  noteMembers(remarks, name, { missing, isEmpty });
  const written = [...(isEmpty ? [dialect.reject] : found.map(asMember)), ...options];
  if (dialect.groups === 'policy') return `${type}=${[name, ...written].join(', ')}`;
  return `${name} = ${[type, ...written].join(', ')}`;
}

/** In quotes where a comma would end it. */
function asMember(name: string): string {
  return name.includes(',') ? `"${name}"` : name;
}
