import type { TransferImportView, TransferLine, TransferredResource } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Badge, type BadgeTone } from '../../shared/components/page.js';
import { Segments } from '../../shared/components/segments.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { useAction } from '../../shared/state/use-action.js';

const OUTCOMES: Record<TransferLine['outcome'], { tone: BadgeTone; text: string }> = {
  taken: { tone: 'good', text: 'taken' },
  no_counterpart: { tone: 'fair', text: 'has no counterpart' },
  refused: { tone: 'bad', text: 'refused' },
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
    <section aria-label="Report">
      <p role="status">
        <strong>{titleOf(report)}</strong> {countsOf(report)}
      </p>
      {dry && !applied && refused === 0 && (
        <p>
          <button type="button" class="primary" disabled={busy} onClick={() => void run(onApply)}>
            Take it over
          </button>
        </p>
      )}
      <Resources report={report} />
      <Lines report={report} />
    </section>
  );
}

function titleOf({ applied, refused }: TransferImportView): string {
  if (applied) return 'It was taken over.';
  return refused > 0 ? 'Nothing was changed: some of it cannot be.' : 'This would be made:';
}

function countsOf({ taken, no_counterpart: without, refused }: TransferImportView): string {
  return `${formatCount(taken)} lines taken, ${formatCount(without)} have no counterpart, ${formatCount(refused)} refused.`;
}

const RESOURCES: Column<TransferredResource>[] = [
  { head: 'Kind', cell: ({ kind }) => kind },
  { head: 'Name', grow: true, cell: ({ name }) => <strong>{name}</strong> },
  { head: 'From', cell: ({ file, path }) => <code class="clipped">{`${file} ${path}`}</code> },
  { head: 'What to run or to give', cell: (row) => <Handover row={row} /> },
];

function Handover({ row: { name, key, command } }: { row: TransferredResource }) {
  const text = command ?? key;
  if (text === null) return <span class="muted">–</span>;
  return (
    <span class="with-copy">
      <code class="clipped">{text}</code>
      <CopyButton text={text} what={command === null ? `Key of ${name}` : `Command of ${name}`} />
    </span>
  );
}

function Resources({ report: { resources, applied } }: { report: TransferImportView }) {
  const hasSecrets = applied && resources.some(({ key }) => key !== null);
  return (
    <>
      {hasSecrets && (
        <p>
          <strong>Keep the keys and commands now: they are shown this once.</strong>
        </p>
      )}
      <Table
        caption="Clients, tunnels and hosts"
        columns={RESOURCES}
        rows={resources}
        rowKey={({ kind, file, path, name }) => `${kind} ${file} ${path} ${name}`}
        empty="Nothing would be made."
      />
    </>
  );
}

const LINES: Column<TransferLine>[] = [
  {
    head: 'Outcome',
    cell: ({ outcome }) => <Badge tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].text}</Badge>,
  },
  { head: 'Where', cell: ({ file, path }) => <code>{`${file} ${path}`}</code> },
  { head: 'Why', grow: true, cell: ({ message }) => <span title={message}>{message}</span> },
];

const VIEWS = [
  { id: 'open', label: 'What was not taken' },
  { id: 'all', label: 'All lines' },
] as const;

function Lines({ report: { lines, lines_left_out: leftOut } }: { report: TransferImportView }) {
  const [view, setView] = useState<(typeof VIEWS)[number]>(VIEWS[0]);
  const shown = view.id === 'all' ? lines : lines.filter(({ outcome }) => outcome !== 'taken');
  return (
    <>
      <p class="actions spaced">
        <Segments label="Lines" choices={VIEWS} current={view.id} onChange={setView} />
      </p>
      <Table
        caption="Lines"
        columns={LINES}
        rows={shown}
        rowKey={(line) => `${line.file} ${line.path} ${line.message}`}
        empty="Everything was taken."
      />
      {leftOut > 0 && <p class="muted">{formatCount(leftOut)} more are counted and not listed.</p>}
    </>
  );
}
