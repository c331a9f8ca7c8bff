import { isRecord } from '../clash/entry.js';
import { readYamlList } from '../clash/yaml-package.js';
import { FormatError } from '../errors.js';
import type { SubscriptionFormat } from '../parsed.js';
import { eachLine } from '../text/lines.js';

/** More rules than any real list has; the rest is left out. */
const MAX_RULES = 200_000;
const MAX_RULE = 4_096;
const HEADING = /^["']?rules["']?[ \t]*:[ \t]*(?:#.*)?\r?$/m;
const ITEM = /^[ ]*-[ \t]+(.*)$/;

/** The lines of a document's rules, one `TYPE,payload,target[,option]` each; never throws, what cannot be read is left out. */
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
    // JSON in the form of YAML.
    return yamlValues(text);
  }
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** Line by line, as rules are written everywhere; another layout is left to the YAML package. */
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
  const quote = text[0];
  if (quote === "'" || quote === '"') {
    const end = text.indexOf(quote, 1);
    // A quote inside a quoted rule is nothing a rule has.
    return end === -1 ? '' : text.slice(1, end);
  }
  const comment = text.indexOf(' #');
  return comment === -1 ? text : text.slice(0, comment);
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
