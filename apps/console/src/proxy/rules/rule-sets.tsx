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
import { EditRuleSet } from './edit-rule-set.js';
import { RemoveRuleSet } from './remove-rule-set.js';

type Opened = { deed: 'add' } | { deed: 'edit' | 'remove'; set: RuleSetView };

const TONES: Record<RuleSetStatus, BadgeTone> = { never: 'none', ok: 'good', warning: 'fair', error: 'bad' };

/** Lists of domains, addresses or rule lines that RULE-SET rules refer to. */
export function RuleSets() {
  const api = useApi();
  const [opened, setOpened] = useState<Opened | null>(null);
  const { data, error, reload } = useResource((signal) => api.get<RuleSetList>('/rule-sets', {}, signal), []);
  const columns: Column<RuleSetView>[] = [
    { head: 'Name', grow: true, cell: (set) => <SetName set={set} /> },
    { head: 'Kind', cell: ({ type, behavior, format }) => `${type}, ${behavior}, ${format}` },
    { head: 'Target', cell: ({ target_name, target }) => target_name ?? target ?? '–' },
    { head: 'Entries', right: true, cell: ({ entry_count }) => formatCount(entry_count) },
    { head: 'Status', cell: (set) => <SetStatus set={set} /> },
    { head: 'Refreshed', cell: ({ last_success_at }) => formatRelative(last_success_at) },
    { head: 'Actions', quietHead: true, cell: (set) => <SetActions set={set} reload={reload} onOpen={setOpened} /> },
  ];
  const close = (): void => setOpened(null);
  return (
    <>
      <div class="page-head">
        <p class="muted">
          A rule <code>RULE-SET,name,target</code> uses a set; a set with a target of its own needs none.
        </p>
        <button type="button" class="primary" onClick={() => setOpened({ deed: 'add' })}>
          Add rule set
        </button>
      </div>
      <Trouble error={error} retry={reload} />
      <Table
        caption="Rule sets"
        columns={columns}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty="No rule set yet."
      />
      {opened?.deed === 'remove' && <RemoveRuleSet set={opened.set} onClose={close} onDone={reload} />}
      {opened?.deed === 'edit' && <EditRuleSet set={opened.set} onClose={close} onDone={reload} />}
      {opened?.deed === 'add' && <EditRuleSet set={null} onClose={close} onDone={reload} />}
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
  return (
    <Badge tone={TONES[set.status]} title={why}>
      {set.status}
      {set.skipped_count > 0 && `, ${set.skipped_count} left out`}
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
      const text = result.message ?? `${result.status.replace('_', ' ')}, ${result.entries} entries`;
      notify(`${set.name}: ${text}`, result.status === 'failed' ? 'bad' : 'good');
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
          aria-label={`Refresh ${set.name}`}
          onClick={() => void refresh()}
        >
          Refresh
        </button>
      )}
      <button type="button" class="small" aria-label={`Edit ${set.name}`} onClick={() => onOpen({ deed: 'edit', set })}>
        Edit
      </button>
      <button
        type="button"
        class="small danger"
        aria-label={`Delete ${set.name}`}
        onClick={() => onOpen({ deed: 'remove', set })}
      >
        Delete …
      </button>
    </span>
  );
}
