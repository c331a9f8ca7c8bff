import type { OutboundOverview } from '@gatehouse/contracts';
import { FlaggedName } from '../../shared/components/flag.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';
import { exitPath } from './exit-path.js';

/** Where new connections go now, which changes as soon as another node is used. */
export function ExitBar({ overview }: { overview: OutboundOverview }) {
  const { mode, names, nodeId } = exitPath(overview);
  return (
    <p class="exit-bar" role="status">
      <span class="muted">{t(`exit.modes.${mode}`)}</span>{' '}
      <a href={hrefTo('groups')} class="strong">
        <FlaggedName name={names.join(' → ')} />
      </a>
      {nodeId === null && names.at(-1) === 'DIRECT' && <span class="muted"> {t('exit.direct')}</span>}
    </p>
  );
}
