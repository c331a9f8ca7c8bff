/** One end of a TCP connection. */
export interface ConnectionEnd {
  readonly address: string;
  readonly port: number;
}

/** A connection as the accepting service sees it. */
export interface AcceptedConnection {
  /** The client's end of the connection. */
  readonly from: ConnectionEnd;
  readonly to: ConnectionEnd;
  /** Milliseconds since it was accepted: the port of a connection that has ended is soon used by another one. */
  readonly ageMs: number;
}

/** Knows for which client of the proxy its kernel opened a connection to a service of the platform. */
export interface ProxyClients {
  /**
   * Addresses from which the kernel connects besides those of this machine. Null: not known, so it can be any.
   * IPv4 is written as IPv4, not as IPv6.
   */
  readonly kernelAddresses: ReadonlySet<string> | null;

  /**
   * The address of the proxy's client; null if the connection does not come from the kernel. @throws Error if the
   * kernel cannot be asked, within seconds
   */
  clientOf(connection: AcceptedConnection): Promise<string | null>;
}
