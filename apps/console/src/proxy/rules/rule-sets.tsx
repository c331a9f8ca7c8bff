import type { RuleSetList, RuleSetRefreshResult, RuleSetStatus, RuleSetView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { formatRelative } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { code } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { EditRuleSet } from './edit-rule-set.js';
import { RemoveRuleSet } from './remove-rule-set.js';

type Opened = { action: 'add' } | { action: 'edit' | 'remove'; set: RuleSetView };

const TONES: Record<RuleSetStatus, BadgeTone> = { never: 'none', ok: 'good', warning: 'fair', error: 'bad' };

/** Lists of domains, addresses or rule lines that RULE-SET rules refer to. */
export function RuleSets() {
  const api = useApi();
  const [opened, setOpened] = useState<Opened | null>(null);
  const { data, error, reload } = useResource((signal) => api.get<RuleSetList>('/rule-sets', {}, signal), []);
  const columns: Column<RuleSetView>[] = [
    { head: t('common.name'), grow: true, cell: (set) => <SetName set={set} /> },
    { head: t('ruleSets.kind'), cell: ({ type, behavior, format }) => `${type}, ${behavior}, ${format}` },
    { head: t('words.target'), cell: ({ target_name, target }) => target_name ?? target ?? '–' },
    { head: t('words.entries'), right: true, cell: ({ entry_count }) => formatCount(entry_count) },
    { head: t('common.status'), cell: (set) => <SetStatus set={set} /> },
    { head: t('ruleSets.refreshed'), cell: ({ last_success_at }) => formatRelative(last_success_at) },
    {
      head: t('words.actions'),
      quietHead: true,
      cell: (set) => <SetActions set={set} reload={reload} onOpen={setOpened} />,
    },
  ];
  const close = (): void => setOpened(null);
  return (
    <>
      <div class="page-head">
        <p class="muted">{rich('ruleSets.intro', { code })}</p>
        <button type="button" class="primary" onClick={() => setOpened({ action: 'add' })}>
          {t('ruleSets.add')}
        </button>
      </div>
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('rules.sets')}
        columns={columns}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={t('ruleSets.empty')}
      />
      {opened?.action === 'remove' && <RemoveRuleSet set={opened.set} onClose={close} onDone={reload} />}
      {opened?.action === 'edit' && <EditRuleSet set={opened.set} onClose={close} onDone={reload} />}
      {opened?.action === 'add' && <EditRuleSet set={null} onClose={close} onDone={reload} />}
    </>
  );
}

function SetName({ set }: { set: RuleSetView }) {
  return (
    <>
      <strong>{set.name}</strong>
      <span class="second">{set.url ?? set.path ?? ''}</span>
    </>
  );
}

function SetStatus({ set }: { set: RuleSetView }) {
  const why = set.last_error?.message ?? set.errors[0]?.message;
  const status = t(`ruleSets.statuses.${set.status}`);
  return (
    <Badge tone={TONES[set.status]} title={why}>
      {set.skipped_count > 0 ? t('ruleSets.skipped', { status, count: set.skipped_count }) : status}
    </Badge>
  );
}

function SetActions({
  set,
  reload,
  onOpen,
}: {
  set: RuleSetView;
  reload: () => void;
  onOpen: (opened: Opened) => void;
}) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const refresh = async (): Promise<void> => {
    await run(async () => {
      const result = await api.post<RuleSetRefreshResult>(`/rule-sets/${set.id}/refresh`);
      const { status, message, entries: count } = result;
      const text = t(`ruleSets.results.${status}`, { name: set.name, message: message ?? '', count });
      notify(text, status === 'failed' ? 'bad' : 'good');
    });
    reload();
  };
  return (
    <span class="cell-actions">
      {set.type !== 'inline' && (
        <button
          type="button"
          class="small"
          disabled={busy}
          aria-label={t('ruleSets.refreshName', { name: set.name })}
          onClick={() => void refresh()}
        >
          {t('words.refresh')}
        </button>
      )}
      <button
        type="button"
        class="small"
        aria-label={t('rules.editName', { name: set.name })}
        onClick={() => onOpen({ action: 'edit', set })}
      >
        {t('common.edit')}
      </button>
      <button
        type="button"
        class="small danger"
        aria-label={t('rules.deleteName', { name: set.name })}
        onClick={() => onOpen({ action: 'remove', set })}
      >
        {t('common.deleteMore')}
      </button>
    </span>
  );
}
