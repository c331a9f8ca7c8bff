/** What an edge's supervisor and its administration say to each other. Types only. */
import type { ControlEndpoint } from '@gatehouse/net';
import type { EdgeCalls, EdgeLogEntry, EdgeOptions, EdgePorts, PortName } from './edge-ipc.js';

/** Of this file: peers with another number do not understand each other. */
export type SupervisorProtocol = 1;

export interface SupervisorState {
  /** The process that serves; null while it is started again. */
  edge: number | null;
  /** 0: not bound. */
  ports: EdgePorts;
  /** A port that was taken at the first start: the supervisor ends. */
  failed: { port: PortName; code: string } | null;
}

export interface SupervisorHello {
  protocol: number;
  /** The supervisor's own process. */
  pid: number;
  /** As the edge was started with; see `SupervisorStart`. Null: it reads its own settings. */
  optionsId: string | null;
  state: SupervisorState;
}

/** What an administration can ask of a supervisor; what is about the data plane is answered by the edge. */
export interface SupervisorCalls extends Pick<EdgeCalls, 'status' | 'agents' | 'tunnels' | 'connections' | 'kick'> {
  /** `watch`: as in `SupervisorStart`, of the administration that speaks; absent: it watches whom it watched. */
  hello: { params: { protocol: SupervisorProtocol; watch?: number | null }; result: SupervisorHello };
  /** Another process takes over, with other options where there are any. Answered when it serves. */
  replace: { params: { start: Pick<SupervisorStart, 'edge' | 'optionsId'> | null }; result: null };
  /** Lets connections end for `graceMs`, then ends everything. Answered when the edge is gone. */
  stop: { params: { graceMs: number }; result: null };
}
export type SupervisorMethod = keyof SupervisorCalls;
export type ForwardedMethod = keyof Pick<EdgeCalls, 'status' | 'agents' | 'tunnels' | 'connections' | 'kick'>;

/** What a supervisor says unasked, by name. */
export interface SupervisorNotes {
  state: SupervisorState;
  logs: EdgeLogEntry[];
  /** An edge process ended that should not have, and why. */
  exited: string;
}

/** A `ControlKey` as text: `psk` is base64. */
export interface ChannelKeyText {
  identity: string;
  psk: string;
}

/** What a supervisor is started with. */
export interface SupervisorStart {
  edge: Omit<EdgeOptions, 'takesOver'>;
  /** Changes with the options and with the program: an administration with another one has the edge replaced. */
  optionsId: string | null;
  /** Of the channel; the newest first. */
  channelKeys: ChannelKeyText[];
  channel: ControlEndpoint;
  /** The process that started the service: when it is gone nobody wants the edge any more. Null: nobody is watched. */
  watch: number | null;
}
