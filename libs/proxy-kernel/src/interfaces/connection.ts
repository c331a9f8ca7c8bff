/** What the kernel knows of a flow, from accept to close. */

export type Network = 'tcp' | 'udp';
export type InboundType = 'HTTP' | 'HTTPS' | 'Socks4' | 'Socks5' | 'Inner';

/** Where a client wants to go, and who it is. Filled by an inbound before routing. */
export interface ConnectionMetadata {
  network: Network;
  type: InboundType;
  sourceIp: string;
  sourcePort: number;
  inboundName: string;
  /** Port of the listener; absent where the flow came through none. */
  inboundPort?: number;
  inboundUser: string | null;
  /** Domain the client asked for, lower case without a trailing dot; null when it asked for an address. */
  host: string | null;
  /** Address the client asked for, or what routing resolved; null while unknown. */
  destinationIp: string | null;
  destinationPort: number;
  /** The client wants no address that is not of the Internet to be connected to from this machine. */
  publicOnly?: boolean;
  /** The client asked for an address that stands for `host`. */
  fakeIp?: boolean;
  /** Name seen in the client's first bytes (TLS server name, HTTP host) where it asked for an address. */
  sniffHost?: string;
  /** Plain HTTP only: method and URL without query. */
  httpMethod?: string;
  httpUrl?: string;
}

export interface MatchedRule {
  id: number | null;
  /** Position in the applied list. */
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
  /** Why, where it is not obvious: `target n7 does not exist`, `no-resolve`, `target lacks UDP`. */
  reason?: string;
}

export interface RouteDecision {
  /** Null: no rule matched, or the mode bypasses rules. */
  rule: MatchedRule | null;
  /** Tag the rule or the default policy named. */
  target: string;
  /** From `target` through its groups down to the outbound that carries the bytes: `['PROXY', 'n12']`. */
  chain: string[];
  /** Last of `chain`. */
  outbound: string;
  /** Addresses that routing resolved, if it had to. */
  resolvedIps: string[];
}

export interface TracedDecision extends RouteDecision {
  trace: TraceStep[];
  evaluated: number;
  elapsedUs: number;
}

export interface ConnectionSnapshot extends ConnectionMetadata {
  /** Unique for this kernel process. */
  id: string;
  rule: MatchedRule | null;
  chain: string[];
  /** Tag of the node that carries it, null for built-ins. */
  nodeTag: string | null;
  /** Address the outbound really connected to, once it has. */
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
export type ErrorKind =
  | 'dns_error'
  | 'timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'unreachable'
  | 'tls_error'
  | 'auth_failed'
  | 'protocol_error'
  | 'other';

/** One per flow, at its end. The traffic log and every total are made of these and of the deltas. */
export interface ConnectionRecord extends ConnectionSnapshot {
  endedAt: number;
  status: 'ok' | 'failed' | 'rejected';
  httpStatus: number | null;
  errorStage: ErrorStage | null;
  errorKind: ErrorKind | null;
  errorErrno: string | null;
  errorMessage: string | null;
  /** `client_closed`, `remote_closed`, `idle`, `user`, `shutdown`, `error`, `rejected`. */
  closeReason: string;
}
