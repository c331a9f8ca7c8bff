/** Messages between an edge's supervisor and its administration. Types only. */
import type { ControlEndpoint } from '@gatehouse/net';
import type { EdgeCalls, EdgeLogEntry, EdgeOptions, EdgePorts, PortName } from './edge-ipc.js';

/** Version of this file: peers with another number cannot talk to each other. */
export type SupervisorProtocol = 1;

export interface SupervisorState {
  /** The serving process; null while it restarts. */
  edge: number | null;
  /** 0: not bound. */
  ports: EdgePorts;
  /** A port that was taken at the first start: the supervisor exits. */
  failed: { port: PortName; code: string } | null;
}

export interface SupervisorHello {
  protocol: number;
  /** The supervisor's own process id. */
  pid: number;
  /** The options that the edge was started with; see `SupervisorStart`. Null: it reads its own settings. */
  optionsId: string | null;
  state: SupervisorState;
}

/** Requests of an administration to a supervisor; those about the data plane are answered by the edge. */
export interface SupervisorCalls extends Pick<
  EdgeCalls,
  | 'status'
  | 'agents'
  | 'tunnels'
  | 'checkedTargets'
  | 'connections'
  | 'requests'
  | 'replay'
  | 'checkTarget'
  | 'kick'
  | 'peers'
> {
  /** `watch`: as in `SupervisorStart`, for the current administration; absent: unchanged. */
  hello: { params: { protocol: SupervisorProtocol; watch?: number | null }; result: SupervisorHello };
  /** Replaces the process, possibly with new options. Answered when the new one serves. */
  replace: { params: { start: Pick<SupervisorStart, 'edge' | 'optionsId'> | null }; result: null };
  /** Lets connections end for `graceMs`, then ends everything. Answered when the edge has ended. */
  stop: { params: { graceMs: number }; result: null };
}
export type SupervisorMethod = keyof SupervisorCalls;
export type ForwardedMethod = keyof Pick<
  EdgeCalls,
  | 'status'
  | 'agents'
  | 'tunnels'
  | 'checkedTargets'
  | 'connections'
  | 'requests'
  | 'replay'
  | 'checkTarget'
  | 'kick'
  | 'peers'
>;

/** Notifications of a supervisor, by name. */
export interface SupervisorNotes {
  state: SupervisorState;
  logs: EdgeLogEntry[];
  /** An edge process ended unexpectedly, with the reason. */
  exited: string;
}

/** A `ControlKey` as text: `psk` is base64. */
export interface ChannelKeyText {
  identity: string;
  psk: string;
}

/** The options of a supervisor. */
export interface SupervisorStart {
  edge: Omit<EdgeOptions, 'takesOver'>;
  /**
   * Changes with the options and with the program's version: an administration with another value replaces the edge.
   */
  optionsId: string | null;
  /** Keys of the channel, newest first. */
  channelKeys: ChannelKeyText[];
  channel: ControlEndpoint;
  /** The process that started the service: when it has gone, the edge ends. Null: none is watched. */
  watch: number | null;
}
