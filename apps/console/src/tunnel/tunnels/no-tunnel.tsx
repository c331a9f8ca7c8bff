import { hrefTo } from '../../shared/state/route.js';
import { bold, linkTo } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { Empty } from '../parts/empty.js';

interface NoTunnelProps {
  isNarrowed: boolean;
  mayWrite: boolean;
  onAdd: () => void;
}

export function NoTunnel({ isNarrowed, mayWrite, onAdd }: NoTunnelProps) {
  const add = (
    <button type="button" class="primary" onClick={onAdd}>
      {t('tunnels.add')}
    </button>
  );
  if (isNarrowed) return <Empty action={mayWrite && add}>{t('words.noMatch')}</Empty>;
  return (
    <Empty action={mayWrite && add}>
      <p>{rich('tunnels.empty', { b: bold, clients: linkTo(hrefTo('clients')), hosts: linkTo(hrefTo('hosts')) })}</p>
    </Empty>
  );
}
