import { AppError } from '@gatehouse/platform';
import { Body, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { QuotaProfileBody, QuotaProfileName } from '../../administration/limits.dto.js';
import { toQuotaProfile } from '../../administration/limits.view.js';
import { QuotaProfiles } from '../../quota/quota-profiles.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { LIMIT_FIELDS, LIMIT_LISTS, quotasPage, type QuotaForm } from './quotas.view.js';

/** Quota profiles for applications. */
@PageController('admin/quotas', 'administrator')
export class AdminQuotaPagesController {
  constructor(private readonly profiles: QuotaProfiles) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const name = new FormValues(query).optional('profile');
    const profile = (await this.profiles.list()).find((known) => known.name === name);
    if (name !== undefined && profile === undefined) throw new AppError('NOT_FOUND', 'The profile does not exist');
    await this.send(response, visitor, { profile, notice: noticeOf(visitor, query) });
  }

  @Post()
  async save(@CurrentVisitor() visitor: Member, @Body() body: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const { name } = validated(QuotaProfileName, { name: values.text('name').trim() });
      await this.profiles.save(toQuotaProfile(name, validated(QuotaProfileBody, limitsIn(values))), visitor.account.id);
    });
    if (problem === undefined) response.redirect(303, done('/admin/quotas', 'quota'));
    else await this.send(response, visitor, { values, problem });
  }

  @Post(':name/delete')
  async remove(
    @CurrentVisitor() visitor: Member,
    @Param('name') name: string,
    @Res() response: Response,
  ): Promise<void> {
    const problem = await refusalOf(() => this.profiles.remove(name, visitor.account.id));
    if (problem === undefined) response.redirect(303, done('/admin/quotas', 'quota-removed'));
    else await this.send(response, visitor, { problem });
  }

  private async send(
    response: Response,
    visitor: Member,
    { notice, ...state }: QuotaForm & { notice?: string | undefined },
  ): Promise<void> {
    const body = quotasPage(visitor, await this.profiles.list(), state);
    sendPage(response, visitor, { title: visitor.words.text('admin.quotas'), body, notice, problem: state.problem });
  }
}

function limitsIn(values: FormValues): Record<string, unknown> {
  return Object.fromEntries([
    ...LIMIT_FIELDS.map((name) => [name, values.wholeNumber(name) ?? null]),
    ...LIMIT_LISTS.map((name) => [name, linesIn(values.text(name))]),
  ]) as Record<string, unknown>;
}

/** One `name number` per line; a line without a number becomes a name that the rules refuse. */
function linesIn(text: string): Record<string, number> {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = line.trim(), limit = 'NaN'] = /^\s*(.*\S)\s+(\d{1,15})\s*$/.exec(line) ?? [];
      return [name, Number(limit)];
    }),
  );
}
