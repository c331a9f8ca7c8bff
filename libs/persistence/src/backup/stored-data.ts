import type { Bilingual } from '@gatehouse/i18n';
import type { DataSourceConfig } from '../data-source.js';

/** Runs a statement on the connection of a check; names without a schema are those of the service. */
export type CheckQuery = <Row>(sql: string, parameters?: unknown[]) => Promise<Row[]>;

/** A statement about the data of a service that is true at every moment, and therefore in every backup. */
export interface Invariant {
  /** The statement, as a sentence without a full stop. */
  name: Bilingual;
  /** Number of violations: 0 in sound data. */
  countBroken: (query: CheckQuery) => Promise<number>;
}

/** What backup and restore have to know about a service. */
export interface StoredData {
  service: string;
  /** All schemas with its data. */
  schemas: readonly string[];
  /** How its schemas are created: with these migrations, in this search path. */
  database(url: string, applicationName: string): DataSourceConfig;
  invariants: readonly Invariant[];
}
