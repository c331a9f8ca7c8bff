import type { RuleView } from '@gatehouse/contracts';
import { useRef, useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { withMoved } from '../../shared/components/move-target.js';
import { useNotify } from '../../shared/components/notices.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';
import { placeAmong } from './rule-filter.js';

interface RuleOrder {
  /** The rules with the move that is on its way to the service. */
  rows: readonly RuleView[] | undefined;
  /** @param to the place afterwards, from 0 */
  move: (from: number, to: number) => void;
}

/**
 * Moves rules. Each move is shown at once, saved after those before it, and can be undone. When one fails, those behind it
 * are dropped, and the order is again what the service has.
 */
export function useRuleOrder(rows: readonly RuleView[] | undefined, reload: () => void): RuleOrder {
  const api = useApi();
  const notify = useNotify();
  const { run } = useAction();
  const [pending, setPending] = useState<{ from: typeof rows; rows: readonly RuleView[] } | null>(null);
  const saving = useRef({ last: Promise.resolve(), waiting: 0, failures: 0 });
  // Once the list was read again, that is the order that holds.
  const shown = pending !== null && pending.from === rows ? pending.rows : rows;
  const place = (id: number, others: readonly RuleView[], to: number): Promise<boolean> => {
    const body = placeAmong(others, to);
    return run(async () => body !== null && api.put<RuleView>(`/rules/${id}`, body));
  };
  const undo = async (rule: RuleView, others: readonly RuleView[], from: number): Promise<void> => {
    await place(rule.id, others, from);
    reload();
  };
  const save = async (rule: RuleView, others: readonly RuleView[], [from, to]: [number, number]): Promise<void> => {
    if (await place(rule.id, others, to)) {
      const action = { label: t('rules.undo'), run: () => void undo(rule, others, from) };
      notify(t('rules.moved', { name: rule.raw, place: to + 1 }), 'good', action);
    } else {
      saving.current.failures += 1;
      setPending(null);
    }
  };
  const move = (from: number, to: number): void => {
    const rule = shown?.[from];
    if (shown === undefined || rule === undefined) return;
    const others = shown.filter((_, index) => index !== from);
    setPending({ from: rows, rows: withMoved(shown, from, to) });
    const state = saving.current;
    const { failures } = state;
    state.waiting += 1;
    state.last = state.last.then(async () => {
      if (state.failures === failures) await save(rule, others, [from, to]);
      state.waiting -= 1;
      if (state.waiting === 0) reload();
    });
  };
  return { rows: shown, move };
}
