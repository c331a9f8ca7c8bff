/** Lists of Surge and Quantumult X that differ from those of Clash. */
import type { RuleSetBehavior } from '../interfaces/config.js';
import { type Line, textLines } from './lines.js';
import { RuleSetFileError } from './rule-set-file-error.js';

/** Words of Quantumult X. */
const WORDS: Readonly<Record<string, string>> = {
  HOST: 'DOMAIN',
  'HOST-SUFFIX': 'DOMAIN-SUFFIX',
  'HOST-KEYWORD': 'DOMAIN-KEYWORD',
  'HOST-WILDCARD': 'DOMAIN-WILDCARD',
  'HOST-REGEX': 'DOMAIN-REGEX',
  'IP6-CIDR': 'IP-CIDR6',
};
/** Types that Quantumult X has under the same name. */
const SHARED = /^(?:IP-CIDR|GEOIP|IP-ASN)$/;
const OPTION = /^(?:no-resolve|src)$/i;

/** Rule lines without a target. Quantumult X writes one, which the rule that names the set overrides. */
export function* classicalLines(content: Buffer): Generator<Line> {
  for (const line of textLines(content)) yield { ...line, text: inClash(line.text) };
}

function inClash(text: string): string {
  const [word = '', ...fields] = text.split(',').map((field) => field.trim());
  const type = word.toUpperCase();
  const known = Object.hasOwn(WORDS, type) ? WORDS[type] : undefined;
  if (known === undefined && !SHARED.test(type)) return text;
  const [payload = '', ...rest] = fields;
  return [known ?? word, payload, ...rest.filter((field) => OPTION.test(field))].join(',');
}

/** `.example.com` is the domain itself and all below. @throws RuleSetFileError for another behavior. */
export function* domainSetLines(content: Buffer, behavior: RuleSetBehavior): Generator<Line> {
  if (behavior !== 'domain') throw new RuleSetFileError('a domain-set holds domains only');
  for (const line of textLines(content)) {
    yield { ...line, text: line.text.startsWith('.') ? `+${line.text}` : line.text };
  }
}
