import type { ProxyNode } from '@gatehouse/contracts';
import { fingerprintNode, FormatError, parseLink } from '@gatehouse/subscription-formats';
import { shareLink, writeRawConfig } from '../raw-config.js';

export const EXPORT_FORMATS = ['json', 'links', 'text', 'txt'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A manual node with the fields that users set. */
export interface ExportedNode {
  /** With the name that users see. */
  node: ProxyNode;
  fingerprint: string;
  enabled: boolean;
  /** Only if a user chose it; a detected country is detected again after the import. */
  country: string | null;
  tags: readonly string[];
}

/** One node of the JSON export; the import accepts it in `nodes` and in `text`. */
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

/** One share link; a node that no link can express becomes a comment. */
export function toLinkLine(exported: ExportedNode): string {
  const { node } = exported;
  return exactLink(exported) ?? `# ${node.type} ${oneLine(node.name)}: no share link can carry this node`;
}

/** A share link, or one line of JSON for a node that no link can express, so that nothing is left out. */
export function toTextLine(exported: ExportedNode): string {
  return exactLink(exported) ?? writeRawConfig(exported.node);
}

/** Null if the link would describe another node: links cannot express some options. */
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
