import { setsNamedBy } from '../targets/clash.js';
import { splitFields } from './split-fields.js';
import { checkTarget, MAX_LINE, TemplateFailure } from './template.js';

/** What rules of a Clash document may name. */
export interface RuleNames {
  isTarget: (name: string) => boolean;
  ruleSets: ReadonlySet<string>;
  subRules: ReadonlySet<string>;
}

const TYPE = /^[A-Z][A-Z0-9-]*$/;

/** Clients refuse a whole document for a rule that leads nowhere. @throws TemplateFailure */
export function checkClashRule(text: string, line: number | null, names: RuleNames): void {
  if (text.length > MAX_LINE) throw new TemplateFailure(line, `the line is longer than ${MAX_LINE} characters`);
  const [word = '', ...fields] = splitFields(text);
  const type = word.toUpperCase();
  const isLast = type === 'MATCH';
  const [payload = '', target] = isLast ? ['', ...fields] : fields;
  if (!TYPE.test(type) || target === undefined || target === '' || (!isLast && payload === '')) {
    throw new TemplateFailure(line, 'a rule must be TYPE,payload,target, or MATCH,target');
  }
  const missing = setsNamedBy({ type, payload, target }).find((name) => !names.ruleSets.has(name));
  if (missing !== undefined) throw new TemplateFailure(line, `there is no rule provider ${JSON.stringify(missing)}`);
  if (type !== 'SUB-RULE') checkTarget(target, line, names.isTarget);
  else if (!names.subRules.has(target)) {
    throw new TemplateFailure(line, `there is no list of sub-rules ${JSON.stringify(target)}`);
  }
}
