import type { PreparedNode } from './prepare.js';
import type { Remarks, TargetInput } from './target.js';

/** A node as filters of groups see it. */
export interface NamedNode {
  name: string;
  /** As in a Clash entry; empty where it is not known. */
  type: string;
}

/** What is put into a document of one's own. */
export interface Filling {
  nodes: readonly PreparedNode[];
  /** Lines for people at the beginning, where the format has comments. */
  comments: readonly string[];
  remarks: Remarks;
  update?: TargetInput['update'];
}

/** A document of one's own that was read and checked. */
export interface OwnTemplate {
  /** What its nodes and groups are called: no node of a publication may have such a name. */
  names: readonly string[];
  fill: (filling: Filling) => string;
}
