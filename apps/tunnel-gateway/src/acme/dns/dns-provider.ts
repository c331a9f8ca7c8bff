/** Where the TXT records of DNS-01 are published. */
export interface DnsProvider {
  /** Resolves to what removes the record again. @throws Error that says what is wrong */
  add(name: string, value: string, signal: AbortSignal): Promise<(signal: AbortSignal) => Promise<void>>;
}
