import { hash } from 'node:crypto';
import type { PublicationTarget, TemplateTarget } from '@gatehouse/contracts';
import { sealForRow, SECRET_BOX, tryOpenFromRow, type SecretBox } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { readTemplate, TemplateFailure, type OwnTemplate } from '@gatehouse/subscription-formats';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource, In, type EntityManager } from 'typeorm';
import { PublicationTemplateEntity } from '../data/publication-template.entity.js';
import { compileTemplateFilter } from './template-names.js';

const TABLE = 'publication_templates';
/** Templates that stay read; each takes a few times the size of its text. */
const MAX_KEPT = 32;

/** A template as it is stored, and what was read from it. */
interface Kept {
  content: string;
  template: OwnTemplate;
}

/** Seals, opens and reads the texts of templates. */
@Injectable()
export class TemplateStore {
  /** By id, the least recently used first. A changed text is another sealed text. */
  private readonly kept = new Map<number, Kept>();

  constructor(
    private readonly dataSource: DataSource,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /** @throws AppError INVALID_ARGUMENT */
  columns(id: number, target: TemplateTarget, text: string): { content: string; size: number; digest: string } {
    readOwnTemplate(target, text);
    const digest = hash('sha256', text, 'hex').slice(0, 16);
    return { content: sealForRow(this.box, { table: TABLE, id }, text), size: text.length, digest };
  }

  /** Null for a text that does not open: another secret key sealed it. */
  open({ id, content }: Pick<PublicationTemplateEntity, 'id' | 'content'>): string | null {
    return tryOpenFromRow(this.box, { table: TABLE, id }, content);
  }

  /** The one of these templates that is for the target. @throws AppError UNPROCESSABLE if it does not open. */
  async find(ids: readonly number[], target: PublicationTarget): Promise<OwnTemplate | undefined> {
    if (ids.length === 0) return undefined;
    const row = await this.dataSource
      .getRepository(PublicationTemplateEntity)
      .findOneBy({ id: In([...ids]), target: target as TemplateTarget });
    if (row === null) return undefined;
    const known = this.kept.get(row.id);
    const template = known?.content === row.content ? known.template : readOwnTemplate(row.target, this.text(row));
    this.keep(row, template);
    return template;
  }

  /** @throws AppError UNPROCESSABLE */
  private text(row: PublicationTemplateEntity): string {
    const text = this.open(row);
    if (text !== null) return text;
    throw new AppError('UNPROCESSABLE', `Template ${row.name} cannot be opened: it was sealed with another secret key`);
  }

  private keep({ id, content }: PublicationTemplateEntity, template: OwnTemplate): void {
    this.kept.delete(id);
    this.kept.set(id, { content, template });
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MAX_KEPT) break;
      this.kept.delete(oldest);
    }
  }
}

/** @throws AppError INVALID_ARGUMENT, with the line. */
export function readOwnTemplate(target: TemplateTarget, text: string): OwnTemplate {
  try {
    return readTemplate(target, text, compileTemplateFilter);
  } catch (error) {
    if (!(error instanceof TemplateFailure)) throw error;
    const message = error.line === null ? error.message : `line ${error.line}: ${error.message}`;
    throw new AppError('INVALID_ARGUMENT', `text: ${message}`, { details: [{ field: 'text', message }] });
  }
}

/**
 * Holds the templates of a definition until the transaction ends, so that none is deleted meanwhile.
 * @throws AppError INVALID_ARGUMENT for one that does not exist, and for two of one target.
 */
export async function holdTemplates(tx: EntityManager, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const rows: { id: number; target: string }[] = await tx.query(
    'SELECT id::float8 AS id, target FROM publication_templates WHERE id = ANY ($1::bigint[]) ORDER BY id FOR KEY SHARE',
    [ids],
  );
  const targetOf = new Map(rows.map(({ id, target }) => [id, target]));
  const seen = new Set<string>();
  for (const [index, id] of ids.entries()) {
    const target = targetOf.get(id);
    if (target === undefined) throw invalid(index, 'is not a template');
    if (seen.has(target)) throw invalid(index, `is a second template for ${target}`);
    seen.add(target);
  }
}

function invalid(index: number, message: string): AppError {
  const field = `template_ids.${index}`;
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}
