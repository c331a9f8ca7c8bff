import type { NodeBatchAction, NodeBatchResult } from '@gatehouse/contracts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useApi } from '../../../shared/api/api-context.js';
import { Confirm, Dialog } from '../../../shared/components/dialog.js';
import { TextField } from '../../../shared/components/fields.js';
import { Meter } from '../../../shared/components/meter.js';
import { bold } from '../../../shared/components/rich-text.js';
import { VirtualList } from '../../../shared/components/virtual-list.js';
import { splitLines } from '../../../shared/format/links.js';
import { rich, t } from '../../messages/index.js';
import { runBatches, type BatchFailure, type BulkOutcome } from './run-batches.js';

export type BulkAction = NodeBatchAction;

/** Of one request: a thousandth of a large list is seen as progress, and one request is soon answered. */
const SLICE = 100;

interface BulkDialogProps {
  action: BulkAction;
  ids: readonly number[];
  nameOf: (id: number) => string;
  onClose: () => void;
  /** The action is over, or was stopped. */
  onDone: (outcome: BulkOutcome) => void;
}

/** Asks once more, shows how far the action is, and what it could not do. */
export function BulkDialog({ action, ids: selected, nameOf, onClose, onDone }: BulkDialogProps) {
  const api = useApi();
  // What the list shows meanwhile does not change what was asked for.
  const [ids] = useState(selected);
  const [outcome, setOutcome] = useState<BulkOutcome | null>(null);
  const [isOver, setOver] = useState(false);
  const [tags, setTags] = useState('');
  const needsTags = action === 'tag' || action === 'untag';
  const body = needsTags ? { action, tags: splitLines(tags) } : { action };
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const start = async (): Promise<void> => {
    setOutcome({ done: [], failed: [], left: [...ids] });
    const result = await runBatches(ids, {
      send: (slice) => api.post<NodeBatchResult>('/proxies/batch', { ...body, ids: slice }),
      size: SLICE,
      signal: abort.current.signal,
      onProgress: setOutcome,
    });
    setOutcome(result);
    setOver(true);
    onDone(result);
  };
  const count = ids.length;
  if (outcome === null) {
    return (
      <Confirm
        title={t(`bulk.${action}Title`, { count })}
        action={t(`bulk.${action}Count`, { count })}
        busy={needsTags && splitLines(tags).length === 0}
        isSafe={needsTags}
        onConfirm={() => void start()}
        onClose={onClose}
      >
        <p>{rich(`bulk.${action}Text`, { count, b: bold })}</p>
        {needsTags && (
          <TextField label={t('words.tags')} hint={t('bulk.tagsHint')} autofocus value={tags} onInput={setTags} />
        )}
      </Confirm>
    );
  }
  const stop = (): void => abort.current.abort();
  return (
    <Dialog title={t(`bulk.${action}Title`, { count })} onClose={isOver ? onClose : stop}>
      <Progress outcome={outcome} total={count} isOver={isOver} />
      {isOver && <Failures failed={outcome.failed} nameOf={nameOf} />}
      <div class="dialog-actions">
        <button type="button" class={isOver ? 'primary' : ''} onClick={isOver ? onClose : stop}>
          {isOver ? t('common.close') : t('tests.stop')}
        </button>
      </div>
    </Dialog>
  );
}

function Progress({ outcome, total, isOver }: { outcome: BulkOutcome; total: number; isOver: boolean }) {
  const { done, failed, left } = outcome;
  const tone = !isOver ? 'info' : failed.length + left.length > 0 ? 'fair' : 'good';
  const counts = { done: done.length, failed: failed.length, left: left.length, total };
  return (
    <>
      <Meter label={t('bulk.title')} ratio={(total - left.length) / total} tone={tone} />
      <p role="status">{isOver ? t('bulk.summary', counts) : t('bulk.progress', counts)}</p>
    </>
  );
}

function Failures({ failed, nameOf }: { failed: readonly BatchFailure[]; nameOf: (id: number) => string }) {
  if (failed.length === 0) return null;
  return (
    <>
      <p class="muted">{t('bulk.failuresText')}</p>
      <VirtualList label={t('bulk.failures')} items={failed} itemKey={({ id }) => id} rowHeight={52}>
        {({ id, message }) => (
          <div class="failure">
            <span class="strong">{nameOf(id)}</span>
            <span class="second" title={message}>
              {message}
            </span>
          </div>
        )}
      </VirtualList>
    </>
  );
}
