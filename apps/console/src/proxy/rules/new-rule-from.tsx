import type { ConnectionsClosedResponse, ConnectionView, RuleView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField } from '../../shared/components/fields.js';
import { Trouble } from '../../shared/components/page.js';
import { code } from '../../shared/components/rich-text.js';
import type { Form } from '../../shared/state/use-form.js';
import { useResource } from '../../shared/state/use-resource.js';
import { rich, t } from '../messages/index.js';
import { RuleEditor } from './edit-rule.js';
import { formOf, type RuleForm } from './rule-form.js';
import { suggestRules, type RuleSuggestion } from './rule-suggestions.js';

interface NewRuleFromProps {
  connection: ConnectionView;
  /** Whether it can be closed after the rule was saved. */
  isOpen: boolean;
  onClose: () => void;
  onDone: () => void;
}

/** A new rule, filled in with what a connection was. */
export function NewRuleFrom({ connection, isOpen, onClose, onDone }: NewRuleFromProps) {
  const api = useApi();
  const [connectionAtStart] = useState(connection);
  const [isToClose, setIsToClose] = useState(false);
  const suggestions = suggestRules(connectionAtStart);
  const { data: matched, error } = useMatchedRule(connectionAtStart.rule_id);
  const saved = async (): Promise<void> => {
    if (isToClose && isOpen) await closeQuietly();
    onDone();
    onClose();
  };
  // It may have closed by itself; the rule is saved all the same.
  const closeQuietly = async (): Promise<void> => {
    await api.delete<ConnectionsClosedResponse>(`/connections/${segment(connection.id)}`).catch(() => undefined);
  };
  return (
    <Dialog title={t('rules.addTitle')} onClose={onClose}>
      <Trouble error={error} waits={matched === undefined} />
      {matched !== undefined && (
        <RuleEditor
          rule={null}
          initial={{
            ...formOf(null),
            ...suggestions[0],
            place: matched === null ? 'end' : 'before',
          }}
          neighbour={matched}
          onClose={onClose}
          onSaved={saved}
          head={(form) => <Suggestions suggestions={suggestions} form={form} current={connectionAtStart} />}
        >
          {isOpen && (
            <CheckField
              label={t('rules.closeToo')}
              hint={t('rules.closeTooHint')}
              checked={isToClose}
              onChange={setIsToClose}
            />
          )}
        </RuleEditor>
      )}
    </Dialog>
  );
}

/** The manual rule that the connection matched, which a new rule has to stand before; null if there is none. */
function useMatchedRule(id: number | null): { data: RuleView | null | undefined; error: string | null } {
  const api = useApi();
  return useResource(
    async (signal) => {
      if (id === null) return null;
      const rule = await api.get<RuleView>(`/rules/${id}`, {}, signal).catch(() => null);
      return rule?.source === 'manual' ? rule : null;
    },
    [id],
  );
}

interface SuggestionsProps {
  suggestions: readonly RuleSuggestion[];
  form: Form<RuleForm>;
  current: ConnectionView;
}

function Suggestions({ suggestions, form, current: { rule, rule_payload: payload } }: SuggestionsProps) {
  const { type, payload: value } = form.values;
  const take = (suggestion: RuleSuggestion): void => {
    form.set('type', suggestion.type);
    form.set('payload', suggestion.payload);
    form.set('no_resolve', suggestion.no_resolve);
  };
  return (
    <>
      <p class="muted">
        {rule === null
          ? t('rules.matchedNone')
          : rich('rules.matchedNow', { rule: [rule, payload].filter(Boolean).join(','), code })}
      </p>
      <div class="suggestions" role="group" aria-label={t('rules.suggestions')}>
        {suggestions.map((suggestion) => (
          <button
            key={suggestion.type + suggestion.payload}
            type="button"
            aria-pressed={suggestion.type === type && suggestion.payload === value}
            onClick={() => take(suggestion)}
          >
            <span class="second">{suggestion.type}</span>
            {suggestion.payload}
          </button>
        ))}
      </div>
    </>
  );
}
