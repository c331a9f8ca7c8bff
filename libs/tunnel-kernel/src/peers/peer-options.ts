import type { ControlKey } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';

/** Another server of the gateway. */
export interface PeerAddress {
  /** Of its process. */
  id: string;
  /** Where it accepts links. */
  mesh: HostAndPort;
  /** Its port for agents, as this server reaches it. */
  agents: HostAndPort;
}

export interface PeerOptions {
  /** Id of this process. */
  id: string;
  /** Newest first: all servers of a gateway have them. */
  keys: readonly ControlKey[];
  /** Where other servers connect to. */
  listen: HostAndPort;
  /** Answers a question of another server. Absent: none is asked. */
  answer?(method: string, params: unknown): Promise<unknown>;
}

export interface PeerState {
  id: string;
  connected: boolean;
  /** Number of its agents. */
  agents: number;
}
