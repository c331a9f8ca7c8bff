import { type DomainScope, SCOPE } from '../domain-table.js';
import { MAX_DOMAIN_LENGTH, parseDomainPayload, toAsciiLower } from '../rule/domain-name.js';
import { RuleError } from '../rule/rule-error.js';

export interface DomainPattern {
  /** The part to look up; empty for a pattern that ends in `*`. */
  domain: string;
  scope: DomainScope;
  /** For scope `pattern`: all labels, where `*` stands for any one. */
  labels?: readonly string[];
}

/**
 * Parses a name with Clash wildcards: `+.x` is x and all below, `.x` all below, `*` exactly one label.
 * @throws RuleError
 */
export function parseDomainEntry(entry: string): DomainPattern {
  if (entry.startsWith('+.')) return { domain: parseDomainPayload(entry.slice(2)), scope: SCOPE.suffix };
  if (entry.startsWith('.')) return { domain: parseDomainPayload(entry.slice(1)), scope: SCOPE.below };
  if (!entry.includes('*')) return { domain: parseDomainPayload(entry), scope: SCOPE.exact };
  if (entry.startsWith('*.') && !entry.includes('*', 1)) {
    return { domain: parseDomainPayload(entry.slice(2)), scope: SCOPE.oneLabel };
  }
  return parsePattern(entry);
}

function parsePattern(entry: string): DomainPattern {
  const labels = entry.split('.').map((label) => (label === '*' ? label : toAsciiLower(label)));
  const fine = entry.length <= MAX_DOMAIN_LENGTH && labels.every((label) => /^(\*|[a-z0-9_-]{1,63})$/.test(label));
  if (!fine) {
    const shown = JSON.stringify(entry.slice(0, 80));
    throw new RuleError('payload', `${shown} is not a domain name; * stands for one whole label`);
  }
  return { domain: labels.slice(labels.lastIndexOf('*') + 1).join('.'), scope: SCOPE.pattern, labels };
}
