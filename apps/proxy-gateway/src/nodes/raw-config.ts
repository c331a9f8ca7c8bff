import type { ProxyNode, ProxyNodeType } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import {
  fingerprintNode,
  FormatError,
  formatLink,
  parseRawConfig,
  toClashEntry,
} from '@gatehouse/subscription-formats';
import type { NewNode } from './node-writer.js';

export interface ExpectedNode {
  /** Takes the place of the name in the definition. */
  name?: string;
  /** What the definition must be of. */
  type?: ProxyNodeType;
}

/**
 * One node from a share link, or from JSON or YAML in the form of a Clash entry.
 * @throws AppError INVALID_ARGUMENT saying what is wrong, never repeating a credential.
 */
export function readRawConfig(text: string, { name, type }: ExpectedNode): NewNode {
  const parsed = parse(text);
  if (type !== undefined && type !== parsed.type) {
    throw invalid('type', `is ${type}, but raw_config describes a node of type ${parsed.type}`);
  }
  const node: ProxyNode = name ? { ...parsed, name } : parsed;
  return { node, fingerprint: fingerprintNode(node) };
}

function parse(text: string): ProxyNode {
  try {
    return parseRawConfig(text).node;
  } catch (error) {
    if (error instanceof FormatError) throw invalid('raw_config', `cannot be read: ${error.message}`, error);
    throw error;
  }
}

function invalid(field: string, message: string, cause?: unknown): AppError {
  return new AppError('INVALID_ARGUMENT', `${field} ${message}`, { details: [{ field, message }], cause });
}

/** One JSON object in the form of a Clash entry, which `readRawConfig` reads back. */
export function writeRawConfig(node: ProxyNode): string {
  return JSON.stringify(toClashEntry(node));
}

/** Null for a type that has no links. */
export function shareLink(node: ProxyNode): string | null {
  try {
    return formatLink(node);
  } catch (error) {
    if (error instanceof FormatError && error.code === 'no_link_form') return null;
    throw error;
  }
}
