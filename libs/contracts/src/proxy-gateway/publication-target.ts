/** The documents that a publication is written as. */
export const PUBLICATION_TARGETS = ['clash', 'sing-box', 'surge', 'loon', 'quantumult-x', 'base64', 'links'] as const;
export type PublicationTarget = (typeof PUBLICATION_TARGETS)[number];

/** The targets whose documents have groups and rules, so that people bring documents of their own. */
export const TEMPLATE_TARGETS = ['clash', 'sing-box', 'surge', 'loon', 'quantumult-x'] as const;
export type TemplateTarget = (typeof TEMPLATE_TARGETS)[number];

/** Why something is not in a document, or not as it is here. */
export const PUBLICATION_REASONS = [
  'node_type',
  'node_option',
  'node_dialer',
  'node_unreadable',
  'group_type',
  'group_empty',
  'group_member',
  'rule_type',
  'rule_target',
  'rule_set',
] as const;
export type PublicationReason = (typeof PUBLICATION_REASONS)[number];

/** What of one kind a document leaves out or replaces, with a few examples. */
export interface PublicationRemark {
  /** `left_out`: it is not in the document. `changed`: it is there, without the option that `field` names. */
  outcome: 'left_out' | 'changed';
  reason: PublicationReason;
  /** The option, the type of the node or of the rule; null where the reason says all. */
  field: string | null;
  count: number;
  /** Names of nodes and groups, or rules; at most five. */
  examples: string[];
}
