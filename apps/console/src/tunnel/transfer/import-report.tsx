import type { TransferImportView, TransferLine, TransferredResource } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Badge, type BadgeTone } from '../../shared/components/page.js';
import { Segments } from '../../shared/components/segments.js';
import { Table, type Column } from '../../shared/components/table.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

const OUTCOMES: Record<TransferLine['outcome'], { tone: BadgeTone; text: string }> = {
  taken: { tone: 'good', text: t('transfer.outcomes.taken') },
  no_counterpart: { tone: 'fair', text: t('transfer.outcomes.no_counterpart') },
  refused: { tone: 'bad', text: t('transfer.outcomes.refused') },
};

interface ImportReportProps {
  report: TransferImportView;
  onApply: () => Promise<void>;
}

/** What became, or would become, of each line. */
export function ImportReport({ report, onApply }: ImportReportProps) {
  const { busy, run } = useAction();
  const { applied, dry_run: dry, refused } = report;
  return (
    <section aria-label={t('transfer.report')}>
      <p role="status">
        <strong>{titleOf(report)}</strong> {countsOf(report)}
      </p>
      {dry && !applied && refused === 0 && (
        <p>
          <button type="button" class="primary" disabled={busy} onClick={() => void run(onApply)}>
            {t('transfer.apply')}
          </button>
        </p>
      )}
      <Resources report={report} />
      <Lines report={report} />
    </section>
  );
}

function titleOf({ applied, refused }: TransferImportView): string {
  if (applied) return t('transfer.imported');
  return refused > 0 ? t('transfer.refusedTitle') : t('transfer.previewTitle');
}

function countsOf({ taken, no_counterpart: without, refused }: TransferImportView): string {
  return t('transfer.counts', { taken, without, refused });
}

const RESOURCES: Column<TransferredResource>[] = [
  { head: t('words.kind'), cell: ({ kind }) => t(`kinds.${kind}`) },
  { head: t('common.name'), grow: true, cell: ({ name }) => <strong>{name}</strong> },
  { head: t('words.source'), cell: ({ file, path }) => <code class="clipped">{`${file} ${path}`}</code> },
  { head: t('transfer.handover'), cell: (row) => <Handover row={row} /> },
];

function Handover({ row: { name, key, command } }: { row: TransferredResource }) {
  const text = command ?? key;
  if (text === null) return <span class="muted">–</span>;
  return (
    <span class="with-copy">
      <code class="clipped">{text}</code>
      <CopyButton
        text={text}
        what={command === null ? t('transfer.keyOf', { name }) : t('transfer.commandOf', { name })}
      />
    </span>
  );
}

function Resources({ report: { resources, applied } }: { report: TransferImportView }) {
  const hasSecrets = applied && resources.some(({ key }) => key !== null);
  return (
    <>
      {hasSecrets && (
        <p>
          <strong>{t('transfer.saveSecrets')}</strong>
        </p>
      )}
      <Table
        caption={t('transfer.resources')}
        columns={RESOURCES}
        rows={resources}
        rowKey={({ kind, file, path, name }) => `${kind} ${file} ${path} ${name}`}
        empty={t('transfer.noResources')}
      />
    </>
  );
}

const LINES: Column<TransferLine>[] = [
  {
    head: t('transfer.outcome'),
    cell: ({ outcome }) => <Badge tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].text}</Badge>,
  },
  { head: t('transfer.location'), cell: ({ file, path }) => <code>{`${file} ${path}`}</code> },
  { head: t('words.reason'), grow: true, cell: ({ message }) => <span title={message}>{message}</span> },
];

const VIEWS = [
  { id: 'open', label: t('transfer.notTaken') },
  { id: 'all', label: t('transfer.allLines') },
] as const;

function Lines({ report: { lines, lines_left_out: leftOut } }: { report: TransferImportView }) {
  const [view, setView] = useState<(typeof VIEWS)[number]>(VIEWS[0]);
  const shown = view.id === 'all' ? lines : lines.filter(({ outcome }) => outcome !== 'taken');
  return (
    <>
      <p class="actions spaced">
        <Segments label={t('transfer.lines')} choices={VIEWS} current={view.id} onChange={setView} />
      </p>
      <Table
        caption={t('transfer.lines')}
        columns={LINES}
        rows={shown}
        rowKey={(line) => `${line.file} ${line.path} ${line.message}`}
        empty={t('transfer.allTaken')}
      />
      {leftOut > 0 && <p class="muted">{t('words.more', { count: leftOut })}</p>}
    </>
  );
}
