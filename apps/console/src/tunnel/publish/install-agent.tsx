import type { NewTunnelClientView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { FirstSteps } from '../clients/first-steps.js';
import { NewClient } from '../clients/new-client.js';

interface InstallAgentProps {
  /** A client was created; its agent may not have come yet. */
  onCreated: (clientId: number) => void;
  onClose: () => void;
}

/** Creates a client and shows how to start its agent. */
export function InstallAgent({ onCreated, onClose }: InstallAgentProps) {
  const [client, setClient] = useState<NewTunnelClientView | null>(null);
  if (client !== null) return <FirstSteps client={client} next={null} onClose={onClose} />;
  return (
    <NewClient
      onClose={onClose}
      onCreated={(created) => {
        setClient(created);
        onCreated(created.id);
      }}
    />
  );
}
