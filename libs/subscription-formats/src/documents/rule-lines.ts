import { isRecord } from '../clash/entry.js';
import { readYamlList } from '../clash/yaml-package.js';
import { FormatError } from '../errors.js';
import type { SubscriptionFormat } from '../parsed.js';
import { eachLine } from '../text/lines.js';

/** More rules than any real list has. The rest is dropped. */
const MAX_RULES = 200_000;
const MAX_RULE = 4_096;
const HEADING = /^["']?rules["']?[ \t]*:[ \t]*(?:#.*)?\r?$/m;
const ITEM = /^[ ]*-[ \t]+(.*)$/;

/** The lines of a document's rules, one `TYPE,payload,target[,option]` each. Never throws; unreadable lines are dropped. */
export function readRuleLines(text: string, format: SubscriptionFormat): string[] {
  if (format === 'surge') return surgeRules(text);
  if (format !== 'clash') return [];
  const lines = /^\s*\{/.test(text) ? jsonRules(text) : yamlRules(text);
  return lines
    .map((line) => line.trim())
    .filter((line) => line.includes(',') && line.length <= MAX_RULE)
    .slice(0, MAX_RULES);
}

function jsonRules(text: string): string[] {
  try {
    const document: unknown = JSON.parse(text);
    return isRecord(document) ? texts(document['rules']) : [];
  } catch {
    // YAML that is JSON.
    return yamlValues(text);
  }
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** Reads line by line, the usual layout. Any other layout is left to the YAML package. */
function yamlRules(text: string): string[] {
  const heading = HEADING.exec(text);
  if (heading === null) return /^["']?rules["']?[ \t]*:/m.test(text) ? yamlValues(text) : [];
  const rules: string[] = [];
  for (const line of eachLine(text.slice(heading.index + heading[0].length))) {
    if (line.trim() === '' || /^\s*#/.test(line)) continue;
    const item = ITEM.exec(line)?.[1];
    if (item === undefined) break;
    rules.push(scalar(item.trim()));
    if (rules.length >= MAX_RULES) break;
  }
  return rules;
}

function yamlValues(text: string): string[] {
  try {
    return texts(readYamlList(text, ['rules'])?.map(({ value }) => value));
  } catch (error) {
    if (error instanceof FormatError) return [];
    throw error;
  }
}

function scalar(text: string): string {
  if (text.startsWith("'")) return /^'((?:[^']|'')*)'/.exec(text)?.[1]?.replaceAll("''", "'") ?? '';
  if (text.startsWith('"')) return fromDoubleQuoted(/^"(?:[^"\\]|\\.)*"/.exec(text)?.[0] ?? '""');
  const comment = text.indexOf(' #');
  return comment === -1 ? text : text.slice(0, comment);
}

/** YAML's escapes are those of JSON, and a few more that rules do not need. */
function fromDoubleQuoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return '';
  }
}

function surgeRules(text: string): string[] {
  const rules: string[] = [];
  let inside = false;
  for (const raw of eachLine(text)) {
    const line = raw.trim();
    if (line.startsWith('[')) inside = /^\[[ \t]*rule[ \t]*\]$/i.test(line);
    else if (inside && line.includes(',') && !/^(?:#|\/\/|;)/.test(line) && line.length <= MAX_RULE) rules.push(line);
    if (rules.length >= MAX_RULES) break;
  }
  return rules;
}
