import type { RuleView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Switch } from '../../shared/components/fields.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { formatRelative } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';
import { RuleTarget, RuleText } from './rule-text.js';

interface ManualRuleTableProps {
  rows: readonly RuleView[] | undefined;
  reload: () => void;
  onEdit: (rule: RuleView) => void;
  onRemove: (rule: RuleView) => void;
}

export function ManualRuleTable({ rows, reload, onEdit, onRemove }: ManualRuleTableProps) {
  const columns: Column<RuleView>[] = [
    { head: t('common.enabled'), quietHead: true, cell: (rule) => <EnabledSwitch rule={rule} reload={reload} /> },
    { head: t('words.rule'), grow: true, cell: (rule) => <RuleText rule={rule} /> },
    { head: t('words.target'), cell: (rule) => <RuleTarget rule={rule} /> },
    {
      head: t('words.hits'),
      right: true,
      cell: (rule) => (
        <span title={t('rules.lastHit', { time: formatRelative(rule.hit_at) })}>{formatCount(rule.hit_count)}</span>
      ),
    },
    {
      head: t('words.order'),
      quietHead: true,
      cell: (rule) => <MoveButtons rule={rule} rows={rows ?? []} reload={reload} />,
    },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (rule) => (
        <span class="cell-actions">
          <button
            type="button"
            class="small"
            aria-label={t('rules.editName', { name: rule.raw })}
            onClick={() => onEdit(rule)}
          >
            {t('common.edit')}
          </button>
          <button
            type="button"
            class="small danger"
            aria-label={t('rules.deleteName', { name: rule.raw })}
            onClick={() => onRemove(rule)}
          >
            {t('common.deleteMore')}
          </button>
        </span>
      ),
    },
  ];
  return (
    <Table
      caption={t('rules.manual')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      rowClass={(rule) => (rule.enabled ? '' : 'faint')}
      empty={t('rules.empty')}
    />
  );
}

function EnabledSwitch({ rule, reload }: { rule: RuleView; reload: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const change = async (enabled: boolean): Promise<void> => {
    await run(() => api.put(`/rules/${rule.id}`, { enabled }));
    reload();
  };
  return (
    <Switch
      label={t('rules.enabledName', { name: rule.raw })}
      checked={rule.enabled}
      disabled={busy}
      onChange={(on) => void change(on)}
    />
  );
}

interface MoveButtonsProps {
  rule: RuleView;
  rows: readonly RuleView[];
  reload: () => void;
}

/** One place up or down among the rules of this page. */
function MoveButtons({ rule, rows, reload }: MoveButtonsProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const at = rows.findIndex(({ id }) => id === rule.id);
  const above = rows[at - 1];
  const below = rows[at + 1];
  const move = async (place: { before_id: number } | { after_id: number }): Promise<void> => {
    await run(() => api.put(`/rules/${rule.id}`, place));
    reload();
  };
  return (
    <span class="cell-actions">
      <button
        type="button"
        class="small"
        aria-label={t('rules.moveUp', { name: rule.raw })}
        disabled={busy || above === undefined}
        onClick={() => above && void move({ before_id: above.id })}
      >
        ↑
      </button>
      <button
        type="button"
        class="small"
        aria-label={t('rules.moveDown', { name: rule.raw })}
        disabled={busy || below === undefined}
        onClick={() => below && void move({ after_id: below.id })}
      >
        ↓
      </button>
    </span>
  );
}
