import type { RuleView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Switch } from '../../shared/components/fields.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { formatRelative } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { RuleTarget, RuleText } from './rule-text.js';

interface ManualRuleTableProps {
  rows: readonly RuleView[] | undefined;
  reload: () => void;
  onEdit: (rule: RuleView) => void;
  onRemove: (rule: RuleView) => void;
}

export function ManualRuleTable({ rows, reload, onEdit, onRemove }: ManualRuleTableProps) {
  const columns: Column<RuleView>[] = [
    { head: 'Enabled', quietHead: true, cell: (rule) => <EnabledSwitch rule={rule} reload={reload} /> },
    { head: 'Rule', grow: true, cell: (rule) => <RuleText rule={rule} /> },
    { head: 'Target', cell: (rule) => <RuleTarget rule={rule} /> },
    {
      head: 'Hits',
      right: true,
      cell: (rule) => <span title={`Last ${formatRelative(rule.hit_at)}`}>{formatCount(rule.hit_count)}</span>,
    },
    { head: 'Order', quietHead: true, cell: (rule) => <MoveButtons rule={rule} rows={rows ?? []} reload={reload} /> },
    {
      head: 'Actions',
      quietHead: true,
      right: true,
      cell: (rule) => (
        <span class="cell-actions">
          <button type="button" class="small" aria-label={`Edit ${rule.raw}`} onClick={() => onEdit(rule)}>
            Edit
          </button>
          <button type="button" class="small danger" aria-label={`Delete ${rule.raw}`} onClick={() => onRemove(rule)}>
            Delete …
          </button>
        </span>
      ),
    },
  ];
  return (
    <Table
      caption="Manual rules"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      rowClass={(rule) => (rule.enabled ? '' : 'faint')}
      empty="No manual rule yet. Without any rule the default policy takes every connection."
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
    <Switch label={`${rule.raw} enabled`} checked={rule.enabled} disabled={busy} onChange={(on) => void change(on)} />
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
        aria-label={`Move ${rule.raw} up`}
        disabled={busy || above === undefined}
        onClick={() => above && void move({ before_id: above.id })}
      >
        ↑
      </button>
      <button
        type="button"
        class="small"
        aria-label={`Move ${rule.raw} down`}
        disabled={busy || below === undefined}
        onClick={() => below && void move({ after_id: below.id })}
      >
        ↓
      </button>
    </span>
  );
}
