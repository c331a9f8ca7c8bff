import type { RuntimeLogView } from '@gatehouse/contracts';
import { Badge, type BadgeTone } from '../../shared/components/page.js';
import { VirtualTable, type VirtualColumn } from '../../shared/components/virtual-table.js';
import { formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { fieldsOf, levelName, processOf } from './log-line.js';

type Open = (line: RuntimeLogView) => void;

const TONES: Record<RuntimeLogView['level'], BadgeTone> = {
  debug: 'none',
  info: 'info',
  warning: 'fair',
  error: 'bad',
};

interface RuntimeLogTableProps {
  rows: readonly RuntimeLogView[] | undefined;
  empty: string;
  onOpen: Open;
  onEnd: () => void;
}

/** Log lines, of any number. Each is cut to the width of the table; its dialog has all of it. */
export function RuntimeLogTable({ rows, empty, onOpen, onEnd }: RuntimeLogTableProps) {
  return (
    <VirtualTable
      caption={t('nav.runtimeLog')}
      columns={columnsOf(onOpen)}
      rows={rows}
      rowKey={({ id }) => id}
      empty={empty}
      card={(line) => <LineCard line={line} onOpen={onOpen} />}
      cardHeight={96}
      onEnd={onEnd}
    />
  );
}

function columnsOf(onOpen: Open): VirtualColumn<RuntimeLogView>[] {
  return [
    { id: 'time', head: t('common.time'), width: 170, cell: ({ time }) => formatTime(time) },
    { id: 'level', head: t('runtimeLog.level'), width: 96, cell: (line) => <Level line={line} /> },
    { id: 'process', head: t('runtimeLog.process'), width: 190, cell: processOf },
    {
      id: 'message',
      head: t('runtimeLog.message'),
      width: 320,
      grow: 1,
      cell: (line) => (
        <>
          <Message line={line} onOpen={onOpen} />
          <span class="second mono">{fieldsOf(line)}</span>
        </>
      ),
    },
  ];
}

function Level({ line: { level } }: { line: RuntimeLogView }) {
  return <Badge tone={TONES[level]}>{levelName(level)}</Badge>;
}

function Message({ line, onOpen }: { line: RuntimeLogView; onOpen: Open }) {
  return (
    <button type="button" class="link" lang="en" onClick={() => onOpen(line)}>
      {line.message}
    </button>
  );
}

/** A line on a phone. */
function LineCard({ line, onOpen }: { line: RuntimeLogView; onOpen: Open }) {
  return (
    <>
      <div class="line">
        <Message line={line} onOpen={onOpen} />
        <Level line={line} />
      </div>
      <span class="second mono">{fieldsOf(line) || ' '}</span>
      <div class="line">
        <span class="second">{formatTime(line.time)}</span>
        <span class="second">{processOf(line)}</span>
      </div>
    </>
  );
}
