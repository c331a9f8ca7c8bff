import { hrefTo } from '../../shared/state/route.js';
import { Empty } from '../parts/empty.js';

interface NoTunnelProps {
  isNarrowed: boolean;
  mayWrite: boolean;
  onAdd: () => void;
}

export function NoTunnel({ isNarrowed, mayWrite, onAdd }: NoTunnelProps) {
  const add = (
    <button type="button" class="primary" onClick={onAdd}>
      New tunnel
    </button>
  );
  if (isNarrowed) return <Empty action={mayWrite && add}>No tunnel is like that.</Empty>;
  return (
    <Empty action={mayWrite && add}>
      <p>
        <strong>No tunnel yet.</strong> A tunnel is a port of the gateway that leads to a service beside one of your{' '}
        <a href={hrefTo('clients')}>clients</a>. For web sites by their names see <a href={hrefTo('hosts')}>hosts</a>.
      </p>
    </Empty>
  );
}
