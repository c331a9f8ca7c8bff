import type { ImportError, ImportResult } from '@gatehouse/contracts';
import { Table, type Column } from '../../shared/components/table.js';
import { t } from '../messages/index.js';

const SHOWN = 100;

const COLUMNS: readonly Column<ImportError>[] = [
  { head: t('transfer.line'), cell: ({ line, index }) => line ?? index + 1, right: true },
  { head: t('words.reason'), cell: ({ message }) => <span title={message}>{message}</span>, grow: true },
  { head: t('transfer.entry'), cell: ({ input }) => <code title={input}>{input.slice(0, 60)}</code> },
];

/** What became of an import: the sums, and each entry that was rejected. */
export function ImportOutcome({ result }: { result: ImportResult }) {
  const {
    dry_run: dryRun,
    format_detected: format,
    created,
    updated,
    unchanged,
    duplicates,
    removed,
    failed,
    errors,
  } = result;
  return (
    <section aria-label={t('transfer.result')}>
      <p role="status">
        {t('transfer.outcome', {
          head: dryRun ? t('transfer.wouldBe') : t('transfer.done'),
          format,
          created,
          updated,
          unchanged,
          duplicates,
          removed,
          failed,
        })}
      </p>
      {errors.length > 0 && (
        <Table
          caption={t('transfer.rejected')}
          columns={COLUMNS}
          rows={errors.slice(0, SHOWN)}
          rowKey={({ index }) => index}
          empty=""
        />
      )}
      {errors.length > SHOWN && <p class="muted">{t('transfer.more', { count: errors.length - SHOWN })}</p>}
    </section>
  );
}
