import type { RuleView } from '@gatehouse/contracts';
import type { VNode } from 'preact';
import { useApi } from '../../shared/api/api-context.js';
import { Switch } from '../../shared/components/fields.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { VirtualTable, type VirtualColumn } from '../../shared/components/virtual-table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { formatRelative } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';
import { RuleTarget, RuleText } from './rule-text.js';
import { useRuleOrder } from './use-rule-order.js';

interface ManualRuleTableProps {
  rows: readonly RuleView[] | undefined;
  /** A list with gaps cannot be reordered. */
  isFiltered: boolean;
  reload: () => void;
  onEnd: () => void;
  onEdit: (rule: RuleView) => void;
  onRemove: (rule: RuleView) => void;
}

interface RowParts {
  enabled: (rule: RuleView) => VNode;
  order: (rule: RuleView) => VNode | null;
  buttons: (rule: RuleView) => VNode;
}

export function ManualRuleTable({ rows, isFiltered, reload, onEnd, onEdit, onRemove }: ManualRuleTableProps) {
  const order = useRuleOrder(rows, reload);
  const parts: RowParts = {
    enabled: (rule) => <EnabledSwitch rule={rule} reload={reload} />,
    order: (rule) => (isFiltered ? null : <MoveButtons rule={rule} rows={order.rows ?? []} onMove={order.move} />),
    buttons: (rule) => <RuleButtons rule={rule} onEdit={onEdit} onRemove={onRemove} />,
  };
  return (
    <VirtualTable
      caption={t('rules.manual')}
      columns={columnsOf(parts, isFiltered)}
      rows={order.rows}
      rowKey={({ id }) => id}
      rowClass={(rule) => (rule.enabled ? '' : 'faint')}
      empty={isFiltered ? t('rules.noMatch') : t('rules.empty')}
      card={(rule) => <RuleCard rule={rule} parts={parts} />}
      cardHeight={112}
      onEnd={onEnd}
      move={isFiltered ? undefined : { onMove: order.move, label: ({ raw: name }) => t('rules.move', { name }) }}
    />
  );
}

function columnsOf({ enabled, order, buttons }: RowParts, isFiltered: boolean): VirtualColumn<RuleView>[] {
  return [
    { id: 'enabled', head: t('common.enabled'), quietHead: true, width: 56, cell: enabled },
    { id: 'rule', head: t('words.rule'), width: 240, grow: 3, cell: (rule) => <RuleText rule={rule} /> },
    { id: 'target', head: t('words.target'), width: 120, grow: 1, cell: (rule) => <RuleTarget rule={rule} /> },
    { id: 'hits', head: t('words.hits'), width: 90, right: true, cell: (rule) => <Hits rule={rule} /> },
    ...(isFiltered
      ? []
      : [{ id: 'order', head: t('words.order'), quietHead: true, width: 120, cell: (rule: RuleView) => order(rule) }]),
    { id: 'actions', head: t('words.actions'), quietHead: true, width: 170, right: true, cell: buttons },
  ];
}

function Hits({ rule }: { rule: RuleView }) {
  return <span title={t('rules.lastHit', { time: formatRelative(rule.hit_at) })}>{formatCount(rule.hit_count)}</span>;
}

function RuleCard({ rule, parts }: { rule: RuleView; parts: RowParts }) {
  return (
    <>
      <div class="line">
        <span>
          <RuleText rule={rule} />
        </span>
        {parts.enabled(rule)}
      </div>
      <span class="second">
        {'→ '}
        <RuleTarget rule={rule} />
        {` · ${t('words.hits')} ${formatCount(rule.hit_count)}`}
      </span>
      <div class="line">
        {parts.order(rule) ?? <span />}
        {parts.buttons(rule)}
      </div>
    </>
  );
}

interface RuleButtonsProps {
  rule: RuleView;
  onEdit: (rule: RuleView) => void;
  onRemove: (rule: RuleView) => void;
}

function RuleButtons({ rule, onEdit, onRemove }: RuleButtonsProps) {
  return (
    <RowActions>
      <RowAction label={t('rules.editName', { name: rule.raw })} onClick={() => onEdit(rule)}>
        {t('common.edit')}
      </RowAction>
      <RowAction label={t('rules.deleteName', { name: rule.raw })} danger onClick={() => onRemove(rule)}>
        {t('common.deleteMore')}
      </RowAction>
    </RowActions>
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
  onMove: (from: number, to: number) => void;
}

/** One place up or down, or to the top. */
function MoveButtons({ rule, rows, onMove }: MoveButtonsProps) {
  const at = rows.findIndex(({ id }) => id === rule.id);
  const name = rule.raw;
  return (
    <RowActions>
      <RowAction label={t('rules.moveTop', { name })} disabled={at <= 0} onClick={() => onMove(at, 0)}>
        ⤒
      </RowAction>
      <RowAction label={t('rules.moveUp', { name })} disabled={at <= 0} onClick={() => onMove(at, at - 1)}>
        ↑
      </RowAction>
      <RowAction
        label={t('rules.moveDown', { name })}
        disabled={at === rows.length - 1}
        onClick={() => onMove(at, at + 1)}
      >
        ↓
      </RowAction>
    </RowActions>
  );
}
