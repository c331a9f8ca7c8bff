import { Public } from '@gatehouse/auth';
import { applyDecorators, Controller, SetMetadata, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { PageErrorFilter } from './page-error.filter.js';
import { PAGE_AUDIENCE, PageGuard, type PageAudience } from './page-guard.js';

/** A controller whose answers are pages: its own guard asks for the login, and its errors are pages as well. */
export const PageController = (path = '', audience: PageAudience = 'member'): ClassDecorator =>
  applyDecorators(
    Controller(path),
    Public(),
    ApiExcludeController(),
    UseGuards(PageGuard),
    UseFilters(PageErrorFilter),
    SetMetadata(PAGE_AUDIENCE, audience),
  ) as ClassDecorator;

/** The visitors allowed on one page, if they differ from those of its controller. */
export const Audience = (audience: PageAudience): MethodDecorator => SetMetadata(PAGE_AUDIENCE, audience);
