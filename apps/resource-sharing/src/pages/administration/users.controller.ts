import { randomUUID } from 'node:crypto';
import type { AppError } from '@gatehouse/platform';
import { Body, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { IdPipe } from '../../wire/path-values.js';
import { FOREVER, PointGrantBody, UserChangeBody } from '../../administration/administration.dto.js';
import { UserAdministration } from '../../administration/user-administration.js';
import { PointGrants } from '../../points/point-grants.js';
import { PointsLedger } from '../../points/points-ledger.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { pageNumber } from '../parts/tables.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { userList, userPage, type UserForm } from './users.view.js';

const PAGE_SIZE = 50;

interface State {
  readonly notice?: string | undefined;
  readonly form?: UserForm;
  readonly problem?: AppError | undefined;
}

@PageController('admin/users', 'administrator')
export class AdminUserPagesController {
  constructor(
    private readonly users: UserAdministration,
    private readonly grants: PointGrants,
    private readonly ledger: PointsLedger,
  ) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const page = pageNumber((query as { page?: unknown }).page);
    const search = new FormValues(query).optional('search')?.slice(0, 100);
    const found = await this.users.list({ search, limit: PAGE_SIZE + 1, offset: (page - 1) * PAGE_SIZE });
    const users = found.slice(0, PAGE_SIZE);
    const body = userList(visitor, { users, search: search ?? '', page, hasMore: found.length > PAGE_SIZE });
    sendPage(response, visitor, { title: visitor.words.text('admin.users'), body, notice: noticeOf(visitor, query) });
  }

  @Get(':id')
  one(
    @CurrentVisitor() visitor: Member,
    @Param('id', IdPipe) id: number,
    @Query() query: object,
    @Res() response: Response,
  ): Promise<void> {
    return this.send(response, visitor, id, { notice: noticeOf(visitor, query) });
  }

  @Post(':id')
  async change(
    @CurrentVisitor() visitor: Member,
    @Param('id', IdPipe) id: number,
    @Body() body: object,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const { premium_until: premiumUntil, ...rest } = validated(UserChangeBody, {
        premium_until: premiumOf(values),
        permissions: values.list('permissions'),
        role: values.optional('role'),
      });
      await this.users.change(visitor.account.id, id, { premiumUntil, ...rest });
    });
    await this.answer(response, visitor, id, { form: 'rights', problem });
  }

  @Post(':id/disabled')
  async disable(
    @CurrentVisitor() visitor: Member,
    @Param('id', IdPipe) id: number,
    @Body() body: object,
    @Res() response: Response,
  ): Promise<void> {
    const disabled = new FormValues(body).isChecked('disabled');
    const problem = await refusalOf(async () => {
      await this.users.change(visitor.account.id, id, { disabled });
    });
    await this.answer(response, visitor, id, { form: 'rights', problem });
  }

  @Post(':id/second-factor')
  async resetFactor(
    @CurrentVisitor() visitor: Member,
    @Param('id', IdPipe) id: number,
    @Res() response: Response,
  ): Promise<void> {
    const problem = await refusalOf(async () => {
      await this.users.change(visitor.account.id, id, { resetSecondFactor: true });
    });
    await this.answer(response, visitor, id, { form: 'rights', problem });
  }

  @Post(':id/points')
  async grant(
    @CurrentVisitor() visitor: Member,
    @Param('id', IdPipe) id: number,
    @Body() body: object,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const { id: userId } = await this.users.one(id);
      const {
        points,
        ref,
        note = null,
      } = validated(PointGrantBody, {
        points: values.wholeNumber('points'),
        // The form has its own ref, so that sending it twice adds points once.
        ref: values.text('ref'),
        note: values.optional('note'),
      });
      await this.grants.grant({ userId, points, ref, actorId: visitor.account.id, note });
    });
    await this.answer(response, visitor, id, { form: 'points', problem });
  }

  private async answer(response: Response, visitor: Member, id: number, state: State): Promise<void> {
    const notice = state.form === 'points' ? 'points' : 'user';
    if (state.problem === undefined) response.redirect(303, done(`/admin/users/${id}`, notice));
    else await this.send(response, visitor, id, state);
  }

  private async send(response: Response, visitor: Member, id: number, { notice, form, problem }: State): Promise<void> {
    const user = await this.users.one(id);
    const ledger = await this.ledger.history(id, { limit: 20 });
    const body = userPage(visitor, { user, ledger, grantRef: randomUUID() }, { form, problem });
    sendPage(response, visitor, { title: user.username, body, notice, problem });
  }
}

/** Undefined: not changed. */
function premiumOf(values: FormValues): string | null | undefined {
  switch (values.text('premium')) {
    case 'none':
      return null;
    case 'forever':
      return FOREVER;
    case 'until':
      return values.text('premium_until');
    default:
      return undefined;
  }
}
