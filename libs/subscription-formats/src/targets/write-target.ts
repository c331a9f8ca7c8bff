import type { PublicationTarget } from '@gatehouse/contracts';
import { loonDocument, quantumultXDocument, surgeDocument } from './client-documents.js';
import { clashDocument } from './clash.js';
import { prepare, type Prepared } from './prepare.js';
import { singBoxDocument } from './sing-box.js';
import type { OwnTemplate } from './own-template.js';
import type { TargetDocument, TargetInput } from './target.js';

interface Format {
  write: (prepared: Prepared, input: TargetInput) => string;
  contentType: string;
  extension: string;
}

const TEXT = 'text/plain; charset=utf-8';
const linkLines = ({ nodes }: Prepared): string => nodes.map(({ entry }) => `${entry as string}\n`).join('');

const FORMATS: Readonly<Record<PublicationTarget, Format>> = {
  clash: { write: clashDocument, contentType: 'text/yaml; charset=utf-8', extension: 'yaml' },
  'sing-box': { write: singBoxDocument, contentType: 'application/json; charset=utf-8', extension: 'json' },
  surge: { write: surgeDocument, contentType: TEXT, extension: 'conf' },
  loon: { write: loonDocument, contentType: TEXT, extension: 'conf' },
  'quantumult-x': { write: quantumultXDocument, contentType: TEXT, extension: 'conf' },
  base64: {
    write: (prepared) => Buffer.from(linkLines(prepared)).toString('base64'),
    contentType: TEXT,
    extension: 'txt',
  },
  links: { write: linkLines, contentType: TEXT, extension: 'txt' },
};

/**
 * Writes nodes, groups and rules as the document of a target. What it cannot express is left out, never replaced by
 * something that sends traffic elsewhere or less protected, and said in `remarks`; formats with comments also say it there.
 */
export function writeTarget(target: PublicationTarget, given: TargetInput): TargetDocument {
  return writeDocument(target, untilMatch(given), FORMATS[target].write);
}

/** Puts nodes into a document of one's own. */
export function writeOwnTemplate(
  target: PublicationTarget,
  template: OwnTemplate,
  given: Pick<TargetInput, 'nodes' | 'update'>,
): TargetDocument {
  const input: TargetInput = { ...given, groups: [], rules: [], final: 'REJECT', taken: template.names };
  const write: Format['write'] = ({ nodes, remarks }, { comments = [], update }) =>
    template.fill({ nodes, comments, remarks, ...(update && { update }) });
  return writeDocument(target, input, write);
}

function writeDocument(target: PublicationTarget, input: TargetInput, write: Format['write']): TargetDocument {
  const { contentType, extension } = FORMATS[target];
  const prepared = prepare(target, input);
  const nodes = prepared.nodes.length;
  // The rules add their remarks while they are written, so what is said at the beginning needs a second pass.
  const first = write(prepared, input);
  const remarks = prepared.remarks.list();
  if (remarks.length === 0 || !hasComments(target)) return { text: first, contentType, extension, nodes, remarks };
  const comments = [...(input.comments ?? []), ...remarks.map(commentOf)];
  return { text: write(prepared, { ...input, comments }), contentType, extension, nodes, remarks };
}

/** A rule for everything ends the list: its target is the one of the rest. */
function untilMatch(input: TargetInput): TargetInput {
  const end = input.rules.findIndex(({ type }) => type === 'MATCH');
  if (end === -1 || input.final === null) return input;
  return { ...input, rules: input.rules.slice(0, end), final: input.rules[end]?.target ?? input.final };
}

function hasComments(target: PublicationTarget): boolean {
  return target !== 'sing-box' && target !== 'links' && target !== 'base64';
}

function commentOf({ outcome, reason, field, count, examples }: TargetDocument['remarks'][number]): string {
  const what = outcome === 'left_out' ? 'left out' : 'changed';
  const about = field === null ? reason : `${reason} ${field}`;
  // Names come from providers: one of several lines must not become a line of the document.
  const shown = examples.map((example) => example.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')).join('; ');
  return `${what}: ${count} × ${about}: ${shown}`;
}
