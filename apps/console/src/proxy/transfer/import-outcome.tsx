import type { ImportError, ImportResult } from '@gatehouse/contracts';
import { Table, type Column } from '../../shared/components/table.js';

const SHOWN = 100;

const COLUMNS: readonly Column<ImportError>[] = [
  { head: 'Line', cell: ({ line, index }) => line ?? index + 1, right: true },
  { head: 'Why it was rejected', cell: ({ message }) => <span title={message}>{message}</span>, grow: true },
  { head: 'Entry', cell: ({ input }) => <code title={input}>{input.slice(0, 60)}</code> },
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
    <section aria-label="Result">
      <p role="status">
        <strong>{dryRun ? 'It would be: ' : 'Done: '}</strong>
        {`read as ${format}: ${created} new, ${updated} updated, ${unchanged} unchanged, ${duplicates} duplicates, ${removed} removed, ${failed} rejected.`}
      </p>
      {errors.length > 0 && (
        <Table
          caption="Rejected entries"
          columns={COLUMNS}
          rows={errors.slice(0, SHOWN)}
          rowKey={({ index }) => index}
          empty=""
        />
      )}
      {errors.length > SHOWN && <p class="muted">and {errors.length - SHOWN} more</p>}
    </section>
  );
}
