import { isRecord } from '../clash/entry.js';
import { readYamlDocument } from '../clash/yaml-package.js';
import { readRuleLines } from '../documents/rule-lines.js';
import type { Filling, NamedNode, OwnTemplate } from '../targets/own-template.js';
import { cutTopBlocks, dashIndent, isEmptyBlock, type TopBlock } from './clash-blocks.js';
import { fillClashGroup, readClashGroups, type ClashTemplateGroup } from './clash-groups.js';
import { checkClashRule, type RuleNames } from './clash-rules.js';
import { parseJson } from './json-text.js';
import { MAX_LINE, OwnNames, refuseCircles, TemplateFailure, type CompileFilter } from './template.js';

type Options = Record<string, unknown>;

/** Characters besides rules that are read with all features of YAML, which takes up to a second. */
const MAX_YAML = 128 * 1024;
const BUILT_IN: ReadonlySet<string> = new Set(['DIRECT', 'REJECT', 'REJECT-DROP', 'PASS', 'COMPATIBLE', 'GLOBAL']);

/** A document, with what its lines are if it is YAML. */
interface Source {
  value: Options;
  /** Null for JSON. */
  blocks: TopBlock[] | null;
  lineOf: (path: readonly (string | number)[]) => number | null;
}

/** Reads a Clash document as a template. @throws TemplateFailure */
export function readClashTemplate(text: string, compile: CompileFilter): OwnTemplate {
  const source = /^\s*\{/.test(text) ? readJsonSource(text) : readYamlSource(text);
  const { value, lineOf } = source;
  const own = ownNodes(source);
  const groups = readClashGroups(value['proxy-groups'], {
    lineOf: (index) => lineOf(['proxy-groups', index]),
    providers: keysOf(value['proxy-providers']),
    compile,
  });
  const names = new OwnNames();
  for (const [index, { name }] of own.entries()) names.add(name, lineOf(['proxies', index]));
  for (const { name, line } of groups) {
    if (BUILT_IN.has(name))
      throw new TemplateFailure(line, `the name ${JSON.stringify(name)} is that of a built-in policy`);
    names.add(name, line);
  }
  refuseCircles(groups.map(({ name, line, proxies }) => ({ name, line, members: proxies })));
  checkRules(source, {
    isTarget: (name) => names.has(name) || BUILT_IN.has(name),
    ruleSets: keysOf(value['rule-providers']),
    subRules: keysOf(value['sub-rules']),
  });
  const template = { names: names.list(), fill: (filling: Filling) => fill({ source, own, groups, names }, filling) };
  if (source.blocks) checkAnchors(source.blocks, groups.length);
  return template;
}

function keysOf(value: unknown): Set<string> {
  return new Set(isRecord(value) ? Object.keys(value) : []);
}

/** @throws TemplateFailure */
function readJsonSource(text: string): Source {
  const value = parseJson(text);
  if (!isRecord(value)) throw new TemplateFailure(null, 'the document must be a mapping');
  return { value, blocks: null, lineOf: () => null };
}

/** @throws TemplateFailure */
function readYamlSource(text: string): Source {
  const blocks = cutTopBlocks(text);
  for (const key of ['proxies', 'proxy-groups', 'rules']) {
    const [, second] = blocks.filter((block) => block.key === key);
    if (second) throw new TemplateFailure(second.line, `${key} occurs twice`);
  }
  // Rules are read line by line: there may be thousands.
  const shown = blocks.flatMap((block) => (isPlainRules(block) ? withoutItems(block) : block.lines)).join('\n');
  if (shown.length > MAX_YAML) {
    throw new TemplateFailure(null, `besides rules, a template has up to ${MAX_YAML / 1024} KiB`);
  }
  const { value, lineOf } = readYamlDocument(shown, (line, problem) => {
    throw new TemplateFailure(line, problem.message, { cause: problem });
  });
  if (!isRecord(value)) throw new TemplateFailure(null, 'the document must be a mapping');
  return { value, blocks, lineOf };
}

function withoutItems({ key, lines }: TopBlock): string[] {
  return [`${key}:`, ...lines.slice(1).map(() => '')];
}

function isPlainRules(block: TopBlock): boolean {
  return (
    block.key === 'rules' && dashIndent(block) !== undefined && !block.lines.some((line) => /^\s*-\s*[&*]/.test(line))
  );
}

/** @throws TemplateFailure */
function ownNodes({ value, blocks, lineOf }: Source): NamedNode[] {
  const block = blocks?.find(({ key }) => key === 'proxies');
  if (block && !isEmptyBlock(block) && dashIndent(block) === undefined) {
    throw new TemplateFailure(block.line, 'proxies must be a list with a dash before each entry, or empty');
  }
  const list = value['proxies'] ?? [];
  if (list === '') return [];
  if (!Array.isArray(list)) throw new TemplateFailure(lineOf(['proxies']), 'proxies must be a list');
  return list.map((item: unknown, index) => {
    const name = isRecord(item) ? item['name'] : undefined;
    const type = isRecord(item) ? item['type'] : undefined;
    if (typeof name !== 'string' || name === '' || typeof type !== 'string') {
      throw new TemplateFailure(lineOf(['proxies', index]), 'a proxy must have a name and a type');
    }
    return { name, type };
  });
}

/** @throws TemplateFailure */
function checkRules({ value, blocks, lineOf }: Source, names: RuleNames): void {
  const block = blocks?.find(isPlainRules);
  for (const [index, line] of block?.lines.entries() ?? []) {
    if (line.length > MAX_LINE)
      throw new TemplateFailure((block?.line ?? 0) + index, `the line is longer than ${MAX_LINE} characters`);
    const [rule] = index === 0 || !/^\s*-/.test(line) ? [] : readRuleLines(`rules:\n${line.trim()}`);
    if (rule !== undefined) checkClashRule(rule, (block?.line ?? 0) + index, names);
    else if (index > 0 && line.trim() !== '' && !/^\s*#/.test(line)) {
      throw new TemplateFailure((block?.line ?? 0) + index, 'a rule must be TYPE,payload,target, or MATCH,target');
    }
  }
  if (!block) checkRuleList(value['rules'], ['rules'], lineOf, names);
  const subRules = isRecord(value['sub-rules']) ? value['sub-rules'] : {};
  for (const [key, list] of Object.entries(subRules)) checkRuleList(list, ['sub-rules', key], lineOf, names);
}

/** @throws TemplateFailure */
function checkRuleList(list: unknown, path: readonly string[], lineOf: Source['lineOf'], names: RuleNames): void {
  for (const [index, rule] of (Array.isArray(list) ? list : []).entries()) {
    checkClashRule(String(rule), lineOf([...path, index]), names);
  }
}

/** The list of groups is written again, without its anchors; what refers to them from elsewhere would be broken. */
function checkAnchors(blocks: readonly TopBlock[], groups: number): void {
  const block = blocks.find(({ key }) => key === 'proxy-groups');
  if (groups === 0 || !block?.lines.some((line) => /(?:^|[\s[{,:-])&[^\s,[\]{}&]/.test(line))) return;
  const rest = blocks.map(({ key, lines }) => (key === 'proxy-groups' || key === 'rules' ? '' : lines.join('\n')));
  readYamlDocument(rest.join('\n'), () => {
    throw new TemplateFailure(
      block.line,
      'an anchor in proxy-groups is used elsewhere; define it at the top of the document',
    );
  });
}

interface Parts {
  source: Source;
  own: readonly NamedNode[];
  groups: readonly ClashTemplateGroup[];
  names: OwnNames;
}

function fill({ source, own, groups, names }: Parts, { nodes, comments, remarks }: Filling): string {
  const present = new Set([...nodes.map(({ name }) => name), ...names.list()]);
  const has = (name: string): boolean => present.has(name) || BUILT_IN.has(name);
  const all = [...own, ...nodes];
  const filled = groups.map((group) => fillClashGroup(group, all, has, remarks));
  const entries = nodes.map(({ entry }) => entry);
  if (source.blocks === null) {
    const written = Array.isArray(source.value['proxies']) ? (source.value['proxies'] as unknown[]) : [];
    const value = { ...source.value, proxies: [...written, ...entries], 'proxy-groups': filled };
    return `${JSON.stringify(value, null, 2)}\n`;
  }
  return [...comments.map((line) => `# ${line}`), ...fillBlocks(source.blocks, entries, filled)].join('\n') + '\n';
}

function fillBlocks(blocks: readonly TopBlock[], entries: readonly unknown[], groups: readonly Options[]): string[] {
  const nodes = entries.map((entry) => JSON.stringify(entry));
  const asList = (key: string, items: readonly string[]): string[] =>
    items.length === 0 ? [`${key}: []`] : [`${key}:`, ...items.map((item) => `  - ${item}`)];
  const hasPlace = blocks.some(({ key }) => key === 'proxies');
  const before = blocks.findIndex(({ key }) => key === 'proxy-groups');
  const filled = blocks.flatMap((block, index) => {
    const ahead = !hasPlace && index === before ? asList('proxies', nodes) : [];
    if (block.key === 'proxies') {
      const indent = dashIndent(block);
      return indent === undefined
        ? asList('proxies', nodes)
        : [...block.lines, ...nodes.map((node) => `${indent}- ${node}`)];
    }
    if (block.key !== 'proxy-groups') return block.lines;
    return [
      ...ahead,
      ...asList(
        'proxy-groups',
        groups.map((group) => JSON.stringify(group)),
      ),
    ];
  });
  return hasPlace || before !== -1 ? filled : [...filled, ...asList('proxies', nodes)];
}
