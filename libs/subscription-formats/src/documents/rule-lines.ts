import { isRecord } from '../clash/entry.js';
import { readYamlList } from '../clash/yaml-package.js';
import { FormatError } from '../errors.js';
import { eachLine } from '../text/lines.js';

/** More rules than any real list has. The rest is dropped. */
const MAX_RULES = 200_000;
const MAX_RULE = 4_096;
/** `Rule:` is the key of documents from before Clash 1.0. */
const HEADING = /^["']?(?:rules|Rule)["']?[ \t]*:[ \t]*(?:#.*)?\r?$/m;
const KEYS = ['rules', 'Rule'];
const ITEM = /^[ ]*-[ \t]+(.*)$/;

/** The lines of a document's rules, one `TYPE,payload,target[,option]` each. Never throws; unreadable lines are dropped. */
export function readRuleLines(text: string): string[] {
  const lines = /^\s*\{/.test(text) ? jsonRules(text) : yamlRules(text);
  return (
    lines
      // `FINAL,,Proxy` is the last rule of documents from before Clash 1.0.
      .map((line) => line.trim().replace(/^(FINAL|MATCH)\s*,\s*,/i, '$1,'))
      .filter((line) => line.includes(',') && line.length <= MAX_RULE)
      .slice(0, MAX_RULES)
  );
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
  if (heading === null) return /^["']?(?:rules|Rule)["']?[ \t]*:/m.test(text) ? yamlValues(text) : [];
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
    return texts(readYamlList(text, KEYS)?.map(({ value }) => value));
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
