import { useState } from 'preact/hooks';
import { t } from '../../messages/index.js';
import { AddToGroup } from './add-to-group.js';
import { BulkDialog, type BulkAction } from './bulk-dialog.js';

interface BulkBarProps {
  /** All rows of the list. */
  total: number;
  /** Those that are selected, in their order. */
  selected: readonly number[];
  nameOf: (id: number) => string;
  onSelectAll: () => void;
  /** These stay selected: what happened to the others is done. */
  onKeep: (ids: readonly number[]) => void;
  onTest: (ids: readonly number[]) => void;
  reload: () => void;
}

/** What can be done with many nodes at once; it says how many are selected. */
export function BulkBar({ total, selected, nameOf, onSelectAll, onKeep, onTest, reload }: BulkBarProps) {
  const [opened, setOpened] = useState<BulkAction | 'group' | null>(null);
  const count = selected.length;
  const close = (): void => setOpened(null);
  const button = (action: BulkAction | 'group', label: string) => (
    <button type="button" class={action === 'delete' ? 'small danger' : 'small'} onClick={() => setOpened(action)}>
      {label}
    </button>
  );
  return (
    <div class="bulk-bar" role="toolbar" aria-label={t('bulk.title')}>
      <label class="select-all">
        <input
          type="checkbox"
          checked={count > 0 && count === total}
          indeterminate={count > 0 && count < total}
          onClick={onSelectAll}
        />{' '}
        {t('bulk.selectAll', { count: total })}
      </label>
      <span role="status">{count > 0 && t('bulk.selected', { count })}</span>
      {count > 0 && (
        <span class="actions">
          <button type="button" class="small" onClick={() => onTest(selected)}>
            {t('words.test')}
          </button>
          {button('enable', t('bulk.enable'))}
          {button('disable', t('bulk.disable'))}
          {button('group', t('bulk.addToGroup'))}
          {button('tag', t('bulk.tag'))}
          {button('untag', t('bulk.untag'))}
          {button('delete', t('common.deleteMore'))}
          <button type="button" class="small quiet" onClick={() => onKeep([])}>
            {t('bulk.clear')}
          </button>
        </span>
      )}
      {opened === 'group' && <AddToGroup ids={selected} onClose={close} onDone={() => onKeep([])} />}
      {opened !== null && opened !== 'group' && (
        <BulkDialog
          action={opened}
          ids={selected}
          nameOf={nameOf}
          onClose={close}
          onDone={({ failed, left }) => {
            onKeep([...failed.map(({ id }) => id), ...left]);
            reload();
          }}
        />
      )}
    </div>
  );
}
