import type {
  PublicationPreview,
  PublicationTemplateDeleted,
  PublicationTemplateDetail,
  PublicationTemplateList,
  PublicationTemplateView,
} from '@gatehouse/contracts';
import { takeRowId, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { PublicationEntity } from '../data/publication.entity.js';
import { PublicationTemplateEntity } from '../data/publication-template.entity.js';
import { nextVersion, requireVersion } from '../wire/if-match.js';
import { PublicationWriter } from './publication-writer.js';
import { toPreview } from './publication.view.js';
import { readOwnTemplate, TemplateStore } from './template-store.js';
import type {
  NewPublicationTemplate,
  PublicationTemplateChanges,
  PublicationTemplatePreviewRequest,
} from './template.dto.js';

type Row = PublicationTemplateEntity;

/** Documents of one's own. */
@Injectable()
export class TemplatesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly store: TemplateStore,
    private readonly writer: PublicationWriter,
  ) {}

  list(): Promise<PublicationTemplateList> {
    return this.unitOfWork.run(async (tx) => {
      const rows = await tx.find(PublicationTemplateEntity, { order: { id: 'ASC' } });
      const users = await usersOf(tx);
      return { items: rows.map((row) => toView(row, users)), total: rows.length };
    });
  }

  /** @param showSecrets false leaves out the text. @throws AppError NOT_FOUND */
  get(id: number, showSecrets: boolean): Promise<PublicationTemplateDetail> {
    return this.unitOfWork.run(async (tx) => this.detail(tx, await find(tx, id), showSecrets));
  }

  /** @throws AppError INVALID_ARGUMENT with the line, CONFLICT */
  create({ name, target, text }: NewPublicationTemplate): Promise<PublicationTemplateDetail> {
    return this.unitOfWork.run(async (tx) => {
      await refuseTakenName(tx, name, null);
      const id = await takeRowId(tx, 'publication_templates');
      const columns = this.store.columns(id, target, text);
      await tx.insert(PublicationTemplateEntity, { id, name, target, ...columns });
      return this.detail(tx, await find(tx, id), true);
    });
  }

  /**
   * @param ifMatch the version that the caller has read; undefined: any.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONFLICT, PRECONDITION_FAILED
   */
  update(id: number, { name, text }: PublicationTemplateChanges, ifMatch?: string): Promise<PublicationTemplateDetail> {
    return this.unitOfWork.run(async (tx) => {
      const row = await find(tx, id, true);
      requireVersion(row.updatedAt, ifMatch);
      if (name !== undefined) await refuseTakenName(tx, name, id);
      row.name = name ?? row.name;
      if (text !== undefined) Object.assign(row, this.store.columns(id, row.target, text));
      row.updatedAt = nextVersion(row.updatedAt);
      return this.detail(tx, await tx.save(row), true);
    });
  }

  /** @throws AppError NOT_FOUND, IN_USE */
  remove(id: number): Promise<PublicationTemplateDeleted> {
    return this.unitOfWork.run(async (tx) => {
      // Whoever is about to use it holds the row, or finds it gone.
      const row = await find(tx, id, true);
      const users = (await usersOf(tx)).get(id) ?? [];
      if (users.length > 0) {
        const names = users.slice(0, 5).map((user) => user.name);
        throw new AppError('IN_USE', `Publications use template ${row.name}: ${names.join(', ')}`);
      }
      await tx.delete(PublicationTemplateEntity, id);
      return { id, deleted: true };
    });
  }

  /** What a text gives with the nodes of a publication, without storing it. @throws AppError INVALID_ARGUMENT, NOT_FOUND */
  async preview({ target, text, publication_id: id }: PublicationTemplatePreviewRequest): Promise<PublicationPreview> {
    const template = readOwnTemplate(target, text);
    const publication = id === undefined ? undefined : await this.publication(id);
    return toPreview(target, await this.writer.write(publication?.definition ?? {}, { target, template }));
  }

  private async publication(id: number): Promise<PublicationEntity> {
    const row = await this.unitOfWork.run((tx) => tx.findOneBy(PublicationEntity, { id }));
    if (row === null) throw new AppError('NOT_FOUND', `There is no publication ${id}`);
    return row;
  }

  private async detail(tx: EntityManager, row: Row, showSecrets: boolean): Promise<PublicationTemplateDetail> {
    return { ...toView(row, await usersOf(tx)), text: showSecrets ? this.store.open(row) : null };
  }
}

type Users = ReadonlyMap<number, readonly { id: number; name: string }[]>;

function toView(row: Row, users: Users): PublicationTemplateView {
  const { id, name, target, size, createdAt, updatedAt } = row;
  return {
    id,
    name,
    target,
    size,
    publication_ids: (users.get(id) ?? []).map((user) => user.id),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

/** The publications that use each template. */
async function usersOf(tx: EntityManager): Promise<Users> {
  const rows: { template: number; id: number; name: string }[] = await tx.query(
    `SELECT used.id::float8 AS template, publication.id::float8 AS id, publication.name FROM publications publication,
       jsonb_array_elements(publication.definition -> 'template_ids') AS used (id) ORDER BY publication.id`,
  );
  return Map.groupBy(rows, ({ template }) => template);
}

async function refuseTakenName(tx: EntityManager, name: string, ownId: number | null): Promise<void> {
  const other = await tx.findOneBy(PublicationTemplateEntity, { name });
  if (other === null || other.id === ownId) return;
  const message = `is already the name of template ${other.id}`;
  throw new AppError('CONFLICT', `name: ${message}`, { details: [{ field: 'name', message }] });
}

async function find(tx: EntityManager, id: number, lock = false): Promise<Row> {
  const row = await tx.findOne(PublicationTemplateEntity, {
    where: { id },
    ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
  });
  if (!row) throw new AppError('NOT_FOUND', `There is no template ${id}`);
  return row;
}
