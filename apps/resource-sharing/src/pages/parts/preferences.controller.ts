import { LANGUAGE_COOKIE } from '@gatehouse/i18n';
import { THEME_COOKIE, themeOf } from '@gatehouse/platform';
import { Body, Post, Res } from '@nestjs/common';
import type { CookieOptions, Response } from 'express';
import { ResourceSharingSettings } from '../../settings.js';
import { SiteAccounts } from '../../site/site-accounts.service.js';
import { CurrentVisitor, type Visitor } from '../../wire/visitor.js';
import { FormValues } from './form-values.js';
import { PageController } from './page-controller.js';
import { languageOf } from './reader-view.js';
import { ownPath } from './return-address.js';

const A_YEAR_MS = 31_536_000_000;

/**
 * Language and theme, which the reader can choose on every page: stored for this browser, and for the signed-in
 * account.
 */
@PageController('preferences', 'everybody')
export class PreferencesController {
  constructor(
    private readonly settings: ResourceSharingSettings,
    private readonly accounts: SiteAccounts,
  ) {}

  @Post()
  async choose(@CurrentVisitor() { account }: Visitor, @Body() body: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(body);
    const options: CookieOptions = {
      path: '/',
      maxAge: A_YEAR_MS,
      sameSite: 'lax',
      secure: this.settings.secureCookies,
    };
    const language = languageOf(values.text('language'));
    const theme = themeOf(values.text('theme'));
    if (language !== undefined) response.cookie(LANGUAGE_COOKIE, language, options);
    response.cookie(THEME_COOKIE, theme, options);
    if (account !== null) {
      await this.accounts.keepPreferences(account.id, { ...(language !== undefined && { language }), theme });
    }
    response.redirect(303, ownPath(values.text('return_to')) ?? '/');
  }
}
