import type { TunnelClientView } from '@gatehouse/contracts';

/** What one can ask of a client. */
export type ClientDeed = 'edit' | 'rotate' | 'kick' | 'reset' | 'remove';

interface ClientActionsProps {
  client: TunnelClientView;
  onDeed: (deed: ClientDeed, client: TunnelClientView) => void;
}

export function ClientActions({ client, onDeed }: ClientActionsProps) {
  return (
    <div class="actions">
      <button type="button" onClick={() => onDeed('edit', client)}>
        Edit
      </button>
      <button type="button" onClick={() => onDeed('rotate', client)}>
        New key …
      </button>
      <button type="button" disabled={client.online !== true} onClick={() => onDeed('kick', client)}>
        Disconnect …
      </button>
      <button type="button" onClick={() => onDeed('reset', client)}>
        Reset traffic …
      </button>
      <button type="button" class="danger" onClick={() => onDeed('remove', client)}>
        Delete …
      </button>
    </div>
  );
}
