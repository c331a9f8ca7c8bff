import type { ProxyNode } from '@gatehouse/contracts';
import { fingerprintNode, FormatError, parseLink } from '@gatehouse/subscription-formats';
import { shareLink, writeRawConfig } from '../raw-config.js';

export const EXPORT_FORMATS = ['json', 'links', 'text', 'txt'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A manual node with what people decided about it. */
export interface ExportedNode {
  /** Under the name that people see. */
  node: ProxyNode;
  fingerprint: string;
  enabled: boolean;
  /** Only where a person chose it: what was detected is detected again. */
  country: string | null;
  tags: readonly string[];
}

/** One node of the JSON export; the import takes it back, as `nodes` or as `text`. */
export interface NodeExportItem {
  name: string;
  type: string;
  raw_config: string;
  enabled: boolean;
  country?: string;
  tags?: readonly string[];
}

export function toExportItem({ node, enabled, country, tags }: ExportedNode): NodeExportItem {
  return {
    name: node.name,
    type: node.type,
    raw_config: writeRawConfig(node),
    enabled,
    ...(country === null ? {} : { country }),
    ...(tags.length === 0 ? {} : { tags }),
  };
}

/** A share link a line; a node that no link can carry is named in a comment instead. */
export function toLinkLine(exported: ExportedNode): string {
  const { node } = exported;
  return exactLink(exported) ?? `# ${node.type} ${oneLine(node.name)}: no share link can carry this node`;
}

/** A share link, or the node as one line of JSON where no link can carry it: nothing is left out. */
export function toTextLine(exported: ExportedNode): string {
  return exactLink(exported) ?? writeRawConfig(exported.node);
}

/** Null where what the link says is not the same node: some options have no place in a link. */
function exactLink({ node, fingerprint }: ExportedNode): string | null {
  const link = shareLink(node);
  if (link === null) return null;
  try {
    return fingerprintNode(parseLink(link)) === fingerprint ? link : null;
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}
