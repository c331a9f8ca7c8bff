import type { ProxyNode, PublicationReason, PublicationRemark } from '@gatehouse/contracts';

/** A node to write, with the tag that groups, rules and other nodes name it by. */
export interface TargetNode {
  tag: string;
  node: ProxyNode;
  /** Tag of the node or group that it is dialled through. */
  dialer?: string;
}

export interface TargetGroup {
  name: string;
  type: 'select' | 'url-test' | 'fallback' | 'load-balance';
  /** Tags of nodes, names of groups, and built-ins, in order of preference. */
  members: readonly string[];
  testUrl?: string;
  intervalSec?: number;
  toleranceMs?: number;
  strategy?: string;
}

export interface TargetRule {
  type: string;
  payload: string;
  /** Tag of a node, name of a group, or a built-in. */
  target: string;
  noResolve?: boolean;
  src?: boolean;
}

/** The entries behind `RULE-SET,<name>`. */
export interface TargetRuleSet {
  name: string;
  behavior: 'domain' | 'ipcidr' | 'classical';
  entries: readonly string[];
}

/** What a document is written from. */
export interface TargetInput {
  nodes: readonly TargetNode[];
  groups: readonly TargetGroup[];
  rules: readonly TargetRule[];
  /** Sets that rules name. Formats without sets of their own leave such rules out. */
  ruleSets?: readonly TargetRuleSet[];
  /** The target of traffic that no rule matches. Null: a document with the nodes alone. */
  final: string | null;
  /** Names that no node may have, because others in the document do. */
  taken?: readonly string[];
  /** Lines for people at the beginning, where the format has comments. */
  comments?: readonly string[];
  /** Where clients that ask for it in the document fetch it again, and how often. */
  update?: { url: string; intervalSec: number };
}

export interface TargetDocument {
  text: string;
  contentType: string;
  /** Of its file name, without the dot. */
  extension: string;
  /** Nodes in it. */
  nodes: number;
  remarks: PublicationRemark[];
}

/** Targets of rules and members of groups that are no nodes. */
export const BUILT_IN_TARGETS: ReadonlySet<string> = new Set(['DIRECT', 'REJECT', 'REJECT-DROP']);

/** A format has no way to say something. */
export class Unsayable extends Error {
  readonly reason: PublicationReason;
  /** What it is about: an option, a type. */
  readonly field: string;

  constructor(field: string, reason: PublicationReason = 'node_option') {
    super(`${field} cannot be expressed`);
    this.name = 'Unsayable';
    this.field = field;
    this.reason = reason;
  }
}

const MAX_EXAMPLES = 5;
/** Documents with more kinds of remarks than this summarise the rest of them. */
const MAX_REMARKS = 200;

/** Counts what is left out or changed, by what it is about. */
export class Remarks {
  readonly #byKey = new Map<string, PublicationRemark>();

  add(outcome: PublicationRemark['outcome'], reason: PublicationReason, field: string | null, example: string): void {
    const known = this.#find(outcome, reason, field);
    known.count += 1;
    if (known.examples.length < MAX_EXAMPLES) known.examples.push(example.slice(0, 200));
  }

  /** What was said so far. */
  list(): PublicationRemark[] {
    return [...this.#byKey.values()].map((remark) => ({ ...remark, examples: [...remark.examples] }));
  }

  #find(outcome: PublicationRemark['outcome'], reason: PublicationReason, field: string | null): PublicationRemark {
    const place = this.#byKey.size < MAX_REMARKS ? field : null;
    const key = JSON.stringify([outcome, reason, place]);
    let remark = this.#byKey.get(key);
    if (remark === undefined) {
      remark = { outcome, reason, field: place, count: 0, examples: [] };
      this.#byKey.set(key, remark);
    }
    return remark;
  }
}
