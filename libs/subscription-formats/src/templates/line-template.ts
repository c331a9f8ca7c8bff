import { LineOptions, splitLine, unquote } from '../client-lines/line-options.js';
import { eachLine } from '../text/lines.js';
import type { Filling, NamedNode, OwnTemplate } from '../targets/own-template.js';
import { LINE_DIALECTS, type LineDialect, type LineTarget } from './line-dialects.js';
import { fillLineGroup, readLineGroup, type LineGroup } from './line-groups.js';
import { splitFields } from './split-fields.js';
import {
  MAX_LINE,
  checkTarget,
  MAX_GROUPS,
  OwnNames,
  refuseCircles,
  TemplateFailure,
  type CompileFilter,
} from './template.js';

const HEADING = /^\[[ \t]*([A-Za-z][A-Za-z_ ]*?)[ \t]*\]$/;
const COMMENT = /^(?:#|\/\/|;)/;
const MANAGED = /^#!MANAGED-CONFIG\b/i;

/** A line of the document. */
interface Line {
  number: number;
  text: string;
  /** Of its section, in lower case; empty before the first. */
  heading: string;
  /** Without spaces around it; empty for a heading, a comment or an empty line. */
  entry: string;
}

/** Reads a configuration of Surge, Loon or Quantumult X as a template. @throws TemplateFailure */
export function readLineTemplate(target: LineTarget, text: string, compile: CompileFilter): OwnTemplate {
  const dialect = LINE_DIALECTS[target];
  const lines = cutLines(text);
  if (lines.every(({ heading }) => heading === '')) {
    throw new TemplateFailure(null, 'the document has no section such as [Rule]');
  }
  const names = new OwnNames();
  const own = readOwnNodes(lines, dialect, target, names);
  const groups = new Map<number, LineGroup>();
  for (const { number, heading, entry } of lines) {
    if (heading !== dialect.groups || entry === '') continue;
    if (groups.size >= MAX_GROUPS) throw new TemplateFailure(number, `there are more than ${MAX_GROUPS} groups`);
    const group = readLineGroup(entry, number, dialect, compile);
    names.add(group.name, number);
    groups.set(number, group);
  }
  refuseCircles(
    [...groups.values()].map(({ name, line, members }) => ({
      name,
      line,
      members: members.flatMap((member) => ('name' in member ? [member.name] : [])),
    })),
  );
  checkRules(lines, dialect, (name) => names.has(name) || dialect.builtIn.test(name));
  return { names: names.list(), fill: (filling) => fill({ target, lines, dialect, groups, own, names }, filling) };
}

/** @throws TemplateFailure */
function cutLines(text: string): Line[] {
  let heading = '';
  return [...eachLine(text)].map((line, index) => {
    if (line.length > MAX_LINE) throw new TemplateFailure(index + 1, `the line is longer than ${MAX_LINE} characters`);
    const trimmed = line.trim();
    const found = HEADING.exec(trimmed)?.[1]?.toLowerCase();
    if (found !== undefined) heading = found;
    const entry = found !== undefined || COMMENT.test(trimmed) ? '' : trimmed;
    return { number: index + 1, text: line, heading, entry };
  });
}

/** @throws TemplateFailure */
function readOwnNodes(lines: readonly Line[], dialect: LineDialect, target: LineTarget, names: OwnNames): NamedNode[] {
  const own: NamedNode[] = [];
  for (const { number, heading, entry } of lines) {
    if (entry === '') continue;
    const isNode = heading === dialect.nodes;
    if (!isNode && !dialect.alsoMembers.includes(heading)) continue;
    const equals = entry.indexOf('=');
    const name =
      target === 'quantumult-x'
        ? new LineOptions(splitLine(entry.slice(equals + 1)), 1).get('tag')
        : unquote(entry.slice(0, Math.max(equals, 0)).trim());
    if (name === undefined || name === '') throw new TemplateFailure(number, 'the entry has no name');
    names.add(name, number);
    if (isNode) own.push({ name, type: '' });
  }
  return own;
}

/** @throws TemplateFailure */
function checkRules(lines: readonly Line[], dialect: LineDialect, isTarget: (name: string) => boolean): void {
  for (const { number, heading, entry } of lines) {
    if (entry === '') continue;
    if (heading === dialect.lists.heading) {
      const named = new LineOptions(splitLine(entry).slice(1), 0).get(dialect.lists.target);
      if (named !== undefined) checkTarget(named, number, isTarget);
    } else if (heading === dialect.rules) {
      const [type = '', ...fields] = splitFields(entry.replace(/[ \t]+(?:\/\/|#).*$/, ''));
      const named = /^(?:FINAL|MATCH)$/i.test(type) ? fields[0] : fields[1];
      if (named === undefined || named === '') {
        throw new TemplateFailure(number, 'a rule must be TYPE,value,policy, or FINAL,policy');
      }
      checkTarget(unquote(named), number, isTarget);
    }
  }
}

interface Parts {
  target: LineTarget;
  lines: readonly Line[];
  dialect: LineDialect;
  groups: ReadonlyMap<number, LineGroup>;
  own: readonly NamedNode[];
  names: OwnNames;
}

function fill({ target, lines, dialect, groups, own, names }: Parts, filling: Filling): string {
  const { nodes, comments, remarks, update } = filling;
  const present = new Set([...names.list(), ...nodes.map(({ name }) => name)]);
  const has = (name: string): boolean => present.has(name) || dialect.builtIn.test(name);
  const around = { nodes: [...own, ...nodes], has, remarks };
  const written = nodes.map(({ entry }) => entry as string);
  const last = lines.findLastIndex(({ heading, text }) => heading === dialect.nodes && text.trim() !== '');
  const isManaged = update !== undefined && target === 'surge';
  const body = lines
    .filter(({ text }) => !isManaged || !MANAGED.test(text))
    .flatMap((line) => {
      const group = groups.get(line.number);
      const text = group === undefined ? line.text : fillLineGroup(group, dialect, around);
      return line.number === last + 1 ? [text, ...written] : [text];
    });
  const managed = isManaged ? [`#!MANAGED-CONFIG ${update.url} interval=${update.intervalSec} strict=false`] : [];
  const place = last === -1 ? ['', dialect.nodesHeading, ...written] : [];
  return `${[...managed, ...comments.map((line) => `# ${line}`), ...body, ...place].join('\n')}\n`;
}
