import { formatBytes } from '../../shared/format/amounts.js';
import { t } from '../messages/index.js';

/** What came from visitors and what went to them. */
export function Flow({ inlet, outlet }: { inlet: number; outlet: number }) {
  return (
    <>
      <Way arrow="↓" name={t('flow.fromVisitors')} bytes={inlet} />
      <Way arrow="↑" name={t('flow.toVisitors')} bytes={outlet} />
    </>
  );
}

function Way({ arrow, name, bytes }: { arrow: string; name: string; bytes: number }) {
  return (
    <span class="flow" title={name}>
      <span aria-hidden="true">{arrow} </span>
      <span class="hidden">{name} </span>
      {formatBytes(bytes)}
    </span>
  );
}
