import type { RuleView } from '@gatehouse/contracts';
import { Badge } from '../../shared/components/page.js';
import { t } from '../messages/index.js';

/** A rule as people read it: what it matches, and where it sends. */
export function RuleText({ rule }: { rule: RuleView }) {
  const { options, size } = rule;
  return (
    <>
      <span class="rule-text" title={rule.raw}>
        <span class="muted">{rule.type}</span> <strong>{rule.payload}</strong>
        {options.no_resolve && <span class="muted"> no-resolve</span>}
        {options.src && <span class="muted"> src</span>}
        {size >= 0 && <span class="muted"> {t('rules.entriesOf', { count: size })}</span>}
      </span>{' '}
      {!rule.valid && (
        <Badge tone="bad" title={rule.error ?? undefined}>
          {t('rules.skipped', { error: rule.error })}
        </Badge>
      )}
      {rule.after_profile && <Badge tone="info">{t('rules.behindProfile')}</Badge>}
      {rule.note !== null && <span class="second">{rule.note}</span>}
    </>
  );
}

export function RuleTarget({ rule }: { rule: RuleView }) {
  return <span title={rule.target}>{rule.target_name ?? rule.target}</span>;
}
