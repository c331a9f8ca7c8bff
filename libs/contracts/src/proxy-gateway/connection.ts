/** An open connection. Null means unknown. */
export interface ConnectionView {
  /** Unique among the connections of all kernels. */
  id: string;
  network: 'tcp' | 'udp';
  /** The client's protocol: `HTTP`, `HTTPS`, `Socks4`, `Socks5`, `Inner`. */
  type: string;
  source_ip: string;
  source_port: number;
  host: string | null;
  sniff_host: string | null;
  destination_ip: string | null;
  destination_port: number;
  remote_destination: string | null;
  destination_country: string | null;
  destination_asn: string | null;
  inbound_name: string;
  inbound_user: string | null;
  /** `fake-ip`: the client asked for an address that stands for `host`. */
  dns_mode: 'normal' | 'fake-ip';
  process: string | null;
  /** Type of the matching rule; null if none matched. */
  rule: string | null;
  rule_payload: string | null;
  rule_id: number | null;
  /** From the rule's target through its groups to the outbound, with the names that users see. */
  chains: string[];
  /** Subscription of the node at the end of the chain, if it came from one. */
  provider_chains: string[];
  /** Null: a built-in carries the connection. */
  node_id: number | null;
  node_name: string | null;
  node_country: string | null;
  /** Payload bytes from the client. */
  upload: number;
  /** Payload bytes to the client. */
  download: number;
  /** Bytes per second. */
  upload_speed: number;
  download_speed: number;
  start: string;
  duration_ms: number;
  state: 'dialing' | 'open' | 'closing';
  /** The name of the kernel that has it; null while there is only one. */
  kernel: string | null;
}

/** `GET /connections`. */
export interface ConnectionListResponse {
  /** Total bytes, across restarts. */
  upload_total: number;
  download_total: number;
  /** Bytes per second over the last second. */
  upload_speed: number;
  download_speed: number;
  /** Resident memory of the kernel. */
  memory_bytes: number;
  /** The number of all open connections. */
  count: number;
  /** The number of connections that match the filter, over all pages. */
  total: number;
  connections: ConnectionView[];
  /** Null: no limit. */
  limit: number | null;
  offset: number;
}

/** `DELETE /connections` and `DELETE /connections/{id}`. */
export interface ConnectionsClosedResponse {
  closed: number;
}
