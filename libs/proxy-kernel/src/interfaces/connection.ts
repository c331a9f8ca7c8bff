/** The facts about a flow, from accept to close. */

export type Network = 'tcp' | 'udp';
export type InboundType = 'HTTP' | 'HTTPS' | 'Socks4' | 'Socks5' | 'Inner';

/** What a user asks for behind the name in a login, such as `ann-country-jp-session-a1`. At least one is there. */
export interface Wishes {
  /** ISO code in lower case. */
  country?: string;
  group?: string;
  /** A name of a node, or its id. */
  node?: string;
  /** Flows with equal sessions keep one node. */
  session?: string;
  /** How long a session keeps its node after its last flow began. Only with `session`. */
  ttlMs?: number;
}

/** The client and the destination it asked for. An inbound fills it before routing. */
export interface ConnectionMetadata {
  network: Network;
  type: InboundType;
  sourceIp: string;
  sourcePort: number;
  inboundName: string;
  /** Port of the listener; absent if the flow came through none. */
  inboundPort?: number;
  inboundUser: string | null;
  wishes?: Wishes;
  /** The domain that the client asked for, in lower case without a trailing dot; null if it asked for an address. */
  host: string | null;
  /** The address that the client asked for, or that routing resolved; null while unknown. */
  destinationIp: string | null;
  destinationPort: number;
  /** The client allows this machine to connect to public addresses only. */
  publicOnly?: boolean;
  /** The client asked for an address that stands for `host`. */
  fakeIp?: boolean;
  /** The name in the client's first bytes (TLS server name, HTTP host), if it asked for an address. */
  sniffHost?: string;
  /** Plain HTTP only: method and URL without query. */
  httpMethod?: string;
  httpUrl?: string;
}

export interface MatchedRule {
  id: number | null;
  /** Position in the list of rules. */
  index: number;
  source: string;
  type: string;
  payload: string;
  target: string;
}

export interface TraceStep {
  index: number;
  type: string;
  payload: string;
  result: 'match' | 'miss' | 'skipped';
  /** The reason if it is not obvious: `target n7 does not exist`, `no-resolve`, `target lacks UDP`. */
  reason?: string;
}

export interface RouteDecision {
  /** Null: no rule matched, or the mode ignores rules. */
  rule: MatchedRule | null;
  /** The tag that the rule or the default policy names. */
  target: string;
  /** From `target` through its groups to the outbound that carries the bytes: `['PROXY', 'n12']`. */
  chain: string[];
  /** The last element of `chain`. */
  outbound: string;
  /** Addresses that routing resolved, if any. */
  resolvedIps: string[];
}

export interface TracedDecision extends RouteDecision {
  /** Why the flow would be refused although the rules allow it: nothing is what its user asks for. */
  refusal?: string;
  trace: TraceStep[];
  evaluated: number;
  elapsedUs: number;
}

export interface ConnectionSnapshot extends ConnectionMetadata {
  /** Unique within this kernel process. */
  id: string;
  rule: MatchedRule | null;
  chain: string[];
  /** Tag of the node that carries the flow; null for built-ins. */
  nodeTag: string | null;
  /** The address that the outbound connected to; null before. */
  remoteDestination: string | null;
  /** Payload bytes from client to target. */
  upload: number;
  /** Payload bytes from target to client. */
  download: number;
  /** Bytes per second over the last second. */
  uploadSpeed: number;
  downloadSpeed: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  state: 'dialing' | 'open' | 'closing';
}

export type ErrorStage = 'route' | 'dns' | 'dial' | 'handshake' | 'relay';
export const ERROR_KINDS = [
  'dns_error',
  'timeout',
  'connection_refused',
  'connection_reset',
  'unreachable',
  'tls_error',
  'auth_failed',
  'protocol_error',
  'other',
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Emitted once for each flow, at its end. The traffic log and all totals are made of records and deltas. */
export interface ConnectionRecord extends ConnectionSnapshot {
  endedAt: number;
  status: 'ok' | 'failed' | 'rejected';
  httpStatus: number | null;
  errorStage: ErrorStage | null;
  errorKind: ErrorKind | null;
  errorErrno: string | null;
  errorMessage: string | null;
  /** `client_closed`, `remote_closed`, `idle`, `user`, `user_limit`, `shutdown`, `error`, `rejected`. */
  closeReason: string;
}
