import type { ComponentChildren } from 'preact';
import type { BadgeTone } from '../components/badge-tone.js';
import type { Column } from '../components/table.js';

/** What edges of the tunnel gateway and kernels of the proxy have in common. */
export interface DataPlane {
  id: string;
  name: string;
  version: string;
  connections: number;
  started_at: string | null;
}

/** A list as the service answers it. */
export interface DataPlaneList<P extends DataPlane> {
  items: P[];
}

/** Where it is reached, and for what. */
export interface PlaneAddress {
  label: string;
  address: string;
}

export interface PlaneState {
  tone: BadgeTone;
  text: string;
  /** What else the reader should know of it. */
  note?: string | undefined;
}

export interface PlaneConfiguration {
  isNewest: boolean;
  /** Which one it has, or why it refused the newest one. */
  note: string;
}

/** Where one kind of data plane differs from the other. */
export interface DataPlaneKind<P extends DataPlane, L extends DataPlaneList<P>> {
  /** Of the list in the API; below it are `{id}/drain` and `{id}/serve`. */
  path: string;
  title: string;
  /** Instead of rows where there are none. */
  empty: string;
  /** How often the list is read: as often as data planes report. */
  everyMs: number;
  /** Stands beside the version. */
  details?: (plane: P) => readonly string[];
  addressesOf: (plane: P) => readonly PlaneAddress[];
  stateOf: (plane: P) => PlaneState;
  configurationOf: (plane: P) => PlaneConfiguration;
  /** How busy it is. */
  load: readonly Column<P>[];
  /** What the administrator can do with it. */
  actionOf: (plane: P) => 'drain' | 'serve' | null;
  drainTitle: string;
  /** What happens to those who are connected. */
  drainText: (name: string) => ComponentChildren;
  /** Below the table. */
  below?: (list: L) => ComponentChildren;
}
