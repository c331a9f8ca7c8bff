import type { DataSourceConfig } from '../data-source.js';

/** Runs a statement on the connection of a check; names without a schema are those of the service. */
export type CheckQuery = <Row>(sql: string, parameters?: unknown[]) => Promise<Row[]>;

/** Something that holds for the data of a service at every moment, so for a backup of it, too. */
export interface Invariant {
  /** What holds, as a sentence without a full stop. */
  name: string;
  /** How often it does not: 0 in sound data. */
  countBroken: (query: CheckQuery) => Promise<number>;
}

/** What backup and restore have to know about a service. */
export interface StoredData {
  service: string;
  /** All schemas with its data. */
  schemas: readonly string[];
  /** How its schemas are made: with these migrations, in this search path. */
  database(url: string, applicationName: string): DataSourceConfig;
  invariants: readonly Invariant[];
}
